"""Scopes: which variables a part of a query sees, and substitution that respects it.

A qualifier is in the scope of those before it, the head in the scope of all. `on` of an outer generator sees its own
variable. Keys, aggregates, functions and orders see the variable of their node, its source does not. Both sides of a full
outer join are outside the scope of its variables. A nested query sees everything around it.

    free_variables( bag{ (x: e.name) | e <- emp, e.dept = d.id } )  =  {d}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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
    Top,
    Unnest,
    Window,
)
from evercurrent.calculus.walk import children, is_query, nodes, term_with_parts, with_parts
from evercurrent.data.types import Struct
from evercurrent.term.nodes import Field, Lambda, Literal, Record, Term, Variable


def row_type(query: Query) -> Struct:
    """The type of a variable that ranges over the query."""
    return Struct(query.fields)


def list_bound(qualifier: Qualifier) -> tuple[Variable, ...]:
    match qualifier:
        case Generator(variable) | OuterGenerator(variable) | Unnest(variable):
            return (variable,)
        case Filter():
            return ()
        case _:
            assert_never(qualifier)


def free_variables(node: Query | Term | Qualifier) -> frozenset[str]:
    """Names of the variables that are read but not bound: what a query is correlated by."""
    none = frozenset[str]()

    def of_terms(terms: Iterable[Term]) -> frozenset[str]:
        return none.union(*map(free_variables, terms))

    match node:
        case Variable(name):
            return frozenset((name,))
        case Lambda(parameters, body):
            return free_variables(body) - {p.name for p in parameters}
        case Generator(_, source):
            return free_variables(source)
        case OuterGenerator(variable, source, on):
            return free_variables(source) | (free_variables(on) - {variable.name})
        case Unnest(collection=collection):
            return free_variables(collection)
        case Filter(condition):
            return free_variables(condition)
        case Comprehension(_, head, qualifiers):
            free = of_terms(head)
            for qualifier in reversed(qualifiers):
                free = (free - {v.name for v in list_bound(qualifier)}) | free_variables(qualifier)
            return free
        case FullOuter(left_variable, left, right_variable, right, on, head):
            inner = (free_variables(on) | of_terms(head)) - {left_variable.name, right_variable.name}
            return inner | free_variables(left) | free_variables(right)
        case Group(variable, source) | Window(variable, source) | Top(variable, source):
            outer = free_variables(source)
            return outer | (of_terms(_own_terms(node)) - {variable.name})
        case _:
            return none.union(*map(free_variables, children(node)))


def _own_terms(query: Group | Window | Top) -> list[Term]:
    return [part for part in children(query) if not is_query(part)]  # type: ignore[misc]


def free_paths(node: Query | Term) -> frozenset[Term]:
    """What is read of free variables: members of them, or the whole. It determines the value of the node."""
    free, bound = free_variables(node), binders(node)
    paths: set[Term] = set()
    pending: list[Query | Term] = [node]
    while pending:
        part = pending.pop()
        match part:
            case Field(Variable(name)) if name in free and name not in bound:
                paths.add(part)
            case Variable(name) if name in free:
                paths.add(part)
            case _:
                pending.extend(children(part))
    return frozenset(paths)


def binders(node: Query | Term) -> frozenset[str]:
    """Names of all variables that are bound anywhere inside."""
    names: set[str] = set()
    for part in nodes(node):
        match part:
            case Comprehension(qualifiers=qualifiers):
                names.update(v.name for q in qualifiers for v in list_bound(q))
            case FullOuter(left_variable=left, right_variable=right):
                names.update((left.name, right.name))
            case Group(variable) | Window(variable) | Top(variable):
                names.add(variable.name)
            case Lambda(parameters):
                names.update(p.name for p in parameters)
            case _:
                pass
    return frozenset(names)


def variable_names(node: Query | Term) -> frozenset[str]:
    """Names of all variables that are bound or read anywhere."""
    return binders(node).union(part.name for part in nodes(node) if isinstance(part, Variable))


class Names:
    """A source of variable names that are not taken yet."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)

    def fresh(self, name: str) -> str:
        """`name` itself if it is free, else `name` with a number."""
        stem = name.rstrip("0123456789").rstrip("_") or name
        candidate, number = name, 1
        while candidate in self.taken:
            number += 1
            candidate = f"{stem}_{number}"
        self.taken.add(candidate)
        return candidate


Bindings = Mapping[str, Term]


def substitute(query: Query, bindings: Bindings, names: Names | None = None) -> Query:
    """The query with free variables replaced by terms.

    Free of capture: a variable that the query binds is renamed where its name is free in a replacement. With `names`,
    every bound variable gets a fresh name from there.
    """
    return _substitution(bindings, names, query).query(query)


def substitute_term(term: Term, bindings: Bindings, names: Names | None = None) -> Term:
    """A term with free variables replaced, likewise."""
    return _substitution(bindings, names, term).term(term)


