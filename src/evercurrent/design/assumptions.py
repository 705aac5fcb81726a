"""Checks a transaction against what the program assumes of parents and children.

A program may assume that the rows of a parent do not change in certain columns while rows of a child refer to them
(`delta.program.Assumption`). Foreign keys already exclude that a parent is inserted late or deleted early. What is left are
parent rows that a transaction *replaces*: it deletes one and inserts another under the same key.

    o refers to c, l refers to o         the program assumes (o, c) in c.name and (l, o) in o.cid

    c.name changes                       breaks (o, c), if a row of o refers to it all the time
    o.junk changes                       breaks nothing: the row of o is replaced by one that is equal where it matters
    o.junk and c.name change             breaks (o, c): the row of l stays, and shows c.name through that row of o

Law. An engine deletes children before parents and inserts parents before children. A replaced parent is then missing for a
while, and so are all its children, unless one of them stays. So for each replaced parent row one of these holds:

  no child stays         It is deleted and inserted like any other row. Its key is *moving*: children that the same transaction
                         replaces must be deleted before it and inserted after it.
  a child stays          The row is equal in the columns of the assumption, and no parent of its own is moving. The engine must
                         replace it at one moment (`together`), or a lookup between the two moments would miss it.
  neither                The assumption is broken.

A row that is equal in those columns, and of which no parent is moving, is always replaced at one moment: whether a child stays
need not be known then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evercurrent.catalog.nodes import ForeignKey
from evercurrent.catalog.rules import child_columns, parent_key, positions
from evercurrent.data.zset import Row, ZSet
from evercurrent.delta.program import Assumption
from evercurrent.errors import UnsupportedError
from evercurrent.rows.store import KeyOf, Reference, Store, key_function

Pair = tuple[str, str]
"""The names of a child and its parent."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The pairs whose assumption a transaction breaks, and by table the part of its delta that is applied at one moment."""

    broken: frozenset[Pair] = frozenset()
    together: Mapping[str, Mapping[Row, int]] = field(default_factory=dict)


HARMLESS = Verdict()


def examine_parents(
    assumptions: Iterable[Assumption], deltas: Mapping[str, ZSet], stores: Mapping[str, Store]
) -> Verdict:
    """Checks the net change against the assumptions; `deltas` and `stores` are by lower-cased names."""
    replacing = {name for name, delta in deltas.items() if _has_both_signs(delta)}
    if not any(a.parent.lower() in replacing for a in assumptions):
        return HARMLESS
    return _Examination(tuple(assumptions), deltas, stores).verdict(replacing)


def _has_both_signs(delta: ZSet) -> bool:
    weights = delta.weights.values()
    return bool(weights) and min(weights) < 0 < max(weights)


@dataclass(frozen=True, slots=True, eq=False)
class _Link:
    """A foreign key by which the child of an assumption refers to the parent."""

    assumption: Assumption
    constraint: ForeignKey
    watched: tuple[int, ...]  # the positions of the assumption's columns in the parent
    parent_key: KeyOf
    child_key: KeyOf

    @property
    def pair(self) -> Pair:
        return self.assumption.child, self.assumption.parent


