"""Query objects of Python in a database: who answers them, tables of classes, and views that stay current.

A query object keeps nothing. What keeps one: a named view, for good; `materialize()`, while its result is referenced;
`subscribe()`, until it is cancelled, and then only what its changes need.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from evercurrent.calculus.nodes import Comprehension, Generator, Relation
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.lookup import unknown
from evercurrent.catalog.nodes import Assertion
from evercurrent.catalog.nodes import View as Declaration
from evercurrent.data.shapes import Shape
from evercurrent.errors import QueryError, TransactionError
from evercurrent.frontend.python.annotations import is_row_class
from evercurrent.frontend.python.block import over, variable
from evercurrent.frontend.python.core import AnyQuery
from evercurrent.frontend.python.definitions import shape_over, table_of_class, view_of_query
from evercurrent.frontend.python.query import Query
from evercurrent.session.definition import create_table, create_view
from evercurrent.session.dropping import drop
from evercurrent.session.results import Result
from evercurrent.session.subscriptions import Subscription
from evercurrent.session.tables import Table
from evercurrent.session.views import View, in_order
from evercurrent.term import build

if TYPE_CHECKING:
    from evercurrent.session.session import Session

T = TypeVar("T")

HIDDEN = "anonymous "
"""Begins the names of views without a name; SQL cannot spell one by accident."""

_numbers = itertools.count(1)


class SessionOwner:
    """Answers, keeps and watches the queries of one database."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.waiting: list[
            str
        ] = []  # anonymous views that nobody references, to be dropped when that is possible

    # --- what a query object asks for ------------------------------------------------------------------------

    def answer(self, query: AnyQuery) -> list[tuple[Any, ...]]:
        from evercurrent.session.execute import answer

        with self.session.lock:
            made = query._query()
            rows = list(answer(self.session, made, False).inserted())
            return Result(
                "SELECT", len(rows), made.fields, in_order(rows, made.fields, query._read_order())
            ).rows()

    def keep(self, query: AnyQuery) -> LiveView[Any]:
        name = f"{HIDDEN}{next(_numbers)}"
        self.define(name, query, False)
        view: LiveView[Any] = LiveView(self, name, query._block.shape)
        weakref.finalize(view, _forget, weakref.ref(self), name)
        return view

    def watch(self, query: AnyQuery, callback: Any, when: Any) -> Subscription:
        name = f"{HIDDEN}{next(_numbers)}"
        self.define(name, query, False, stored=False)
        try:
            return Watching(self, name, callback, when)
        except BaseException:
            self.release(name)
            raise

    def explain(self, query: AnyQuery, stage: str | None) -> Any:
        return self.keep(query).explain(stage)

    # --- definitions -----------------------------------------------------------------------------------------

    def define(self, name: str, query: AnyQuery, replacing: bool, stored: bool = True) -> None:
        self.sweep()
        view = replace(view_of_query(name, query), stored=stored)
        create_view(self.session, view, replacing=replacing, quietly=False, redefine=redefine)

    def sweep(self) -> None:
        """Drop anonymous views that nobody references any more."""
        while self.waiting:
            name = self.waiting.pop()
            if self.session.catalog.view(name) is not None:
                drop(self.session, "view", name, quietly=True, cascade=False)

    def release(self, name: str) -> None:
        """An anonymous view is not referenced any more. It goes now, or at the next moment when that is possible."""
        self.waiting.append(name)
        if self.session.lock.acquire(blocking=False):
            try:
                if self.session.transaction is None and self.session.committing is None:
                    self.sweep()
            except (QueryError, TransactionError):
                self.waiting.append(name)
            finally:
                self.session.lock.release()


class Watching(Subscription):
    """A subscription to a query without a name: with it goes what was kept for it."""

    def __init__(self, owner: SessionOwner, name: str, callback: Any, when: Any) -> None:
        made = owner.session.subscribe(name, callback, when)
        super().__init__(owner.session.subscribers, name, callback, when)
        self._made = made
        self._queries = owner

    def cancel(self) -> None:
        """Hear no more of changes; a second call does nothing."""
        if self.active:
            self.active = False
            self._made.cancel()
            self._queries.release(self.name)


def _forget(owner: weakref.ref[SessionOwner], name: str) -> None:
    found = owner()
    if found is not None:
        found.release(name)


def redefine(node: Declaration | Assertion, catalog: Catalog) -> Declaration | Assertion:
    from evercurrent.session.execute import redefine as again

    return again(node, catalog)


