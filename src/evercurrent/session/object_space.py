"""What a session asks of the objects of its database, if it has classes.

A session knows tables and rows. Objects change in place, outside of it, and join its transactions:

    transaction.objects.deltas()      {"employees": ZSet({(1, "Ann"): 1})}
    session.space.at(1)               the object of the row

`objects.space` and `objects.model.work` implement this.
"""

from __future__ import annotations

from typing import Any, Protocol

from evercurrent.catalog.classes import Schema
from evercurrent.catalog.nodes import Table
from evercurrent.data.zset import ZSet
from evercurrent.rows.patch import Patch
from evercurrent.rows.store import Store


class ObjectChanges(Protocol):
    """What a transaction has changed of the objects."""

    @property
    def is_dirty(self) -> bool:
        """Whether there is something to commit or to undo."""

    def deltas(self) -> dict[str, ZSet]:
        """Returns the net changes of the tables that somebody reads, by lower-cased names."""

    def patches(self) -> list[Patch]:
        """Returns the changes of the declared keys; raises `ConstraintError` if two objects have the same key."""

    def undo(self) -> None:
        """Restores every object. Idempotent, also if it was interrupted."""

    def clear(self) -> None:
        """Forgets the changes: they are committed."""


class ObjectSpace(Protocol):
    """All objects of a database."""

    @property
    def work(self) -> ObjectChanges:
        """The changes of the open transaction; empty between transactions."""

    @property
    def identities(self) -> int:
        """The first identity that has not been given."""

    def at(self, oid: int) -> Any | None:
        """Returns the object of an identity, None if there is none."""

    def store(self, table: Table) -> Store | None:
        """Returns the store of a class's table, None if the table belongs to no class."""

    def refresh(self) -> None:
        """Compiles the writes of objects again: views or subscriptions have changed."""

    def follow(self, schema: Schema) -> None:
        """Has the classes of a schema and no others. Idempotent."""
