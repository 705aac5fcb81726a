"""What users pass to methods, checked where a mistake would otherwise show deep inside.

>>> require_text(3, "the name of a table")
Traceback (most recent call last):
evercurrent.errors.QueryError: the name of a table must be a string, not 3
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evercurrent.data.showing import is_text, show_value
from evercurrent.errors import QueryError


def require_text(value: Any, what: str) -> str:
    """The value, if it is a string that can be stored."""
    if not isinstance(value, str):
        raise QueryError(f"{what} must be a string, not {show_value(value)}")
    if not is_text(value):
        raise QueryError(
            f"{what} contains half of a surrogate pair, which is not a character: {show_value(value)}"
        )
    return value


def require_choice(value: Any, choices: Sequence[str], what: str) -> None:
    """Refuses what is none of the choices; it may be of any class, so that it is not even compared."""
    if not isinstance(value, str) or value not in choices:
        known = f"{', '.join(choices[:-1])} and {choices[-1]}"
        raise QueryError(f"there is no {what} {show_value(value)}", hint=f"the choices are {known}")
