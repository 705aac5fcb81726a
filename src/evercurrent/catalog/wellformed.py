"""Whether classes fit together, whoever declared them: cycles, names, inverses, keys.

Law. In a schema that passes, `extents.place_of` and `tables_of` succeed for every class, the tables' names differ, and
of every relationship the inverse's inverse is the relationship itself.

>>> check(Schema({"a": Class("a", parent="b"), "b": Class("b", parent="a")}))
Traceback (most recent call last):
...
evercurrent.errors.QueryError: class a extends itself: a extends b extends a
hint: take one `extends` out of the cycle
"""

from __future__ import annotations

import difflib
import re
import unicodedata

from evercurrent.catalog.classes import Attribute, Class, Property, Relationship, Schema, is_many
from evercurrent.catalog.extents import OID, tables_of
from evercurrent.data.types import Array, Collection, Map, Reference, Struct, Type
from evercurrent.errors import QueryError

RESERVED = re.compile(r"_\d+|_kind|_gone|__slots__|__dict__|__class__|__weakref__|__init__")


def check(schema: Schema) -> None:
    """`QueryError` with the place for the first thing that is wrong."""
    for c in schema.classes.values():
        _check_lineage(schema, c)
    for c in schema.classes.values():
        _check_names(schema, c)
        for p in c.properties:
            _check_type(schema, c, p)
            if isinstance(p, Relationship):
                _check_inverse(schema, c, p)
        for o in c.operations:
            for t in (o.type, *(m.type for m in o.parameters)):
                _check_references(schema, t, f"{c.name}.{o.name}", o.place)
    for c in schema.classes.values():
        _check_keys(schema, c)
    _check_tables(schema)


def _check_lineage(schema: Schema, c: Class) -> None:
    seen = [c.name]
    at = c.parent
    while at is not None:
        if at not in schema.classes:
            raise QueryError(f"class {c.name} extends {at}, which is no class", place=c.place)
        if at in seen:
            raise QueryError(
                f"class {c.name} extends itself: {' extends '.join([*seen, at])}",
                place=c.place,
                hint="take one `extends` out of the cycle",
            )
        seen.append(at)
        at = schema.classes[at].parent


def _check_names(schema: Schema, c: Class) -> None:
    inherited = {
        name.lower(): parent
        for parent in schema.lineage(c.name)[:-1]
        for name in [p.name for p in parent.properties]
    }
    operations = {o.name.lower(): parent for parent in schema.lineage(c.name)[:-1] for o in parent.operations}
    seen: dict[str, str] = {}
    for member in (*c.properties, *c.operations):
        low = member.name.lower()
        if low in seen:
            twice = seen[low] == member.name
            raise QueryError(
                f"{c.name}.{member.name} is there twice"
                if twice
                else f"{c.name}.{member.name} and {c.name}.{seen[low]} differ in case alone",
                place=member.place,
            )
        seen[low] = member.name
        if low in inherited:
            raise QueryError(
                f"{c.name} has {member.name} already, from {inherited[low].name}",
                place=member.place,
                hint="an inherited property cannot be declared again",
            )
        if low in operations and isinstance(member, Attribute | Relationship):
            raise QueryError(f"{c.name} has an operation {member.name} already", place=member.place)
        written = unicodedata.normalize("NFKC", member.name)
        if written != member.name:
            raise QueryError(
                f"Python reads the name {member.name} as {written}",
                place=member.place,
                hint=f"write {written}",
            )
        if low == OID or RESERVED.fullmatch(member.name):
            raise QueryError(f"the name {member.name} is taken: every object has it", place=member.place)


def _check_type(schema: Schema, c: Class, p: Property) -> None:
    if isinstance(p, Attribute):
        _check_references(schema, p.type, f"{c.name}.{p.name}", p.place)
        if p.keeping == "array" and not is_many(p.type):
            raise QueryError(
                f"{c.name}.{p.name} is no collection, so it cannot be kept as an array", place=p.place
            )
        if isinstance(p.type, Map) and is_many(p.type.key):
            raise QueryError(f"{c.name}.{p.name}: the key of a dictionary is a single value", place=p.place)


def _check_references(schema: Schema, t: Type, what: str, place: object) -> None:
    match t:
        case Reference(target):
            if target not in schema.classes:
                raise QueryError(f"{what}: there is no class {target}", place=place)  # type: ignore[arg-type]
        case Collection(_, element) | Array(element):
            _check_references(schema, element, what, place)
        case Map(key, value):
            _check_references(schema, key, what, place)
            _check_references(schema, value, what, place)
        case Struct(members):
            for m in members:
                _check_references(schema, m.type, f"{what}.{m.name}", place)
        case _:
            pass


def _check_inverse(schema: Schema, c: Class, p: Relationship) -> None:
    what = f"relationship {c.name}.{p.name}"
    if p.target not in schema.classes:
        raise QueryError(f"{what} leads to {p.target}, which is no class", place=p.place)
    found = schema.properties(p.target).get(p.inverse)
    if found is None:
        ends = [n for n, (_, x) in schema.properties(p.target).items() if isinstance(x, Relationship)]
        near = difflib.get_close_matches(p.inverse, ends, 1)
        raise QueryError(
            f"{what}: its inverse {p.target}::{p.inverse} is not there",
            place=p.place,
            hint=f"did you mean {near[0]!r}?"
            if near
            else f"declare `relationship ... {p.inverse} inverse {c.name}::{p.name}` in {p.target}",
        )
    other_class, other = found
    if not isinstance(other, Relationship):
        raise QueryError(
            f"{what}: its inverse {p.target}::{p.inverse} is an attribute, not a relationship", place=p.place
        )
    if other_class.name != p.target:
        raise QueryError(
            f"{what}: {p.inverse} is declared by {other_class.name}, so the relationship leads to {other_class.name}",
            place=p.place,
        )
    if other.target != c.name or other.inverse != p.name:
        raise QueryError(
            f"{what}: its inverse {p.target}::{p.inverse} has another inverse: {other.target}::{other.inverse}",
            place=p.place,
            hint=f"write `inverse {c.name}::{p.name}` there",
        )


def _check_keys(schema: Schema, c: Class) -> None:
    properties = schema.properties(c.name)
    for key in c.keys:
        for name in key:
            if name not in properties:
                near = difflib.get_close_matches(name, list(properties), 1)
                raise QueryError(
                    f"class {c.name}: the key has {name}, which is no property of it",
                    place=c.place,
                    hint=f"did you mean {near[0]!r}?" if near else None,
                )
            if is_many(properties[name][1].type):
                raise QueryError(
                    f"class {c.name}: {name} is a collection, which no key can have", place=c.place
                )
        if len(set(key)) < len(key):
            raise QueryError(f"class {c.name}: the key ({', '.join(key)}) has a name twice", place=c.place)


def _check_tables(schema: Schema) -> None:
    seen: dict[str, str] = {}
    for c in schema.classes.values():
        for table in tables_of(schema, c.name):
            low = table.name.lower()
            if low in seen:
                raise QueryError(
                    f"class {c.name} needs a table {table.name}, and class {seen[low]} has one of this name",
                    place=c.place,
                    hint="give one of them another extent",
                )
            seen[low] = c.name
