"""What a query reads of a schema, as the events that change it; `events` says how they are used.

Every variable stands for objects of a class, elements of a collection, rows of a table, or records that a query made of any
of these. A field that is read of it is then an attribute, or whatever the record's field was made of.

    SELECT d.name FROM Departments d WHERE d.address = 'x'      onInsertTo Departments, onDeleteTo Departments,
                                                                onModifyAttr department.name,
                                                                onModifyAttr department.address (of a condition)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal as Choice
from typing import assert_never

from evercurrent.calculus.nodes import (
    Comprehension,
    Exists,
    Fields,
    Filter,
    Fixpoint,
    FullOuter,
    Generator,
    Group,
    OuterGenerator,
    Quantified,
    Query,
    Relation,
    Scalar,
    SetOperation,
    Top,
    Union,
    Unnest,
    Values,
    Window,
)
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.classes import Relationship
from evercurrent.catalog.extents import OID, OWNER, Apart, Inside, place_of
from evercurrent.data.types import Collection, Reference, Struct
from evercurrent.term.nodes import Call, Field, Nested, Term, Variable
from evercurrent.term.walk import children as term_children

Kind = Choice[
    "onInsertTo",
    "onDeleteTo",
    "onInsertElementIn",
    "onDeleteElementIn",
    "onModifyAttr",
    "onModifyAttrInElement",
]
KINDS: tuple[Kind, ...] = (
    "onInsertTo",
    "onInsertElementIn",
    "onDeleteTo",
    "onDeleteElementIn",
    "onModifyAttr",
    "onModifyAttrInElement",
)
"""In the order of figure 11."""

Read = frozenset[tuple[Kind, str, str]]
"""Attributes that a term reads: kind of event, name, table."""
NOTHING: Read = frozenset()


@dataclass(frozen=True, slots=True)
class _Objects:
    """A variable over objects of a class; `via` is the collection whose elements they are."""

    name: str
    via: str | None = None


@dataclass(frozen=True, slots=True)
class _Elements:
    """A variable over the rows of a collection that is kept apart."""

    collection: str
    table: str
    struct: bool


@dataclass(frozen=True, slots=True)
class _Rows:
    """A variable over the rows of a table."""

    table: str


@dataclass(frozen=True, slots=True)
class _Made:
    """A variable over the records of a query: what each field was read from."""

    fields: dict[str, Read] = field(default_factory=dict)


Origin = _Objects | _Elements | _Rows | _Made
Scope = dict[str, Origin]


class Reader:
    def __init__(self, catalog: Catalog) -> None:
        self.catalog, self.schema = catalog, catalog.schema
        self.found: dict[tuple[Kind, str, str], bool] = {}
        self.apart: dict[str, tuple[str, str]] = {}
        for c in self.schema.classes.values():
            for p in c.properties:
                kept = place_of(self.schema, c.name, p.name)
                if isinstance(kept, Apart) and kept.owner == OWNER:
                    self.apart[kept.table] = (c.name, p.name)
        self.open: set[str] = set()

    def note(self, kind: Kind, subject: str, table: str, condition: bool = False) -> tuple[Kind, str, str]:
        key = (kind, subject, table)
        self.found[key] = self.found.get(key, False) or condition
        return key

    # --- what a change of the schema's things is -----------------------------------------------------------

    def extent(self, name: str) -> None:
        """Inserted and deleted objects of a class."""
        relation = self.schema.classes[name].relation
        self.note("onInsertTo", relation, relation)
        self.note("onDeleteTo", relation, relation)

    def elements(self, owner: str, name: str, table: str) -> None:
        """Inserted and deleted elements of a collection, and what follows from the other end of a relationship."""
        declaring, found = self.schema.properties(owner)[name]
        subject = f"{declaring.name}.{name}"
        self.note("onInsertElementIn", subject, table)
        self.note("onDeleteElementIn", subject, table)
        element = found.type.element if isinstance(found.type, Collection) else None
        if isinstance(element, Reference):
            self.extent(element.target)
        if isinstance(found, Relationship):
            self.inverse(found)

    def inverse(self, end: Relationship) -> None:
        """The other end of a relationship, whose change changes this one."""
        declaring, other = self.schema.properties(end.target)[end.inverse]
        subject = f"{declaring.name}.{end.inverse}"
        kept = place_of(self.schema, declaring.name, end.inverse)
        table = kept.table
        if other.type == Reference(getattr(other, "target", "")):
            self.note("onModifyAttr", subject, table)
        else:
            self.note("onInsertElementIn", subject, table)
            self.note("onDeleteElementIn", subject, table)

    def attribute(self, owner: str, name: str, via: str | None, condition: bool) -> Read:
        declaring, found = self.schema.properties(owner)[name]
        table = self.schema.classes[owner].relation
        kept = place_of(self.schema, owner, name)
        if isinstance(kept, Inside):
            self.elements(owner, name, table)
            return NOTHING
        subject = f"{declaring.name}.{name}"
        if via is not None:
            read = self.note("onModifyAttrInElement", f"{subject} in {via}", table, condition)
        else:
            read = self.note("onModifyAttr", subject, table, condition)
        if isinstance(found.type, Reference):
            self.extent(declaring.name)
            if isinstance(found, Relationship):
                self.inverse(found)
        return frozenset({read})

    # --- queries -------------------------------------------------------------------------------------------

    def query(self, query: Query, scope: Scope) -> Origin:
        """What a variable over the query's records stands for."""
        match query:
            case Relation(name):
                return self.relation(name)
            case Values(rows, fields):
                cells = [[self.term(t, scope, False) for t in row] for row in rows]
                columns = zip(*cells, strict=True) if cells else iter(())
                return _Made({f.name: _all(c) for f, c in zip(fields, columns, strict=False)})
            case Comprehension(_, head, qualifiers, fields):
                inner = dict(scope)
                for q in qualifiers:
                    self.qualifier(q, inner)
                return _Made({f.name: self.term(t, inner, False) for f, t in zip(fields, head, strict=True)})
            case Union(inputs, fields):
                return self.together(
                    [self.query(q, scope) for q in inputs], [q.fields for q in inputs], fields
                )
            case SetOperation(left=left, right=right, fields=fields):
                sides = [self.query(left, scope), self.query(right, scope)]
                made = self.together(sides, [left.fields, right.fields], fields)
                for read in made.fields.values():
                    self.decide(read)
                return made
            case FullOuter(left_variable, left, right_variable, right, on, head, fields):
                inner = {
                    **scope,
                    left_variable.name: self.query(left, scope),
                    right_variable.name: self.query(right, scope),
                }
                self.term(on, inner, True)
                return _Made({f.name: self.term(t, inner, False) for f, t in zip(fields, head, strict=True)})
            case Group():
                return self.group(query, scope)
            case Window(variable, source, functions, fields):
                origin = self.query(source, scope)
                inner = {**scope, variable.name: origin}
                own = [self.of_field(origin, f.name, False) for f in source.fields]
                for w in functions:
                    terms = [*w.args, *w.partition, *(s.term for s in w.order)]
                    own.append(_all([self.term(t, inner, False) for t in terms]))
                return _Made({f.name: r for f, r in zip(fields, own, strict=True)})
            case Top(variable, source, order, fields=fields):
                origin = self.query(source, scope)
                inner = {**scope, variable.name: origin}
                for s in order:
                    self.term(s.term, inner, True)  # the order decides which rows are in
                reads = [self.of_field(origin, f.name, False) for f in source.fields]
                return _Made({f.name: r for f, r in zip(fields, reads, strict=True)})
            case Fixpoint(definitions, result, fields):
                self.open |= {d.name for d in definitions}
                origins = {d.name: (self.query(d.body, scope), d.body.fields) for d in definitions}
                return self.together([origins[result][0]], [origins[result][1]], fields)
            case _:
                assert_never(query)

    def group(self, query: Group, scope: Scope) -> _Made:
        inner = {**scope, query.variable.name: self.query(query.source, scope)}
        reads = [self.term(k, inner, False) for k in query.keys]
        for a in query.aggregates:
            reads.append(_all(self.term(t, inner, False) for t in a.args))
            if a.where is not None:
                self.term(a.where, inner, True)
            for s in a.order:
                self.term(s.term, inner, False)
        return _Made({f.name: r for f, r in zip(query.fields, reads, strict=False)})

    def together(self, origins: list[Origin], own: Iterable[Fields], fields: Fields) -> _Made:
        """Records that come from several queries, field by field in order."""
        names = [f.name for f in fields]
        made: dict[str, Read] = dict.fromkeys(names, NOTHING)
        for origin, theirs in zip(origins, own, strict=True):
            for name, f in zip(names, theirs, strict=True):
                made[name] |= self.of_field(origin, f.name, False)
        return _Made(made)

    def relation(self, name: str) -> Origin:
        if name in self.open:
            return _Made()
        view = self.catalog.view(name)
        if view is not None and view.query is not None:
            self.open.add(name)
            try:
                origin = self.query(view.query, {})  # type: ignore[arg-type]
            finally:
                self.open.discard(name)
            return self.together([origin], [view.query.fields], view.fields)  # type: ignore[attr-defined]
        if name in self.apart:
            owner, attribute = self.apart[name]
            self.elements(owner, attribute, name)
            kept = place_of(self.schema, owner, attribute)
            assert isinstance(kept, Apart)
            return _Elements(f"{owner}.{attribute}", name, isinstance(kept.element, Struct))
        found = self.schema.of_relation(name)
        if found is not None:
            self.extent(found.name)
            return _Objects(found.name)
        self.note("onInsertTo", name, name)
        self.note("onDeleteTo", name, name)
        return _Rows(name)

    def find_path_step(self, q: Generator | OuterGenerator) -> tuple[str, Term] | None:
        """The class and the reference, where a generator is a step of a path."""
        match q:
            case OuterGenerator(
                variable, Relation(name), Call("eq", (Field(Variable(v), member), reference))
            ):
                found = self.schema.of_relation(name)
                if found is not None and v == variable.name and member == OID:
                    return found.name, reference
        return None

    def qualifier(self, q: Generator | OuterGenerator | Unnest | Filter, scope: Scope) -> None:
        match q:
            case Generator(variable, source):
                scope[variable.name] = self.query(source, scope)
            case OuterGenerator(variable, source, on):
                step = self.find_path_step(q)
                if step is None:
                    scope[variable.name] = self.query(source, scope)
                    self.term(on, scope, True)
                    return
                name, reference = step
                self.term(reference, scope, False)
                scope[variable.name] = _Objects(name, self.element_of(reference, scope))
            case Unnest(variable, collection):
                read = self.term(collection, scope, False)
                scope[variable.name] = _Made(dict.fromkeys(_members(variable), read))
            case Filter(condition):
                self.term(condition, scope, True)
            case _:
                assert_never(q)

    def element_of(self, reference: Term, scope: Scope) -> str | None:
        """The collection whose element a reference is."""
        if isinstance(reference, Field) and isinstance(reference.of, Variable):
            origin = scope.get(reference.of.name)
            if isinstance(origin, _Elements):
                return origin.collection
        return None

    # --- terms ---------------------------------------------------------------------------------------------

    def term(self, term: Term, scope: Scope, condition: bool) -> Read:
        """What a term reads; `condition`: it decides which records there are."""
        match term:
            case Field(Variable(name), member):
                return self.of_field(scope.get(name, _Made()), member, condition)
            case Field(Field(Variable(name), _), member) if isinstance(scope.get(name), _Elements):
                origin = scope[name]
                assert isinstance(origin, _Elements)
                subject = f"{member} in {origin.collection}"
                return frozenset({self.note("onModifyAttrInElement", subject, origin.table, condition)})
            case Variable(name):
                whole = scope.get(name)
                return _all(whole.fields.values()) if isinstance(whole, _Made) else NOTHING
            case Scalar(query) | Exists(query):
                return self.read_nested(query, scope, condition or isinstance(term, Exists))
            case Quantified(args=args, query=query):
                for a in args:
                    self.term(a, scope, True)
                return self.read_nested(query, scope, True)
            case Nested():
                return NOTHING
            case _:
                return _all(self.term(t, scope, condition) for t in term_children(term))

    def read_nested(self, query: Query, scope: Scope, condition: bool) -> Read:
        origin = self.query(query, scope)
        return _all(self.of_field(origin, f.name, condition) for f in query.fields)

    def of_field(self, origin: Origin, member: str, condition: bool) -> Read:
        match origin:
            case _Objects(name, via):
                return NOTHING if member == OID else self.attribute(name, member, via, condition)
            case _Elements():
                return NOTHING
            case _Rows(table):
                return frozenset({self.note("onModifyAttr", f"{table}.{member}", table, condition)})
            case _Made(fields):
                read = fields.get(member, NOTHING)
                if condition:
                    self.decide(read)
                return read
            case _:
                assert_never(origin)

    def decide(self, read: Read) -> None:
        """These attributes decide which records there are."""
        for key in read:
            self.found[key] = True


def _all(reads: Iterable[Read]) -> Read:
    return frozenset().union(*reads)


def _members(variable: Variable) -> list[str]:
    return [m.name for m in variable.type.members] if isinstance(variable.type, Struct) else []
