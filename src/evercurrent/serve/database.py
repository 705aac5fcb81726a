"""What a database must offer to be served. A database in process does, and so does a warehouse.

>>> import evercurrent as ec
>>> served: ServedDatabase = ec.connect()
>>> served.version, served.tables, served.views
(0, [], [])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import pyarrow

    from evercurrent.data.types import Member
    from evercurrent.data.zset import Row
    from evercurrent.rows.subscriptions import Change, Subscription


class Held(Protocol):
    """A database that can be held: nobody changes it inside `hold()`."""

    @property
    def version(self) -> int: ...

    def hold(self) -> AbstractContextManager[Any]: ...


class ServedRows(Protocol):
    """A table or a view."""

    name: str

    @property
    def schema(self) -> tuple[Member, ...]: ...

    def rows(self) -> list[Row]: ...

    def arrow(self) -> pyarrow.Table: ...

    def subscribe(
        self, callback: Callable[[Change], object], /, *, since: int | None = None
    ) -> Subscription: ...

    def __len__(self) -> int: ...


class ServedDatabase(Protocol):
    """Reads, changes and statements; `version` grows with every transaction that changes rows."""

    @property
    def version(self) -> int: ...

    @property
    def tables(self) -> list[str]: ...

    @property
    def views(self) -> list[str]: ...

    def table(self, name: str) -> Any: ...

    def view(self, name: str) -> Any: ...

    def execute(self, sql: str, parameters: Any = None) -> Any: ...

    def query(self, text: str, parameters: Any = None) -> Any: ...

    def apply(self, changes: Mapping[str, Any], *, batch: str | None = None) -> Any: ...