class _Examination:
    """One transaction under examination. What is found of a table is kept for its children."""

    def __init__(
        self, assumptions: tuple[Assumption, ...], deltas: Mapping[str, ZSet], stores: Mapping[str, Store]
    ) -> None:
        self.deltas, self.stores = deltas, stores
        self.links = [link for a in assumptions for link in self._links(a)]
        self.broken: set[Pair] = set()
        self.together: dict[str, dict[Row, int]] = {}
        self._steady: dict[_Link, set[Any]] = {}  # the keys of the rows that are replaced at one moment
        self._moving: dict[_Link, set[Any]] = {}
        self._deleted: dict[_Link, dict[Any, int]] = {}

    def _links(self, assumption: Assumption) -> Iterator[_Link]:
        if assumption.parent.lower() not in self.deltas:
            return
        parent, child = (
            self.stores[assumption.parent.lower()].table,
            self.stores[assumption.child.lower()].table,
        )
        for constraint in child.foreign_keys:
            if constraint.parent.lower() == assumption.parent.lower():
                key = parent_key(parent, constraint)
                if key is not None:
                    yield _Link(
                        assumption,
                        constraint,
                        positions(parent, assumption.columns),
                        key_function(parent, key.columns),
                        key_function(child, child_columns(key, constraint)),
                    )

    def verdict(self, tables: Iterable[str]) -> Verdict:
        for link in self.links:
            if link.assumption.parent.lower() in tables:
                self.steady(link)
        named = {self.stores[name].table.name: rows for name, rows in self.together.items() if rows}
        return Verdict(frozenset(self.broken), named)

    def steady(self, link: _Link) -> set[Any]:
        """The keys of the parent rows that are replaced at one moment. Notes those rows, and what is broken."""
        found = self._steady.get(link)
        if found is None:
            found = self._steady[link] = set()
            name = link.assumption.parent.lower()
            own = [up for up in self.links if up.assumption.child.lower() == name]
            rows = self.together.setdefault(name, {})
            delta = self.deltas[name]
            for key, old, new in find_replaced_rows(delta, link.parent_key):
                if any(old[i] != new[i] for i in link.watched):
                    if self.stays(link, key):
                        self.broken.add(link.pair)
                    continue
                above = [up for up in own if not self.unsteady(up).isdisjoint(map(up.child_key, (old, new)))]
                if not above:
                    found.add(key)
                    rows[old], rows[new] = delta.weights[old], delta.weights[new]
                elif self.stays(link, key):
                    self.broken.update(up.pair for up in above)
        return found

    def unsteady(self, link: _Link) -> set[Any]:
        """The keys of the parent's changed rows that are not replaced at one moment."""
        found = self._moving.get(link)
        if found is None:
            delta = self.deltas[link.assumption.parent.lower()]
            found = self._moving[link] = set(map(link.parent_key, delta.weights)) - self.steady(link)
        return found

    def stays(self, link: _Link, key: Any) -> bool:
        """Whether rows that referred to the key before the transaction do so all through it."""
        child = self.stores[link.assumption.child.lower()]
        if child.may_refer(link.constraint):
            return True
        reference = next((r for r in child.references if r.constraint == link.constraint), None)
        if reference is None:
            raise _unknown(link.assumption)
        return reference.counts.get(key, 0) > self._count_deleted(link, reference).get(key, 0)

    def _count_deleted(self, link: _Link, reference: Reference) -> dict[Any, int]:
        """By the key that they referred to, how many rows of the child are deleted."""
        found = self._deleted.get(link)
        if found is None:
            found = self._deleted[link] = {}
            delta = self.deltas.get(link.assumption.child.lower())
            for row, weight in delta.items() if delta is not None else ():
                if weight < 0:
                    key = reference.key_of(row)
                    found[key] = found.get(key, 0) - weight
        return found


def find_replaced_rows(delta: ZSet, key_of: KeyOf) -> Iterator[tuple[Any, Row, Row]]:
    """Every key under which one row is deleted and another inserted, with both rows."""
    deleted: dict[Any, Row] = {key_of(row): row for row, weight in delta.items() if weight < 0}
    for row, weight in delta.items():
        if weight > 0 and (old := deleted.get(key := key_of(row))) is not None:
            yield key, old, row


def _unknown(assumption: Assumption) -> UnsupportedError:
    parent, child = assumption.parent, assumption.child
    return UnsupportedError(
        f"{parent} was declared to change only while no row of {child} refers to it, "
        f"and {child} or {parent} is not stored, so this cannot be known",
        hint=f"make both tables stored, or declare {child} without the FOREIGN KEY",
    )
