"""The constraints of a change, wherever it is: rows in the driver, or segments that only Spark can read.

validate_rows(core, {"orders": delta}, rows)     raises ConstraintError for the first constraint that the change violates
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evercurrent.data.zset import ZSet
from evercurrent.engine.spark.storage.entry_reader import TooLarge
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.store_names import StoreName, table_store
from evercurrent.rows.constraints import children_of, validate
from evercurrent.warehouse.changes import bulk
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.touched_rows import TouchedRows


def validate_rows(core: Core, deltas: Mapping[str, ZSet], touched: TouchedRows) -> None:
    """Validates a change that the driver holds."""
    core.progress.stage("checking constraints")
    try:
        touched.load_all(deltas)
    except TooLarge:  # few changes, but many rows that they are compared with: children of one parent, say
        bulk.validate(core.engine, core.present, write_segments(core, deltas))
        return
    validate(touched.stores, core.rules, deltas, children_of(touched.stores))


def write_segments(
    core: Core, deltas: Mapping[str, ZSet], store: Callable[[str], StoreName] = table_store
) -> dict[str, Segment]:
    """Writes changes as segments, by lower-cased names of tables."""
    return {
        key: core.engine.write_rows(store(key), core.table_types(key), list(delta.items()))
        for key, delta in deltas.items()
    }
