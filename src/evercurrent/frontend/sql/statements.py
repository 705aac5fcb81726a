"""What a statement can be: a closed union.

BEGIN                         Control(kind='BEGIN')
SHOW TABLES                   Show(what='tables', name='')
TRUNCATE TABLE orders         Truncate(table='orders')
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal as Choice
from typing import assert_never, cast

from evercurrent.calculus.nodes import Ordered, Query
from evercurrent.calculus.paths import resolve
from evercurrent.calculus.walk import relations_of
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import Assertion, Index, Table, View
from evercurrent.term.nodes import Term


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
class CreateTableAs:
    """CREATE TABLE name AS query: a table without constraints that holds the rows of the query."""

    table: Table
    select: Select
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
class Conflict:
    """What an INSERT does where a row with the same key is there.

    `columns` are those of the key that is meant; none of them: any key. `update` is the new row, over the columns `old.<column>`
    and `new.<column>`, made where `condition` is true; without one the inserted row is dropped, or `replaces` what is there.
    """

    columns: tuple[str, ...] = ()
    update: tuple[Term, ...] | None = None
    condition: Term | None = None
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class Returning:
    """RETURNING: terms over the columns of the changed row, and what they are called."""

    names: tuple[str, ...]
    terms: tuple[Term, ...]


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
    conflict: Conflict | None = None
    returning: Returning | None = None


@dataclass(frozen=True, slots=True)
class CreateIndex:
    index: Index
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropIndex:
    name: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class Control:
    """BEGIN, COMMIT or ROLLBACK."""

    kind: Choice["BEGIN", "COMMIT", "ROLLBACK"]


@dataclass(frozen=True, slots=True)
class Show:
    """SHOW TABLES, VIEWS, COLUMNS or CREATE TABLE; `name` is the relation that the last two are about."""

    what: Choice["tables", "views", "columns", "create"]
    name: str = ""


@dataclass(frozen=True, slots=True)
class Describe:
    """DESCRIBE of a relation, by its name, or of the columns of a query."""

    what: str | Select


@dataclass(frozen=True, slots=True)
class Explain:
    """EXPLAIN of a view, by its name, or of a query or change; `stage` is one of those of `view.explain`."""

    what: str | Select | Modify
    stage: str | None = None


@dataclass(frozen=True, slots=True)
class AlterTable:
    """ALTER TABLE: the table as it becomes. `sources` says for each of its columns where in the old row it was.

    A new column was nowhere (None): its rows get the default, or NULL.
    """

    old: Table
    table: Table
    sources: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Copy:
    """COPY table FROM 'path', or COPY table or (query) TO 'path'. `columns` of a table: those that the file has."""

    direction: Choice["from", "to"]
    path: str
    table: str | None = None
    select: Select | None = None
    columns: tuple[str, ...] = ()
    format: str | None = None
    header: bool = True
    delimiter: str | None = None


Definition = (
    CreateTable
    | CreateTableAs
    | CreateView
    | CreateAssertion
    | CreateIndex
    | DropRelation
    | DropIndex
    | AlterTable
)
Statement = Definition | Truncate | Select | Modify | Control | Show | Describe | Explain | Copy

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
        case CreateTableAs(select=inner):
            return replace(statement, select=cast(Select, with_lookups(inner, catalog)))
        case Describe(what=Select() as part):
            return Describe(cast(Select, with_lookups(part, catalog)))
        case Explain(what=Select() | Modify() as part):
            return replace(statement, what=cast(Select | Modify, with_lookups(part, catalog)))
        case Copy(select=Select() as part):
            return replace(statement, select=cast(Select, with_lookups(part, catalog)))
        case CreateTable() | DropRelation() | Truncate() | AlterTable() | CreateIndex() | DropIndex():
            return statement
        case Control() | Show() | Describe() | Explain() | Copy():
            return statement
        case _:
            assert_never(statement)
