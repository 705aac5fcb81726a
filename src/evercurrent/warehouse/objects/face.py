"""What a database on Spark offers for objects: the same methods as a database in process.

    db.odl("class Person (extent Persons) { attribute string name; };")        one version
    ann = db.new("Person", name="Ann"); len(db.extent("Persons"))              1; one version more
    ann.name = "Anna"                                                          one version more

In a transaction they are one version together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evercurrent.catalog.classes import Schema
from evercurrent.catalog.without_classes import without_classes
from evercurrent.frontend.odl.resolve import bind, classes_of
from evercurrent.frontend.odl.show import odl
from evercurrent.frontend.oql.names import NAMES
from evercurrent.limits import guard_nesting
from evercurrent.objects.classes.entities import Entity, bodies_of, operations_of, schema_of
from evercurrent.objects.face import ObjectFace
from evercurrent.objects.names import is_bound
from evercurrent.warehouse.changes.transactions import Block
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.definitions.classes import (
    bind_operations,
    create_classes,
    remove_classes,
    replace_classes,
    require_replaceable,
)
from evercurrent.warehouse.definitions.named_objects import declare_name
from evercurrent.warehouse.objects.stored_objects import StoredSession, StoredSpace


def find_unchanged(before: Schema, after: Schema) -> Schema:
    """The classes that are the same as before, and extend the same."""
    same = {n for n in before.classes.keys() & after.classes.keys() if before.lineage(n) == after.lineage(n)}
    return Schema({n: c for n, c in after.classes.items() if n in same})


class StoredFace(ObjectFace):
    """The part of `Warehouse` that concerns objects."""

    _core: Core
    _objects: StoredSession | None = None
    _bodies: dict[str, dict[str, Any]] | None = None

    @property
    def _session(self) -> Any:  # type: ignore[override]
        """What objects see of the database; made when they are first asked for."""
        if self._objects is None:
            self._objects = StoredSession(self._core, self.table)
        schema = self._core.catalog.schema
        space: StoredSpace | None = self._objects.space
        if (schema or space is not None) and (space is None or space.schema != schema):
            if space is None:
                space = self._objects.space = StoredSpace(self._objects)
            space.bodies.update(self._bodies or {})
            space.remove(find_unchanged(space.schema, schema))
            space.add(schema)
        return self._objects

    @guard_nesting()
    def odl(
        self,
        text: str,
        *,
        operations: Mapping[str, Callable[..., Any]] | None = None,
        replacing: bool = False,
    ) -> None:
        """Declare the classes of an ODL text, whose objects are rows of tables from then on.

        What an operation means in views is kept, and its function by its name if it is at the top level of a module. For
        handles, `bind_operations` binds functions of no name again after opening the database again.
        """
        with self._core.lock:
            before = self._core.catalog.schema
            schema = classes_of(text, before, replacing=replacing)
            bound = bind(schema, operations or {})
            gone = [n for n, c in before.classes.items() if schema.classes[n] is not c]
            if gone:
                self._core.require_no_transaction("CREATE CLASS")
                require_replaceable(self._core, bound, gone)  # or nothing is deleted
                self._delete_objects(gone)
                replace_classes(self._core, bound, gone)
            else:
                self._declare(schema, bound, before)

    @guard_nesting()
    def declare(self, *entities: type[Entity]) -> None:
        """Declare classes that are written in Python; classes that are declared already get their methods again."""
        with self._core.lock:
            before = self._core.catalog.schema
            new: Any = tuple(e for e in entities if e.__entity__.name not in before.classes)
            self._bodies = {**(self._bodies or {}), **bodies_of(entities)}
            if new:
                schema = schema_of(new, before)
                self._declare(schema, schema, before)
            known = {f"{c.name}.{o.name}" for c in before.classes.values() for o in c.operations}
            again = {name: f for name, f in operations_of(entities).items() if name in known}
            if again:
                self.bind_operations(again)
            for e in entities:
                e.__entity__.made = self._session.space.kinds[e.__entity__.name].cls

    def _declare(self, schema: Schema, bound: Schema, before: Schema) -> None:
        self._core.require_no_transaction("CREATE CLASS")
        new = Schema({n: c for n, c in schema.classes.items() if n not in before.classes})
        create_classes(self._core, bound, odl(new))

    def bind_operations(self, operations: Mapping[str, Callable[..., Any]]) -> None:
        """Give operations of classes their functions, by "class.operation"; views that call them follow."""
        with self._core.lock:
            self._core.require_no_transaction("CREATE OPERATION")
            bind_operations(self._core, operations)
            space = self._session.space
            for name in operations:
                of, _, called = name.partition(".")
                setattr(
                    space.kinds[of].cls, called, self._core.catalog.schema.operations(of)[called][1].function
                )

    def bind(self, name: str, thing: Any) -> None:
        """Give an object a name that queries in OQL may use; binding it again gives the name to another object, None unbinds it."""
        core = self._core
        with core.lock:
            oid = None if thing is None else thing.oid
            if not is_bound(core.catalog, name, thing):
                core.require_no_transaction("the first binding of a name")
                declare_name(core, name, type(thing).__name__)
            if self.table(NAMES).get(name) is None:
                self.table(NAMES).insert({"name": name, "oid": oid})
            else:
                self.table(NAMES).update(name, oid=oid)

    @guard_nesting()
    def drop_class(self, name: str) -> None:
        """Drop a class and its objects; refused while classes, views or assertions need it."""
        with self._core.lock:
            self._core.require_no_transaction("DROP CLASS")
            without_classes(self._core.catalog, [name])  # or nothing is deleted
            self._delete_objects([name])
            remove_classes(self._core, [name])

    def _delete_objects(self, names: list[str]) -> None:
        """Deletes the objects that others may refer to: those of classes that extend one that stays, and named ones.

        The others go with their tables.
        """
        catalog = self._core.catalog
        classes = catalog.schema.classes
        special = [n for n in names if (parent := classes[n].parent) is not None and parent not in names]
        lost = [n for n, of in catalog.objects.items() if of in names]
        if special or lost:
            with Block(self._core):
                for thing in [t for n in special for t in self.extent(n)]:
                    self.delete(thing)
                for name in lost:
                    self.table(NAMES).delete({"name": name})

    def table(self, name: str) -> Any:
        raise AssertionError(name)
