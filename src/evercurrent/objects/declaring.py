"""Classes come into a database, and leave it: `db.odl`, `db.drop_class`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.classes import Schema
from evercurrent.catalog.dependencies import dependants
from evercurrent.catalog.extents import tables_of
from evercurrent.catalog.lookup import unknown
from evercurrent.catalog.wellformed import check
from evercurrent.errors import QueryError
from evercurrent.frontend.odl.resolve import classes_of
from evercurrent.objects.space import Space
from evercurrent.session.installation import defining, install

if TYPE_CHECKING:
    from evercurrent.session.session import Session


def declare(
    session: Session,
    text: str,
    operations: Mapping[str, Callable[..., Any]] | None = None,
    replacing: bool = False,
) -> None:
    """Add the classes of an ODL text; those that are there already are replaced, or refused."""
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
    from evercurrent.objects.entities import bodies_of, schema_of

    with defining(session):
        schema = schema_of(given, session.catalog.schema)
        if session.space is None:
            attach(session)
        assert session.space is not None
        session.space.bodies.update(bodies_of(given))
        add_classes(session, schema)
    found = [session.space.kinds[c.__entity__.name].cls for c in given]
    for entity, made in zip(given, found, strict=True):
        entity.__entity__.made = made
    return found


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
    space = session.space
    if space is None:
        space = attach(session)
    before = space.schema
    try:
        space.add(schema)
        install(session, replace(catalog, tables=tables, schema=schema))
    except BaseException:
        space.remove(before)
        raise


def drop_classes(session: Session, names: list[str]) -> None:
    """Drop classes with their objects; refused where other classes, views or assertions need them."""
    with defining(session):
        schema = session.catalog.schema
        for name in names:
            if session.space is None or name not in schema.classes:
                raise unknown("class", name, list(schema.classes))
        tables = {t.name.lower() for name in names for t in tables_of(schema, name)}
        left = Schema({n: c for n, c in schema.classes.items() if n not in names})
        needed = [f"class {c.name}" for name in names for c in schema.subclasses(name) if c.name not in names]
        if not needed:
            try:
                check(left)
            except QueryError as problem:
                needed.append(problem.message)
        for table in sorted(tables):
            needed += [str(d) for d in dependants(session.catalog, table) if d.name.lower() not in tables]
        if needed:
            raise QueryError(
                f"class {', '.join(names)} cannot be dropped: {', '.join(dict.fromkeys(needed))}",
                hint="drop what depends on it first",
            )
        space = session.space
        assert space is not None
    with space.changing():
        for name in names:
            for thing in list(space.kinds[name]):
                space.delete(thing)
    with defining(session):
        catalog = session.catalog
        space.remove(left)
        rest = {k: t for k, t in catalog.tables.items() if k not in tables}
        install(session, replace(catalog, tables=rest, schema=left))
