"""The handle of a view: its rows, the feed of its changes, and how it is kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.nodes import View as Declaration
from evercurrent.data.types import Member
from evercurrent.data.values import sort_key
from evercurrent.data.zset import Row
from evercurrent.display import count_text
from evercurrent.rows.readable import Rows, signature
from evercurrent.rows.subscriptions import Callback, Subscription, When

if TYPE_CHECKING:
    from evercurrent.design.explain import Explanation
    from evercurrent.design.why import Why
    from evercurrent.session.session import Session

Order = tuple[tuple[int, bool, bool], ...]


class View(Rows):
    """A view of a database: `db.view("spend")`. It is always what its query would return on the committed data."""

    def __init__(self, session: Session, name: str) -> None:
        self._session = session
        self.name = session.view(name).name

    @property
    def schema(self) -> tuple[Member, ...]:
        """The columns: each with its `name`, `type` and whether it is `nullable`."""
        return self._declaration.fields

    @property
    def text(self) -> str:
        """The definition, as it was written."""
        return self._declaration.text

    @property
    def policy(self) -> str:
        """How the view is kept: `incremental`, `auto` or `full`."""
        return self._declaration.policy

    def subscribe(self, callback: Callback, *, when: When = "after") -> Subscription:
        """Call `callback(change)` once for each transaction that changes the view, in the order of subscription.

        `change.inserted` and `change.deleted` are lists of rows, the minimal change; `change.transaction` is the
        number of the transaction. With `when="before"` the callback is part of the transaction: it reads the state that
        is about to be committed, it cannot change anything, and if it raises everything is undone. With
        `when="after"` the transaction stands whatever the callback does; what it changes itself is the next transaction.
        """
        return self._session.subscribe(self._declaration.name, callback, when)

    def value(self, *, pending: bool = False) -> Any:
        """The value of a view that was defined in OQL: a scalar, `Record`, `Bag`, `Set`, list or object, nested to any depth."""
        from evercurrent.session.oql import value

        with self._session.lock:
            return value(self._session, self._declaration, pending)

    def explain(self, stage: str | None = None) -> Explanation:
        """How the view is kept, as text; a `stage` shows one step of its way.

        `calculus` (the query as it was understood), `normal` (normalised), `algebra` (all nesting removed), `optimised`,
        `program` (what is kept and what each change does to it), `source` (the Python that runs). Without a stage: a
        summary, with the states, why they are kept, and how large they are now.
        """
        from evercurrent.session.explain import explain_view

        with self._session.lock:
            return explain_view(self._session, self._declaration, stage)

    def why(self, *row: Any) -> Why:
        """The rows of tables that a row of the view comes from, looking through the views that it reads.

        `row` is a whole row: a tuple as `rows()` gives it, or a mapping. Of a view in OQL it is an element, as `value()` has
        it; without one, the whole value is explained. The result prints itself; it is a mapping from the name of a table to
        its rows, and `objects` are the objects among them.
        """
        from evercurrent.session.why import why

        return why(self._session, self._declaration, *row)

    def source(self) -> str:
        """The Python source that keeps the view."""
        return str(self.explain("source"))

    def _internal(self, pending: bool = False) -> Iterator[Row]:
        with self._session.lock:
            rows = list(self._session.view_rows(self._declaration.name, pending).inserted())
            return iter(in_order(rows, self.schema, self._declaration.order))

    def __len__(self) -> int:
        with self._session.lock:
            return sum(weight for _, weight in self._session.view_rows(self._declaration.name).items())

    @property
    def _declaration(self) -> Declaration:
        return self._session.view(self.name)

    def __bool__(self) -> bool:
        """A handle is always true; `len()` says whether there are rows."""
        return True

    def _title(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<View {self.name}({signature(self.schema)}): {count_text(len(self))}>"


def in_order(rows: list[Row], fields: tuple[Member, ...], order: Order) -> list[Row]:
    """The rows in the order of ORDER BY; sorted in place, from the last key to the first."""
    for position, descending, nulls_first in reversed(order):
        key = sort_key(fields[position].type, descending, nulls_first)
        rows.sort(key=lambda row, key=key, position=position: key(row[position]))  # type: ignore[misc]
    return rows
