"""Validates the net change of a transaction, and says how the stores change by it.

Law (see `catalog.rules`): only what a change touches can violate a rule. The cost is that of the change.

What usually holds is found out for all rows together, as sets: the inserted keys are as many as the inserted rows and not
there before, the keys that are referred to are among the parent's. Only where that is not sure does `violations` say which
row violates which rule.

    inserted  orders: (12, 9, 1)    the set of keys referred to, {9}, is not among the keys of customers, {1, 2}
    error     orders: FOREIGN KEY (customer) refers to no row of customers: (12, 9, 1) [who]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evercurrent.data.zset import Row, ZSet
from evercurrent.rows.patch import Patch, Undoable, count_patch
from evercurrent.rows.row_rules import RowRules
from evercurrent.rows.store import KeyIndex, Reference, Store
from evercurrent.rows.violations import constraint_error, find_violations


class TableChange:
    """The net change of one stored table, and the patches of its store that make it."""

    __slots__ = (
        "counts",
        "deleted",
        "has_repeats",
        "indexes",
        "inserted",
        "keys_are_free",
        "patches",
        "store",
        "weights",
    )

    def __init__(self, store: Store, weights: dict[Row, int], inserted: list[Row]) -> None:
        self.store = store
        self.weights = weights
        self.inserted = inserted
        self.keys_are_free = True
        self.has_repeats = max(weights.values(), default=0) > 1
        some_deleted = len(inserted) < len(weights)
        self.deleted = deleted = [row for row, w in weights.items() if w < 0] if some_deleted else []
        primary = store.primary
        rows = (
            count_patch(store.rows, weights) if primary is None else self._claim(primary, inserted, deleted)
        )
        self.patches = patches = [rows]  # and those of other keys, as in `Store.declared`
        for index in store.keys:
            patches.append(
                self._claim(index, index.select_keyed_rows(inserted), index.select_keyed_rows(deleted))
            )
        self.counts: list[Patch] = []
        for reference in store.references:
            self.counts.append(reference.patch(weights))
        patches += self.counts
        self.indexes = [
            index.patch(store.find_appearing(weights), store.find_vanishing(weights))
            for index in store.indexes
        ]

    def _claim(self, index: KeyIndex, inserted: Sequence[Row], deleted: Sequence[Row]) -> Patch:
        """Returns the patch of a key; deleted rows make room first, so that a key can pass from one row to another."""
        key_of, rows = index.key_of, index.rows
        after = {key_of(row): row for row in inserted}
        before = {key_of(row): row for row in deleted} if deleted else {}
        free = after.keys().isdisjoint(rows.keys()) or (
            bool(deleted) and (after.keys() & rows.keys()) <= before.keys()
        )
        if not free or len(after) < len(inserted) or (self.has_repeats and any(map(self.repeats, inserted))):
            self.keys_are_free = False
        return Patch(rows, before, after)

    def repeats(self, row: Row) -> bool:
        """Returns whether the row is inserted more than once."""
        return self.weights[row] > 1


def validate(
    stores: Mapping[str, Store],
    rules: Mapping[str, RowRules],
    deltas: Mapping[str, ZSet],
    children: Mapping[str, list[tuple[Store, Reference]]],
) -> list[Undoable]:
    """Returns the patches that make the change in all stores, or raises `ConstraintError`.

    All mappings are by the lower-cased names of tables; `children` says for each table which references point to it.
    """
    changes: dict[str, TableChange] = {}
    patches: list[Undoable] = []
    satisfied = True
    for name, delta in deltas.items():
        store, weights = stores[name], delta.weights
        inserted = [row for row, weight in weights.items() if weight > 0]
        if inserted and not rules[name].are_satisfied_by(inserted):
            satisfied = False
        if store.stored:
            changes[name] = change = TableChange(store, weights, inserted)
            satisfied = satisfied and change.keys_are_free
            patches += change.patches
            patches += change.indexes
    for name, change in changes.items():
        if satisfied and change.inserted:
            satisfied = _have_parents(stores, changes, change)
        if satisfied and change.deleted and name in children:
            satisfied = _have_no_children(changes, change, children[name])
    if not satisfied:
        for violation in find_violations(stores, rules, deltas):
            raise constraint_error(violation.rule, violation.rows)
    return patches


def _have_parents(
    stores: Mapping[str, Store], changes: Mapping[str, TableChange], change: TableChange
) -> bool:
    """Returns whether every key that an inserted row refers to has a row."""
    for reference, counts in zip(change.store.references, change.counts, strict=True):
        # If nothing is deleted, the counts that change are those of the inserted rows.
        wanted = reference.keys(change.inserted) if change.deleted else counts.after.keys()
        parent = changes.get(reference.parent)
        if parent is not None:
            patch = parent.patches[reference.place]
            if any(patch.get(key) is None for key in wanted):
                return False
        else:
            index = stores[reference.parent].declared[reference.place]
            assert index is not None
            if not wanted <= index.rows.keys():
                return False
    return True


def _have_no_children(
    changes: Mapping[str, TableChange], parent: TableChange, children: list[tuple[Store, Reference]]
) -> bool:
    """Returns whether no row refers to a key that is deleted."""
    for child, reference in children:
        patch = parent.patches[reference.place]
        change = changes.get(child.table.name.lower())
        counts = reference.counts if change is None else change.counts[child.references.index(reference)]
        if any(key not in patch.after and counts.get(key) for key in patch.before):
            return False
    return True


def children_of(stores: Mapping[str, Store]) -> dict[str, list[tuple[Store, Reference]]]:
    """Returns for each table (lower-cased name) the references, of other tables and its own, that point to it."""
    result: dict[str, list[tuple[Store, Reference]]] = {}
    for store in stores.values():
        for reference in store.references:
            result.setdefault(reference.parent, []).append((store, reference))
    return result
