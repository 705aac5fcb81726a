"""Classes that a file keeps, declared again by the program that opens it: they get their methods and functions back.

    db = ec.connect("people.db"); db.declare(Person)      Person(name="Ann"), ann.greet()

A file holds what classes are and what their operations mean in views, never code. What a class written in Python has besides comes with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evercurrent.callables import require_callable
from evercurrent.catalog.classes import Schema
from evercurrent.definitions.operations import keep_operations
from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.frontend.odl.resolve import bind
from evercurrent.frontend.odl.show import odl
from evercurrent.objects.classes.entities import bodies_of, operations_of, schema_of
from evercurrent.objects.space import Space, space_of
from evercurrent.session.installation import defining, install
from evercurrent.statements.redefinition import redefine_oql

if TYPE_CHECKING:
    from evercurrent.session.session import Session


def declare_again(session: Session, entities: tuple[Any, ...]) -> None:
    """Gives classes of the file the methods of classes written in Python; refuses one that is another class than the file's."""
    schema = session.catalog.schema
    names = {e.__entity__.name for e in entities}
    others = Schema({n: c for n, c in schema.classes.items() if n not in names})
    found = schema_of(entities, others)
    for name in names:
        said = [odl(Schema({name: s.classes[name]})) for s in (found, schema)]
        if said[0] != said[1]:
            raise QueryError(
                f"the class {name} of the database is another one:\n{said[1]}",
                hint="declare it as it is, or drop it first: db.drop_class",
            )
    space = _space(session)
    for name, body in bodies_of(entities).items():
        for member, value in body.items():
            setattr(space.kinds[name].cls, member, value)
    operations = operations_of(entities)
    if operations:
        bind_operations(session, operations)
    for e in entities:
        e.__entity__.made = space.kinds[e.__entity__.name].cls


def bind_operations(session: Session, functions: Mapping[str, Callable[..., Any]]) -> None:
    """Gives operations their functions, by "class.operation". If one means something else than before, views follow."""
    if session.keeper is None:
        raise UnsupportedError(
            "the operations of a database without a file have their functions from the beginning",
            hint="db.odl(text, operations=...) takes them",
        )
    for name, function in functions.items():
        require_callable(function, f"operation {name}")
    with defining(session):
        before = session.catalog.schema
        bound = bind(before, functions)
        known = session.keeper.known
        schema, definitions = keep_operations(bound, functions, known)
        present = {d["name"]: d for d in keep_operations(before, functions, known)[1]}
        catalog = replace(session.catalog, schema=schema)
        same = all(present.get(d["name"]) == d for d in definitions)
        install(session, catalog if same else redefine_oql(catalog))
        space = _space(session)
        for name, function in functions.items():
            of, _, called = name.partition(".")
            setattr(space.kinds[of].cls, called, function)


def _space(session: Session) -> Space:
    space = space_of(session)
    if space is None:
        raise QueryError("there are no classes", hint="db.odl(text) and db.declare(...) declare them")
    return space
