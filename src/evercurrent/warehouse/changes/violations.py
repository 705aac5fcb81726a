"""Which changes of a batch break a constraint, and what is left when they are set aside.

A *unit* is what is set aside together: all changes of the batch under one primary key (an update that is refused must not
become a deletion), or, in a table without one, a single row. Law:

    inserted rows that are NULL, too long or fail a CHECK where they must not      their units
    inserted rows that want a key which a row that stays has, or which several
    of them want                                                                   the units of all of them
    inserted rows whose parent is not there, deleted rows that have children left  their units
    deletions of rows that are not there                                           their units

Nothing is chosen among rows that are in each other's way, so the outcome does not depend on any order. What is set aside
may have been somebody's parent: so it is asked again, until all that is left may stand. Each time units go, so it ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evercurrent.data.zset import Row, ZSet
from evercurrent.rows.constraints import children_of
from evercurrent.rows.row_rules import RowRules
from evercurrent.rows.store import KeyIndex, Store

MISSING = "existing row"
"""The constraint that what is deleted was there."""


@dataclass(frozen=True, slots=True)
class Blame:
    """A row of a batch that breaks a constraint."""

    table: str  # lower-cased
    row: Row
    constraint: str
    reason: str


@dataclass(frozen=True, slots=True)
class Aside:
    """One change that is set aside; the weight says how often, and whether it was to come or to go."""

    table: str  # lower-cased
    row: Row
    weight: int
    constraint: str
    reason: str


def judge(
    stores: Mapping[str, Store], rules: Mapping[str, RowRules], deltas: Mapping[str, ZSet]
) -> tuple[dict[str, ZSet], list[Aside]]:
    """What may stand, and what is set aside. `stores` hold all that the constraints of the deltas look at."""
    left = {name: ZSet(delta.items()) for name, delta in deltas.items()}
    gone: list[Aside] = []
    while found := list(blamed(stores, rules, left)):
        gone += set_aside(stores, left, found)
    return {name: delta for name, delta in left.items() if delta}, gone


def set_aside(
    stores: Mapping[str, Store], left: Mapping[str, ZSet], found: Iterable[Blame]
) -> Iterator[Aside]:
    """Take the units of blamed rows out of the deltas. Of several reasons the first is told."""
    why: dict[str, dict[Any, Blame]] = {}
    for blame in found:
        why.setdefault(blame.table, {}).setdefault(unit_of(stores[blame.table], blame.row), blame)
    for table, units in why.items():
        for row, weight in list(left[table].items()):
            known = units.get(unit_of(stores[table], row))
            if known is not None:
                left[table].add(row, -weight)
                yield Aside(table, row, weight, known.constraint, known.reason)


def unit_of(store: Store, row: Row) -> Any:
    return row if store.primary is None else store.primary.key_of(row)


def blamed(
    stores: Mapping[str, Store], rules: Mapping[str, RowRules], deltas: Mapping[str, ZSet]
) -> Iterator[Blame]:
    """All rows of the deltas that break a constraint."""
    children = children_of(stores)
    for name, delta in deltas.items():
        store = stores[name]
        inserted = [row for row, w in delta.items() if w > 0]
        for constraint, what, bad in rules[name].broken(inserted):
            yield from (Blame(name, row, constraint, what) for row in bad)
        for row, w in delta.items():
            if w < 0 and store.count(row) + w < 0:
                yield Blame(name, row, MISSING, "there is no such row to delete")
        for place, index in enumerate(store.declared):
            if index is not None:
                yield from clashes(store, delta, index, name, "UNIQUE" if place else "PRIMARY KEY")
        yield from orphans(stores, deltas, name)
        for child, reference in children.get(name, ()):
            index = store.declared[reference.place]
            assert index is not None
            holders = after(index, delta)
            counts = dict(reference.counts)
            for row, w in deltas.get(child.table.name.lower(), ZSet()).items():
                key = reference.key_of(row)
                counts[key] = counts.get(key, 0) + w
            columns = ", ".join(reference.constraint.columns)
            what = f"rows of {child.table.name} still refer to it by FOREIGN KEY ({columns})"
            for row, w in delta.items():
                key = index.key_of(row)
                if w < 0 and not holders(key) and counts.get(key, 0) > 0:
                    yield Blame(name, row, reference.constraint.name, what)


def clashes(store: Store, delta: ZSet, index: KeyIndex, name: str, kind: str) -> Iterator[Blame]:
    """Inserted rows that want a key which they cannot have."""
    wanted: dict[Any, int] = {}
    rows: list[tuple[Any, Row]] = []
    gone: set[Row] = set()
    for row, w in delta.items():
        key = index.key_of(row)
        if w < 0:
            gone.add(row)
        elif not index.has_null(key):
            wanted[key] = wanted.get(key, 0) + w
            rows.append((key, row))
    what = f"{kind} ({', '.join(index.constraint.columns)}) occurs more than once"
    for key, row in rows:
        holder = index.rows.get(key)
        if wanted[key] > 1 or (holder is not None and holder not in gone):
            yield Blame(name, row, index.constraint.name, what)


def orphans(stores: Mapping[str, Store], deltas: Mapping[str, ZSet], name: str) -> Iterator[Blame]:
    """Inserted rows whose parent will not be there."""
    for reference in stores[name].references:
        index = stores[reference.parent].declared[reference.place]
        assert index is not None
        holders = after(index, deltas.get(reference.parent, ZSet()))
        constraint = reference.constraint
        what = f"FOREIGN KEY ({', '.join(constraint.columns)}) refers to no row of {constraint.parent}"
        for row, w in deltas[name].items():
            key = reference.key_of(row)
            if w > 0 and not reference.has_null(key) and not holders(key):
                yield Blame(name, row, constraint.name, what)


def after(index: KeyIndex, delta: ZSet) -> Any:
    """Whether a row will have a key, as a function of the key."""
    come = {index.key_of(row) for row, w in delta.items() if w > 0}
    gone = {row for row, w in delta.items() if w < 0}

    def held(key: Any) -> bool:
        holder = index.rows.get(key)
        return key in come or (holder is not None and holder not in gone)

    return held
