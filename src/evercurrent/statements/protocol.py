"""What every database offers its users: `Database` inside this process and `Warehouse` on Spark are two.

    def total(db: AnyDatabase) -> object:
        return db.query("SELECT sum(total) FROM orders").scalar()

The methods have the same options and return the same types on both. What one of them cannot do raises `UnsupportedError` with the
reason.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from evercurrent.catalog.classes import Schema
from evercurrent.catalog.nodes import Mode
from evercurrent.design.explain import Explanation
from evercurrent.rows.results import Result
from evercurrent.statements.handles import Table
from evercurrent.statements.options import Language, OnViolation, Parameters, Policy, SourceFormat
from evercurrent.statements.report import Report
from evercurrent.statements.run_record import RunRecord
from evercurrent.statements.transactions import Block

if TYPE_CHECKING:
    from evercurrent.frontend.python.query import Query


class AnyDatabase(Protocol):
    """A database, in process or on Spark."""

    # --- statements ----------------------------------------------------------------------------------------

    def execute(
        self,
        sql: str,
        parameters: Parameters = None,
        *,
        policy: Policy | None = None,
        mode: Mode | None = None,
    ) -> Result: ...

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

    # --- tables, views and query objects -------------------------------------------------------------------

    @property
    def tables(self) -> list[str]: ...

    @property
    def views(self) -> list[str]: ...

    @property
    def assertions(self) -> list[str]: ...

    def table(self, name: str) -> Table: ...

    def view(self, name: Any, query: Any = None, *, replace: bool = False) -> Any: ...

    def relation(self, name: str) -> Query[Any]: ...

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
    ) -> Any: ...

    def publish(self, view: str, to: bool | str | os.PathLike[str] = True) -> None: ...

    # --- versions ------------------------------------------------------------------------------------------

    @property
    def version(self) -> int: ...

    def reload(self) -> int: ...

    def history(self) -> list[RunRecord]: ...

    def compact(self) -> int: ...

    def vacuum(self, *, keep: int = 100) -> int: ...

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

    def listen(self, progress: Any) -> None: ...

    @property
    def missing_functions(self) -> Mapping[str, tuple[str, ...]]: ...
