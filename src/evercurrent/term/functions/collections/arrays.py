"""Functions of arrays. NULL elements are equal to each other in set operations; positions count from 1, except that
`get` and a subscript count from 0.

    array_union(array(1, NULL), array(NULL, 2))      [1, NULL, 2]
    element_at(array(10, 20), -1)                    20
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evercurrent.data.order import order_key, sort_key
from evercurrent.data.types import (
    BIGINT,
    BOOLEAN,
    INT,
    STRING,
    Array,
    Map,
    Member,
    Null,
    Struct,
    Type,
)
from evercurrent.term.functions.coerce import common_of_two, common_type
from evercurrent.term.functions.failures import bad_argument, check_size
from evercurrent.term.functions.function import Function, Signature, TypeMismatch, Types
from evercurrent.term.functions.signatures import array, count, expect

Items = tuple[Any, ...]
Implement = Callable[[Types, Type], Callable[..., Any]]


# --- typing ------------------------------------------------------------------------------------------------


def _infer_array(types: Types) -> Signature:
    element = common_type(types) if types else Null()
    return Signature((element,) * len(types), Array(element))


def _one(
    result: Callable[[Array], Type], *others: Type, least: int | None = None
) -> Callable[[Types], Signature]:
    """An array, then others."""

    def infer(types: Types) -> Signature:
        count(types, 1 + (len(others) if least is None else least), 1 + len(others))
        first = array(types[0])
        rest = tuple(expect(t, w, i + 1) for i, (t, w) in enumerate(zip(types[1:], others, strict=False)))
        return Signature((first, *rest), result(first))

    return infer


def _with_element(result: Callable[[Array], Type]) -> Callable[[Types], Signature]:
    """An array and a value of its elements' type."""

    def infer(types: Types) -> Signature:
        count(types, 2)
        element = common_of_two(array(types[0]).element, types[1])
        return Signature((Array(element), element), result(Array(element)))

    return infer


def _two_arrays(result: Callable[[Array], Type]) -> Callable[[Types], Signature]:
    def infer(types: Types) -> Signature:
        count(types, 2)
        t = Array(common_of_two(array(types[0]).element, array(types[1], 1).element))
        return Signature((t, t), result(t))

    return infer


def _itself(t: Array) -> Type:
    return t


def _element(t: Array) -> Type:
    return t.element


def _always(t: Type) -> Callable[[Array], Type]:
    return lambda _: t


def _infer_size(types: Types) -> Signature:
    count(types, 1)
    if not isinstance(types[0], Array | Map | Null):
        raise TypeMismatch(f"an array or a map is needed, not {types[0]}")
    return Signature(types, INT)


def _infer_access(types: Types) -> Signature:
    """An array and a position, or a map and a key."""
    count(types, 2)
    match types[0]:
        case Map(key, value):
            if common_of_two(key, types[1]) != key:
                raise TypeMismatch(f"the keys are {key}, not {types[1]}")
            return Signature((types[0], key), value)
        case _:
            first = array(types[0])
            return Signature((first, expect(types[1], INT, 1)), first.element)


# --- access ------------------------------------------------------------------------------------------------


def _from_one(items: Items, i: int) -> Any:
    """The element at a position from 1, or from -1 at the end; the caller distinguishes None from out of bounds."""
    if i == 0:
        bad_argument("ELEMENT_AT", "positions are counted from 1, or from -1 at the end")
    return items[i - 1 if i > 0 else i]


def element_at(items: Items, i: int) -> Any:
    if abs(i) > len(items):
        bad_argument(
            "ELEMENT_AT", f"there is no element {i} in an array of {len(items)}; TRY_ELEMENT_AT returns NULL"
        )
    return _from_one(items, i)


def try_element_at(items: Items, i: int) -> Any:
    return None if abs(i) > len(items) else _from_one(items, i)


def get(items: Items, i: int) -> Any:
    return items[i] if 0 <= i < len(items) else None


