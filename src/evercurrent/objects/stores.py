"""The tables of classes: they keep nothing, their rows are read off the objects.

Objects hold what is pending, so the committed rows are the present ones less what the open transaction has changed.
Constraints of these tables hold by themselves (identities are never used twice, references to deleted objects are
cleared), but for the declared keys, which `keys` judges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.nodes import ForeignKey, Table
from evercurrent.data.zset import Row, ZSet
from evercurrent.errors import QueryError
from evercurrent.session.pending import Pending
from evercurrent.session.store import KeyIndex, Store

if TYPE_CHECKING:
    from evercurrent.objects.space import Space
    from evercurrent.session.pending import Change


class ObjectStore(Store):
    """The table of a class, or of a collection."""

    __slots__ = ("space",)

    def __init__(self, space: Space, table: Table) -> None:
        super().__init__(table, lambda name: None)
        self.space = space
        self.stored = False  # nothing for patches to change
        self.references = []

    def renewed(self, table: Table, parents: Any) -> Store:
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
        if self.space.session.committing is not None or not (work.dirty or work.weights):
            return rows  # what is being committed is what there is
        return rows - work.delta(self.key)

    def __iter__(self) -> Iterator[Row]:
        return self.contents().inserted()

    def __len__(self) -> int:
        return sum(w for _, w in self.contents().items())

    def count(self, row: Row) -> int:
        return self.contents().weights.get(row, 0)

    def index_at(self, columns: Any) -> KeyIndex | None:
        """An index of a declared key, made for this question."""
        found = super().index_at(columns)
        return None if found is None else self.filled(found)

    def filled(self, index: KeyIndex) -> KeyIndex:
        rows = {index.key_of(row): row for row in self}
        return KeyIndex(index.constraint, index.positions, index.columns, index.key_of, rows)

    def pending(self) -> Pending:
        return ObjectPending(self)

    def may_refer(self, reference: ForeignKey) -> bool:
        return True


class ObjectPending(Pending):
    """What the open transaction has changed in the table of a class; a change of rows becomes one of objects."""

    __slots__ = ()
    of_objects = True
    store: ObjectStore

    def __init__(self, store: ObjectStore) -> None:
        super().__init__(store)
        self.delta = store.space.work.delta(store.key)

    def change(self, changes: Sequence[Change]) -> None:
        from evercurrent.objects.rows import change_rows

        change_rows(self.store.space, self.store.table, changes)
        self.delta = self.store.space.work.delta(self.store.key)

    def take_back(self, changes: Sequence[Change]) -> None:
        raise QueryError(f"{self.store.table.name}: changes of objects are taken back with their transaction")

    def find(self, index: KeyIndex, key: Any) -> list[Row]:
        return [row for row in self if index.key_of(row) == key]

    def __iter__(self) -> Iterator[Row]:
        return self.store.current().inserted()
