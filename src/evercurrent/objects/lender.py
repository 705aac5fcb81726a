"""Lends the rows of objects to the engine, which then need not keep them (see `engine.live.borrowed_states`).

Lender(space).lend("Employees")      objects by identity, and the slot of each column
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evercurrent.data.types import Reference, Type
from evercurrent.data.zset import Row
from evercurrent.engine.live.borrowed_states import Lent
from evercurrent.objects.model.kinds import Field, Kind
from evercurrent.objects.model.values import is_plain

if TYPE_CHECKING:
    from evercurrent.objects.model.registry import Registry


class Lender:
    """Lends the tables of classes: an object is found by its identity, and its slots hold the columns."""

    def __init__(self, space: Registry) -> None:
        self.space = space

    def lend(self, table: str) -> Lent | None:
        key = table.lower()
        kind = next(
            (k for k, s in self.space.sheets.get(key, ()) if k.declared.relation.lower() == key), None
        )
        if kind is None:
            return None
        fields = next(s.fields for s in kind.sheets if s.table == key)
        return Lent(
            self.space.live,
            ("oid", *map(_slot, fields)),
            frozenset(i for i, f in enumerate(fields, 1) if isinstance(f.type, Reference)),
            self._kin(kind),
            lambda t: self._is_key(kind, t),
            lambda: self._before(key),
        )

    def _kin(self, kind: Kind) -> frozenset[str]:
        """The tables of the classes whose objects can be of this class."""
        related = [k for k in self.space.kinds.values() if kind.name in k.ancestors]
        return frozenset(c.relation for k in related for c in k.lineage)

    def _is_key(self, kind: Kind, t: Type) -> bool:
        if not isinstance(t, Reference):
            return False
        target = self.space.kinds.get(t.target)
        return target is not None and kind.name in target.ancestors

    def _before(self, table: str) -> dict[Any, Row | None]:
        """The rows of objects that the open transaction has changed, as they were."""
        found: dict[Any, Row | None] = {}
        for thing, values in self.space.work.dirty.items():
            for sheet in thing._kind.sheets:
                if sheet.table == table:
                    found[thing.oid] = None if values is None else sheet.before(thing.oid, values)
        return found


def _slot(f: Field) -> str | None:
    """The slot of a column that holds what stands in the row, or the object that the row refers to."""
    held = not f.many and (is_plain(f.type) or isinstance(f.type, Reference))
    return f"_{f.position}" if held else None
