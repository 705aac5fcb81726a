"""What a database on Spark offers for objects: the same as one in the process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.classes import Schema
from evercurrent.limits import guard_nesting
from evercurrent.objects.face import ObjectFace

if TYPE_CHECKING:
    from evercurrent.objects.classes.entities import Entity
    from evercurrent.warehouse.core import Core
    from evercurrent.warehouse.objects.stored_objects import StoredSession, StoredSpace


def unchanged(before: Schema, after: Schema) -> Schema:
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
        from evercurrent.warehouse.objects.stored_objects import StoredSession, StoredSpace

        if self._objects is None:
            self._objects = StoredSession(self)  # type: ignore[arg-type]
        schema = self._core.catalog.schema
        space: StoredSpace | None = self._objects.space
        if (schema or space is not None) and (space is None or space.schema != schema):
            if space is None:
                space = self._objects.space = StoredSpace(self._objects)
            space.bodies.update(self._bodies or {})
            space.remove(unchanged(space.schema, schema))
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
        handles, `bind_operations` gives functions of no name once more after opening the database again.
        """
        from evercurrent.frontend.odl.resolve import bind, classes_of
        from evercurrent.warehouse.definitions.classes import replace_classes

        with self._core.lock:
            before = self._core.catalog.schema
            schema = classes_of(text, before, replacing=replacing)
            bound = bind(schema, operations or {})
            gone = [n for n, c in before.classes.items() if schema.classes[n] is not c]
            if gone:
                replace_classes(self, bound, gone)  # type: ignore[arg-type]
            else:
                self._declare(schema, bound, before)

    @guard_nesting()
    def declare(self, *entities: type[Entity]) -> None:
        """Declare classes that are written in Python; classes that are declared already get their methods again."""
        from evercurrent.objects.classes.entities import bodies_of, operations_of, schema_of

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
        from evercurrent.frontend.odl.show import odl
        from evercurrent.warehouse.definitions.classes import create_classes

        self._require_no_transaction("CREATE CLASS")
        new = Schema({n: c for n, c in schema.classes.items() if n not in before.classes})
        create_classes(self._core, bound, odl(new))

    def bind_operations(self, operations: Mapping[str, Callable[..., Any]]) -> None:
        """Give operations of classes their functions, by "class.operation"; views that call them follow."""
        from evercurrent.warehouse.definitions.classes import bind_operations

        with self._core.lock:
            self._require_no_transaction("CREATE OPERATION")
            bind_operations(self._core, operations)
            space = self._session.space
            for name in operations:
                of, _, called = name.partition(".")
                setattr(
                    space.kinds[of].cls, called, self._core.catalog.schema.operations(of)[called][1].function
                )

    def bind(self, name: str, thing: Any) -> None:
        """Give an object a name that queries in OQL may use; binding it again moves the name, None unbinds it."""
        from evercurrent.warehouse.definitions.named_objects import bind

        bind(self, name, thing)  # type: ignore[arg-type]

    @guard_nesting()
    def drop_class(self, name: str) -> None:
        """Drop a class and its objects; refused while classes, views or assertions need it."""
        from evercurrent.warehouse.definitions.classes import drop_classes

        with self._core.lock:
            drop_classes(self, [name])  # type: ignore[arg-type]

    def _require_no_transaction(self, what: str) -> None:
        raise AssertionError(what)
