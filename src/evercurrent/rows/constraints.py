"""Whether the net change of a transaction may stand.

Law. The committed rows satisfy every constraint, so after a change only what it touches can break one: the inserted rows
(NOT NULL, lengths, CHECK), the keys of inserted rows (PRIMARY KEY, UNIQUE), the references of inserted child rows and
the keys of deleted parent rows (FOREIGN KEY). Everything is judged on the net change, at the end, so parents and
children may come in any order. The cost is that of the change.

Keys are judged all together, as sets: the keys that come must be as many as the rows and not there before, the keys that
are referred to must be among the parent's. Only when that fails is it asked which rows are to blame.

`examine` gives the patches that carry the change into the stores, or raises `ConstraintError`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evercurrent.data.zset import Row, ZSet
from evercurrent.errors import ConstraintError
from evercurrent.rows.patch import Patch, count_patch
from evercurrent.rows.row_rules import RowRules, violation
from evercurrent.rows.store import KeyIndex, Reference, Store


class TableChange:
    """The net change of one stored table, and the patches of its store that make it."""

    __slots__ = ("counts", "deleted", "inserted", "patches", "repeated", "store", "weights")

    def __init__(self, store: Store, weights: dict[Row, int], inserted: list[Row]) -> None:
        """Two rows under one key: `ConstraintError`."""
        self.store = store
        self.weights = weights
        self.inserted = inserted
        self.repeated = max(weights.values()) > 1
        some_go = len(inserted) < len(weights)
        self.deleted = deleted = [row for row, weight in weights.items() if weight < 0] if some_go else []
        primary = store.primary
        rows = (
            count_patch(store.rows, weights) if primary is None else self._claim(primary, inserted, deleted)
        )
        self.patches = patches = [rows]  # and those of other keys, as in `Store.declared`
        for index in store.keys:
            patches.append(self._claim(index, index.keyed_rows(inserted), index.keyed_rows(deleted)))
        self.counts: list[Patch] = []
        for reference in store.references:
            self.counts.append(reference.patch(weights))
        patches += self.counts

    def _claim(self, index: KeyIndex, inserted: Sequence[Row], deleted: Sequence[Row]) -> Patch:
        """The patch of a key; what is deleted makes room first, so that a key may pass from one row to another."""
        key_of, rows = index.key_of, index.rows
        after = {key_of(row): row for row in inserted}
        before = {key_of(row): row for row in deleted} if deleted else {}
        free = after.keys().isdisjoint(rows.keys()) or (
            bool(deleted) and (after.keys() & rows.keys()) <= before.keys()
        )
        if free and len(after) == len(inserted) and not (self.repeated and any(map(self.repeats, inserted))):
            return Patch(rows, before, after)
        raise self._clash(index, inserted, before)

    def repeats(self, row: Row) -> bool:
        """Whether the row comes more than once."""
        return self.weights[row] > 1

    def _clash(self, index: KeyIndex, inserted: Sequence[Row], freed: Mapping[Any, Row]) -> ConstraintError:
        """The error: all rows that want a key which another one has."""
        claimed: dict[Any, Row] = {}
        bad: list[Row] = []
        for row in inserted:
            key = index.key_of(row)
            holder = claimed.get(key)
            if holder is None and key not in freed:
                holder = index.rows.get(key)
            if holder is None and self.weights[row] == 1:
                claimed[key] = row
                continue
            if holder is not None and holder not in bad:
                bad.append(holder)
            bad.append(row)
        kind = "PRIMARY KEY" if index is self.store.primary else "UNIQUE"
        what = f"{kind} ({', '.join(index.constraint.columns)}) occurs more than once"
        return violation(self.store.table, index.constraint.name, what, bad)


def examine(
    stores: Mapping[str, Store],
    rules: Mapping[str, RowRules],
    deltas: Mapping[str, ZSet],
    children: Mapping[str, list[tuple[Store, Reference]]],
) -> list[Patch]:
    """The patches that make the change in all stores.

    All mappings are by the lower-cased names of tables; `children` says for each table who refers to it.
    """
    changes: dict[str, TableChange] = {}
    patches: list[Patch] = []
    for name, delta in deltas.items():
        store, weights = stores[name], delta.weights
        inserted = [row for row, weight in weights.items() if weight > 0]
        if inserted:
            rules[name].examine(inserted)
        if store.stored:
            changes[name] = change = TableChange(store, weights, inserted)
            patches += change.patches
    for name, change in changes.items():
        if change.inserted:
            _examine_references(stores, changes, change)
        if change.deleted and name in children:
            _examine_parents(changes, change, children[name])
    return patches


def _examine_references(
    stores: Mapping[str, Store], changes: Mapping[str, TableChange], change: TableChange
) -> None:
    """Every inserted child has its parent."""
    for reference, counts in zip(change.store.references, change.counts, strict=True):
        # If nothing goes, the counts that change are those of the inserted rows.
        wanted = reference.keys(change.inserted) if change.deleted else counts.after.keys()
        parent = changes.get(reference.parent)
        if parent is not None:
            patch = parent.patches[reference.place]
            missing = {key for key in wanted if patch.get(key) is None}
        else:
            index = stores[reference.parent].declared[reference.place]
            assert index is not None
            if wanted <= index.rows.keys():
                continue
            missing = {key for key in wanted if key not in index.rows}
        if missing:
            constraint = reference.constraint
            raise violation(
                change.store.table,
                constraint.name,
                f"FOREIGN KEY ({', '.join(constraint.columns)}) refers to no row of {constraint.parent}",
                [row for row in change.inserted if reference.key_of(row) in missing],
            )


def _examine_parents(
    changes: Mapping[str, TableChange], parent: TableChange, children: list[tuple[Store, Reference]]
) -> None:
    """No deleted parent has children left."""
    for child, reference in children:
        constraint = reference.constraint
        patch = parent.patches[reference.place]
        change = changes.get(child.table.name.lower())
        counts = reference.counts if change is None else change.counts[child.references.index(reference)]
        bad = [row for key, row in patch.before.items() if key not in patch.after and counts.get(key)]
        if bad:
            raise violation(
                parent.store.table,
                constraint.name,
                f"rows of {child.table.name} still refer to it by FOREIGN KEY ({', '.join(constraint.columns)})",
                bad,
            )


def children_of(stores: Mapping[str, Store]) -> dict[str, list[tuple[Store, Reference]]]:
    """For each table (lower-cased name), the references of other tables and its own that point to it."""
    result: dict[str, list[tuple[Store, Reference]]] = {}
    for store in stores.values():
        for reference in store.references:
            result.setdefault(reference.parent, []).append((store, reference))
    return result
