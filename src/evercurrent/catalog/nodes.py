"""Tables, views and assertions, as the front ends declare them.

>>> from evercurrent.data.types import INT
>>> orders = Table("orders", (TableColumn("id", INT, False),), Unique("orders_pk", ("id",)))
>>> orders.fields
(Member(name='id', type=Integer(bits=32), nullable=False),)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice

from evercurrent.data.types import Member, Type
from evercurrent.term.nodes import Term


@dataclass(frozen=True, slots=True)
class TableColumn:
    name: str
    type: Type
    nullable: bool = True
    default: Term | None = None


@dataclass(frozen=True, slots=True)
class Unique:
    name: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """`columns` of the table refer to the key `parent_columns` of `parent`; a NULL among them refers to nothing."""

    name: str
    columns: tuple[str, ...]
    parent: str
    parent_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Index:
    """CREATE INDEX: rows of a table are found by the columns, in this order, or by the first of them."""

    name: str
    table: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """The condition, over `Column(field name)`, must not be FALSE for any row."""

    name: str
    condition: Term
    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """A base table. One that is not `stored` keeps no rows: it only forwards changes, which are trusted."""

    name: str
    columns: tuple[TableColumn, ...]
    primary_key: Unique | None = None
    unique: tuple[Unique, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    checks: tuple[Check, ...] = ()
    stored: bool = True

    @property
    def fields(self) -> tuple[Member, ...]:
        return tuple(Member(c.name, c.type, c.nullable) for c in self.columns)


Mode = Choice["strict", "lazy", "hybrid"]
"""When a view is updated: at the commit; when it is read; or its collections at the commit and derived values when it is read."""


@dataclass(frozen=True, slots=True)
class View:
    """A maintained query. `query` is a `calculus` query, kept as the front end wrote it; `order` is how it is read.

    `uses` are the names of the relations that it reads. `plan` says how the change of an attribute that the view only shows
    reaches it: planted in the query, joined with the identities that contribute to its rows, or whatever costs less. `maps` says
    which states over several tables are kept for it: those that are estimated to pay, all, or none. `shape` is
    for the front end that wrote it: how the rows hold a value that is no bag of rows, or whose part they are. A view in the
    language `spark` has no query but a text that only Spark understands; its shape is `OnlySpark`. A view that is `inline` is
    not kept: its query is written out where it is read. One that is not `stored` keeps no rows: it only forwards its changes.
    """

    name: str
    fields: tuple[Member, ...]
    query: object
    order: tuple[tuple[int, bool, bool], ...] = ()
    text: str = ""
    language: Choice["sql", "oql", "python", "spark"] = "sql"
    policy: Choice["incremental", "auto", "full"] = "incremental"
    mode: Mode = "strict"
    plan: Choice["auto", "plant", "identities"] = "auto"
    maps: Choice["auto", "all", "none"] = "auto"
    uses: frozenset[str] = frozenset()
    shape: object = None
    inline: bool = False
    stored: bool = True


@dataclass(frozen=True, slots=True)
class PartOf:
    """The shape of a view that only keeps a part of another, whose name it says."""

    view: str


@dataclass(frozen=True, slots=True)
class OnlySpark:
    """The shape of a view that only Spark's own SQL can compute, and why."""

    reason: str


def is_part(view: View) -> bool:
    return isinstance(view.shape, PartOf)


@dataclass(frozen=True, slots=True)
class Assertion:
    """A query that must stay empty."""

    name: str
    fields: tuple[Member, ...]
    query: object
    text: str = ""
    uses: frozenset[str] = frozenset()