def subscript(items: Items, i: int) -> Any:
    if not 0 <= i < len(items):
        bad_argument(
            "the subscript", f"there is no element [{i}] in an array of {len(items)}; GET returns NULL"
        )
    return items[i]


def _or_map(of_array: Callable[[Items, int], Any]) -> Implement:
    def implement(types: Types, result: Type) -> Callable[..., Any]:
        if isinstance(types[0], Map):
            return lambda m, k: m.get(k)
        return of_array

    return implement


def slice_items(items: Items, start: int, length: int) -> Items:
    if start == 0:
        bad_argument("SLICE", "positions are counted from 1, or from -1 at the end")
    if length < 0:
        bad_argument("SLICE", "the length must not be negative")
    begin = start - 1 if start > 0 else len(items) + start
    return items[begin : begin + length] if begin >= 0 else ()


# --- searching ---------------------------------------------------------------------------------------------


def contains(items: Items, value: Any) -> bool | None:
    if value in items:
        return True
    return None if None in items else False


def position(items: Items, value: Any) -> int:
    return next((i for i, x in enumerate(items, 1) if x is value or x == value), 0)


def overlap(a: Items, b: Items) -> bool | None:
    known = set(a) - {None}
    if any(x in known for x in b):
        return True
    return None if a and b and (None in a or None in b) else False


# --- sets --------------------------------------------------------------------------------------------------


def distinct(items: Items) -> Items:
    return tuple(dict.fromkeys(items))


def intersect(a: Items, b: Items) -> Items:
    other = set(b)
    return tuple(x for x in dict.fromkeys(a) if x in other)


def except_(a: Items, b: Items) -> Items:
    other = set(b)
    return tuple(x for x in dict.fromkeys(a) if x not in other)


def remove(items: Items, value: Any) -> Items:
    return tuple(x for x in items if not (x is value or x == value))


# --- order -------------------------------------------------------------------------------------------------


def _sort_array(types: Types, result: Type) -> Callable[..., Items]:
    element = array(types[0]).element
    up = sort_key(element, descending=False, nulls_first=True)
    down = sort_key(element, descending=True, nulls_first=False)
    return lambda items, ascending=True: tuple(sorted(items, key=up if ascending else down))


def _extreme(pick: Callable[..., Any]) -> Implement:
    def implement(types: Types, result: Type) -> Callable[[Items], Any]:
        key = order_key(result)

        def choose(items: Items) -> Any:
            known = [x for x in items if x is not None]
            return pick(known, key=key) if known else None

        return choose

    return implement


# --- making ------------------------------------------------------------------------------------------------


def join(items: Items, separator: str, null: str | None = None) -> str:
    known: list[Any] = [x if x is not None else null for x in items if x is not None or null is not None]
    check_size("ARRAY_JOIN", sum(map(len, known)) + len(separator) * len(known))
    return separator.join(known)


def _infer_join(types: Types) -> Signature:
    count(types, 2, 3)
    array(types[0])
    return Signature((Array(STRING), *(expect(t, STRING, i) for i, t in enumerate(types[1:], 1))), STRING)


def _infer_flatten(types: Types) -> Signature:
    count(types, 1)
    outer = array(types[0])
    if not isinstance(outer.element, Array):
        raise TypeMismatch(f"an array of arrays is needed, not {types[0]}")
    return Signature((outer,), outer.element)


def flatten(items: Items) -> Items | None:
    if None in items:
        return None
    check_size("FLATTEN", sum(map(len, items)))
    return tuple(x for inner in items for x in inner)


def _infer_zip(types: Types) -> Signature:
    count(types, 0, 1000)
    arrays = tuple(array(t, i) for i, t in enumerate(types))
    return Signature(arrays, Array(Struct(tuple(Member(str(i), t.element) for i, t in enumerate(arrays)))))