# --- tables and relations ----------------------------------------------------------------------------------


def relation(owner: SessionOwner, name: str) -> Query[Any]:
    """All rows of a table or view, as a query object."""
    found = owner.session.catalog.relation(name)
    if found is None:
        catalog = owner.session.catalog
        names = [*(t.name for t in catalog.tables.values()), *(v.name for v in catalog.views.values())]
        raise unknown("table or view", name, names)
    shape = Shape.record(None, len(found.fields), names=[f.name for f in found.fields])
    return Query(over(Relation(found.name, found.fields), shape, found.name[:1].lower() or "r"), owner)


class TableOf(Query[T]):
    """A table whose rows are instances of a class: a query object, and every way to change it."""

    def __new__(cls, *args: Any) -> Any:
        return object.__new__(cls)

    def __init__(self, owner: SessionOwner, table: Table, shape: Shape, columns: Sequence[str]) -> None:
        fields = table.schema
        source = Relation(table.name, fields)
        stem = table.name[:1].lower()
        if [f.name for f in fields] == list(columns):
            block = over(source, shape, stem)
        else:
            v = variable(source, stem)
            chosen = tuple(f for c in columns for f in fields if f.name == c)
            head = tuple(build.field(v, f.name) for f in chosen)
            block = over(Comprehension("bag", head, (Generator(v, source),), chosen), shape, stem)
        super().__init__(block, owner)
        self.table = table

    @property
    def name(self) -> str:
        """The name of the table."""
        return self.table.name

    def insert(self, rows: Any) -> int:
        """Insert a row, or many; see `Table.insert`."""
        return self.table.insert(rows)

    def delete(self, which: Any) -> int:
        """Delete a row, or many; see `Table.delete`."""
        return self.table.delete(which)

    def update(self, which: Any, changes: Mapping[str, Any] | None = None, /, **columns: Any) -> None:
        """Change columns of one row; see `Table.update`."""
        self.table.update(which, changes, **columns)

    def replace(self, old: Any, new: Any) -> None:
        """Put one row in the place of another."""
        self.table.replace(old, new)

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        return f"<TableOf {self.table!r}>"


def table_of(owner: SessionOwner, what: Any, name: str | None, options: Mapping[str, Any]) -> Any:
    """The table of a class, made if it is not there; or the relation of a name."""
    if isinstance(what, str):
        if options or name is not None:
            raise QueryError("options are for tables that are made from a class")
        return relation(owner, what)
    if not is_row_class(what):
        raise QueryError(
            f"{what!r} is no class of rows",
            hint="a class of rows is a dataclass, a NamedTuple or a TypedDict",
        )
    session, chosen = owner.session, name or what.__name__
    with session.lock:
        if session.catalog.relation(chosen) is None:
            made = table_of_class(what, chosen, **options)
            create_table(session, made, replacing=False, quietly=False, redefine=redefine)
        table = Table(session, chosen)
        shape, columns = shape_over(what, table.name, table.schema)
        return TableOf(owner, table, shape, columns)


# --- views ---------------------------------------------------------------------------------------------------


class LiveView(View, Query[T], Generic[T]):  # type: ignore[misc]
    """A view of a query object: always what the query would return; and a query object itself."""

    def __new__(cls, *args: Any) -> Any:
        return object.__new__(cls)

    def __init__(self, owner: SessionOwner, name: str, shape: Shape) -> None:
        View.__init__(self, owner.session, name)
        AnyQuery.__init__(self, over(Relation(self.name, self.schema), shape, "v"), owner)

    def objects(self) -> list[T]:
        """All rows, as instances of their class."""
        make = self._block.shape.object
        return [make(row) for row in View.rows(self)]

    def __iter__(self) -> Iterator[T]:  # type: ignore[override]
        return iter(self.objects())

    def materialize(self) -> LiveView[T]:
        """Itself: it is kept already."""
        return self

    def _query(self) -> Any:
        return Relation(self.name, self.schema)


def view(owner: SessionOwner, name: str, query: AnyQuery, replacing: bool = False) -> LiveView[Any]:
    """A named view."""
    if not isinstance(query, AnyQuery):
        raise QueryError(
            f"a query is needed, not {query!r}", hint='db.view("name", db.table_of(...).where(...))'
        )
    owner.define(name, query, replacing)
    return LiveView(owner, name, query._block.shape)
