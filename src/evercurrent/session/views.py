"""The handle of a view in a database inside this process: its rows, its changes, and how it is maintained.

>>> import evercurrent as ec
>>> db = ec.connect()
>>> _ = db.execute("CREATE TABLE t (n BIGINT); CREATE VIEW s AS SELECT sum(n) AS total FROM t; INSERT INTO t VALUES (1), (2)")
>>> db.view("s").rows(), len(db.view("s"))
([(3,)], 1)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.nodes import View as ViewNode
from evercurrent.data.zset import Row
from evercurrent.design.explain import Explanation
from evercurrent.design.why import Why
from evercurrent.rows.subscriptions import Callback, Subscription, When
from evercurrent.session.explain import explain_view
from evercurrent.session.keeping import require_keeper
from evercurrent.session.target import SessionTarget
from evercurrent.session.why import why
from evercurrent.statements.handles import View, refuse_in_process
from evercurrent.statements.oql import value_of
from evercurrent.statements.order import order_rows

if TYPE_CHECKING:
    from evercurrent.session.session import Session


class SessionView(View):
    """A view inside this process."""

    def __init__(self, session: Session, name: str) -> None:
        self._session = session
        self.name = session.view(name).name

    def subscribe(
        self, callback: Callback, *, when: When = "after", since: int | None = None
    ) -> Subscription:
        return self._session.subscribe(self._declaration.name, callback, when, since)

    def _changes_since(self, since: int) -> Any:
        with self._session.lock:
            return require_keeper(self._session.keeper, "changes(since=...)").changes(
                self._declaration, since
            )

    def value(self, *, pending: bool = False) -> Any:
        with self._session.lock:
            return value_of(SessionTarget(self._session), self._declaration, pending)

    def explain(self, stage: str | None = None, *, changes: Mapping[str, int] | None = None) -> Explanation:
        if changes is not None:
            refuse_in_process("explain(changes=...)", "one inside this process has no costs to estimate")
        with self._session.lock:
            return explain_view(self._session, self._declaration, stage)

    def why(self, *row: Any) -> Why:
        return why(self._session, self._declaration, *row)

    def _internal(self, pending: bool = False) -> Iterator[Row]:
        with self._session.lock:
            rows = list(self._session.view_rows(self._declaration.name, pending).insertions())
            return iter(order_rows(rows, self.schema, self._declaration.order))

    def __len__(self) -> int:
        with self._session.lock:
            return sum(weight for _, weight in self._session.view_rows(self._declaration.name).items())

    @property
    def _declaration(self) -> ViewNode:
        return self._session.view(self.name)
