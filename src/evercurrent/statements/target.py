"""What the executor of statements asks of a database. Each database has one class that answers.

    execute(target, "DELETE FROM orders WHERE id = 7")

reads the catalog, answers the query that says which rows to delete, and changes the table in a transaction: three members of
`Target`. The executor knows nothing else of a database, so a statement means the same on each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from evercurrent.calculus.nodes import Query
from evercurrent.catalog.catalog import Catalog
from evercurrent.data.zset import Row, ZSet
from evercurrent.frontend.sql.statements import CreateAssertion, CreateTable, CreateView, DropRelation
from evercurrent.locking.lock import Hold
from evercurrent.rows.pending import Change, Pending

Create = CreateTable | CreateView | CreateAssertion
Definition = Mapping[str, Any]
"""What a definition is kept as: its `kind`, `name` and `text`, and what else it says."""


class Changes(Protocol):
    """An open transaction. Tables are named in lower case."""

    def on(self, table: str) -> Pending: ...

    def load_rows(self, table: str, rows: Iterable[Row]) -> None:
        """Makes `on(table).count(row)` known for these rows."""

    def change(self, table: str, changes: list[Change]) -> None:
        """Makes all of these changes, or none."""


class Target(Protocol):
    """A database that statements run on."""

    @property
    def catalog(self) -> Catalog: ...

    @property
    def lock(self) -> Hold: ...

    def script(self) -> AbstractContextManager[Callable[[object], None]]:
        """Returns what surrounds the statements of one text; it is called with each statement before that runs."""

    def require_no_transaction(self, what: str) -> None:
        """Refuses a definition inside a transaction; `what` names the statement."""

    # --- rows ----------------------------------------------------------------------------------------------

    def answer(self, query: Query, pending: bool) -> Iterable[tuple[Row, int]]:
        """Returns the rows of a query and how often each is there: over the committed state, or the `pending` one."""

    def view_rows(self, name: str, pending: bool) -> list[Row]:
        """Returns the rows of a view, by its exact name."""

    def pending_rows(self, table: str) -> ZSet:
        """Returns the rows of a table as the open transaction has them."""

    def changing(self) -> AbstractContextManager[Changes]:
        """Returns the transaction for one call: the open one, or one for this call alone."""

    def object_of(self, oid: int) -> Any:
        """Returns the object of an identity; UNDEFINED if there is none."""

    # --- definitions ---------------------------------------------------------------------------------------

    def create(self, statement: Create, text: str) -> None: ...

    def drop(self, statement: DropRelation) -> None: ...

    def query_catalog(self) -> Catalog:
        """Returns the catalog that queries of OQL, which are answered once, are translated against."""

    def publishing(self, name: str, publish: bool | None) -> Definition:
        """Returns what the definition of a view of OQL says of publishing; refuses what cannot be published."""

    def install(
        self, catalog: Catalog, kind: str, *made: Definition, dropped: set[tuple[str, str]] | None = None
    ) -> None:
        """Makes a catalog the database's. `made` and `dropped` say how it differs from the present one."""
