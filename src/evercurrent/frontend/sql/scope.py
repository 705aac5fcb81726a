"""Scopes: what a name can mean at a place of a query.

A block `SELECT ... FROM ...` is read in levels. At the level of its rows a name is a column of one of the relations in
FROM. Grouping and windows make a new record, and what is written above them means that record: a `Stage` translates
terms of the level below (`t.a`, a group's key) into terms over the new variable (`g.a`), and refuses terms that were not
carried. A name that a block does not know is looked for in the block around it: correlation.

Names are found whatever their case. `a.b.c` is first tried as relation `a`, column `b`, member `c`, and then as column
`a`, members `b` and `c`; a column without members does not hide a relation `a` of a block around.

    SELECT city, count(*) FROM customers GROUP BY city      city means g.city, a field of the group
    SELECT name, count(*) FROM customers GROUP BY city      QueryError: the column name must appear in GROUP BY ...
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import NoReturn

from sqlglot import exp

from evercurrent.calculus.nodes import Query
from evercurrent.calculus.paths import step
from evercurrent.calculus.scope import Names
from evercurrent.catalog.catalog import Catalog
from evercurrent.data.types import Array, Map, Member, Reference, Struct
from evercurrent.errors import EvercurrentError, QueryError, UnsupportedError
from evercurrent.frontend.sql.functions import CLOCK, UNSTABLE
from evercurrent.frontend.sql.names import place_of, suggestion
from evercurrent.frontend.sql.parameters import constant
from evercurrent.source import Place
from evercurrent.term import build
from evercurrent.term.nodes import Field, Literal, Nested, Term, Variable
from evercurrent.term.walk import children, with_children

NESTED = (Array, Map, Reference, Struct)
"""Types of values with members."""


@dataclass(frozen=True, slots=True)
class Cte:
    """A query that WITH has named; `names` are what its fields are called there."""

    query: Query
    names: tuple[str, ...]


Files = Callable[[str, str, Mapping[str, object]], tuple[tuple[Member, ...], list[tuple[object, ...]]]]
"""From a path, the kind of a file and options to its columns and rows."""


@dataclass(frozen=True, slots=True)
class Env:
    """What holds for a whole statement, and the CTEs and the block around a query in it."""

    text: str
    catalog: Catalog
    names: Names
    ctes: Mapping[str, Cte] = field(default_factory=dict)
    outer: Level | None = None
    parameters: Mapping[str, Term] = field(default_factory=dict)
    files: Files | None = None  # reads files for read_parquet and its like
    clock: datetime | None = None  # when the statement began; None in definitions, which have no such moment
    keeps: bool = False  # whether the query is the definition of something that is kept

    def place(self, *nodes: exp.Expr | None) -> Place | None:
        """The place of the first node that has one."""
        return next((p for n in nodes if (p := place_of(self.text, n)) is not None), None)

    def wrong(self, message: str, *nodes: exp.Expr | None, hint: str | None = None) -> QueryError:
        return QueryError(message, place=self.place(*nodes), hint=hint)

    def unsupported_error(
        self, what: str, *nodes: exp.Expr | None, hint: str | None = None
    ) -> UnsupportedError:
        return UnsupportedError(f"{what} is not supported", place=self.place(*nodes), hint=hint)

    def with_clock(self) -> Env:
        """For a query or a change, which is evaluated now."""
        return replace(self, clock=datetime.now(UTC))

    def read_clock(self, name: str) -> Term | None:
        """The value of a name that reads the clock, if there is a moment at which it is read."""
        return constant(name, CLOCK[name](self.clock)) if self.clock is not None and name in CLOCK else None

    def within(self, outer: Level | None) -> Env:
        return replace(self, outer=outer)

    def with_cte(self, name: str, cte: Cte) -> Env:
        return replace(self, ctes={**self.ctes, name.lower(): cte})

    def variable(self, name: str, query: Query, nullable: bool = False) -> Variable:
        """A variable of a fresh name that ranges over a query."""
        return Variable(self.names.fresh(name), Struct(query.fields), nullable)


@dataclass(frozen=True, slots=True)
class Visible:
    """A column that can be named. One that is not `bare` needs its qualifier (the sides of USING) and is not in `*`."""

    name: str
    term: Term
    qualifier: tuple[str, ...] = ()
    bare: bool = True


class Level(ABC):
    """Where expressions are read: returns a term for a name, or for a syntax node that was read before.

    `known` holds terms for nodes by identity: aggregates, windows and generators of the block.
    """

    def __init__(self, env: Env, known: Mapping[int, Term] | None = None) -> None:
        self.env = env
        self.known: dict[int, Term] = dict(known or {})

    @abstractmethod
    def find(self, parts: Sequence[str], node: exp.Expr) -> Term | None:
        """The term that a name stands for, or None if it is not known here."""

    def names(self) -> Iterable[str]:
        """What could have been meant, for suggestions."""
        return ()

    def has_relation(self, name: str) -> bool:
        """Whether a relation of this block or of one around it has this lower-cased name."""
        return False

    def read(self, node: exp.Expr) -> Term | None:
        """A term for a whole node, if the level has a meaning of its own for it."""
        return self.known.get(id(node))

    def column(self, parts: Sequence[str], node: exp.Expr) -> Term:
        found = self.find(parts, node)
        if found is None and len(parts) == 1:
            found = self.env.read_clock(parts[0].lower())
        if found is None:
            raise self.unknown(parts, node)
        return found

    def unknown(self, parts: Sequence[str], node: exp.Expr) -> EvercurrentError:
        wanted = ".".join(parts)
        if wanted.lower() in UNSTABLE:
            what = f"{wanted}, whose value can change while the data does not,"
            return self.env.unsupported_error(what, node, hint=UNSTABLE[wanted.lower()])
        names = list(self.names())
        hint = suggestion(wanted, names) or suggestion(parts[-1], names)
        return self.env.wrong(f"there is no column {wanted} here", node, hint=hint)


class Rows(Level):
    """The rows of FROM. `clause` says where expressions stand, for messages."""

    def __init__(self, env: Env, visible: Sequence[Visible], clause: str = "this clause") -> None:
        super().__init__(env)
        self.visible = tuple(visible)
        self.clause = clause

    def in_clause(self, clause: str) -> Rows:
        level = Rows(self.env, self.visible, clause)
        level.known = self.known
        return level

    def names(self) -> Iterable[str]:
        yield from dict.fromkeys(v.name for v in self.visible)
        if self.env.outer is not None:
            yield from self.env.outer.names()

    def find(self, parts: Sequence[str], node: exp.Expr) -> Term | None:
        found = self.find_own(parts, node)
        if found is None and self.env.outer is not None:
            return self.env.outer.find(parts, node)
        return found

    def find_own(self, parts: Sequence[str], node: exp.Expr) -> Term | None:
        """The column among those of this block's relations."""
        lowered = [p.lower() for p in parts]
        for length in range(min(len(parts) - 1, 3), 0, -1):
            matches = [
                v
                for v in self.visible
                if v.name.lower() == lowered[length]
                and [q.lower() for q in v.qualifier[-length:]] == lowered[:length]
            ]
            if matches:
                return self._members(self._one(matches, parts, node), parts[length + 1 :], node)
        matches = [v for v in self.visible if v.bare and v.name.lower() == lowered[0]]
        if not matches or (len(parts) > 1 and self._is_meant_as_relation(lowered[0], matches)):
            return None
        return self._members(self._one(matches, parts, node), parts[1:], node)

    def _is_meant_as_relation(self, name: str, columns: Sequence[Visible]) -> bool:
        """Whether `name.x` is no member of these columns of that name, but a column of a relation here or around this block."""
        types = [v.term.type for v in columns]
        if any(v.qualifier and v.qualifier[-1].lower() == name for v in self.visible):
            return not any(isinstance(t, Struct) for t in types)
        outer = self.env.outer
        return (
            outer is not None and outer.has_relation(name) and not any(isinstance(t, NESTED) for t in types)
        )

    def has_relation(self, name: str) -> bool:
        own = any(v.qualifier and v.qualifier[-1].lower() == name for v in self.visible)
        return own or (self.env.outer is not None and self.env.outer.has_relation(name))

    def _one(self, matches: list[Visible], parts: Sequence[str], node: exp.Expr) -> Term:
        terms = list(dict.fromkeys(v.term for v in matches))
        if len(terms) > 1:
            choices = [".".join((*v.qualifier, v.name)) for v in matches if v.qualifier]
            hint = (
                f"write {' or '.join(choices)}"
                if len(set(choices)) > 1
                else "give the columns different names"
            )
            raise self.env.wrong(f"{'.'.join(parts)} is ambiguous", node, hint=hint)
        return terms[0]

    def _members(self, term: Term, members: Sequence[str], node: exp.Expr) -> Term:
        for name in members:
            term = member(self.env, term, name, node)
        return term


