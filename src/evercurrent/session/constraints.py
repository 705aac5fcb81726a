"""Whether the net change of a transaction may stand.

Law. The committed rows satisfy every constraint, so after a change only what it touches can break one: the inserted rows
(NOT NULL, lengths, CHECK), the keys of inserted rows (PRIMARY KEY, UNIQUE), the references of inserted child rows and
the keys of deleted parent rows (FOREIGN KEY). Everything is judged on the net change, at the end, so parents and
children may come in any order. The cost is that of the change.

`examine` gives the patches that carry the change into the stores, or raises `ConstraintError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from evercurrent.catalog.nodes import Check, Table, Unique
from evercurrent.data.types import String
from evercurrent.data.zset import Row, ZSet
from evercurrent.errors import ConstraintError
from evercurrent.session.patch import ABSENT, Patch
from evercurrent.session.rows import give_rows
from evercurrent.session.store import KeyIndex, Reference, Store, has_null, positions

SAMPLE = 10
"""How many violating rows an error carries."""

Condition = Callable[[Row], Any]


class RowRules:
    """What every row of a table must satisfy by itself."""

    def __init__(self, table: Table, condition_of: Callable[[Table, Check], Condition]) -> None:
        self.table = table
        keys = table.primary_key.columns if table.primary_key else ()
        required = {i for i, c in enumerate(table.columns) if not c.nullable} | set(positions(table, keys))
        self.required = tuple(sorted(required))
        self.lengths = tuple(
            (i, c.type.length)
            for i, c in enumerate(table.columns)
            if isinstance(c.type, String) and c.type.length is not None
        )
        self.checks = tuple((check, condition_of(table, check)) for check in table.checks)

    def examine(self, rows: Iterable[Row]) -> None:
        rows = list(rows)
        for i in self.required:
            if bad := [row for row in rows if row[i] is None]:
                name = self.table.columns[i].name
                raise violation(self.table, f"{name} NOT NULL", f"{name} must not be NULL", bad)
        for i, length in self.lengths:
            if bad := [row for row in rows if row[i] is not None and len(row[i]) > length]:
                column = self.table.columns[i]
                raise violation(
                    self.table, f"{column.name} {column.type}", f"{column.name} is longer than {length}", bad
                )
        for check, condition in self.checks:
            # Only FALSE breaks a check; NULL does not.
            if bad := [row for row in rows if condition(row) is False]:
                raise violation(self.table, check.name, f"CHECK ({check.text}) is false", bad)


class TablePatches:
    """The patches of one table's store, made together."""

    __slots__ = ("keys", "references", "rows", "store")

    def __init__(self, store: Store) -> None:
        self.store = store
        self.rows = Patch(store.rows)
        self.keys = [(index, Patch(index.rows)) for index in store.keys]
        self.references = [(reference, Patch(reference.counts)) for reference in store.references]

    def all(self) -> list[Patch]:
        return [self.rows, *(p for _, p in self.keys), *(p for _, p in self.references)]

    def key_patch(self, key: Unique) -> Patch:
        """The patch of the index of a declared key."""
        primary = self.store.primary
        if primary is not None and primary.constraint.columns == key.columns:
            return self.rows
        return next(p for index, p in self.keys if index.constraint.columns == key.columns)


def examine(
    stores: Mapping[str, Store],
    rules: Mapping[str, RowRules],
    deltas: Mapping[str, ZSet],
    children: Mapping[str, list[tuple[Store, Reference]]],
) -> list[Patch]:
    """The patches that make the change in all stores.

    All mappings are by the lower-cased names of tables; `children` says for each table who refers to it.
    """
    patches: dict[str, TablePatches] = {}
    for name, delta in deltas.items():
        store = stores[name]
        rules[name].examine(row for row, weight in delta.items() if weight > 0)
        if store.table.stored:
            patches[name] = _patch(store, delta)
    for name, delta in deltas.items():
        if name in patches:
            _examine_references(stores, patches, name, delta)
            _examine_parents(patches, children.get(name, []), name)
    return [patch for table in patches.values() for patch in table.all()]


def _patch(store: Store, delta: ZSet) -> TablePatches:
    """Deletions first, so that a key may pass from one row to another."""
    result = TablePatches(store)
    for row, weight in delta.items():
        if weight < 0:
            _remove(result, row, weight)
    conflicts: dict[str, tuple[KeyIndex, list[Row]]] = {}
    for row, weight in delta.items():
        if weight > 0:
            _insert(result, row, weight, conflicts)
    for index, rows in conflicts.values():
        kind = "PRIMARY KEY" if index is store.primary else "UNIQUE"
        columns = ", ".join(index.constraint.columns)
        raise violation(
            store.table, index.constraint.name, f"{kind} ({columns}) is there more than once", rows
        )
    return result


