"""Arithmetic, comparison, logic and strings, with nil and UNDEFINED.

UNDEFINED in gives UNDEFINED out, except where the other operand settles the matter (`true or`, `false and`). nil in
arithmetic and in comparisons of scalars gives nil.
"""

from __future__ import annotations

import datetime
import math
import re
from decimal import Decimal
from typing import Any

from tests.oql.oracle.values import UNDEFINED, Bag, Set, elements, key


class OqlError(Exception):
    """What a query that is asked directly gives where a view gives UNDEFINED, and errors of data."""


def absent(*values: Any) -> Any:
    """UNDEFINED if some value is, else nil if some value is, else 0."""
    if any(v is UNDEFINED for v in values):
        return UNDEFINED
    return None if any(v is None for v in values) else 0


def arithmetic(operator: str, a: Any, b: Any) -> Any:
    if (missing := absent(a, b)) != 0:
        return missing
    if isinstance(a, list) and isinstance(b, list):
        return a + b
    if isinstance(a, str) or isinstance(b, str):
        return a + b
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
    if b == 0:
        raise OqlError("division by zero")
    match operator:
        case "/":
            return a / b
        case "div":
            return int(math.copysign(1, a) * math.copysign(1, b)) * (abs(a) // abs(b))
        case "mod":
            return int(math.fmod(a, b)) if isinstance(a, int) and isinstance(b, int) else math.fmod(a, b)
    raise AssertionError(operator)


def equal(a: Any, b: Any, two_valued: bool) -> Any:
    """Whether two values are one: of objects, literals of any depth and the literal nil always true or false."""
    if a is UNDEFINED or b is UNDEFINED:
        return UNDEFINED
    if not two_valued and (a is None or b is None):
        return None
    return key(a) == key(b)


def less(operator: str, a: Any, b: Any) -> Any:
    """Order of scalars; inclusion of sets and bags."""
    if (missing := absent(a, b)) != 0:
        return missing
    if isinstance(a, Bag):
        return included(operator, a, b)
    if isinstance(a, datetime.date) and isinstance(b, str):
        b = datetime.date.fromisoformat(b)
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator]


def included(operator: str, a: Bag, b: Bag) -> bool:
    if operator in (">", ">="):
        return included({">": "<", ">=": "<="}[operator], b, a)
    as_sets = isinstance(a, Set) and isinstance(b, Set)
    left, right = (counts(Set(c.items) if as_sets else c) for c in (a, b))
    within = all(right.get(k, 0) >= n for k, n in left.items())
    return within and (operator == "<=" or left != right)


def counts(bag: Bag) -> dict[Any, int]:
    result: dict[Any, int] = {}
    for item in bag.items:
        result[key(item)] = result.get(key(item), 0) + 1
    return result


def both(a: Any, b: Any) -> Any:
    """and"""
    if a is False or b is False:
        return False
    missing = absent(a, b)
    return True if missing == 0 else missing


def either(a: Any, b: Any) -> Any:
    """or"""
    if a is True or b is True:
        return True
    missing = absent(a, b)
    return False if missing == 0 else missing


def negation(a: Any) -> Any:
    return a if absent(a) != 0 else not a


def like(text: Any, pattern: Any) -> Any:
    """`*` and `%` any run, `?` and `_` one character, a backslash before a sign takes it as it is."""
    if (missing := absent(text, pattern)) != 0:
        return missing
    parts, at = [], 0
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\" and at + 1 < len(pattern):
            at += 1
            parts.append(re.escape(pattern[at]))
        else:
            parts.append({"*": ".*", "%": ".*", "?": ".", "_": "."}.get(sign, re.escape(sign)))
        at += 1
    return re.fullmatch("".join(parts), text, re.DOTALL) is not None


def aggregate(function: str, collection: Any) -> Any:
    """Of the elements that are neither nil nor UNDEFINED; `count` counts all."""
    items = elements(collection)
    if function == "count":
        return len(items)
    items = [i for i in items if i is not None and i is not UNDEFINED]
    match function:
        case "sum":
            floats = any(isinstance(i, float) for i in items)
            return math.fsum(items) if floats else sum(items)
        case "min":
            return min(items) if items else UNDEFINED
        case "max":
            return max(items) if items else UNDEFINED
        case "avg":
            return mean(items) if items else UNDEFINED
    raise AssertionError(function)


def mean(items: list[Any]) -> Any:
    if any(isinstance(i, Decimal) for i in items):
        return sum(items) / len(items)
    return math.fsum(items) / len(items)


def set_operation(operator: str, left: Any, right: Any) -> Any:
    """Sets give a set, any bag makes a bag: additive union, minimum, monus."""
    if left is UNDEFINED or right is UNDEFINED:
        return UNDEFINED
    mine, others = elements(left), elements(right)
    sets = isinstance(left, Set | None) and isinstance(right, Set | None)
    if operator == "union":
        return Set(mine + others) if sets else Bag(mine + others)
    budget = counts(Bag(others))
    kept = []
    for item in mine:
        found = budget.get(key(item), 0) > 0
        if found and not sets:
            budget[key(item)] -= 1
        if found is (operator == "intersect"):
            kept.append(item)
    return Set(kept) if sets else Bag(kept)
