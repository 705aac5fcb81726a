"""Change feeds that are Arrow tables of whole rows: read, validated and written by columns, without a row in Python.

Law. What `segments` returns to be committed is what `apply.apply_rows` would commit. Where it returns None, a rule may be
violated, or columns do not show whether it is; nothing has happened, and rows are read one by one, with an error for the first
that is wrong.

    id [4, 5], total [2.00, 3.00], both new          segments of orders
    id [4, 1], and 1 is in the table                 None: the row reader then raises the error, with the row
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow

from evercurrent.catalog.nodes import Table
from evercurrent.catalog.rules import positions
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.intake.arrow_feeds import feed_columns
from evercurrent.engine.spark.kernel.constraint_precheck import (
    ColumnValidation,
    can_validate,
    consolidate_rows,
    names_of,
)
from evercurrent.engine.spark.storage.digests import H, digestible, digests
from evercurrent.engine.spark.storage.entry_reader import TooLarge
from evercurrent.engine.spark.storage.file_schema import row_schema
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.store_names import table_store
from evercurrent.engine.spark.translate.types import arrow_schema
from evercurrent.warehouse.version import Version

Tables = Mapping[str, pyarrow.Table]
"""Changes, by lower-cased names of tables: `c0, c1, ..., w`, `h`."""


def segments(engine: Engine, version: Version, changes: Mapping[str, Any]) -> dict[str, Segment] | None:
    """Returns the net changes of feeds as segments to commit; None if rows are to be validated one by one."""
    deltas: dict[str, pyarrow.Table] = {}
    for key, feed in changes.items():
        table = version.catalog.tables[key]
        if not can_validate(version.catalog.tables, key) or table_store(key) not in engine.folder.digested:
            return None
        rows = feed_columns(table.fields, feed)
        if rows is None:
            return None
        deltas[key] = net(table, rows.append_column(H, digests(version.table_types(key), rows)))
    deltas = {key: delta for key, delta in deltas.items() if delta.num_rows}
    engine.progress.stage("checking constraints")
    if not satisfy_rules(engine, version, deltas):
        return None
    return {
        key: engine.write_table(table_store(key), version.table_types(key), delta)
        for key, delta in deltas.items()
    }


def are_satisfied(engine: Engine, version: Version, changes: Mapping[str, Segment]) -> bool:
    """Returns whether net changes of sources certainly satisfy all rules. What a source deletes was there: it was read."""
    deltas: dict[str, pyarrow.Table] = {}
    for key, segment in changes.items():
        types = version.table_types(key)
        if not can_validate(version.catalog.tables, key, trusted=True) or not digestible(types):
            return False
        rows = engine.folder.table(segment, arrow_schema(row_schema(types)))
        deltas[key] = rows.append_column(H, digests(types, rows))
    return satisfy_rules(engine, version, deltas, frozenset(changes))


def satisfy_rules(
    engine: Engine, version: Version, deltas: Tables, trusted: frozenset[str] = frozenset()
) -> bool:
    """Returns whether net changes certainly satisfy all rules. Of `trusted` tables only rows that are there are deleted."""
    tables = version.catalog.tables
    try:
        return ColumnValidation(engine.reader, tables, version.table_rows, deltas, trusted).all_satisfied()
    except (TooLarge, pyarrow.ArrowException):
        return False


def net(table: Table, rows: pyarrow.Table) -> pyarrow.Table:
    """Returns each row once, with the sum of its weights if that is not zero."""
    assert table.primary_key is not None
    return consolidate_rows(rows, [*names_of(positions(table, table.primary_key.columns)), H])
