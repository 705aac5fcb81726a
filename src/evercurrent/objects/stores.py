"""The tables of classes: they keep nothing, their rows are read off the objects.

    db.table("Employees").rows()      [(1, 'Ann', 40)], while the object is the only copy

Objects hold what is pending, so the committed rows are the present ones minus what the open transaction has changed.
The tables satisfy their constraints by construction (identities are never used twice, references to deleted objects are
cleared), except for the declared keys, which `model.keys` validates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.nodes import ForeignKey, Table
from evercurrent.data.zset import Row, ZSet
from evercurrent.errors import QueryError
from evercurrent.objects.rows import change_rows
from evercurrent.rows.pending import Pending
from evercurrent.rows.store import KeyIndex, Store

if TYPE_CHECKING:
    from evercurrent.objects.model.registry import Registry
    from evercurrent.rows.pending import Change


class ObjectStore(Store):
    """The table of a class, or of a collection."""

    __slots__ = ("space",)

    def __init__(self, space: Registry, table: Table) -> None:
        super().__init__(table, lambda name: None)
        self.space = space
        self.stored = False  # nothing for patches to change
        self.references = []
        for index in self.declared:
            if index is not None:
                index.rows = ByKey(self, index)  # type: ignore[assignment]

    def with_foreign_keys(self, table: Table, parents: Any) -> Store:
        return ObjectStore(self.space, table)

    @property
    def key(self) -> str:
        return self.table.name.lower()

    def current(self) -> ZSet:
        """The rows as they are, changes of the open transaction included."""
        return self.space.rows(self.key)

    def contents(self) -> ZSet:
        """The committed rows."""
        rows = self.current()
        work = self.space.work
        if self.space.is_committing or not (work.dirty or work.weights):
            return rows  # what is being committed is what there is
        return rows - work.delta(self.key)

    def __iter__(self) -> Iterator[Row]:
        return self.contents().insertions()

    def __len__(self) -> int:
        return sum(w for _, w in self.contents().items())

    def count(self, row: Row) -> int:
        return self.contents().weights.get(row, 0)

    def pending(self) -> Pending:
        return ObjectPending(self)

    def may_refer(self, reference: ForeignKey) -> bool:
        return True


class ByKey(Mapping[Any, Row]):
    """The committed rows by a declared key, found when they are asked for: one by its identity at once, others by looking."""

    def __init__(self, store: ObjectStore, index: KeyIndex) -> None:
        self.store, self.index = store, index

    def __getitem__(self, key: Any) -> Row:
        found = self._of_identity(key) if self.index is self.store.primary else None
        if found is not None:
            return found
        return self._all()[key]

    def _of_identity(self, oid: Any) -> Row | None:
        space = self.store.space
        thing = space.at(oid) if isinstance(oid, int) else None
        if thing is None or thing in space.work.dirty:
            return None
        return next((s.row(thing) for s in thing._kind.sheets if s.table == self.store.key), None)

    def _all(self) -> dict[Any, Row]:
        keyed = ((self.index.key_of(row), row) for row in self.store)
        return {key: row for key, row in keyed if not self.index.has_null(key)}

    def __iter__(self) -> Iterator[Any]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


class ObjectPending(Pending):
    """What the open transaction has changed in the table of a class; a change of rows becomes one of objects."""

    __slots__ = ()
    of_objects = True
    store: ObjectStore

    def __init__(self, store: ObjectStore) -> None:
        super().__init__(store)
        self.delta = store.space.work.delta(store.key)

    def change(self, changes: Sequence[Change]) -> None:
        change_rows(self.store.space, self.store.table, changes)
        self.delta = self.store.space.work.delta(self.store.key)

    def take_back(self, changes: Sequence[Change]) -> None:
        raise QueryError(
            f"{self.store.table.name}: a change of an object can be undone only with its transaction"
        )

    def find(self, index: KeyIndex, key: Any) -> list[Row]:
        return [row for row in self if index.key_of(row) == key]

    def __iter__(self) -> Iterator[Row]:
        return self.store.current().insertions()
