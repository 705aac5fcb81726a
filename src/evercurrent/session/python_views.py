"""Query objects of Python in a database inside this process: how they are answered, and views that stay current.

A query object stores nothing. Its rows are stored by a named view, until it is dropped; by `materialize()`, while its result is
referenced; by `subscribe()`, until it is cancelled, and then only what its changes need.

>>> import evercurrent as ec
>>> db = ec.connect()
>>> _ = db.execute("CREATE TABLE t (n BIGINT); INSERT INTO t VALUES (1), (5)")
>>> large = db.relation("t").where(lambda t: t.n > 3).materialize()
>>> db.table("t").insert((7,)), sorted(large.rows())
(1, [(5,), (7,)])
"""

from __future__ import annotations

import itertools
import weakref
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import Table as Declared
from evercurrent.data.shapes import Shape
from evercurrent.errors import QueryError, TransactionError
from evercurrent.frontend.python.core import AnyQuery
from evercurrent.frontend.python.definitions import view_of_query
from evercurrent.python_views.owner import QueryOwner
from evercurrent.rows.results import Result
from evercurrent.rows.subscriptions import Subscription
from evercurrent.session.definition import create_table, create_view, drop
from evercurrent.session.tables import SessionTable
from evercurrent.session.target import answer
from evercurrent.session.views import SessionView
from evercurrent.statements.live_views import LiveView
from evercurrent.statements.order import order_rows

if TYPE_CHECKING:
    from evercurrent.session.session import Session

T = TypeVar("T")

HIDDEN = "anonymous "
"""Begins the names of views without a name; SQL cannot spell one by accident."""

_numbers = itertools.count(1)


class SessionOwner(QueryOwner):
    """Answers, keeps and watches the queries of one database."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.waiting: list[
            str
        ] = []  # anonymous views that nobody references, to be dropped when that is possible

    # --- what a query object asks for ------------------------------------------------------------------------

    def answer(self, query: AnyQuery) -> list[tuple[Any, ...]]:
        with self.session.lock:
            if self.waiting and self.session.transaction is None:
                self.sweep()
            made = query._query()
            rows = list(answer(self.session, made, False).insertions())
            return Result(
                "SELECT", len(rows), made.fields, order_rows(rows, made.fields, query._read_order())
            ).rows()

    def keep(self, query: AnyQuery) -> LiveView[Any]:
        name = f"{HIDDEN}{next(_numbers)}"
        self.define(name, query, False)
        view: LiveView[Any] = SessionLiveView(self, name, query._block.shape)
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

    @property
    def catalog(self) -> Catalog:
        return self.session.catalog

    def create(self, table: Declared) -> None:
        create_table(self.session, table, replacing=False, quietly=False)

    def table(self, name: str) -> SessionTable:
        return SessionTable(self.session, name)

    def view(self, name: str, query: AnyQuery, replacing: bool) -> LiveView[Any]:
        self.define(name, query, replacing)
        return SessionLiveView(self, name, query._block.shape)

    def handle(self, name: str) -> SessionView:
        return SessionView(self.session, name)

    def define(self, name: str, query: AnyQuery, replacing: bool, stored: bool = True) -> None:
        self.sweep()
        view = replace(view_of_query(name, query), stored=stored)
        create_view(self.session, view, replacing=replacing, quietly=False)

    def sweep(self) -> None:
        """Drop anonymous views that nobody references any more."""
        while self.waiting:
            name = self.waiting.pop()
            if self.session.catalog.view(name) is not None:
                drop(self.session, "view", name, quietly=True, cascade=False)

    def release(self, name: str) -> None:
        """An anonymous view is not referenced any more. It goes now, or at the next moment when that is possible."""
        self.waiting.append(name)
        # The collector may call this in the middle of anything that holds the lock.
        if self.session.is_locked:
            return
        with self.session.lock:
            try:
                if self.session.transaction is None and self.session.committing is None:
                    self.sweep()
            except (QueryError, TransactionError):
                self.waiting.append(name)


class Watching(Subscription):
    """A subscription to a query without a name: with it goes what was kept for it."""

    def __init__(self, owner: SessionOwner, name: str, callback: Any, when: Any) -> None:
        made = owner.session.subscribe(name, callback, when)
        super().__init__(owner.session.subscribers, name, callback, when)
        self._made = made
        self._queries = owner

    def cancel(self) -> None:
        """Ends the notifications. Idempotent."""
        if self.active:
            self.active = False
            self._made.cancel()
            self._queries.release(self.name)


def _forget(owner: weakref.ref[SessionOwner], name: str) -> None:
    found = owner()
    if found is not None:
        found.release(name)


# --- views ---------------------------------------------------------------------------------------------------


class SessionLiveView(SessionView, LiveView[T]):  # type: ignore[misc]
    """A view of a query object inside this process."""

    def __init__(self, owner: SessionOwner, name: str, shape: Shape) -> None:
        SessionView.__init__(self, owner.session, name)
        self._become_query(owner, shape)