def zip_arrays(*arrays: Items) -> Items:
    longest = max(map(len, arrays), default=0)
    return tuple(tuple(a[i] if i < len(a) else None for a in arrays) for i in range(longest))


def _infer_repeat(types: Types) -> Signature:
    count(types, 2)
    return Signature((types[0], expect(types[1], INT, 1)), Array(types[0]))


def insert(items: Items | None, at: int | None, value: Any) -> Items | None:
    if items is None or at is None:
        return None
    if at == 0:
        bad_argument("ARRAY_INSERT", "positions are counted from 1, or from -1 at the end")
    check_size("ARRAY_INSERT", abs(at))
    if at > 0:
        padded = items + (None,) * (at - 1 - len(items))
        return (*padded[: at - 1], value, *padded[at - 1 :])
    place = len(items) + at + 1
    if place >= 0:
        return (*items[:place], value, *items[place:])
    return (value, *((None,) * -place), *items)


def _infer_insert(types: Types) -> Signature:
    count(types, 3)
    element = common_of_two(array(types[0]).element, types[2])
    return Signature((Array(element), expect(types[1], INT, 1), element), Array(element))


def repeat(x: Any, n: int | None) -> Items | None:
    if n is None:
        return None
    check_size("ARRAY_REPEAT", n)
    return (x,) * max(0, n)


def _plain(f: Callable[..., Any]) -> Implement:
    return lambda types, result: f


BOOLEANS = _always(BOOLEAN)

FUNCTIONS = (
    Function("array", _infer_array, _plain(lambda *xs: xs), strict=False),
    Function("size", _infer_size, _plain(len), python=lambda t, r, a: f"len({a[0]})"),
    Function("array_size", _one(_always(INT)), _plain(len)),
    Function("element_at", _infer_access, _or_map(element_at), fails=True, nullable=True),
    Function("try_element_at", _infer_access, _or_map(try_element_at), fails=True, nullable=True),
    Function("get", _one(_element, INT), _plain(get), nullable=True),
    Function("subscript", _infer_access, _or_map(subscript), fails=True, nullable=True),
    Function("slice", _one(_itself, INT, INT), _plain(slice_items), fails=True),
    Function("array_contains", _with_element(BOOLEANS), _plain(contains), nullable=True),
    Function("array_position", _with_element(_always(BIGINT)), _plain(position)),
    Function("arrays_overlap", _two_arrays(BOOLEANS), _plain(overlap), nullable=True),
    Function("array_distinct", _one(_itself), _plain(distinct)),
    Function("array_union", _two_arrays(_itself), _plain(lambda a, b: distinct(a + b))),
    Function("array_intersect", _two_arrays(_itself), _plain(intersect)),
    Function("array_except", _two_arrays(_itself), _plain(except_)),
    Function("array_remove", _with_element(_itself), _plain(remove)),
    Function("array_compact", _one(_itself), _plain(lambda a: tuple(x for x in a if x is not None))),
    Function("sort_array", _one(_itself, BOOLEAN, least=0), _sort_array),
    Function("array_min", _one(_element), _extreme(min), nullable=True),
    Function("array_max", _one(_element), _extreme(max), nullable=True),
    Function("array_join", _infer_join, _plain(join)),
    Function("flatten", _infer_flatten, _plain(flatten), nullable=True),
    Function("arrays_zip", _infer_zip, _plain(zip_arrays)),
    Function(
        "array_repeat",
        _infer_repeat,
        _plain(repeat),
        strict=False,
        fails=True,
    ),
    Function(
        "array_append",
        _with_element(_itself),
        _plain(lambda a, x: None if a is None else (*a, x)),
        strict=False,
    ),
    Function(
        "array_prepend",
        _with_element(_itself),
        _plain(lambda a, x: None if a is None else (x, *a)),
        strict=False,
    ),
    Function("array_insert", _infer_insert, _plain(insert), strict=False, fails=True),
)