def _remove(patches: TablePatches, row: Row, weight: int) -> None:
    primary = patches.store.primary
    if primary is None:
        patches.rows.add(row, weight)
    else:
        patches.rows.put(primary.key_of(row), ABSENT)
    for index, patch in patches.keys:
        patch.put(index.key_of(row), ABSENT)
    for reference, patch in patches.references:
        key = reference.key_of(row)
        if not reference.has_null(key):
            patch.add(key, weight)


def _insert(
    patches: TablePatches, row: Row, weight: int, conflicts: dict[str, tuple[KeyIndex, list[Row]]]
) -> None:
    primary = patches.store.primary
    if primary is None:
        patches.rows.add(row, weight)
    else:
        _claim(patches.rows, primary, row, weight, conflicts)
    for index, patch in patches.keys:
        if not index.has_null(index.key_of(row)):
            _claim(patch, index, row, weight, conflicts)
    for reference, patch in patches.references:
        key = reference.key_of(row)
        if not reference.has_null(key):
            patch.add(key, weight)


def _claim(
    patch: Patch, index: KeyIndex, row: Row, weight: int, conflicts: dict[str, tuple[KeyIndex, list[Row]]]
) -> None:
    key = index.key_of(row)
    holder = patch.get(key)
    if holder is ABSENT and weight == 1:
        patch.put(key, row)
        return
    _, rows = conflicts.setdefault(index.constraint.name, (index, []))
    if holder is not ABSENT and holder not in rows:
        rows.append(holder)
    rows.append(row)


def _examine_references(
    stores: Mapping[str, Store], patches: Mapping[str, TablePatches], name: str, delta: ZSet
) -> None:
    """Every inserted child has its parent."""
    store = stores[name]
    for reference in store.references:
        constraint = reference.constraint
        patched = patches.get(reference.parent)
        patch = patched.key_patch(reference.target) if patched is not None else None
        index = stores[reference.parent].index_of(reference.target)
        bad = []
        for row, weight in delta.items():
            if weight > 0:
                value = reference.key_of(row)
                if has_null(value, reference.wide):
                    continue
                there = patch.get(value) is not ABSENT if patch is not None else value in index.rows
                if not there:
                    bad.append(row)
        if bad:
            raise violation(
                store.table,
                constraint.name,
                f"FOREIGN KEY ({', '.join(constraint.columns)}) refers to no row of {constraint.parent}",
                bad,
            )


def _examine_parents(
    patches: Mapping[str, TablePatches], children: list[tuple[Store, Reference]], name: str
) -> None:
    """No deleted parent has children left."""
    parent = patches[name]
    for child, reference in children:
        constraint = reference.constraint
        patch = parent.key_patch(reference.target)
        counts = _count_patch(patches.get(child.table.name.lower()), reference)
        bad = []
        for value, after in patch.after.items():
            if after is ABSENT and patch.before[value] is not ABSENT:
                left = counts.get(value, 0) if counts is not None else reference.counts.get(value, 0)
                if left:
                    bad.append(patch.before[value])
        if bad:
            raise violation(
                parent.store.table,
                constraint.name,
                f"rows of {child.table.name} still refer to it by FOREIGN KEY ({', '.join(constraint.columns)})",
                bad,
            )


def _count_patch(patches: TablePatches | None, reference: Reference) -> Patch | None:
    if patches is None:
        return None
    return next(patch for other, patch in patches.references if other is reference)


def violation(table: Table, constraint: str, what: str, rows: list[Row]) -> ConstraintError:
    """The error, with a sample of the violating rows as users see them."""
    shown = give_rows(table.fields, rows[:SAMPLE])
    more = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
    return ConstraintError(
        f"{table.name}: {what}: {shown[0]!r}{more} [{constraint}]",
        constraint=constraint,
        rows=shown,
        count=len(rows),
        hint="the transaction was undone",
    )


def children_of(stores: Mapping[str, Store]) -> dict[str, list[tuple[Store, Reference]]]:
    """For each table (lower-cased name), the references of other tables and its own that point to it."""
    result: dict[str, list[tuple[Store, Reference]]] = {}
    for store in stores.values():
        for reference in store.references:
            result.setdefault(reference.parent, []).append((store, reference))
    return result
