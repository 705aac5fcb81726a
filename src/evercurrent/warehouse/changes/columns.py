"""Change feeds that are Arrow tables of whole rows: taken in, judged and written by columns, without a row in Python.

Law. What `segments` lets be committed is what `applying.apply_rows` would commit. Where it gives None, something may be amiss or is
not said by columns, nothing has happened, and rows are taken in one by one, with an error for the first that is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow
import pyarrow.compute

from evercurrent.catalog.nodes import Table
from evercurrent.data.types import String
from evercurrent.engine.spark.intake.arrow_feeds import typed
from evercurrent.engine.spark.kernel.constraint_precheck import Standing, columns_of, judgeable, netted
from evercurrent.engine.spark.storage.digests import H, digestible, digests
from evercurrent.engine.spark.storage.entry_reader import TooLarge
from evercurrent.engine.spark.storage.file_schema import W, row_schema
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.store_names import table_store
from evercurrent.engine.spark.translate.arrow_columns import arrow_to_rows
from evercurrent.engine.spark.translate.types import arrow_schema
from evercurrent.errors import EvercurrentError
from evercurrent.warehouse.core import Core

Tables = Mapping[str, pyarrow.Table]
"""Changes, by lower-cased names of tables: `c0, c1, ..., w`, `h`."""


def segments(core: Core, changes: Mapping[str, Any]) -> dict[str, Segment] | None:
    """The net changes of feeds as segments that may be committed; None if rows are to be looked at one by one."""
    deltas: dict[str, pyarrow.Table] = {}
    for key, feed in changes.items():
        table = core.catalog.tables[key]
        if not judgeable(core.catalog.tables, key) or table_store(key) not in core.engine.folder.digested:
            return None
        rows = typed(table.fields, feed)
        if rows is None:
            return None
        deltas[key] = net(table, rows.append_column(H, digests(core.table_types(key), rows)))
    deltas = {key: delta for key, delta in deltas.items() if delta.num_rows}
    core.progress.stage("checking constraints")
    if not stand(core, deltas):
        return None
    return {
        key: core.engine.write_table(table_store(key), core.table_types(key), delta)
        for key, delta in deltas.items()
    }


def taken_in(core: Core, changes: Mapping[str, Segment]) -> bool:
    """Whether net changes of sources certainly keep all constraints. What goes from a source was there: it was read before."""
    deltas: dict[str, pyarrow.Table] = {}
    for key, segment in changes.items():
        types = core.table_types(key)
        if not judgeable(core.catalog.tables, key, trusted=True) or not digestible(types):
            return False
        rows = core.engine.folder.table(segment, arrow_schema(row_schema(types)))
        deltas[key] = rows.append_column(H, digests(types, rows))
    return stand(core, deltas, frozenset(changes))


def stand(core: Core, deltas: Tables, trusted: frozenset[str] = frozenset()) -> bool:
    """Whether net changes certainly keep all constraints. `trusted` are tables of which only goes what is there."""
    try:
        if not all(fit(core, key, delta) for key, delta in deltas.items()):
            return False
        tables = core.catalog.tables
        return Standing(core.engine.reader, tables, core.table_segments, deltas, trusted).stands()
    except (TooLarge, pyarrow.ArrowException):
        return False


def net(table: Table, rows: pyarrow.Table) -> pyarrow.Table:
    """Each row once, with the sum of its weights; what comes and goes is not there."""
    assert table.primary_key is not None
    return netted(rows, [*columns_of(table, table.primary_key.columns), H])


def fit(core: Core, key: str, delta: pyarrow.Table) -> bool:
    """Whether each row that comes satisfies what rows must satisfy by themselves."""
    table = core.catalog.tables[key]
    needed = {f"c{i}" for i, c in enumerate(table.columns) if not c.nullable}
    if table.primary_key is not None:
        needed |= set(columns_of(table, table.primary_key.columns))
    if any(delta.column(n).null_count for n in needed):
        return False
    come = delta.filter(pyarrow.compute.greater(delta.column(W), 0))
    for i, c in enumerate(table.columns):
        if isinstance(c.type, String) and c.type.length is not None:
            longest = pyarrow.compute.max(pyarrow.compute.utf8_length(come.column(f"c{i}"))).as_py()
            if longest is not None and longest > c.type.length:
                return False
    if table.checks:
        try:
            core.rules[key].examine([row for row, _ in arrow_to_rows(core.table_types(key), come, W)])
        except EvercurrentError:
            return False
    return True
