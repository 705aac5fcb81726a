"""Failures of evaluation: the one place where their messages are worded.

Each function raises an error. It is declared to return nothing, so that it can be the last alternative of an expression.

>>> division_by_zero()
Traceback (most recent call last):
...
evercurrent.errors.EvaluationError: division by zero
hint: NULLIF(divisor, 0) returns NULL instead
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from evercurrent.data.showing import show_value
from evercurrent.errors import EvaluationError, SizeError
from evercurrent.limits import ELEMENTS

TRY = "use TRY_CAST, NULLIF or a CASE to avoid it"


def overflow(type: object) -> NoReturn:
    raise EvaluationError(f"the result does not fit into {type}", hint="cast the operands to a wider type")


def decimal_overflow() -> NoReturn:
    raise EvaluationError(
        "the result has more digits than its DECIMAL type", hint="cast the operands to fewer digits"
    )


def division_by_zero() -> NoReturn:
    raise EvaluationError("division by zero", hint="NULLIF(divisor, 0) returns NULL instead")


def bad_cast(value: Any, type: object) -> NoReturn:
    raise EvaluationError(
        f"{show_value(value)} cannot be cast to {type}", hint="TRY_CAST returns NULL instead"
    )


def bad_argument(function: str, problem: str) -> NoReturn:
    raise EvaluationError(f"{function}: {problem}")


def check_size(function: str, size: int) -> None:
    """Refuses to make a string or an array that is larger than the limit."""
    if size > ELEMENTS:
        raise SizeError(
            f"{function}: it would have {size} elements or characters; at most {ELEMENTS} are possible",
            hint="keep long texts apart, or cut them with left or substring first",
        )


def join_within_size(function: str, separator: str, parts: Iterable[str]) -> str:
    """Joins texts; stops as soon as they are longer than the limit."""
    found: list[str] = []
    size = 0
    for part in parts:
        size += len(part) + len(separator)
        if size > ELEMENTS:
            check_size(function, size)
        found.append(part)
    return separator.join(found)


def within_size(function: str, made: Any) -> Any:
    """Returns a text or an array that was made, unless it is larger than the limit."""
    if made is not None and len(made) > ELEMENTS:
        check_size(function, len(made))
    return made
