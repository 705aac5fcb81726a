"""What the executor of statements asks of a database. Each database has one class that answers.

    execute(target, "DELETE FROM orders WHERE id = 7")

reads the catalog, answers the query that says which rows to delete, and changes the table in a transaction: three members of
`Target`. The executor knows nothing else of a database, so a statement means the same on each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

from evercurrent.calculus.nodes import Query
from evercurrent.catalog.catalog import Catalog
from evercurrent.data.zset import Row, ZSet
from evercurrent.errors import EvercurrentError
from evercurrent.frontend.sql.statements import (
    AlterTable,
    CreateAssertion,
    CreateIndex,
    CreateTable,
    CreateView,
    DropIndex,
    DropRelation,
    Modify,
    Statement,
)
from evercurrent.locking.lock import Hold
from evercurrent.rows.conversion import RowReader
from evercurrent.rows.pending import Change, Pending
from evercurrent.rows.results import Result
from evercurrent.statements.options import Parameters, Policy

Create = CreateTable | CreateView | CreateAssertion
Definition = Mapping[str, Any]
"""What a definition is kept as: its `kind`, `name` and `text`, and what else it says."""


class Changes(Protocol):
    """An open transaction. Tables are named in lower case."""

    def on(self, table: str) -> Pending: ...

    def load_rows(self, table: str, rows: Iterable[Row]) -> None:
        """Makes `on(table).count(row)` known for these rows."""

    def load_keys(self, table: str, columns: Sequence[int], keys: Iterable[Any]) -> None:
        """Makes `on(table).find(index, key)` known for these keys, whose columns stand at these positions."""

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

    def close(self) -> None:
        """Refuses whatever comes after."""

    def require_no_transaction(self, what: str) -> None:
        """Refuses a definition inside a transaction; `what` names the statement."""

    # --- rows ----------------------------------------------------------------------------------------------

    def answer(self, query: Query, pending: bool) -> Iterable[tuple[Row, int]]:
        """Returns the rows of a query and how often each is there: over the committed state, or the `pending` one."""

    def view_rows(self, name: str, pending: bool) -> list[Row]:
        """Returns the rows of a view, by its exact name."""

    def pending_rows(self, table: str) -> ZSet:
        """Returns the rows of a table as the open transaction has them."""

    def modify_large(self, statement: Modify) -> int | None:
        """Changes many rows at once, as one transaction; returns how many, or None: they are to be changed one by one."""

    def truncate_large(self, table: str) -> int | None:
        """The same for all rows of a table."""

    def changing(self) -> AbstractContextManager[Changes]:
        """Returns the transaction for one call: the open one, or one for this call alone."""

    def begin(self) -> None:
        """Begins a transaction that lasts until `end`."""

    def end(self, kind: Literal["COMMIT", "ROLLBACK"]) -> Hold:
        """Ends the transaction that `begin` has begun; returns what holds the lock from then on."""

    def reader_of(self, table: str) -> RowReader:
        """Returns what takes in rows of a table."""

    def explain_view(self, name: str, stage: str | None) -> str:
        """Returns how a view is kept, or one stage of its way."""

    def object_of(self, oid: int) -> Any:
        """Returns the object of an identity; UNDEFINED if there is none."""

    # --- definitions ---------------------------------------------------------------------------------------

    def create(self, statement: Create, text: str) -> None: ...

    def reading_catalog(self, text: str) -> Catalog:
        """Returns the catalog for a text that may be a query: with what can be read but not maintained."""

    def foreign_view(self, text: str, policy: Policy, problem: EvercurrentError) -> CreateView | None:
        """Returns the view of a definition that is not understood here, if the database can compute it otherwise."""

    def drop(self, statement: DropRelation) -> None: ...

    def run_prepared(self, text: str, parameters: Parameters, pending: bool | None) -> Result | None:
        """Runs a statement whose plan is kept; None, if there is none. With `pending`, only a query, of that state."""

    def prepare(self, text: str, parameters: Parameters, statement: Statement) -> None:
        """Keeps the plan of a statement that was run, if it is worth it."""

    def create_index(self, statement: CreateIndex) -> None: ...

    def drop_index(self, statement: DropIndex) -> None: ...

    def explain_access(self, query: Query) -> list[str]:
        """Returns how the rows that a query needs are found, a line for each table."""

    def alter(self, statement: AlterTable) -> None: ...

    def query_catalog(self) -> Catalog:
        """Returns the catalog that queries of OQL, which are answered once, are translated against."""

    def find_publishing(self, name: str, publish: bool | None) -> Definition:
        """Returns what the definition of a view of OQL says of publishing; refuses what cannot be published."""

    def install(
        self, catalog: Catalog, kind: str, *made: Definition, dropped: set[tuple[str, str]] | None = None
    ) -> None:
        """Makes a catalog the database's. `made` and `dropped` say how it differs from the present one."""
