"""Monoids, on a ladder: semigroup, monoid, commutative monoid, group.

A collection or an aggregate is a monoid: a way to combine two values into one, in any grouping. Where it stands on the
ladder says how it is maintained.

    semigroup            combine                  min, max: nothing stands for no values at all
    monoid               and a zero               list
    commutative monoid   whatever the order       set, all, some: what was combined cannot be taken back
    group                and an inverse           sum, bag: a change is added, and a deletion is the addition of the inverse

Law (by addition). In a group `fold(A + dA) = fold(A) + fold(dA)` also for deletions, so the change of the result needs the
change alone. Below a group a deletion needs the values that remain: maintenance by key.

Law (well-formed folds). A collection may be folded into a monoid that is commutative and idempotent wherever the
collection is: a set has forgotten how often, a bag in which order, so a result must not depend on it.

>>> SUM.rung, MIN.rung, may_fold(SET, SUM), may_fold(BAG, SUM)
('group', 'commutative semigroup', False, True)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from evercurrent.data.zset import ZSet


@dataclass(frozen=True, slots=True)
class Monoid:
    """`combine` is associative; `zero`, a function that makes it, is its unit; `negate` gives inverses."""

    name: str
    combine: Callable[[Any, Any], Any]
    zero: Callable[[], Any] | None = None
    negate: Callable[[Any], Any] | None = None
    commutative: bool = True
    idempotent: bool = False

    @property
    def rung(self) -> str:
        if self.negate is not None:
            return "group"
        if self.zero is None:
            return "commutative semigroup" if self.commutative else "semigroup"
        return "commutative monoid" if self.commutative else "monoid"

    def fold(self, values: Iterable[Any]) -> Any:
        """All values combined; of none the zero, or None where there is no zero."""
        result, empty = (None, True) if self.zero is None else (self.zero(), False)
        for value in values:
            result, empty = (value if empty else self.combine(result, value)), False
        return result


SUM = Monoid("sum", lambda a, b: a + b, lambda: 0, lambda a: -a)
BAG = Monoid("bag", lambda a, b: a + b, ZSet, lambda a: -a)
SET = Monoid("set", lambda a, b: a | b, frozenset, idempotent=True)
LIST = Monoid("list", lambda a, b: a + b, tuple, commutative=False)
ALL = Monoid("all", lambda a, b: a and b, lambda: True, idempotent=True)
SOME = Monoid("some", lambda a, b: a or b, lambda: False, idempotent=True)
MIN = Monoid("min", min, idempotent=True)
MAX = Monoid("max", max, idempotent=True)

MONOIDS = (SUM, BAG, SET, LIST, ALL, SOME, MIN, MAX)


def may_fold(collection: Monoid, into: Monoid) -> bool:
    """Whether folding a collection into a monoid is well defined."""
    return (into.commutative or not collection.commutative) and (into.idempotent or not collection.idempotent)
