"""A comprehension under construction: qualifiers, and the rows that functions see.

    students.join(council, on=...)      qualifiers  s <- students, m <- council, s.first = m.first
                                        rows        s, m

An operator that needs a finished query packs the block into one; a row of it is then a variable over that query.
An opaque application gets a query of its own, in whose head it is a column: see `term.opaque`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from evercurrent.calculus.nodes import (
    Comprehension,
    Fields,
    Filter,
    Generator,
    Qualifier,
    Query,
)
from evercurrent.calculus.scope import free_variables, row_type, substitute_qualifiers, substitute_term
from evercurrent.data.naming import unique
from evercurrent.data.shapes import Shape
from evercurrent.data.types import Member, Struct
from evercurrent.errors import QueryError
from evercurrent.frontend.python.symbols import Symbol
from evercurrent.term import build
from evercurrent.term.nodes import Apply, Call, Case, Field, Record, Term, Variable
from evercurrent.term.nullable import nullable
from evercurrent.term.opaque import is_opaque
from evercurrent.term.walk import children, with_children

_fresh = itertools.count(1)


def variable(query: Query, stem: str = "r", optional: bool = False) -> Variable:
    """A variable over the rows of a query, under a name that no other has."""
    return Variable(f"{stem}{next(_fresh)}", row_type(query), optional)


def variable_of(type: Struct, stem: str = "r", optional: bool = False) -> Variable:
    """A variable of a struct type, under a name that no other has."""
    return Variable(f"{stem}{next(_fresh)}", type, optional)


@dataclass(frozen=True, slots=True)
class Block:
    """`shapes` are those of the rows, in order."""

    qualifiers: tuple[Qualifier, ...]
    rows: tuple[Symbol, ...]
    shapes: tuple[Shape, ...]

    @property
    def shape(self) -> Shape:
        return Shape.product(self.shapes)


HOLE = Block((), (), ())
"""The block of a recursive relation of which nothing is known yet (see `recursion`); what is made of it is it again."""


def over(query: Query, shape: Shape, stem: str = "r") -> Block:
    """The block of all rows of a query."""
    v = variable(query, stem)
    return Block((Generator(v, query),), *rows_at(v, query.fields, shape))


def rows_at(v: Variable, fields: Fields, shape: Shape) -> tuple[tuple[Symbol, ...], tuple[Shape, ...]]:
    """The rows that a variable over packed fields holds, and their shapes."""
    if shape.kind != "product":
        return (row_at(v, fields, shape, whole=True),), (shape,)
    rows, at = [], 0
    parts = [p for p in shape.inner if p is not None]
    for part in parts:
        rows.append(row_at(v, fields[at : at + part.width], part, whole=False))
        at += part.width
    return tuple(rows), tuple(parts)


def row_at(v: Variable, fields: Fields, shape: Shape, whole: bool) -> Symbol:
    if shape.kind == "single":
        return Symbol(build.field(v, fields[0].name), shape.inner[0])
    if whole:
        return Symbol(v, shape)
    names = shape.names or tuple(f.name for f in fields)
    members = [(n, build.field(v, f.name)) for n, f in zip(names, fields, strict=True)]
    return Symbol(build.record(members), shape, _missing(members, shape))


def _missing(members: list[tuple[str, Term]], shape: Shape) -> Term | None:
    """Whether the row of an outer join that these members were packed from is missing."""
    if not shape.optional:
        return None
    certain = [t for n, t in members if n in shape.certain]
    return build.conjunction(build.call("is_null", t) for t in (certain[:1] or [t for _, t in members]))


# --- packing -----------------------------------------------------------------------------------------------


def pack(block: Block) -> Query:
    """The block as a query: the fields of its rows, one after another."""
    match block.qualifiers, block.rows:
        case (Generator(v, source),), (Symbol() as row,) if _is_all_of(row, v):
            return source
    head, fields = head_of(block)
    return Comprehension("bag", head, block.qualifiers, fields)


def _is_all_of(row: Symbol, v: Variable) -> bool:
    """Whether a row is a variable as it is, or its only field."""
    term = row._term
    members = v.type.members if isinstance(v.type, Struct) else ()
    if term == v:
        return True
    return len(members) == 1 and isinstance(term, Field) and term.of == v


def head_of(block: Block) -> tuple[tuple[Term, ...], Fields]:
    terms: list[Term] = []
    names: list[str] = []
    for row, shape in zip(block.rows, block.shapes, strict=True):
        for name, term in columns_at(row, shape):
            names.append(name)
            terms.append(term)
    distinct = unique(names)
    fields = tuple(Member(n, t.type, nullable(t)) for n, t in zip(distinct, terms, strict=True))
    return tuple(terms), fields


def columns_at(row: Symbol, shape: Shape) -> list[tuple[str, Term]]:
    term = row._term
    if shape.kind == "single":
        return [(term.name if isinstance(term, Field) else "value", term)]
    if isinstance(term, Record):
        return list(term.members)
    assert isinstance(term.type, Struct)
    return [(m.name, build.field(term, m.name)) for m in term.type.members]


def repack(block: Block) -> tuple[Query, Block]:
    """The block as a query, and the block of all its rows."""
    query = pack(block)
    return query, over(query, block.shape)


# --- filters and opaque applications -----------------------------------------------------------------------


def filter_block(block: Block, condition: Term) -> Block:
    """The block's rows for which a condition is TRUE; what is opaque in it is asked last."""
    plain = [c for c in build.conjuncts(condition) if not is_opaque(c)]
    block = replace(block, qualifiers=(*block.qualifiers, *map(Filter, plain)))
    asked = [c for c in build.conjuncts(condition) if is_opaque(c)]
    for _ in asked:
        # One after another: the next is asked only of the rows that this one keeps.
        block, (first, *asked) = hoist(block, asked)
        block = replace(block, qualifiers=(*block.qualifiers, Filter(first)))
    return block


