"""The methods of a database that concern objects: classes, new objects, extents.

>>> import evercurrent as ec
>>> db = ec.connect()
>>> _ = db.odl("class Person (extent Persons) { attribute string name; };")
>>> ann = db.new("Person", name="Ann")
>>> ann.name, len(db.extent("Persons")), db.delete(ann), len(db.extent("Persons"))
('Ann', 1, None, 0)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from evercurrent.data.showing import show_value
from evercurrent.errors import QueryError
from evercurrent.limits import guard_nesting
from evercurrent.rows.arguments import require_text

if TYPE_CHECKING:
    from evercurrent.catalog.classes import Schema
    from evercurrent.objects.classes.entities import Entity
    from evercurrent.objects.extents import Classes, Extent
    from evercurrent.objects.model.handles import Object
    from evercurrent.session.session import Session


class ObjectFace:
    """The part of `Database` that concerns objects."""

    _session: Session

    @guard_nesting()
    def odl(
        self,
        text: str,
        *,
        operations: Mapping[str, Callable[..., Any]] | None = None,
        replacing: bool = False,
    ) -> None:
        """Declare the classes of an ODL text; `operations` are the functions of operations, by "class.operation".

        A class that is there already is an error; with `replacing` it is dropped first, with its objects.
        """
        from evercurrent.objects.declaring import declare

        require_text(text, "a text of classes")
        declare(self._session, text, operations, replacing)

    @guard_nesting()
    def declare(self, *entities: type[Entity]) -> None:
        """Declare classes that are written in Python: `db.declare(Person, Employee)`; then `Employee(name="Ann")`.

        Classes that the file of the database holds get their methods again.
        """
        from evercurrent.objects.again import declare_again
        from evercurrent.objects.declaring import declare_entities

        held = self._session.catalog.schema.classes if self._session.keeper is not None else {}
        known = tuple(e for e in entities if getattr(getattr(e, "__entity__", None), "name", None) in held)
        if len(known) < len(entities):
            declare_entities(self._session, tuple(e for e in entities if e not in known))
        if known:
            declare_again(self._session, known)

    def bind_operations(self, operations: Mapping[str, Callable[..., Any]]) -> None:
        """Give operations of classes that a file keeps their functions, by "class.operation"; views that call them follow."""
        from evercurrent.objects.again import bind_operations

        bind_operations(self._session, operations)

    @guard_nesting()
    def schema_odl(self) -> str:
        """All classes as ODL text."""
        from evercurrent.frontend.odl.show import odl

        return odl(self._session.catalog.schema)

    @property
    def schema(self) -> Schema:
        """The classes, by their names."""
        return self._session.catalog.schema

    @guard_nesting()
    def drop_class(self, name: str) -> None:
        """Drop a class and its objects; refused while classes, views or assertions need it."""
        from evercurrent.objects.declaring import drop_classes

        require_text(name, "the name of a class")
        drop_classes(self._session, [name])

    @property
    def classes(self) -> Classes:
        """The classes as Python classes: `Employee = db.classes.employee; Employee(name="Ann")`."""
        from evercurrent.objects.extents import Classes

        return Classes(self._session)

    @guard_nesting()
    def new(self, class_name: str, /, **values: Any) -> Any:
        """A new object of a class: `db.new("employee", name="Ann", dept=sales)`."""
        from evercurrent.objects.extents import kind_of

        kind = kind_of(self._session, require_text(class_name, "the name of a class"))
        for name in values:
            if name not in kind.named:
                kind.field(name)  # says what is meant
        return kind.cls(**values)

    def delete(self, thing: Object) -> None:
        """Delete an object: references to it become nil, relationships and collections lose it."""
        from evercurrent.objects.model.handles import Object

        if not isinstance(thing, Object):
            raise QueryError(
                f"{show_value(thing)} is not an object", hint="db.table(name).delete deletes rows"
            )
        thing._kind.space.delete(thing)

    def extent(self, name: str) -> Extent:
        """The objects of a class and of those that extend it, by the extent's name or the class's."""
        from evercurrent.objects.extents import Extent

        return Extent(self._session, require_text(name, "the name of an extent"))

    def object(self, oid: int) -> Object | None:
        """The object of an identity, or None."""
        space = self._session.space
        if not isinstance(oid, int):
            raise QueryError(f"an identity is a number, not {show_value(oid)}")
        return None if space is None else space.at(oid)
