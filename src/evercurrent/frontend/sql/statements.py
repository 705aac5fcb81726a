"""What a statement can be: a closed union."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal as Choice
from typing import assert_never, cast

from evercurrent.calculus.nodes import Ordered, Query
from evercurrent.calculus.paths import resolve
from evercurrent.calculus.walk import relations_of
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import Assertion, Table, View


@dataclass(frozen=True, slots=True)
class CreateTable:
    table: Table
    replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class CreateView:
    view: View
    replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class CreateAssertion:
    assertion: Assertion
    replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropRelation:
    kind: Choice["table", "view", "assertion"]
    name: str
    if_exists: bool = False
    cascade: bool = False


@dataclass(frozen=True, slots=True)
class Truncate:
    table: str


@dataclass(frozen=True, slots=True)
class Select:
    """A query to be answered once. Columns are called `names`; fields past them only order the rows."""

    ordered: Ordered
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Modify:
    """Any change of a table's rows.

    The query's fields are `action` (1 insert, 2 delete, 3 update; NULL or 0: nothing), then `old.<column>` and
    `new.<column>` for each column of the table, NULL where there is no old or no new row. New values are of the
    columns' types, defaults filled in.
    """

    table: str
    query: Query
    kind: Choice["insert", "update", "delete", "merge"]


Statement = CreateTable | CreateView | CreateAssertion | DropRelation | Truncate | Select | Modify

INSERT, DELETE, UPDATE = 1, 2, 3


def with_lookups(statement: Statement, catalog: Catalog) -> Statement:
    """The statement with the paths of its query as lookups in extents."""
    match statement:
        case CreateView(View(query=query) as view):
            resolved = resolve(cast(Query, query), catalog)
            return replace(statement, view=replace(view, query=resolved, uses=relations_of(resolved)))
        case CreateAssertion(Assertion(query=query) as assertion):
            resolved = resolve(cast(Query, query), catalog)
            return replace(
                statement, assertion=replace(assertion, query=resolved, uses=relations_of(resolved))
            )
        case Select(Ordered(query) as ordered):
            return replace(statement, ordered=replace(ordered, query=resolve(query, catalog)))
        case Modify(query=query):
            return replace(statement, query=resolve(query, catalog))
        case CreateTable() | DropRelation() | Truncate():
            return statement
        case _:
            assert_never(statement)