def hoist(block: Block, terms: Sequence[Term]) -> tuple[Block, list[Term]]:
    """The block with the opaque applications of the first opaque term as columns, and the terms that read them."""
    opaque = [part for term in terms[:1] for part in borders(term)]
    return with_columns(block, opaque, terms)


def all_hoisted(block: Block, terms: Sequence[Term]) -> tuple[Block, list[Term]]:
    """The block with all opaque applications of the terms as columns, and the terms that read them."""
    return with_columns(block, [part for term in terms for part in borders(term)], terms)


def with_columns(block: Block, parts: Sequence[Term], terms: Sequence[Term]) -> tuple[Block, list[Term]]:
    found = list(dict.fromkeys(parts))
    if not found:
        return block, list(terms)
    for part in found:
        at = _own_generator(block, part)
        if at is not None:
            block, terms = _within_generator(block, at, part, terms)
            return with_columns(block, [p for t in terms for p in borders(t)], terms)
    head, fields = head_of(block)
    names = unique([*(f.name for f in fields), *(_name(t) for t in found)])
    more = tuple(Member(n, t.type, nullable(t)) for n, t in zip(names[len(fields) :], found, strict=True))
    query = Comprehension("bag", (*head, *found), block.qualifiers, fields + more)
    v = variable(query)
    rows: list[Symbol] = []
    at = 0
    for shape in block.shapes:
        rows.append(row_at(v, fields[at : at + shape.width], shape, whole=False))
        at += shape.width
    instead: dict[Term, Term] = {t: build.field(v, m.name) for t, m in zip(found, more, strict=True)}
    instead.update({h: build.field(v, f.name) for h, f in zip(head, fields, strict=True)})
    for row, new in zip(block.rows, rows, strict=True):
        instead.setdefault(row._term, new._term)
    return Block((Generator(v, query),), tuple(rows), block.shapes), [
        replace_terms(t, instead) for t in terms
    ]


