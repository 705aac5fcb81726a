"""The unit of work: what the open transaction has changed of the objects.

    ann.age = 40      dirty {ann: ("Ann", 39)}; deltas() {"persons": {(1, "Ann", 39): -1, (1, "Ann", 40): 1}}

Objects are changed in place, so reading one sees what is pending. The first change of an object saves its values
(`dirty`); rows of collections are added up as they change (`weights`); the journal records everything else that an undo must
restore. At the end, the rows of dirty objects before and after are compared: the net change of every table.

Law. Undoing the journal's entries from the last to the first, and restoring the saved values, leaves every object and every
collection as it was before the transaction. Each entry says what is there in the end, so an undo can be repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from evercurrent.data.zset import Row, ZSet
from evercurrent.objects.model.handles import Object
from evercurrent.objects.model.keys import key_patches
from evercurrent.rows.patch import Patch

if TYPE_CHECKING:
    from evercurrent.objects.model.registry import Registry

Entry = tuple[Callable[[Any, Any], object], Any, Any]


class Work:
    """The changes of one transaction; there is one `Work` for each database, empty between transactions."""

    __slots__ = ("dirty", "journal", "space", "weights")

    def __init__(self, space: Registry) -> None:
        self.space = space
        self.dirty: dict[Object, tuple[Any, ...] | None] = {}  # values before; None: the object is new
        self.weights: dict[str, dict[Row, int]] = {}
        self.journal: list[Entry] = []

    def touch(self, thing: Object) -> None:
        """Note the values of an object that is about to change."""
        if thing not in self.dirty:
            self.dirty[thing] = thing._kind.snapshot(thing)

    def bump(self, table: str, row: Row, weight: int) -> None:
        weights = self.weights.get(table)
        if weights is None:
            weights = self.weights[table] = {}
        total = weights.get(row, 0) + weight
        if total:
            weights[row] = total
        else:
            del weights[row]

    # --- the net change ------------------------------------------------------------------------------------

    def deltas(self) -> dict[str, ZSet]:
        """The net changes of the tables that somebody reads."""
        found: dict[str, dict[Row, int]] = {}
        for thing, values in self.dirty.items():
            kind = thing._kind
            gone = thing._gone
            if gone and values is None:
                continue
            for sheet in kind.read:
                old = None if values is None else sheet.before(thing.oid, values)
                new = None if gone else sheet.row(thing)
                if old != new:
                    weights = found.setdefault(sheet.table, {})
                    if old is not None:
                        weights[old] = -1
                    if new is not None:
                        weights[new] = 1
        for table, weights in self.weights.items():
            if weights and table in self.space.tables_read:
                found[table] = dict(weights)
        return {table: _zset(weights) for table, weights in found.items()}

    def delta(self, table: str) -> ZSet:
        """The net change of one table, whether anybody reads it or not."""
        found = ZSet(self.weights.get(table, {}))
        for thing, values in self.dirty.items():
            for sheet in thing._kind.sheets:
                if sheet.table == table:
                    if values is not None:
                        found.add(sheet.before(thing.oid, values), -1)
                    if not thing._gone:
                        found.add(sheet.row(thing), 1)
        return found

    # --- keys ----------------------------------------------------------------------------------------------

    def patches(self) -> list[Patch]:
        """What the declared keys will hold; `ConstraintError` if two objects have one."""
        return key_patches(self.dirty)

    # --- the end -------------------------------------------------------------------------------------------

    @property
    def is_dirty(self) -> bool:
        """Whether there is something to commit or to undo."""
        return bool(self.dirty or self.weights or self.journal)

    def undo(self) -> None:
        """Everything as it was before the transaction; new objects are gone. Idempotent, also if it was interrupted."""
        for undo, a, b in reversed(self.journal):
            undo(a, b)
        for thing, values in self.dirty.items():
            kind = thing._kind
            if values is None:
                if not thing._gone:
                    self.space.bury(thing, kind.undone)
                continue
            if thing._gone:
                self.space.revive(thing)
            kind.restore(thing, values)
            if self.space.back is not None:
                self.space.back.note(thing)
        self.clear()

    def clear(self) -> None:
        self.dirty.clear()
        self.weights.clear()
        self.journal.clear()


def _zset(weights: dict[Row, int]) -> ZSet:
    found = ZSet()
    found.weights = weights
    return found
