"""Adds classes to a database, and drops them.

>>> from evercurrent.session.session import Session
>>> session = Session()
>>> declare(session, "class Person (extent Persons) { attribute string name; };")
>>> list(session.catalog.schema.classes)
['Person']
>>> drop_classes(session, ["Person"])
>>> list(session.catalog.schema.classes)
[]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evercurrent.callables import require_callable
from evercurrent.catalog.classes import Schema
from evercurrent.catalog.extents import tables_of
from evercurrent.catalog.without_classes import overrides_operation, without_classes
from evercurrent.errors import EvercurrentError, QueryError
from evercurrent.frontend.odl.resolve import classes_of
from evercurrent.frontend.oql.names import NAMES
from evercurrent.locking.insist import insist
from evercurrent.objects.classes.entities import bodies_of, schema_of
from evercurrent.objects.space import Space, space_of
from evercurrent.session.installation import defining, install
from evercurrent.session.tables import SessionTable
from evercurrent.statements.redefinition import redefine_oql

if TYPE_CHECKING:
    from evercurrent.session.session import Session
    from evercurrent.session.transactions import Transaction


def declare(
    session: Session,
    text: str,
    operations: Mapping[str, Callable[..., Any]] | None = None,
    replacing: bool = False,
) -> None:
    """Add the classes of an ODL text; those that are there already are replaced, or refused."""
    for name, function in (operations or {}).items():
        require_callable(function, f"operation {name}")
    with defining(session):
        before = session.catalog.schema
        made = classes_of(text, before, operations, replacing)
        gone = [name for name in before.classes if made.classes[name] is not before.classes[name]]
    if gone:
        drop_classes(session, gone)
    with defining(session):
        left = session.catalog.schema
        new = {name: c for name, c in made.classes.items() if name not in left.classes}
        add_classes(session, Schema({**left.classes, **new}))


def declare_entities(session: Session, given: tuple[Any, ...]) -> list[type[Any]]:
    """Add classes that are written in Python; the classes whose objects are the database's."""
    with defining(session):
        schema = schema_of(given, session.catalog.schema)
        space = space_of(session) or attach(session)
        before = dict(space.bodies)
        space.bodies.update(bodies_of(given))
        try:
            add_classes(session, schema)
        finally:
            if session.catalog.schema is schema:  # it stands, even if an interrupt came in the last moment
                for entity in given:
                    entity.__entity__.made = space.kinds[entity.__entity__.name].cls
            else:
                space.bodies = before
    return [entity.__entity__.made for entity in given]


def attach(session: Session) -> Space:
    """Give the database room for objects; the engine reads what they hold off them."""
    space = session.space = Space(session)
    session.maintenance.lender = space.lender
    return space


def add_classes(session: Session, schema: Schema) -> None:
    """Make a larger schema the database's. Whatever fails has changed nothing."""
    catalog = session.catalog
    new = [name for name in schema.classes if name not in catalog.schema.classes]
    tables = dict(catalog.tables)
    for name in new:
        for table in tables_of(schema, name):
            key = table.name.lower()
            if catalog.relation(key) is not None:
                kind = "table" if key in catalog.tables else "view"
                raise QueryError(
                    f"class {name} needs a table {table.name}, and there is already a {kind} of this name",
                    place=schema.classes[name].place,
                    hint="give the class another extent",
                )
            tables[key] = table
    space = space_of(session) or attach(session)
    session.replacing = adding = _Adding(session, space)
    try:
        space.add(schema)
        catalog = replace(catalog, tables=tables, schema=schema)
        # Which function an operation is, is written out in the views that call it.
        install(session, redefine_oql(catalog) if overrides_operation(schema, new) else catalog)
    except BaseException:
        insist(adding.settle)
        raise


@dataclass
class _Adding:
    """Python classes that are made before their catalog takes effect; an interrupt must not leave them without it."""

    session: Session
    space: Space

    def settle(self) -> None:
        self.space.follow(self.session.catalog.schema)
        self.session.replacing = None


def drop_classes(session: Session, names: list[str]) -> None:
    """Drop classes with their objects; refused where other classes, views or assertions need them. All or nothing."""
    with defining(session):
        lost = set(session.catalog.objects) - set(without_classes(session.catalog, names).objects)
        space = space_of(session)
        assert space is not None
        session.replacing = dropping = _Dropping(session, names)
        try:
            with space.changing():
                dropping.begin()
                for name in names:
                    for thing in list(space.kinds[name]):
                        space.delete(thing)
                for name in lost:
                    SessionTable(session, NAMES).delete({"name": name})
            dropping.settle()
        except BaseException:
            if session.committing is None:  # otherwise `settle_first` decides about the objects first
                insist(dropping.settle)
            raise


@dataclass
class _Dropping:
    """Classes that go once their objects have gone; an interrupt must not leave a class that is empty."""

    session: Session
    names: list[str]
    transaction: Transaction | None = None  # the one that deletes the objects

    def begin(self) -> None:
        """Notes the transaction that is open. A file keeps its names, so that who opens it after a crash drops the classes."""
        self.transaction = transaction = self.session.transaction
        if transaction is not None:
            transaction.classes_to_drop = tuple(self.names)

    def settle(self) -> None:
        session, transaction = self.session, self.transaction
        if transaction is not None and transaction.status == "committed":
            there = [name for name in self.names if name in session.catalog.schema.classes]
            try:
                if there:
                    install(session, without_classes(session.catalog, there))
            except EvercurrentError:  # it would be refused again
                session.replacing = None
                raise
        session.replacing = None
