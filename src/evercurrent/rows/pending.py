"""What a transaction has changed in one table so far: a Z-set laid over the committed rows.

    committed (1, 'a'); deleted (1, 'a'), inserted (1, 'b')      reads as (1, 'b')

Constraints wait for the end of the transaction, so for a while two pending rows may share a primary key; a row that is
deleted, however, must be there at that moment, in the committed rows or in the pending ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from evercurrent.catalog.nodes import Table
from evercurrent.data.zset import Row, ZSet
from evercurrent.errors import ConstraintError
from evercurrent.rows.conversion import give_row
from evercurrent.rows.store import KeyIndex, KeyOf, Store

Change = tuple[Row, int]
"""A row and by how much its multiplicity changes."""


class Pending:
    """The pending change of one table."""

    __slots__ = ("_inserted", "delta", "store")
    of_objects = False

    def __init__(self, store: Store) -> None:
        self.store = store
        self.delta = ZSet()
        # For each index that was asked, by its name: from rows to keys, and the rows that are inserted under each key.
        self._inserted: dict[str, tuple[KeyOf, dict[Any, list[Row]]]] = {}

    def count(self, row: Row) -> int:
        """How often the row is there, as far as the transaction has come."""
        return self.store.count(row) + self.delta.weights.get(row, 0)

    def change(self, changes: Sequence[Change]) -> None:
        """Makes all of these changes, in order, or none of them. (An interrupt ends the transaction.)"""
        weights, indexed = self.delta.weights, self._inserted
        stored = self.store.table.stored
        done = 0
        try:
            for row, weight in changes:
                before = weights.get(row, 0)
                after = before + weight
                if weight < 0 and after < 0 and stored and self.store.count(row) + after < 0:
                    raise missing_row(self.store.table, row)
                if after:
                    weights[row] = after
                else:
                    weights.pop(row, None)
                if indexed:
                    self._index(row, before, after)
                done += 1
        except Exception:
            self.take_back(changes[:done])
            raise

    def take_back(self, changes: Sequence[Change]) -> None:
        """Undo changes that were made."""
        for row, weight in changes:
            before = self.delta.weights.get(row, 0)
            self.delta.add(row, -weight)
            self._index(row, before, before - weight)

    def _index(self, row: Row, before: int, after: int) -> None:
        for key_of, inserted in self._inserted.values():
            if before <= 0 < after:
                inserted.setdefault(key_of(row), []).append(row)
            elif after <= 0 < before:
                inserted[key_of(row)].remove(row)

    def find(self, index: KeyIndex, key: Any) -> list[Row]:
        """The rows under a key, as far as the transaction has come."""
        weights = self.delta.weights
        committed = index.rows.get(key)
        found = [] if committed is None or weights.get(committed, 0) < 0 else [committed]
        return found + self.find_inserted(index.constraint.name, index.key_of, key) if weights else found

    def find_inserted(self, name: str, key_of: KeyOf, key: Any) -> list[Row]:
        """The rows under a key that the transaction has inserted."""
        if name not in self._inserted:
            inserted: dict[Any, list[Row]] = {}
            for row, weight in self.delta.weights.items():
                if weight > 0:
                    inserted.setdefault(key_of(row), []).append(row)
            self._inserted[name] = (key_of, inserted)
        return self._inserted[name][1].get(key, [])

    def __iter__(self) -> Iterator[Row]:
        """Every row, as often as it is there now."""
        if not self.delta:
            yield from self.store
            return
        yield from (self.store.contents() + self.delta).insertions()

    def __len__(self) -> int:
        return len(self.store) + sum(self.delta.weights.values())


def missing_row(table: Table, row: Row) -> ConstraintError:
    shown = give_row(table.fields, row)
    return ConstraintError(
        f"{table.name} has no row {shown!r} to delete",
        constraint="existing row",
        rows=[shown],
        hint="a row can be deleted as often as it is there; give all of its columns, or its key",
    )
