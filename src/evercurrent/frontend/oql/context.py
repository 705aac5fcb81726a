"""What holds for a whole translation, and what names mean at a place of it.

>>> near("employes", ["employees", "departments"])
'did you mean employees?'
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from evercurrent.calculus.nodes import Comprehension, Filter, Qualifier, Query
from evercurrent.calculus.scope import Names
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.classes import Operation, Schema
from evercurrent.data.types import INT, Member
from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.frontend.oql import syntax
from evercurrent.frontend.oql.values import Expr, Many
from evercurrent.source import Place
from evercurrent.term import build
from evercurrent.term.nodes import Term


@dataclass(frozen=True, slots=True)
class Check:
    """Something that is an error where a query is asked directly: `query` has a row if it happens."""

    query: Query
    message: str
    place: Place | None


@dataclass(slots=True)
class Context:
    """One translation.

    `macros` are definitions with parameters, by name; `aliases` are classes by the names that imports give them. `cautions` say
    where UNDEFINED stands for an error, `checks` find out whether it does. `capture` makes a term of an operation's function.
    """

    catalog: Catalog
    macros: Mapping[str, syntax.Define] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    capture: Callable[[Operation, str, Term, list[Term]], Term] | None = None
    names: Names = field(default_factory=Names)
    cautions: list[tuple[str, Place | None]] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    expanding: tuple[str, ...] = ()

    @property
    def schema(self) -> Schema:
        return self.catalog.schema

    def class_name(self, name: str) -> str | None:
        """The class that a name means, if any."""
        found = self.aliases.get(name, name)
        return found if found in self.schema.classes else None


@dataclass(frozen=True, slots=True)
class Scope:
    """Names with what they stand for; iterators without a variable; the rows that an aggregate's argument may range over.

    `active` are the qualifiers around the place, for checks that are made only there.
    """

    names: Mapping[str, Expr] = field(default_factory=dict)
    implicit: tuple[Expr, ...] = ()
    rows: Many | None = None
    active: tuple[Qualifier, ...] = ()

    def with_name(self, name: str, expr: Expr) -> Scope:
        return replace(self, names={**self.names, name: expr})

    def under(self, *qualifiers: Qualifier) -> Scope:
        return replace(self, active=(*self.active, *qualifiers))

    def assume(self, condition: Term) -> Scope:
        return self.under(Filter(condition))


def caution(context: Context, scope: Scope, ok: Term, message: str, place: Place | None) -> None:
    """Where `ok` does not hold, the value is UNDEFINED in a view, and an error in a query that is asked directly."""
    context.cautions.append((message, place))
    failed = Filter(build.negation(build.call("coalesce", ok, build.FALSE)))
    query = Comprehension("bag", (build.lit(1, INT),), (*scope.active, failed), (Member("failed", INT),))
    context.checks.append(Check(query, message, place))


def wrong(message: str, place: Place | None, hint: str | None = None) -> QueryError:
    return QueryError(message, place=place, hint=hint)


def unsupported_error(what: str, place: Place | None, hint: str | None = None) -> UnsupportedError:
    return UnsupportedError(f"{what} is not supported", place=place, hint=hint)


def near(name: str, names: Iterable[str]) -> str | None:
    """A hint, if something is called nearly so."""
    known = list(dict.fromkeys(names))
    same = [n for n in known if n.lower() == name.lower()]
    found = same or difflib.get_close_matches(name, known, 1)
    return f"did you mean {found[0]}?" if found else None
