"""Extents and classes as a program sees them.

for e in db.extent("Employees"): ...      all objects of the class and of those that extend it
db.classes.employee(name="Ann")           a new object
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from evercurrent.callables import is_awaitable_function, require_callable
from evercurrent.catalog.lookup import unknown
from evercurrent.errors import QueryError
from evercurrent.objects.class_space import ClassSpace, ObjectOwner
from evercurrent.objects.model.handles import Object
from evercurrent.objects.model.kinds import Kind

if TYPE_CHECKING:
    from evercurrent.rows.subscriptions import Change, Subscription, When


def kind_of(session: ObjectOwner, name: str) -> Kind:
    """The kind of a class, by its name."""
    space: ClassSpace | None = session.space
    if space is None:
        raise QueryError(f"there is no class {name!r}", hint="db.odl(text) declares classes")
    return space.kind(name)


class ObjectChange:
    """What one transaction has changed of the objects of an extent; deleted ones are handles that say so."""

    def __init__(self, space: ClassSpace, change: Change) -> None:
        gone = {row[0] for row in change.deleted}
        come = {row[0] for row in change.inserted}
        self.name, self.transaction = change.name, change.transaction
        self.inserted = [space.at(oid) for oid in sorted(come - gone)]
        self.updated = [space.at(oid) for oid in sorted(come & gone)]
        self.deleted = [space.buried.get(oid) for oid in sorted(gone - come)]

    def __repr__(self) -> str:
        return (
            f"<Change of {self.name} in transaction {self.transaction}: "
            f"+{len(self.inserted)} ~{len(self.updated)} -{len(self.deleted)}>"
        )


class Classes:
    """The classes of a database as attributes: Python classes whose objects are the database's."""

    def __init__(self, session: ObjectOwner) -> None:
        self._session = session

    def __getattr__(self, name: str) -> type[Any]:
        try:
            return kind_of(self._session, name).cls
        except QueryError as problem:
            raise AttributeError(str(problem)) from None

    def __getitem__(self, name: str) -> type[Any]:
        return kind_of(self._session, name).cls

    def __iter__(self) -> Iterator[str]:
        return iter(self._session.catalog.schema.classes)

    def maker(self, name: str) -> Callable[..., Any]:
        """The quickest way to make objects of a class: a function that takes what the class takes.

        Calling a class with named arguments costs Python more than calling a function.
        """
        found: Callable[..., Any] = kind_of(self._session, name).make
        return found

    def __dir__(self) -> list[str]:
        return list(self)


class Extent:
    """The objects of a class and of all that extend it, as they are now (pending changes included)."""

    def __init__(self, session: ObjectOwner, name: str) -> None:
        schema = session.catalog.schema
        found = schema.of_relation(name) or schema.classes.get(name)
        space: ClassSpace | None = session.space
        if found is None or space is None:
            raise unknown("extent", name, [c.relation for c in schema.classes.values()])
        self._session = session
        self._space = space
        self._class = found.name
        self.name = found.relation

    def __iter__(self) -> Iterator[Any]:
        return self._space.extent(self._class)

    def __len__(self) -> int:
        return self._space.count(self._class)

    def __contains__(self, thing: object) -> bool:
        return (
            isinstance(thing, Object)
            and not thing._gone
            and thing._kind.space is self._space
            and self._class in thing._kind.ancestors
        )

    def subscribe(self, callback: Callable[[ObjectChange], object], *, when: When = "after") -> Subscription:
        """Call `callback(change)` once for each transaction that changes objects of the extent.

        `change.inserted`, `change.updated` and `change.deleted` are lists of objects. Collections of objects are tables of
        their own: `db.table("Employees_dependents").subscribe(...)`.
        """
        space = self._space
        if when == "after" and is_awaitable_function(callback):
            waiting: Any = callback

            async def forward(change: Change) -> None:
                await waiting(ObjectChange(space, change))

            return self._session.subscribe(self.name, forward, when)
        require_callable(callback, f"subscribe to {self.name}", "give a function of one argument, the change")
        return self._session.subscribe(self.name, lambda change: callback(ObjectChange(space, change)), when)

    def __bool__(self) -> bool:
        """An extent is always true; `len()` says whether there are objects."""
        return True

    def __repr__(self) -> str:
        return f"<Extent {self.name} of {self._class}: {len(self)} objects>"
