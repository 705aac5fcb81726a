"""Failures of evaluation: the one place where their messages are worded.

Each function raises; its declared result lets it stand as the last alternative of an expression.
"""

from __future__ import annotations

from typing import Any, NoReturn

from evercurrent.data.showing import show_value
from evercurrent.errors import EvaluationError
from evercurrent.limits import ELEMENTS

TRY = "use TRY_CAST, NULLIF or a CASE to avoid it"


def overflow(type: object) -> NoReturn:
    raise EvaluationError(f"the result does not fit into {type}", hint="cast the operands to a wider type")


def bigint_overflow() -> NoReturn:
    overflow("BIGINT")


def int_overflow() -> NoReturn:
    overflow("INT")


def decimal_overflow() -> NoReturn:
    raise EvaluationError(
        "the result has more digits than its DECIMAL type", hint="cast the operands to fewer digits"
    )


def division_by_zero() -> NoReturn:
    raise EvaluationError("division by zero", hint="NULLIF(divisor, 0) gives NULL instead")


def bad_cast(value: Any, type: object) -> NoReturn:
    raise EvaluationError(f"{show_value(value)} cannot be cast to {type}", hint="TRY_CAST gives NULL instead")


def bad_argument(function: str, problem: str) -> NoReturn:
    raise EvaluationError(f"{function}: {problem}")


def check_size(function: str, size: int) -> None:
    """Refuses to make a string or an array that is larger than the limit."""
    if size > ELEMENTS:
        raise EvaluationError(
            f"{function}: it would have {size} elements or characters; at most {ELEMENTS} are possible"
        )