class Stage(Level):
    """A level whose rows are made from those of the level below.

    `mapping` returns the new term for each term of the level below that came along; `own` are the variables of the level
    below, of which nothing else may be left; `complain` makes the error for a term that did not come along.
    """

    def __init__(
        self,
        below: Level,
        mapping: Mapping[Term, Term],
        own: frozenset[str],
        complain: Callable[[exp.Expr | None, str], QueryError],
        known: Mapping[int, Term] | None = None,
    ) -> None:
        super().__init__(below.env, known)
        self.below = below
        self.mapping = dict(mapping)
        self.own = own
        self.complain = complain

    def names(self) -> Iterable[str]:
        return self.below.names()

    def has_relation(self, name: str) -> bool:
        return self.below.has_relation(name)

    def find(self, parts: Sequence[str], node: exp.Expr) -> Term | None:
        found = self.below.find(parts, node)
        return None if found is None else self.translate(found, node)

    def read(self, node: exp.Expr) -> Term | None:
        known = super().read(node)
        if known is not None:
            return known
        found = self.below.read(node)
        return None if found is None else self.translate(found, node)

    def is_plain(self, node: exp.Expr) -> bool:
        """Whether a node can be read at the level below as a whole: nothing in it belongs to this level alone."""
        return not any(isinstance(part, exp.Query) or self.read(part) is not None for part in node.walk())

    def translate(self, term: Term, node: exp.Expr | None = None) -> Term:
        found = self.mapping.get(term)
        if found is not None:
            return found
        if isinstance(term, Literal | Nested):
            return term
        if isinstance(term, Variable) and term.name in self.own:
            self.refuse(term, node)
        if isinstance(term, Field) and isinstance(term.of, Variable) and term.of.name in self.own:
            self.refuse(term, node)
        old = children(term)
        new = tuple(self.translate(child, node) for child in old)
        return term if all(a is b for a, b in zip(old, new, strict=True)) else with_children(term, new)

    def refuse(self, term: Term, node: exp.Expr | None) -> NoReturn:
        """Point at the column that stands for the offending term."""
        name = term.name if isinstance(term, Field) else "this"
        for column in node.find_all(exp.Column, exp.Identifier) if node is not None else ():
            if column.name.lower() == name.lower():
                raise self.complain(column, name)
        raise self.complain(node, name)


