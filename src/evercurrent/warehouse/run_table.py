"""Run records as a table: a row for each view and version, read from the log whenever it is asked for.

    db.query("SELECT view, sum(seconds) AS s FROM evercurrent_runs GROUP BY view ORDER BY s DESC")
    db.runs()                                                       the same rows as a Spark DataFrame

A version that concerns no view has one row without one. The table is not stored and not maintained: queries read it, definitions
cannot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import Table, TableColumn
from evercurrent.data.intake import take_in
from evercurrent.data.types import BIGINT, STRING, TIMESTAMP, Float, Type
from evercurrent.data.zset import Row
from evercurrent.engine.spark.storage.snapshots import Entry
from evercurrent.errors import QueryError
from evercurrent.statements.run_record import RunRecord, ViewRun

NAME = "evercurrent_runs"
SECONDS = Float(64)
COLUMNS: dict[str, Type] = {
    "version": BIGINT,
    "at": TIMESTAMP,
    "kind": STRING,
    "batch": STRING,
    "view": STRING,
    "strategy": STRING,
    "way": STRING,
    "code": STRING,
    "reason": STRING,
    "rows_in": BIGINT,
    "rows_changed": BIGINT,
    "bytes_read": BIGINT,
    "seconds": SECONDS,
    "run_seconds": SECONDS,
    "run_bytes": BIGINT,
    "run_jobs": BIGINT,
}
RUNS = Table(NAME, tuple(TableColumn(n, t, n not in ("version", "at", "kind")) for n, t in COLUMNS.items()))


def with_runs(catalog: Catalog, names: Iterable[str]) -> Catalog:
    """Returns the catalog for a query that names these relations: with the run records, unless a relation has their name."""
    if not any(is_runs(name, catalog) for name in names):
        return catalog
    return replace(catalog, tables={**catalog.tables, NAME: RUNS})


def is_runs(name: str, catalog: Catalog) -> bool:
    """Whether a name means the run records; a table or view of that name comes first."""
    return name.lower() == NAME and catalog.relation(NAME) is None


def require_reading(statement: Any, catalog: Catalog) -> None:
    """Refuses definitions that read the run records."""
    made = getattr(statement, "view", None) or getattr(statement, "assertion", None)
    if made is not None and any(is_runs(used, catalog) for used in made.uses):
        raise QueryError(
            f"{NAME} is read from the log: queries can read it, definitions cannot",
            hint=f"CREATE TABLE mine AS SELECT ... FROM {NAME} keeps what it says now",
        )


def run_rows(entries: Iterable[Entry]) -> Iterator[Row]:
    """Yields the rows in internal representation."""
    types = tuple(COLUMNS.values())
    for row in plain_rows(entries):
        yield tuple(None if v is None else take_in(t, v) for t, v in zip(types, row, strict=True))


def plain_rows(entries: Iterable[Entry]) -> Iterator[tuple[Any, ...]]:
    """Yields the rows as users see them."""
    for entry in entries:
        record = entry.record or {}
        run = RunRecord.of_json(entry.version, entry.batch, record)
        moment = datetime.fromtimestamp(entry.at, UTC)
        begin = (entry.version, moment, entry.kind, entry.batch)
        whole = (float(run.seconds), run.bytes_read, run.jobs)
        for view in run.views or list_filled(record) or (None,):
            yield (*begin, *view_cells(view), *whole)


def list_filled(record: Mapping[str, Any]) -> tuple[ViewRun, ...]:
    """The views that a definition has filled."""
    by = str(record.get("strategy", ""))
    return tuple(ViewRun(name, "full", "defined", "it is new", way=by) for name in record.get("filled", ()))


def view_cells(view: ViewRun | None) -> tuple[Any, ...]:
    if view is None:
        return (None,) * 9
    return (
        view.view,
        view.strategy,
        view.way,
        view.code,
        view.reason,
        view.rows_in,
        view.rows_changed,
        view.bytes_read,
        float(view.seconds),
    )
