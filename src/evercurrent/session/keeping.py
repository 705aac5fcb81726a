"""What a session asks of the file that keeps its database, if there is one.

    keeper.write(transaction, deltas)      the transaction is in the file: committed, whatever happens next
    keeper.begin(catalog, stores, emptied); keeper.commit()      so are definitions

`durable.keeper` implements this. A database without a file has none.

Law. `write` decides: either the file holds the transaction and it is committed, or the file is as it was and so is the session. If an
interrupt comes between the two, `has_written` says which it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Protocol

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import Table, View
from evercurrent.data.zset import ZSet
from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.rows.results import Result
from evercurrent.rows.store import Store
from evercurrent.rows.subscriptions import Callback, Change, When
from evercurrent.term.handed_over import HandedOver

if TYPE_CHECKING:
    from evercurrent.session.transactions import Transaction


class Keeper(Protocol):
    """Keeps a database in a file. `known` are the functions that definitions may name."""

    known: HandedOver

    def write(self, transaction: Transaction, deltas: Mapping[str, ZSet]) -> None:
        """Writes a transaction, all of it or nothing; raises `StorageError` or `ConflictError` if nothing was written."""

    def has_written(self, transaction: Transaction) -> bool:
        """Returns whether the file holds a transaction whose `write` was interrupted. Idempotent."""

    def batch(self, name: str) -> int | None:
        """Returns the version that a batch became, None if it was not applied."""

    def changes(self, node: Table | View, since: int) -> Result:
        """Returns the changes of a table or view after a version, as rows with `_change_type` and `_commit_version`."""

    def past(self, name: str, since: int) -> list[Change]:
        """Returns the changes of a table or view by the versions after one."""

    def begin(self, catalog: Catalog, stores: Mapping[str, Store], emptied: Collection[str]) -> None:
        """Writes definitions, and the rows of tables that are new or have another shape, without committing them."""

    def commit(self) -> None:
        """Commits what `begin` has written."""

    def has_defined(self) -> bool:
        """Returns whether the file holds what `begin` has written, though it was interrupted. Idempotent."""

    def finish(self) -> None:
        """The definitions have taken effect in the session, too. Idempotent."""

    def roll_back(self) -> None:
        """Takes back what `begin` has written, if it was not committed. Idempotent."""


def require_keeper(keeper: Keeper | None, what: str) -> Keeper:
    """Returns the keeper; an error if the database is kept in no file."""
    if keeper is None:
        raise UnsupportedError(
            f"{what} needs a database that is kept in a file: one without keeps no earlier versions",
            hint='ec.connect("shop.db") opens one',
        )
    return keeper


def deliver_past(keeper: Keeper | None, name: str, callback: Callback, when: When, since: int) -> None:
    """Calls a new subscriber with what has changed after a version, from the log."""
    if when == "before":
        raise QueryError('since is for when="after": what is committed cannot be refused')
    for change in require_keeper(keeper, "subscribe(since=...)").past(name, since):
        callback(change)