def _own_generator(block: Block, part: Term) -> int | None:
    """Which generator among several binds all that an application reads: there it is made once for each row."""
    generators = [i for i, q in enumerate(block.qualifiers) if not isinstance(q, Filter)]
    read = free_variables(part)
    if len(generators) < 2 or len(read) != 1:
        return None
    for i in generators:
        qualifier = block.qualifiers[i]
        if isinstance(qualifier, Generator) and {qualifier.variable.name} == read:
            return None if free_variables(qualifier.source) else i
    return None


def _within_generator(block: Block, at: int, part: Term, terms: Sequence[Term]) -> tuple[Block, list[Term]]:
    """The application as one more field of what a generator ranges over."""
    generator = block.qualifiers[at]
    assert isinstance(generator, Generator)
    old, fields = generator.variable, generator.source.fields
    label = unique([*(f.name for f in fields), _name(part)])[-1]
    more = Member(label, part.type, nullable(part))
    head = tuple(build.field(old, f.name) for f in fields)
    # What was asked of these rows before is asked before the function is called.
    own = [q for q in block.qualifiers if isinstance(q, Filter) and free_variables(q) == {old.name}]
    query = Comprehension("bag", (*head, part), (Generator(old, generator.source), *own), (*fields, more))
    new = variable(query, old.name.rstrip("0123456789") or "r")
    record = build.record([(f.name, build.field(new, f.name)) for f in fields])

    def move(term: Term) -> Term:
        return substitute_term(replace_terms(term, {part: build.field(new, label)}), {old.name: record})

    rest = tuple(q for q in block.qualifiers[at + 1 :] if q not in own)
    later, _ = substitute_qualifiers(rest, {old.name: record})
    rows = tuple(
        Symbol(move(r._term), r._shape, None if r._missing is None else move(r._missing)) for r in block.rows
    )
    qualifiers = (*block.qualifiers[:at], Generator(new, query), *later)
    return Block(qualifiers, rows, block.shapes), [move(t) for t in terms]


def _name(term: Term) -> str:
    return term.function.name if isinstance(term, Apply) else "opaque"


def borders(term: Term) -> list[Term]:
    """The parts of a term that become columns: applications, or what decides whether they are made at all."""
    if not is_opaque(term):
        return []
    match term:
        case Apply():
            return [term]
        case Case(branches):
            if not is_opaque(branches[0][0]) or any(is_opaque(t) for t in children(term)[1:]):
                return [term]
        case Call("and" | "or" | "coalesce", args) if any(is_opaque(a) for a in args[1:]):
            return [term]
    return [part for child in children(term) for part in borders(child)]


def replace_terms(term: Term, instead: dict[Term, Term]) -> Term:
    found = instead.get(term)
    if found is not None:
        return found
    old = children(term)
    new = tuple(replace_terms(t, instead) for t in old)
    return term if all(a is b for a, b in zip(old, new, strict=True)) else with_children(term, new)


# --- joining -----------------------------------------------------------------------------------------------


def beside(left: Block, right: Block) -> Block:
    """Every pair of rows."""
    shared = {v for v in _list_bound(left) if v in _list_bound(right)}
    if shared:  # a query joined with itself: each occurrence ranges on its own
        right = again(right)
    return Block(left.qualifiers + right.qualifiers, left.rows + right.rows, left.shapes + right.shapes)


def again(block: Block) -> Block:
    """The same block with variables of its own."""
    return over(pack(block), block.shape)


def _list_bound(block: Block) -> set[str]:
    return {q.variable.name for q in block.qualifiers if not isinstance(q, Filter)}


def require_width(left: Fields, right: Fields, what: str) -> None:
    if len(left) != len(right):
        raise QueryError(f"{what}: both sides need as many columns; there are {len(left)} and {len(right)}")
