"""Functions that take functions: transform, filter, exists, forall, aggregate and their kin.

The lambda's value is a Python function of inside values; it may be called with None, and with more arguments than it has
parameters: it ignores the others (`transform` always passes the position). Conditions are in three-valued
logic: `filter` keeps what is TRUE, `exists` is NULL where nothing is TRUE but something is NULL.

    transform(array(1, 2), x -> x * 10)                [10, 20]
    aggregate(array(1, 2, 3), 0, (s, x) -> s + x)      6
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from typing import Any

from evercurrent.data.order import sort_key
from evercurrent.data.types import BOOLEAN, INT, Array, Map, Type
from evercurrent.data.values import FrozenMap
from evercurrent.term.functions.coerce import common_of_two, implicit
from evercurrent.term.functions.collections.maps import a_map, build_map, key_type
from evercurrent.term.functions.failures import bad_argument
from evercurrent.term.functions.function import Function, Signature, TypeMismatch, Types
from evercurrent.term.functions.signatures import array, count, expect

Items = tuple[Any, ...]
Lambda = Callable[..., Any]


# --- types of the parameters -------------------------------------------------------------------------------


def _parameters(given: int, *types: Type) -> Types:
    """So many of the types as the lambda has parameters."""
    if not 1 <= given <= len(types):
        raise TypeMismatch(f"a function of {len(types)} arguments is needed, not of {given}")
    return types[:given]


def _exactly(given: int, *types: Type) -> Types:
    if given != len(types):
        raise TypeMismatch(f"a function of {len(types)} arguments is needed, not of {given}")
    return types


def _of_elements(before: Types, position: int, given: int) -> Types:
    return _parameters(given, array(before[0]).element, INT)


def _of_one_element(before: Types, position: int, given: int) -> Types:
    return _exactly(given, array(before[0]).element)


def _of_two_elements(before: Types, position: int, given: int) -> Types:
    element = array(before[0]).element
    return _exactly(given, element, element)


def _of_pairs(before: Types, position: int, given: int) -> Types:
    t = a_map(before[0])
    return _exactly(given, t.key, t.value)


def _of_aggregate(before: Types, position: int, given: int) -> Types:
    if position == 3:
        return _exactly(given, before[1])
    return _exactly(given, before[1], array(before[0]).element)


def _of_zip(before: Types, position: int, given: int) -> Types:
    return _exactly(given, array(before[0]).element, array(before[1], 1).element)


def _of_map_zip(before: Types, position: int, given: int) -> Types:
    a, b = a_map(before[0]), a_map(before[1], 1)
    return _exactly(given, common_of_two(a.key, b.key), a.value, b.value)


# --- typing ------------------------------------------------------------------------------------------------


def _over_array(
    result: Callable[[Array, Type], Type], body: Type | None = None
) -> Callable[[Types], Signature]:
    def infer(types: Types) -> Signature:
        count(types, 2)
        t = array(types[0])
        inner = types[1] if body is None else expect(types[1], body, 1)
        return Signature((t, inner), result(t, inner))

    return infer


def _over_map(result: Callable[[Map, Type], Type], body: Type | None = None) -> Callable[[Types], Signature]:
    def infer(types: Types) -> Signature:
        count(types, 2)
        t = a_map(types[0])
        inner = types[1] if body is None else expect(types[1], body, 1)
        return Signature((t, inner), result(t, inner))

    return infer


def _infer_aggregate(types: Types) -> Signature:
    count(types, 3, 4)
    items, start, merge = array(types[0]), types[1], types[2]
    if not implicit(merge, start):
        raise TypeMismatch(f"the function returns {merge}, but the start is {start}")
    return Signature((items, start, start, *types[3:]), types[3] if len(types) == 4 else start)


def _infer_sort(types: Types) -> Signature:
    count(types, 1, 2)
    t = array(types[0])
    return Signature((t, *(expect(x, INT, 1) for x in types[1:])), t)


def _infer_zip(types: Types) -> Signature:
    count(types, 3)
    return Signature((array(types[0]), array(types[1], 1), types[2]), Array(types[2]))


def _infer_map_zip(types: Types) -> Signature:
    count(types, 3)
    a, b = a_map(types[0]), a_map(types[1], 1)
    key = common_of_two(a.key, b.key)
    return Signature((Map(key, a.value), Map(key, b.value), types[2]), Map(key, types[2]))


# --- meaning -----------------------------------------------------------------------------------------------


def transform(items: Items, f: Lambda) -> Items:
    return tuple(f(x, i) for i, x in enumerate(items))


def keep(items: Items, f: Lambda) -> Items:
    return tuple(x for i, x in enumerate(items) if f(x, i))


def exists(items: Items, f: Lambda) -> bool | None:
    results = [f(x) for x in items]
    return True if True in results else None if None in results else False


def forall(items: Items, f: Lambda) -> bool | None:
    results = [f(x) for x in items]
    return False if False in results else None if None in results else True


def aggregate(items: Items | None, start: Any, merge: Lambda, finish: Lambda | None = None) -> Any:
    if items is None:
        return None
    for x in items:
        start = merge(start, x)
    return start if finish is None else finish(start)


def _sort(types: Types, result: Type) -> Callable[..., Items]:
    key = sort_key(array(types[0]).element, nulls_first=False)

    def sort(items: Items, comparator: Lambda | None = None) -> Items:
        if comparator is None:
            return tuple(sorted(items, key=key))

        def compare(a: Any, b: Any) -> int:
            order: int | None = comparator(a, b)
            if order is None:
                bad_argument("ARRAY_SORT", "the comparison gave NULL")
            return order

        return tuple(sorted(items, key=cmp_to_key(compare)))

    return sort


def zip_with(a: Items, b: Items, f: Lambda) -> Items:
    return tuple(
        f(a[i] if i < len(a) else None, b[i] if i < len(b) else None) for i in range(max(len(a), len(b)))
    )


def map_zip_with(a: FrozenMap, b: FrozenMap, f: Lambda) -> FrozenMap:
    return FrozenMap((k, f(k, a.get(k), b.get(k))) for k in dict.fromkeys([*a, *b]))


def _plain(f: Callable[..., Any]) -> Callable[[Types, Type], Callable[..., Any]]:
    return lambda types, result: f


def _lambda(
    name: str,
    infer: Callable[[Types], Signature],
    meaning: Callable[..., Any],
    binds: Callable[[Types, int, int], Types],
    lambdas: tuple[int, ...] = (1,),
    nullable: bool = False,
    strict: bool = True,
) -> Function:
    return Function(
        name,
        infer,
        _plain(meaning),
        strict=strict,
        nullable=nullable,
        fails=True,
        lambdas=lambdas,
        binds=binds,
    )


FUNCTIONS = (
    _lambda("transform", _over_array(lambda t, body: Array(body)), transform, _of_elements),
    _lambda("filter", _over_array(lambda t, body: t, BOOLEAN), keep, _of_elements),
    _lambda("exists", _over_array(lambda t, body: BOOLEAN, BOOLEAN), exists, _of_one_element, nullable=True),
    _lambda("forall", _over_array(lambda t, body: BOOLEAN, BOOLEAN), forall, _of_one_element, nullable=True),
    _lambda("aggregate", _infer_aggregate, aggregate, _of_aggregate, (2, 3), nullable=True, strict=False),
    Function("array_sort", _infer_sort, _sort, fails=True, lambdas=(1,), binds=_of_two_elements),
    _lambda("zip_with", _infer_zip, zip_with, _of_zip, (2,)),
    _lambda(
        "map_filter",
        _over_map(lambda t, body: t, BOOLEAN),
        lambda m, f: FrozenMap((k, v) for k, v in m.items() if f(k, v)),
        _of_pairs,
    ),
    _lambda(
        "transform_keys",
        _over_map(lambda t, body: Map(key_type(body), t.value)),
        lambda m, f: build_map((f(k, v), v) for k, v in m.items()),
        _of_pairs,
    ),
    _lambda(
        "transform_values",
        _over_map(lambda t, body: Map(t.key, body)),
        lambda m, f: FrozenMap((k, f(k, v)) for k, v in m.items()),
        _of_pairs,
    ),
    _lambda("map_zip_with", _infer_map_zip, map_zip_with, _of_map_zip, (2,)),
)
