"""The aggregate `monoid`: a fold by a user's functions.

Law. `combine` is associative and commutative with `zero` as its neutral element, so that the value of a group depends on
the bag of its values alone. With an `inverse` a value that leaves is taken out again; without one the bag is kept, and
what is combined is kept over blocks of it, so that a change does not fold the whole group again.

>>> largest = MonoidFunctions(0, max, None, None)
>>> fold(largest, [3, 9, 4])
9
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from evercurrent.errors import EvaluationError, EvercurrentError
from evercurrent.term.located import identify


@dataclass(frozen=True, eq=False)
class MonoidFunctions:
    """What a monoid is made of; equal only to itself. `unit` makes an element of a value."""

    zero: Any
    combine: Callable[[Any, Any], Any]
    inverse: Callable[[Any], Any] | None
    finish: Callable[[Any], Any] | None
    unit: Callable[[Any], Any] | None = None

    def __repr__(self) -> str:
        parts = [self.combine, self.inverse, self.finish, self.unit]
        return f"monoid({self.zero!r}, {', '.join('-' if p is None else identify(p) for p in parts)})"


def fold(monoid: MonoidFunctions, values: Iterable[Any]) -> Any:
    """The values, as users see them, combined."""
    result = monoid.zero
    for value in values:
        result = monoid.combine(result, value if monoid.unit is None else monoid.unit(value))
    return result


def call_guarded(monoid: MonoidFunctions, function: Callable[..., Any], *args: Any) -> Any:
    """A call of one of the functions; what it raises is an EvaluationError that names the monoid."""
    try:
        return function(*args)
    except EvercurrentError:
        raise
    except Exception as problem:
        raise EvaluationError(
            f"the monoid {monoid!r} raised {type(problem).__name__}: {problem}",
            hint=f"it was called with {', '.join(map(repr, args))}; nothing was changed",
        ) from problem
