"""AND, OR, NOT in three-valued logic, and COALESCE.

AND and OR take any number of arguments and are lazy from left to right, and so is COALESCE: what stands after the
argument that decides is not evaluated. Python's `and` agrees with AND where the question is only whether the result is
TRUE, since None is not true.

    AND    is FALSE if an argument is FALSE, else NULL if one is NULL, else TRUE
    OR     is TRUE if an argument is TRUE, else NULL if one is NULL, else FALSE
"""

from __future__ import annotations

from typing import Any

from evercurrent.data.types import BOOLEAN, Type
from evercurrent.term.functions.function import Function, Types
from evercurrent.term.functions.signatures import common, take_exactly, take_many


def both(*args: bool | None) -> bool | None:
    if False in args:
        return False
    return None if None in args else True


def either(*args: bool | None) -> bool | None:
    if True in args:
        return True
    return None if None in args else False


def first_known(*args: Any) -> Any:
    return next((a for a in args if a is not None), None)


def _python_and(types: Types, result: Type, args: tuple[str, ...]) -> str:
    # `a is False or b is False` stops at the first FALSE: lazy, as the law says.
    false = " or ".join(f"{a} is False" for a in args)
    null = " or ".join(f"{a} is None" for a in args)
    return f"(False if {false} else None if {null} else True)"


def _python_or(types: Types, result: Type, args: tuple[str, ...]) -> str:
    true = " or ".join(f"{a} is True" for a in args)
    null = " or ".join(f"{a} is None" for a in args)
    return f"(True if {true} else None if {null} else False)"


def _python_coalesce(types: Types, result: Type, args: tuple[str, ...]) -> str:
    *first, last = args
    return f"({''.join(f'{a} if {a} is not None else ' for a in first)}{last})"


FUNCTIONS = (
    Function(
        "and", take_many(BOOLEAN, BOOLEAN, least=2), lambda t, r: both, strict=False, python=_python_and
    ),
    Function(
        "or", take_many(BOOLEAN, BOOLEAN, least=2), lambda t, r: either, strict=False, python=_python_or
    ),
    Function(
        "not",
        take_exactly((BOOLEAN,), BOOLEAN),
        lambda t, r: lambda a: not a,
        python=lambda t, r, args: f"(not {args[0]})",
    ),
    Function("coalesce", common(1), lambda t, r: first_known, strict=False, python=_python_coalesce),
)
