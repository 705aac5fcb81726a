"""Paths: a step through a reference is a lookup in the extent of its class, by identity.

A front end writes `e.dept.name` as `Field(Field(e, "dept"), "name")`, the inner one of type `Reference("department")`.
`resolve` makes a generator for each reference that is stepped through, behind those that bind its variables:

    bag{ (n: e.dept.name) | e <- Emps, p }  =  bag{ (n: d.name) | e <- Emps, d <-outer Depts on d.oid = e.dept, p }

A step through the identity of a record of an extent is a member of that record: `e.oid.name` is `e.name`.

An identity is a key, so the outer generator neither repeats nor drops a record: nil and dangling references step to NULL.
Equal paths share one generator. Where a condition rejects NULL the optimiser makes the join an inner one. Grouping, windows,
order and outer joins have no qualifiers: there the source is wrapped in a comprehension that carries the path as one more
field.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from evercurrent.calculus.nodes import (
    Comprehension,
    Fields,
    Filter,
    FullOuter,
    Generator,
    Group,
    OuterGenerator,
    Qualifier,
    Query,
    Relation,
    Top,
    Union,
    Unnest,
    Values,
    Window,
)
from evercurrent.calculus.scope import (
    Names,
    free_variables,
    list_bound,
    record_of,
    rename_apart,
    row_type,
    substitute_term,
)
from evercurrent.calculus.walk import nodes, qualifier_with_parts, rewrite_term, term_with_parts, with_parts
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.classes import Schema
from evercurrent.catalog.extents import OID, Apart, Inside, Inverse, Single, place_of
from evercurrent.data.types import Member, Reference, Struct
from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.source import Place
from evercurrent.term import build
from evercurrent.term.nodes import Call, Field, Lambda, Term, Variable

# --- writing a step ------------------------------------------------------------------------------------------


def step(schema: Schema, term: Term, name: str, place: Place | None = None) -> Term:
    """`term.name`, the term a reference: a property that is kept in the row of the object."""
    assert isinstance(term.type, Reference)
    target = term.type.target
    if name.lower() == OID:
        return Field(term, OID, term.type, True)
    properties = schema.properties(target)
    found = name if name in properties else next((p for p in properties if p.lower() == name.lower()), None)
    if found is None:
        near = difflib.get_close_matches(name, list(properties), 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(properties)}"
        raise QueryError(f"{target} has no property {name}", place=place, hint=hint)
    kept = place_of(schema, target, found)
    match kept:
        case Single(_, column, type) | Inside(_, column, _, type):
            return Field(term, column, type, True)
        case Apart(table, owner=owner) | Inverse(table, owner):
            raise QueryError(
                f"{target}.{found} is a collection, which has no place in a path",
                place=place,
                hint=f"its elements are the rows of {table} whose {owner} is the object",
            )
        case _:
            assert_never(kept)


def has_paths(node: Query | Term) -> bool:
    """Whether a step through a reference is left anywhere."""
    return any(isinstance(part, Field) and isinstance(part.of.type, Reference) for part in nodes(node))


# --- resolving -----------------------------------------------------------------------------------------------


def resolve(query: Query, catalog: Catalog) -> Query:
    """The query with every step through a reference as a lookup in an extent."""
    if not catalog.schema or not has_paths(query):
        return query
    names = Names()
    return _Resolver(catalog, names).query(rename_apart(query, names), None)


class _Host:
    """A comprehension in the making: `made` are its qualifiers so far, `bound` what they bind.

    `around` is the host around it, which binds what this one does not.
    """

    def __init__(self, resolver: _Resolver, around: _Host | None) -> None:
        self.resolver = resolver
        self.around = around
        self.made: list[Qualifier] = []
        self.bound: set[str] = set()
        self.found: dict[Term, Variable] = {}

    def add(self, qualifier: Qualifier) -> None:
        self.made.append(qualifier)
        self.bound.update(v.name for v in list_bound(qualifier))

    def binder(self, names: frozenset[str]) -> _Host:
        """The innermost host that binds one of the names; this one if none does."""
        at: _Host | None = self
        while at is not None:
            if names & at.bound:
                return at
            at = at.around
        return self

    def member(self, step: Field) -> Term:
        """A step whose reference has been resolved, as a member of the object that was looked up."""
        return replace(step, of=self.object(step.of))

    def object(self, reference: Term) -> Variable:
        found = self.found.get(reference) or self.itself(reference)
        if found is None:
            assert isinstance(reference.type, Reference)
            found, generator = self.resolver.lookup(reference, reference.type)
            self.found[reference] = found
            self.add(generator)
        return found

    def itself(self, reference: Term) -> Variable | None:
        """The variable over an extent, where the reference is the identity of its records."""
        match reference:
            case Field(Variable(name), member, Reference(target)) if member == OID:
                for q in self.made:
                    if (
                        isinstance(q, Generator | OuterGenerator)
                        and q.variable.name == name
                        and isinstance(q.source, Relation)
                    ):
                        of = self.resolver.catalog.schema.of_relation(q.source.name)
                        if of is not None and self.resolver.catalog.schema.is_a(of.name, target):
                            return q.variable
        return None


class _Wrapping(_Host):
    """A source that is wrapped: what is found of its variable is carried as further fields of a new variable."""

    def __init__(self, resolver: _Resolver, around: _Host | None, variable: Variable, source: Query) -> None:
        super().__init__(resolver, around)
        self.variable = variable
        self.inner = Variable(resolver.names.fresh(variable.name), row_type(source))
        self.add(Generator(self.inner, source))
        self.source = source
        self.outer = replace(variable, name=resolver.names.fresh(variable.name))
        self.bound = {variable.name, self.outer.name}
        self.carried: dict[str, Term] = {}

    def member(self, step: Field) -> Term:
        inside = replace(step, of=self.object(self.inwards(step.of)))
        name = next((n for n, term in self.carried.items() if term == inside), None)
        if name is None:
            taken = {m.name.lower() for m in self.source.fields} | self.carried.keys()
            name = f"{step.name}.{len(self.carried)}"
            while name.lower() in taken:
                name += "."
            self.carried[name] = inside
        return Field(self.outer, name, step.type, True)

    def inwards(self, term: Term) -> Term:
        """A term over the variable as one that can be read inside the wrapping."""

        def translate(part: Term) -> Term:
            if isinstance(part, Field) and isinstance(part.of, Variable) and part.of.name == self.outer.name:
                return self.carried[part.name]
            return part

        return substitute_term(rewrite_term(term, lambda q: q, translate), {self.variable.name: self.inner})

    def close(self) -> tuple[Variable, Query, Callable[[Term], Term]]:
        """The variable and source to use from now on, and what makes a term speak of them."""
        if not self.carried:
            return self.variable, self.source, lambda term: term
        fields = self.source.fields
        own = tuple(build.field(self.inner, f.name) for f in fields)
        more = tuple(Member(name, term.type, True) for name, term in self.carried.items())
        wrapped = Comprehension("bag", (*own, *self.carried.values()), tuple(self.made), (*fields, *more))
        variable = replace(self.outer, type=row_type(wrapped))
        return variable, wrapped, lambda term: _rename_variable(term, self.variable, fields, variable)


def _rename_variable(term: Term, old: Variable, fields: Fields, new: Variable) -> Term:
    """A term over a variable as one over a wider variable; binders have names of their own, so nothing is captured."""

    def on_query(query: Query) -> Query:
        return with_parts(query, on_query, on_term)

    def on_term(part: Term) -> Term:
        match part:
            case Field(Variable(name), member, type, nullable) if name in (old.name, new.name):
                return Field(new, member, type, nullable)
            case Call("is_null" | "is_not_null", (Variable(name),)) if name == old.name:
                return replace(part, args=(new,))
            case Variable(name) if name == old.name:
                whole = record_of(fields, tuple(build.field(new, f.name) for f in fields))
                return build.case([(build.call("is_not_null", new), whole)]) if new.nullable else whole
            case _:
                return term_with_parts(part, on_query, on_term)

    return on_term(term)


class _Resolver:
    def __init__(self, catalog: Catalog, names: Names) -> None:
        self.catalog = catalog
        self.names = names

    def lookup(self, reference: Term, type: Reference) -> tuple[Variable, OuterGenerator]:
        """A variable for the object that a reference refers to, and the generator that finds it."""
        relation = self.catalog.schema.classes[type.target].relation
        extent = Relation(relation, self.catalog.fields_of(relation))
        stem = reference.name if isinstance(reference, Field | Variable) else type.target
        variable = Variable(self.names.fresh(stem.lower()), Struct(extent.fields), True)
        on = build.call("eq", build.field(replace(variable, nullable=False), OID), reference)
        return variable, OuterGenerator(variable, extent, on)

    # --- terms -----------------------------------------------------------------------------------------------

    def term(self, term: Term, host: _Host) -> Term:
        match term:
            case Lambda(parameters, body):
                self._no_path_of(frozenset(p.name for p in parameters), body)
                return term_with_parts(term, lambda q: self.query(q, host), lambda t: self.term(t, host))
            case Field(of) if isinstance(of.type, Reference):
                inner = self.term(of, host)
                return host.binder(free_variables(inner)).member(replace(term, of=inner))
            case _:
                return term_with_parts(term, lambda q: self.query(q, host), lambda t: self.term(t, host))

    def _no_path_of(self, parameters: frozenset[str], body: Term) -> None:
        for part in nodes(body):
            if isinstance(part, Field) and isinstance(part.of.type, Reference):
                if free_variables(part.of) & parameters:
                    raise UnsupportedError(
                        f"a path through the parameter of a lambda (.{part.name}) is not supported",
                        hint="range over the collection in FROM instead",
                    )

    # --- queries ---------------------------------------------------------------------------------------------

    def query(self, query: Query, around: _Host | None) -> Query:
        match query:
            case Comprehension():
                return self._comprehension(query, around)
            case Values(rows, fields) if any(has_paths(t) for row in rows for t in row):
                parts = tuple(self.query(Comprehension("bag", row, (), fields), around) for row in rows)
                return parts[0] if len(parts) == 1 else Union(parts, fields)
            case Group() | Window() | Top():
                return self._over_source(query, around)
            case FullOuter():
                return self._full_outer(query, around)
            case _:
                return with_parts(query, lambda q: self.query(q, around), lambda t: self._outside(t, around))

    def _outside(self, term: Term, around: _Host | None) -> Term:
        """A term of a node without paths of its own: what is nested in it may have some."""
        return term if around is None or not has_paths(term) else self.term(term, around)

    def _over_source(self, query: Group | Window | Top, around: _Host | None) -> Query:
        wrapping = _Wrapping(self, around, query.variable, self.query(query.source, around))
        resolved = with_parts(query, lambda q: q, lambda t: self.term(t, wrapping))
        variable, source, outwards = wrapping.close()
        made = with_parts(resolved, lambda q: q, outwards)
        assert isinstance(made, Group | Window | Top)
        made = replace(made, variable=variable, source=source)
        if isinstance(made, Group) or not wrapping.carried:
            return made
        # Fields are those of the source: what the wrapping carries is dropped behind it.
        width = len(query.source.fields)
        made = replace(made, fields=(*source.fields, *query.fields[width:]))
        over = Variable(self.names.fresh(variable.name), row_type(made))
        head = tuple(build.field(over, f.name) for f in query.fields)
        return Comprehension("bag", head, (Generator(over, made),), query.fields)

    def _full_outer(self, query: FullOuter, around: _Host | None) -> Query:
        left = _Wrapping(self, around, query.left_variable, self.query(query.left, around))
        right = _Wrapping(self, left, query.right_variable, self.query(query.right, around))
        for part in (query.on, *query.head):
            for step in nodes(part):
                if isinstance(step, Field) and isinstance(step.of.type, Reference):
                    sides = {query.left_variable.name, query.right_variable.name} & free_variables(step.of)
                    if len(sides) > 1:
                        raise UnsupportedError(
                            f"a path (.{step.name}) through both sides of a full outer join is not supported",
                            hint="join in a subquery, and step through its result",
                        )
        on = self.term(query.on, right)
        head = tuple(self.term(t, right) for t in query.head)
        left_variable, left_source, of_left = left.close()
        right_variable, right_source, of_right = right.close()
        return replace(
            query,
            left_variable=left_variable,
            left=left_source,
            right_variable=right_variable,
            right=right_source,
            on=of_right(of_left(on)),
            head=tuple(of_right(of_left(t)) for t in head),
        )

    # --- comprehensions --------------------------------------------------------------------------------------

    def _comprehension(self, query: Comprehension, around: _Host | None) -> Query:
        host = _Host(self, around)
        head, rest = query.head, query.qualifiers
        while rest:
            qualifier, *others = rest
            rest = tuple(others)
            outwards = self.qualifier(qualifier, host)
            if outwards is not None:
                rest = tuple(qualifier_with_parts(q, _in_query(outwards), outwards) for q in rest)
                head = tuple(map(outwards, head))
        resolved = tuple(self.term(t, host) for t in head)
        return replace(query, head=resolved, qualifiers=tuple(host.made))

    def qualifier(self, qualifier: Qualifier, host: _Host) -> Callable[[Term], Term] | None:
        """Add a qualifier to its host, behind the lookups that it needs; says how what follows is to be read."""
        match qualifier:
            case Generator(variable, source):
                host.add(Generator(variable, self.query(source, host)))
            case OuterGenerator(variable, source, on):
                wrapping = _Wrapping(self, host, variable, self.query(source, host))
                condition = self.term(on, wrapping)
                renamed, wrapped, outwards = wrapping.close()
                host.add(OuterGenerator(renamed, wrapped, outwards(condition)))
                return outwards if wrapping.carried else None
            case Unnest(collection=collection):
                host.add(replace(qualifier, collection=self.term(collection, host)))
            case Filter(condition):
                host.add(Filter(self.term(condition, host)))
            case _:
                assert_never(qualifier)
        return None


def _in_query(on_term: Callable[[Term], Term]) -> Callable[[Query], Query]:
    def on_query(query: Query) -> Query:
        return with_parts(query, on_query, on_term)

    return on_query
