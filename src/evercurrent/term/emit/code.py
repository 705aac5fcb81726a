"""Pieces of Python source: what a term's value is where its parts are not NULL, and which parts those are.

>>> total = Code("a + b", ("a", "b"))
>>> total.value, total.known
('(None if a is None or b is None else a + b)', 'a is not None and b is not None')
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

ATOM = re.compile(r"[A-Za-z_][A-Za-z_0-9]*(\[\d+\])?|\d+|\(-\d+\)")


@dataclass(frozen=True, slots=True)
class Code:
    """`source` is the value where no guard is None. `whole` is the value with its NULL, where that is shorter."""

    source: str
    guards: tuple[str, ...] = ()
    nullable: bool = False
    whole: str | None = None

    @property
    def value(self) -> str:
        if self.whole is not None:
            return self.whole
        if not self.guards:
            return self.source
        missing = " or ".join(f"{g} is None" for g in self.guards)
        return f"(None if {missing} else {self.source})"

    @property
    def evaluated(self) -> str:
        """The value where it is known not to be NULL. Names that guards bind are bound here: no test may have done it."""
        return self.value if any(":=" in g for g in self.guards) else self.source

    @property
    def known(self) -> str:
        """The condition that the value is not NULL."""
        return " and ".join(f"{g} is not None" for g in self.guards)


def is_atom(source: str) -> bool:
    return ATOM.fullmatch(source) is not None


def merge(parts: Iterable[Code]) -> tuple[tuple[str, ...], bool]:
    """The guards of several codes together, and whether any of them can be NULL."""
    codes = tuple(parts)
    guards = tuple(dict.fromkeys(g for code in codes for g in code.guards))
    return guards, any(code.nullable for code in codes)


def all_of(tests: list[str]) -> str:
    """A conjunction of Python conditions.

    >>> all_of(["True", "a", "b"]), all_of(["a", "False"]), all_of(["True"])
    ('(a and b)', 'False', 'True')
    """
    real = [t for t in dict.fromkeys(tests) if t != "True"]
    if "False" in real:
        return "False"
    return real[0] if len(real) == 1 else f"({' and '.join(real)})" if real else "True"


def any_of(tests: list[str]) -> str:
    """A disjunction of Python conditions."""
    real = [t for t in dict.fromkeys(tests) if t != "False"]
    if "True" in real:
        return "True"
    return real[0] if len(real) == 1 else f"({' or '.join(real)})" if real else "False"


def product(sources: list[str]) -> str:
    """A product of numbers, constants multiplied out.

    >>> product(["1", "a"]), product(["(-1)", "a", "b"]), product(["2", "(-1)"])
    ('a', '(-a * b)', '(-2)')
    """
    constant, factors = 1, []
    for s in sources:
        digits = s.strip("()")
        if re.fullmatch(r"-?\d+", digits):
            constant *= int(digits)
        else:
            factors.append(s)
    if constant == 0 or not factors:
        return f"({constant})" if constant < 0 else str(constant)
    if constant == -1:
        return f"(-{' * '.join(factors)})"
    if constant != 1:
        factors.insert(0, f"({constant})" if constant < 0 else str(constant))
    return factors[0] if len(factors) == 1 else f"({' * '.join(factors)})"
