"""What a statement can be: a closed union."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice

from evercurrent.calculus.nodes import Ordered, Query
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