class Bound(Level):
    """Parameters of a lambda, around them the level that the lambda stands in."""

    def __init__(self, around: Level, parameters: Sequence[tuple[str, Variable]]) -> None:
        super().__init__(around.env)
        self.around = around
        self.parameters = {name.lower(): variable for name, variable in parameters}

    def names(self) -> Iterable[str]:
        yield from self.parameters
        yield from self.around.names()

    def has_relation(self, name: str) -> bool:
        return self.around.has_relation(name)

    def read(self, node: exp.Expr) -> Term | None:
        return self.around.read(node)

    def find(self, parts: Sequence[str], node: exp.Expr) -> Term | None:
        variable = self.parameters.get(parts[0].lower())
        if variable is None:
            return self.around.find(parts, node)
        term: Term = variable
        for name in parts[1:]:
            term = member(self.env, term, name, node)
        return term


def member(env: Env, term: Term, name: str, node: exp.Expr) -> Term:
    """A member of a struct, a step along a path, or what `build.field` makes of a map or an array of structs."""
    if isinstance(term.type, Struct) and term.type.position(name) is None:
        hint = suggestion(name, [m.name for m in term.type.members])
        raise env.wrong(f"there is no member {name} in {term.type}", node, hint=hint)
    if isinstance(term.type, Reference):
        return step(env.catalog.schema, term, name, env.place(node))
    return build.field(term, name, place=env.place(node))