def substitute_qualifiers(
    qualifiers: tuple[Qualifier, ...], bindings: Bindings, names: Names | None = None
) -> tuple[tuple[Qualifier, ...], Callable[[Term], Term]]:
    """Qualifiers with free variables replaced, and the same substitution for terms in their scope."""
    whole = Comprehension("bag", (), qualifiers, ())
    replaced, inner = _substitution(bindings, names, whole).qualifiers(qualifiers)
    return replaced, inner.term


def rename_apart(query: Query, names: Names) -> Query:
    """The same query, every bound variable under a fresh name."""
    return substitute(query, {}, names)


def _substitution(bindings: Bindings, names: Names | None, node: Query | Term) -> _Substitution:
    if names is not None:
        return _Substitution(bindings, {}, names, True)
    return _Substitution(bindings, {}, Names(variable_names(node)), False)


class _Substitution:
    """What free variables become: terms (`bindings`), or the same variables under other names (`renamed`).

    `always`: every binder is renamed; otherwise only one that would capture.
    """

    def __init__(self, bindings: Bindings, renamed: Mapping[str, str], names: Names, always: bool) -> None:
        self.bindings = bindings
        self.renamed = renamed
        self.names = names
        self.always = always
        self.captured = frozenset(renamed.values()).union(*map(free_variables, bindings.values()))

    def binder(self, variable: Variable) -> tuple[Variable, _Substitution]:
        """What a binder is called from here on, and the substitution in its scope."""
        name = variable.name
        if self.always or name in self.captured:
            self.names.taken |= self.captured
            name = self.names.fresh(name)
        bindings = {old: term for old, term in self.bindings.items() if old != variable.name}
        renamed = {old: new for old, new in self.renamed.items() if old != variable.name}
        if name != variable.name:
            renamed[variable.name] = name
        return replace(variable, name=name), _Substitution(bindings, renamed, self.names, self.always)

    def term(self, term: Term) -> Term:
        match term:
            case Variable(name):
                if name in self.renamed:
                    return replace(term, name=self.renamed[name])
                return self.bindings.get(name, term)
            case Field(of, name):
                return select(self.term(of), name, term)
            case Lambda(parameters, body):
                inner, renamed = self, []
                for parameter in parameters:
                    variable, inner = inner.binder(parameter)
                    renamed.append(variable)
                return replace(term, parameters=tuple(renamed), body=inner.term(body))
            case _:
                return term_with_parts(term, self.query, self.term)

    def query(self, query: Query) -> Query:
        match query:
            case Comprehension(_, head, qualifiers):
                replaced, inner = self.qualifiers(qualifiers)
                return replace(query, head=tuple(map(inner.term, head)), qualifiers=replaced)
            case FullOuter():
                left, inner = self.binder(query.left_variable)
                right, inner = inner.binder(query.right_variable)
                return replace(
                    query,
                    left_variable=left,
                    left=self.query(query.left),
                    right_variable=right,
                    right=self.query(query.right),
                    on=inner.term(query.on),
                    head=tuple(map(inner.term, query.head)),
                )
            case Group(variable) | Window(variable) | Top(variable):
                renamed, inner = self.binder(variable)
                return with_parts(replace(query, variable=renamed), self.query, inner.term)
            case _:
                return with_parts(query, self.query, self.term)

    def qualifiers(self, qualifiers: tuple[Qualifier, ...]) -> tuple[tuple[Qualifier, ...], _Substitution]:
        inner, replaced = self, list[Qualifier]()
        for qualifier in qualifiers:
            match qualifier:
                case Generator(variable, source):
                    source = inner.query(source)
                    variable, inner = inner.binder(variable)
                    replaced.append(Generator(variable, source))
                case OuterGenerator(variable, source, on):
                    source = inner.query(source)
                    variable, inner = inner.binder(variable)
                    replaced.append(OuterGenerator(variable, source, inner.term(on)))
                case Unnest(variable):
                    collection = inner.term(qualifier.collection)
                    variable, inner = inner.binder(variable)
                    replaced.append(replace(qualifier, variable=variable, collection=collection))
                case Filter(condition):
                    replaced.append(Filter(inner.term(condition)))
                case _:
                    assert_never(qualifier)
        return tuple(replaced), inner


def select(of: Term, name: str, like: Field) -> Term:
    """The member `name` of a term that took another's place; of a record that is spelled out, the member itself."""
    if not isinstance(of.type, Struct):
        return replace(like, of=of)
    position = of.type.position(name)
    assert position is not None, f"{of.type} has no member {name}"
    match of:
        case Record(members):
            return members[position][1]
        case Literal(None):
            return Literal(None, like.type)
        case Variable():
            member = of.type.members[position]
            return Field(of, member.name, member.type, member.nullable or of.nullable)
        case _:
            return replace(like, of=of)


def record_of(fields: Fields, terms: tuple[Term, ...]) -> Record:
    """The head of a comprehension as one value."""
    members = tuple((field.name, term) for field, term in zip(fields, terms, strict=True))
    return Record(members, Struct(fields))
