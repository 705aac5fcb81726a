"""= <> < <= > >= and the null-safe <=>; IN with constants; the tests for NULL.

NaN equals itself and is greater than every other number. Structs and arrays compare from left to right, their NULL
members equal to each other and smallest.

>>> from evercurrent.data.representation import NAN
>>> from evercurrent.data.types import DOUBLE
>>> greater = next(f for f in FUNCTIONS if f.name == "gt").implement((DOUBLE, DOUBLE), BOOLEAN)
>>> greater(NAN, float("inf")), greater(NAN, NAN), _in_list(1, 2, None)
(True, False, None)
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from evercurrent.data.order import order_key
from evercurrent.data.types import BOOLEAN, Float, Map, Type, contains_float
from evercurrent.term.functions.coerce import common_type
from evercurrent.term.functions.function import Function, Signature, TypeMismatch, Types
from evercurrent.term.functions.signatures import any_types, count

OPERATORS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "eq": ("==", operator.eq),
    "ne": ("!=", operator.ne),
    "lt": ("<", operator.lt),
    "le": ("<=", operator.le),
    "gt": (">", operator.gt),
    "ge": (">=", operator.ge),
}


def _has_map(t: Type) -> bool:
    return "MAP<" in str(t)


def _infer(types: Types) -> Signature:
    count(types, 2)
    t = common_type(types)
    if isinstance(t, Map) or _has_map(t):
        raise TypeMismatch(f"values of type {t} cannot be compared")
    return Signature((t, t), BOOLEAN)


def _implement(name: str) -> Callable[[Types, Type], Callable[[Any, Any], bool]]:
    test = OPERATORS[name][1]

    def implement(types: Types, result: Type) -> Callable[[Any, Any], bool]:
        key = order_key(types[0])
        if key is None or (name in ("eq", "ne") and not isinstance(types[0], Float)):
            return test
        return lambda a, b: test(key(a), key(b))

    return implement


def _python(name: str) -> Callable[[Types, Type, tuple[str, ...]], str | None]:
    sign = OPERATORS[name][0]

    def python(types: Types, result: Type, args: tuple[str, ...]) -> str | None:
        a, b = args
        if not isinstance(types[0], Float):
            if order_key(types[0]) is not None and name not in ("eq", "ne"):
                return None
            return f"({a} {sign} {b})"
        # NaN is greatest and equal to itself; comparisons with it are False in Python.
        match name:
            case "eq":
                return f"({a} == {b} or {a} is {b})"
            case "ne":
                return f"({a} != {b} and {a} is not {b})"
            case "lt":
                return f"({a} < {b} or ({b} != {b} and {a} == {a}))"
            case "gt":
                return f"({a} > {b} or ({a} != {a} and {b} == {b}))"
            case "le":
                return f"({a} <= {b} or {b} != {b})"
            case _:
                return f"({a} >= {b} or {a} != {a})"

    return python


def equal(a: Any, b: Any) -> bool:
    """Equality of inside values: the one NaN is equal to itself."""
    return a is b or bool(a == b)


def _infer_in(types: Types) -> Signature:
    count(types, 2, 1_000_000)
    t = common_type(types)
    if _has_map(t):
        raise TypeMismatch(f"values of type {t} cannot be compared")
    return Signature((t,) * len(types), BOOLEAN)


def _in_list(value: Any, *options: Any) -> bool | None:
    if value is None:
        return None
    if value in options:
        return True
    return None if None in options else False


def _python_eqns(types: Types, result: Type, args: tuple[str, ...]) -> str | None:
    a, b = args
    return f"({a} == {b} or {a} is {b})" if contains_float(types[0]) else f"({a} == {b})"


FUNCTIONS = (
    *(Function(name, _infer, _implement(name), python=_python(name)) for name in OPERATORS),
    Function("eqns", _infer, lambda types, result: equal, strict=False, python=_python_eqns),
    Function("in_list", _infer_in, lambda types, result: _in_list, strict=False, nullable=False),
    Function(
        "is_null",
        any_types(1, BOOLEAN),
        lambda types, result: lambda a: a is None,
        strict=False,
        python=lambda types, result, args: f"({args[0]} is None)",
    ),
    Function(
        "is_not_null",
        any_types(1, BOOLEAN),
        lambda types, result: lambda a: a is not None,
        strict=False,
        python=lambda types, result, args: f"({args[0]} is not None)",
    ),
)
