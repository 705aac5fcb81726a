"""How objects are kept as tables, and where a property of an object is to be found.

    class C                    a table named by its extent: `oid`, then every single-valued property, inherited ones included.
                               It holds the objects of C and of all its subclasses, so an extent is a table and a path is one
                               lookup by `oid`; an object of a subclass has a row in the table of each class that it is.
    collection of values       a table `extent_property`: `owner`, then `element`; a list has its `position` (from 0) between
    or references              them, a dictionary its `key`. An inherited collection stays with the class that declares it.
    relationship, to one       a column, like an attribute
    relationship, to many,     nothing of its own: the objects of the target whose column refers to the owner
    inverse to one
    ordered, or many to many   a table like that of a collection; of many to many, an ordered end keeps it, else the one that is
                               declared first

`place_of` says for a property which of these it is; front ends read it and nothing else.

>>> from evercurrent.catalog.classes import Attribute, Class, Relationship, Schema
>>> from evercurrent.data.types import STRING, Collection
>>> schema = Schema({c.name: c for c in (
...     Class("dept", None, "Depts", (), (Attribute("name", STRING), Relationship("staff", "emp", "set", "dept"))),
...     Class("emp", None, "Emps", (), (Relationship("dept", "dept", "one", "staff"),
...                                     Attribute("tags", Collection("set", STRING)))))})
>>> place_of(schema, "emp", "tags")
Apart(table='Emps_tags', kind='set', element=String(length=None), owner='owner', value='element', position=None)
>>> place_of(schema, "dept", "staff")
Inverse(table='Emps', column='dept', kind='set', target='emp')
>>> [t.name for t in tables_of(schema, "emp")]
['Emps', 'Emps_tags']
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice
from typing import assert_never

from evercurrent.catalog.classes import Attribute, Class, Property, Relationship, Schema
from evercurrent.catalog.nodes import ForeignKey, Table, TableColumn, Unique
from evercurrent.data.types import INT, Array, Collection, Map, Reference, Type

OID = "oid"
OWNER, ELEMENT, POSITION, KEY = "owner", "element", "position", "key"


@dataclass(frozen=True, slots=True)
class Single:
    """A column of the row of the object."""

    table: str
    column: str
    type: Type


@dataclass(frozen=True, slots=True)
class Inside:
    """A collection as an array (a map) in a column of the row of the object."""

    table: str
    column: str
    kind: Choice["set", "bag", "list", "dictionary"]
    type: Type  # of the column: Array or Map


@dataclass(frozen=True, slots=True)
class Apart:
    """A table with one row for each element: `owner` is the object, `value` the element.

    `position` is the column of a list's index or of a dictionary's key.
    """

    table: str
    kind: Choice["set", "bag", "list", "dictionary"]
    element: Type
    owner: str
    value: str
    position: str | None = None


@dataclass(frozen=True, slots=True)
class Inverse:
    """The objects in a table whose column refers to this one."""

    table: str
    column: str
    kind: Choice["set", "bag"]
    target: str


Kept = Single | Inside | Apart | Inverse


def place_of(schema: Schema, name: str, attribute: str) -> Kept:
    """Where a property of the objects of a class is to be found. The property must be there."""
    declaring, property = schema.properties(name)[attribute]
    match property:
        case Attribute(_, Collection() | Map() as t, keeping=keeping):
            if keeping == "array":
                return Inside(schema.classes[name].relation, attribute, _kind(t), _as_array(t))
            return _apart(f"{declaring.relation}_{attribute}", t)
        case Attribute(_, t) | Relationship(kind="one", type=t):
            return Single(schema.classes[name].relation, attribute, t)
        case Relationship(_, target, kind, inverse):
            end = _end(schema, target, inverse)
            assert kind != "one"
            if kind != "list" and end.kind == "one":
                table = schema.properties(target)[inverse][0].relation
                return Inverse(table, inverse, kind, target)
            if _keeps(schema, declaring, property):
                return _apart(f"{declaring.relation}_{attribute}", property.type)
            owner = schema.properties(target)[inverse][0]
            return Apart(f"{owner.relation}_{inverse}", kind, Reference(target), ELEMENT, OWNER)
        case _:
            assert_never(property)


def tables_of(schema: Schema, name: str) -> tuple[Table, ...]:
    """The tables that a class needs: of its objects, and of the collections that it declares itself."""
    made = schema.classes[name]
    columns = [TableColumn(OID, Reference(name), False)]
    references: list[ForeignKey] = []
    for _, property in schema.properties(name).values():
        kept = place_of(schema, name, property.name)
        match kept:
            case Single(_, column, t) | Inside(_, column, _, t):
                columns.append(TableColumn(column, t))
                if isinstance(t, Reference):
                    references.append(_reference(schema, made.relation, column, t))
            case Apart() | Inverse():
                pass
            case _:
                assert_never(kept)
    keys = [k for c in schema.lineage(name) for k in c.keys]
    result = [
        Table(
            made.relation,
            tuple(columns),
            Unique(f"{made.relation}_{OID}", (OID,)),
            tuple(Unique(f"{made.relation}_{'_'.join(k)}", k) for k in keys),
            tuple(references),
        )
    ]
    for property in made.properties:
        kept = place_of(schema, name, property.name)
        if isinstance(kept, Apart) and kept.owner == OWNER:
            result.append(_table_apart(schema, made, kept))
    return tuple(result)


def _table_apart(schema: Schema, owner: Class, kept: Apart) -> Table:
    columns = [TableColumn(OWNER, Reference(owner.name), False)]
    if kept.position is not None:
        columns.append(
            TableColumn(kept.position, INT if kept.kind == "list" else _key_type(schema, owner, kept), False)
        )
    columns.append(TableColumn(ELEMENT, kept.element))
    key: tuple[str, ...] = ()
    match kept.kind:
        case "list" | "dictionary":
            key = (OWNER, columns[1].name)
        case "set":
            key = (OWNER, ELEMENT)  # one element may be nil, which no primary key allows
        case "bag":
            pass
    references = [_reference(schema, kept.table, OWNER, Reference(owner.name))]
    if isinstance(kept.element, Reference):
        references.append(_reference(schema, kept.table, ELEMENT, kept.element))
    primary = Unique(f"{kept.table}_key", key) if key and kept.position is not None else None
    unique = (Unique(f"{kept.table}_key", key),) if key and primary is None else ()
    return Table(kept.table, tuple(columns), primary, unique, tuple(references))


def _reference(schema: Schema, table: str, column: str, to: Reference) -> ForeignKey:
    target = schema.classes[to.target].relation
    return ForeignKey(f"{table}_{column}", (column,), target, (OID,))


def _apart(table: str, t: Type) -> Apart:
    kind = _kind(t)
    match t:
        case Collection(element=element):
            return Apart(table, kind, element, OWNER, ELEMENT, POSITION if kind == "list" else None)
        case Map(value=element):
            return Apart(table, kind, element, OWNER, ELEMENT, KEY)
        case _:
            raise AssertionError(t)


def _key_type(schema: Schema, owner: Class, kept: Apart) -> Type:
    found = next(p for p in owner.properties if f"{owner.relation}_{p.name}" == kept.table)
    assert isinstance(found.type, Map)
    return found.type.key


def _kind(t: Type) -> Choice["set", "bag", "list", "dictionary"]:
    return t.kind if isinstance(t, Collection) else "dictionary"


def _as_array(t: Type) -> Type:
    return Array(t.element) if isinstance(t, Collection) else t


def _end(schema: Schema, target: str, inverse: str) -> Relationship:
    found: Property = schema.properties(target)[inverse][1]
    assert isinstance(found, Relationship)
    return found


def _keeps(schema: Schema, declaring: Class, end: Relationship) -> bool:
    """Whether this end of a relationship keeps the table: an ordered end, else the one that is declared first."""
    other_class, other = schema.properties(end.target)[end.inverse]
    assert isinstance(other, Relationship)
    if end.kind == "list" or other.kind in ("one", "list"):
        return end.kind == "list"  # of two ordered ends each keeps its own order
    order = list(schema.classes)
    mine = (order.index(declaring.name), [p.name for p in declaring.properties].index(end.name))
    theirs = (order.index(other_class.name), [p.name for p in other_class.properties].index(other.name))
    return mine <= theirs
