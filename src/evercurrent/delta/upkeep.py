"""Whether a map of numbers pays: what it saves against what it costs, in entries visited.

    r(a, b), s(b, c), t(c, d); count(*) of r join s join t; the map over s and t by b

    saves    for a change of r: the rows of s under its b, and for each the rows of t under its c; all but one
    costs    for a change of s: the rows of t under its c; for a change of t: the rows of s under its c; and the addition

A lookup visits as many entries as the fan-out of the columns that it matches, which is known of tables. Both sides are weighted
by how often each table changes. A map is taken if it saves twice what it costs, and given up when it costs more than it saves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from evercurrent.delta.analysis import Analysis
from evercurrent.delta.blocks import Source, names_of

ALL, DEFAULT, NONE = 0, 3, 99
"""Levels of maps: so many lookups must fan out for a map of numbers to take their place; at `ALL`, also of one that is matched
by several columns. At the default level, what is known of the tables decides instead, if anything is."""

UNKNOWN = 4.0
"""The fan-out of a relation of which nothing is known."""

WORTH = 2.0


class Statistics(Protocol):
    """What is known of tables."""

    def rows(self, table: str) -> float: ...

    def rate(self, table: str) -> float:
        """How often its rows change, beside the other tables."""
        ...

    def fan_out(self, table: str, fields: tuple[str, ...]) -> float:
        """How many rows have the values that a row of the table has in these fields."""
        ...


@dataclass(frozen=True, slots=True)
class Balance:
    """Entries visited for a change of the driving relation without the map, and what the map costs for each such change."""

    without: float
    upkeep: float

    def pays(self, kept: bool) -> bool:
        """Whether to keep the map, given whether it is kept already.

        >>> Balance(100, 60).pays(kept=False), Balance(100, 60).pays(kept=True), Balance(100, 6).pays(kept=False)
        (False, True, True)
        """
        return self.without - 1 >= self.upkeep * (1 if kept else WORTH)


@dataclass(frozen=True, slots=True)
class Upkeep:
    a: Analysis
    known: Statistics
    tables: set[str]

    def balance(self, driver: int, group: frozenset[int]) -> Balance:
        rate = self.rate(driver)
        without = self.count_visited(driver, group)
        costs = sum(self.rate(k) * (1 + self.count_visited(k, group - {k})) for k in group)
        return Balance(without, costs / rate)

    def rate(self, j: int) -> float:
        relation = self.a.sources[j].relation
        return self.known.rate(relation) if relation in self.tables else 1.0

    def count_visited(self, start: int, group: frozenset[int]) -> float:
        """The entries visited by looking up the sources of the group one by one for a row of `start`."""
        a = self.a
        bound = {a.classes.find(n) for n, home in a.home.items() if home == start}
        remaining = set(group)
        rows, total = 1.0, 0.0
        while remaining:
            fans = {j: self.fan_out(j, bound) for j in sorted(remaining)}
            j = min(fans, key=lambda k: fans[k])
            remaining.discard(j)
            rows *= fans[j]
            total += rows
            bound |= {a.classes.find(n) for n, home in a.home.items() if home == j}
        return total

    def fan_out(self, j: int, bound: set[str]) -> float:
        """The entries of a source that match what is bound; one, if all that is wanted of it is a sum."""
        a = self.a
        source = a.sources[j]
        own = {n for n, home in a.home.items() if home == j}
        shared = {n for n in own if any(a.home[m] != j for m in a.classes.members(n, a.home))}
        matched = {n for n in shared if a.classes.find(n) in bound}
        if shared and matched == shared and not self.is_shown(own - shared):
            return 1.0
        if source.relation not in self.tables:
            return UNKNOWN
        if not matched:
            return max(1.0, self.known.rows(source.relation))
        fields = fields_of(source, matched)
        return self.known.fan_out(source.relation, fields) if fields is not None else UNKNOWN

    def is_shown(self, names: set[str]) -> bool:
        """Whether columns are needed one by one: in the result, or in a condition over several sources."""
        wanted = names_of(*self.a.feed.columns, *self.a.feed.dependents)
        for c in self.a.conditions:
            if len(self.a.homes(c)) > 1:
                wanted |= names_of(c)
        return bool(wanted & names)


def fields_of(source: Source, names: set[str]) -> tuple[str, ...] | None:
    """The fields that columns stand for; None if one is computed."""
    by_name = {c.name: f for f, c in zip(source.fields, source.columns, strict=True)}
    return tuple(sorted(by_name[n] for n in names)) if names <= by_name.keys() else None
