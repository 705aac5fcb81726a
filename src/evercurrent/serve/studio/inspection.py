"""What the studio reads of a database, whichever it is.

>>> list(repeat_rows([(("a",), 2), (("b",), 1)]))
[('a',), ('a',), ('b',)]
>>> import evercurrent as ec
>>> inspection_of(ec.connect()).kind
'memory'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from evercurrent.catalog.catalog import Catalog
from evercurrent.data.zset import Row
from evercurrent.design.compile import Design
from evercurrent.design.why import Contents

Entries = Iterable[tuple[Row, int]]
"""Rows in internal representation, each with its multiplicity."""


class Inspection(Protocol):
    """Reads of one database. Whatever belongs together is read inside `hold()`."""

    kind: str
    """`memory`, `file` or `warehouse`."""

    durable: bool
    """Whether versions outlive the process."""
    look: Callable[[], object] | None
    """Goes to the newest version that others have written; None, if only this process writes."""

    @property
    def oldest(self) -> int:
        """The oldest version after which changes are kept."""

    def times(self, first: int) -> Mapping[int, float]:
        """When the versions from one on were committed, where that is kept; in seconds since 1970."""

    def hold(self) -> AbstractContextManager[Any]:
        """Nobody changes the database inside."""

    @property
    def version(self) -> int: ...

    @property
    def catalog(self) -> Catalog: ...

    @property
    def design(self) -> Design: ...

    def sources(self) -> Mapping[str, str]:
        """For each table that others write, where it lies."""

    def sizes(self) -> Mapping[str, tuple[int, int]]:
        """Entries and bytes: of tables by `table:NAME`, of views by `view:NAME`, of states by their names in the program."""

    def entries(self, kind: str, name: str, version: int | None = None) -> Entries:
        """The rows of a table or view, by its exact name; of an earlier version, where those are kept."""

    def page(self, kind: str, name: str, offset: int, limit: int) -> tuple[list[Row], int | None]:
        """Returns at most `limit` present rows from `offset` on, each as often as it is there, and the number of all, if it is known.

        Reads no more than it must.
        """

    def contents(self, view: str) -> Contents:
        """How rows are looked up that a row of a view comes from."""

    def runs(self) -> list[dict[str, Any]]:
        """What each batch did, oldest first, where that is kept."""


def repeat_rows(entries: Entries) -> Iterator[Row]:
    """Every row as often as it is there."""
    for row, weight in entries:
        for _ in range(weight):
            yield row


def inspection_of(database: Any) -> Inspection:
    """The inspection of a database."""
    if hasattr(database, "_session") and hasattr(database._session, "maintenance"):
        from evercurrent.serve.studio.in_process import InProcess

        return InProcess(database)
    from evercurrent.serve.studio.on_spark import OnSpark

    return OnSpark(database)
