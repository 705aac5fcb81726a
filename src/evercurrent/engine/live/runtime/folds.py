"""User-defined aggregates: a monoid of Python functions.

With an inverse the group's total is stored, and the inverse of a deleted value is combined with it: one call for each change.

    ec.monoid(0, lambda a, b: a + b, inverse=lambda a: -a)      12, then 5 deleted: 12 + -5 = 7

Without one the values are the leaves of a balanced tree whose inner nodes hold what their two children combine to:

Delta      a value with its new multiplicity
State      the values of the group, and about as many partial results
Cost       log n calls of `combine`, n the number of different values
Correct    combine is associative and commutative, so the root is the fold of all values in any order
"""

from __future__ import annotations

from typing import Any

from evercurrent.data.values import give_out, taker
from evercurrent.data.zset import Row
from evercurrent.term.monoid import MonoidFunctions, call_guarded
from evercurrent.term.nodes import Aggregate


class _Fold:
    """What both kinds share: values are converted for the user's functions, and their results back."""

    __slots__ = ("monoid", "take", "type")

    def __init__(self, aggregate: Aggregate) -> None:
        (monoid,) = aggregate.options
        assert isinstance(monoid, MonoidFunctions)
        self.monoid = monoid
        self.type = aggregate.args[0].type
        self.take = taker(aggregate.type)

    def combine(self, a: Any, b: Any) -> Any:
        return call_guarded(self.monoid, self.monoid.combine, a, b)

    def element(self, value: Any) -> Any:
        shown, unit = give_out(self.type, value), self.monoid.unit
        return shown if unit is None else call_guarded(self.monoid, unit, shown)

    def power(self, value: Any, count: int) -> Any:
        """The value combined with itself so many times, by doubling."""
        result = self.monoid.zero
        while count:
            if count & 1:
                result = self.combine(result, value)
            count >>= 1
            if count:
                value = self.combine(value, value)
        return result

    def finish_total(self, total: Any) -> Any:
        finish = self.monoid.finish
        return self.take(total if finish is None else call_guarded(self.monoid, finish, total))


class Group(_Fold):
    """A monoid with an inverse."""

    __slots__ = ("total",)

    def __init__(self, aggregate: Aggregate) -> None:
        super().__init__(aggregate)
        self.total = self.monoid.zero

    def add(self, args: Row, weight: int) -> None:
        if args[0] is None:
            return
        value = self.element(args[0])
        if weight < 0:
            assert self.monoid.inverse is not None
            value = call_guarded(self.monoid, self.monoid.inverse, value)
        self.total = self.combine(self.total, self.power(value, abs(weight)))

    def mark(self, args: Row) -> Any:
        return self.total

    def restore(self, args: Row, mark: Any) -> None:
        self.total = mark

    def rebuild(self) -> None:
        """Nothing is derived."""

    def value(self) -> Any:
        return self.finish_total(self.total)


class Tree(_Fold):
    """A monoid without an inverse."""

    __slots__ = ("counts", "free", "nodes", "places")

    def __init__(self, aggregate: Aggregate) -> None:
        super().__init__(aggregate)
        self.counts: dict[Row, int] = {}
        self.rebuild()

    def rebuild(self) -> None:
        """The tree over the values that are there, with room for as many again."""
        size = 1
        while size < 2 * len(self.counts):
            size *= 2
        zero = self.monoid.zero
        self.places = {row: i for i, row in enumerate(self.counts)}
        self.free = list(range(size - 1, len(self.counts) - 1, -1))
        self.nodes: list[Any] = [zero] * (2 * size)
        for row, count in self.counts.items():
            self.nodes[size + self.places[row]] = self.leaf(row, count)
        for i in range(size - 1, 0, -1):
            self.nodes[i] = self.combine(self.nodes[2 * i], self.nodes[2 * i + 1])

    def leaf(self, row: Row, count: int) -> Any:
        return self.power(self.element(row[0]), count) if count > 0 else self.monoid.zero

    def add(self, args: Row, weight: int) -> None:
        if args[0] is not None:
            self.settle(args, self.counts.get(args, 0) + weight)

    def settle(self, args: Row, count: int) -> None:
        """The value is there so many times from now on."""
        place = self.places.get(args)
        if count:
            self.counts[args] = count
            if place is None:
                if not self.free:
                    self.rebuild()
                    return
                place = self.places[args] = self.free.pop()
        else:
            self.counts.pop(args, None)
            if place is None:
                return
            del self.places[args]
            self.free.append(place)
        nodes = self.nodes
        at = len(nodes) // 2 + place
        nodes[at] = self.leaf(args, count)
        while at > 1:
            at //= 2
            nodes[at] = self.combine(nodes[2 * at], nodes[2 * at + 1])

    def mark(self, args: Row) -> int:
        return self.counts.get(args, 0)

    def restore(self, args: Row, mark: int) -> None:
        if args[0] is not None:
            self.settle(args, mark)

    def value(self) -> Any:
        return self.finish_total(self.nodes[1])
