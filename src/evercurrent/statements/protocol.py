"""What every database offers its users: `Database` inside this process and `Warehouse` on Spark are two.

    def total(db: AnyDatabase) -> object:
        return db.query("SELECT sum(total) FROM orders").scalar()

The methods have the same options and return the same types on both. What one of them cannot do raises `UnsupportedError` with the
reason.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, overload

from evercurrent.catalog.classes import Schema
from evercurrent.catalog.nodes import Mode
from evercurrent.design.explain import Explanation
from evercurrent.rows.results import Result
from evercurrent.statements.handles import Table, View
from evercurrent.statements.options import (
    Language,
    MessageFormat,
    OnViolation,
    Parameters,
    Policy,
    SourceFormat,
)
from evercurrent.statements.report import Report
from evercurrent.statements.run_record import RunRecord
from evercurrent.statements.transactions import Block

if TYPE_CHECKING:
    from evercurrent.frontend.python.core import AnyQuery
    from evercurrent.frontend.python.query import Query
    from evercurrent.python_views.owner import TableOf
    from evercurrent.statements.live_views import LiveView

T = TypeVar("T")


class AnyDatabase(Protocol):
    """A database, in process or on Spark."""

    # --- where it is kept ----------------------------------------------------------------------------------

    @property
    def path(self) -> str | None: ...

    @property
    def read_only(self) -> bool: ...

    def backup(self, path: str | os.PathLike[str]) -> None: ...

    # --- statements ----------------------------------------------------------------------------------------

    def execute(
        self,
        sql: str,
        parameters: Parameters = None,
        *,
        policy: Policy | None = None,
        mode: Mode | None = None,
    ) -> Result: ...

    def executemany(self, sql: str, rows: Iterable[Parameters]) -> Result: ...

    def sql(self, text: str, parameters: Parameters = None) -> Result: ...

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def __getitem__(self, name: str) -> Table | View: ...

    def __contains__(self, name: object) -> bool: ...

    def __iter__(self) -> Iterator[str]: ...

    def query(
        self,
        text: str,
        parameters: Parameters = None,
        *,
        language: Language = "sql",
        pending: bool = False,
    ) -> Any: ...

    def oql(
        self,
        text: str,
        *,
        policy: Policy = "incremental",
        mode: Mode = "strict",
        publish: bool | None = None,
    ) -> Any: ...

    def replace_view(self, text: str, *, policy: Policy | None = None) -> None: ...

    def create_view(
        self,
        name: str,
        query: Any,
        *,
        replace: bool = False,
        policy: Policy | None = None,
        mode: Mode | None = None,
    ) -> View: ...

    def drop_view(self, name: str, *, if_exists: bool = False, cascade: bool = False) -> None: ...

    def drop_table(self, name: str, *, if_exists: bool = False, cascade: bool = False) -> None: ...

    # --- tables, views and query objects -------------------------------------------------------------------

    @property
    def tables(self) -> list[str]: ...

    @property
    def views(self) -> list[str]: ...

    @property
    def assertions(self) -> list[str]: ...

    def table(self, name: str) -> Table: ...

    @overload
    def view(self, name: str, query: Query[T], *, replace: bool = ...) -> LiveView[T]: ...

    @overload
    def view(self, name: str, query: AnyQuery, *, replace: bool = ...) -> LiveView[Any]: ...

    @overload
    def view(self, name: str, query: str, *, replace: bool = ...) -> View: ...

    @overload
    def view(self, name: str) -> View: ...

    @overload
    def view(self, name: Query[T]) -> LiveView[T]: ...

    @overload
    def view(self, name: Callable[..., Any]) -> LiveView[Any]: ...

    def view(self, name: Any, query: Any = None, *, replace: bool = False) -> Any: ...

    def relation(self, name: str) -> Query[Any]: ...

    @overload
    def table_of(
        self,
        what: type[T],
        *,
        name: str | None = ...,
        key: str | Sequence[str] | None = ...,
        unique: Sequence[str | Sequence[str]] = ...,
        references: Mapping[Any, Any] | None = ...,
        stored: bool = ...,
    ) -> TableOf[T]: ...

    @overload
    def table_of(self, what: str) -> Query[Any]: ...

    def table_of(
        self,
        what: Any,
        *,
        name: str | None = None,
        key: str | Sequence[str] | None = None,
        unique: Sequence[str | Sequence[str]] = (),
        references: Mapping[Any, Any] | None = None,
        stored: bool = True,
    ) -> Any: ...

    # --- data ----------------------------------------------------------------------------------------------

    def create_table(
        self,
        name: str,
        data: Any,
        *,
        key: str | Sequence[str] = (),
        replace: bool = False,
        if_not_exists: bool = False,
    ) -> Table: ...

    def read_parquet(self, path: str | os.PathLike[str]) -> Result: ...

    def read_csv(
        self, path: str | os.PathLike[str], *, header: bool = True, delimiter: str | None = None
    ) -> Result: ...

    def read_json(self, path: str | os.PathLike[str]) -> Result: ...

    # --- objects -------------------------------------------------------------------------------------------

    def odl(
        self,
        text: str,
        *,
        operations: Mapping[str, Callable[..., Any]] | None = None,
        replacing: bool = False,
    ) -> None: ...

    def declare(self, *entities: type[Any]) -> None: ...

    def bind(self, name: str, thing: Any) -> None: ...

    def bind_operations(self, operations: Mapping[str, Callable[..., Any]]) -> None: ...

    def drop_class(self, name: str) -> None: ...

    def schema_odl(self) -> str: ...

    @property
    def schema(self) -> Schema: ...

    @property
    def classes(self) -> Any: ...

    def new(self, class_name: str, /, **values: Any) -> Any: ...

    def delete(self, thing: Any) -> None: ...

    def extent(self, name: str) -> Any: ...

    def object(self, oid: int) -> Any: ...

    # --- changes -------------------------------------------------------------------------------------------

    def transaction(self, *, batch: str | None = None) -> Block: ...

    def apply(
        self, changes: Mapping[str, Any], *, batch: str | None = None, on_violation: OnViolation = "refuse"
    ) -> RunRecord: ...

    def feed(self, table: str) -> Any: ...

    def source(
        self,
        name: str,
        *,
        format: SourceFormat | None = None,
        path: Any = None,
        table: str | None = None,
        key: Iterable[str] = (),
        options: Mapping[str, str] | None = None,
        copy: bool = False,
        postgres: str | None = None,
    ) -> None: ...

    def refresh(
        self, *, full: Iterable[str] = (), batch: str | None = None, on_violation: OnViolation = "refuse"
    ) -> RunRecord: ...

    def stream(
        self,
        table: str | Mapping[str, Any],
        frame: Any = None,
        *,
        name: str | None = None,
        checkpoint: Any = None,
        once: bool = False,
        on_violation: OnViolation = "refuse",
        format: MessageFormat | None = None,
        options: Mapping[str, str] | None = None,
    ) -> Any: ...

    def publish(
        self, view: str, to: bool | str | os.PathLike[str] = True, *, merge: Iterable[str] | str = ()
    ) -> None: ...

    def kafka_sink(
        self,
        view: str,
        *,
        servers: str,
        topic: str,
        partitions: int = 1,
        options: Mapping[str, Any] | None = None,
    ) -> Any: ...

    # --- versions ------------------------------------------------------------------------------------------

    @property
    def version(self) -> int: ...

    def reload(self) -> int: ...

    def changes(self, name: str, *, since: int) -> Any: ...

    def history(self) -> list[RunRecord]: ...

    def runs(self, *, last: Any = None) -> Any: ...

    def compact(self) -> int: ...

    def vacuum(self, *, keep: int = 100, hours: float = 24.0) -> int: ...

    # --- what it says of itself ----------------------------------------------------------------------------

    def explain(
        self, view: str | None = None, *, stage: str | None = None, changes: Mapping[str, int] | None = None
    ) -> Explanation: ...

    def verify(self, views: Iterable[str] | None = None) -> Report: ...

    def check(self, *, repair: bool = False) -> Any: ...

    def stats(self) -> Any: ...

    def serve(
        self,
        *,
        host: str = "127.0.0.1",
        port: int | None = None,
        token: str | None = None,
        writes: bool = True,
    ) -> Any: ...

    def studio(
        self, *, host: str = "127.0.0.1", port: int | None = None, token: str | None = None, open: bool = True
    ) -> Any: ...

    def listen(self, progress: Any) -> None: ...

    @property
    def missing_functions(self) -> Mapping[str, tuple[str, ...]]: ...
