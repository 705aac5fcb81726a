"""Says which view failed, in which expression and for which row, when the data of a batch make an expression fail.

The engine knows which relations of the program it was computing, and so which views depend on them. Where their tables are small
they are evaluated again, as in process (`session.blame`):

    INSERT INTO t VALUES (101, 5, 0)      # raises EvaluationError
    view ratio: division by zero
      for the row {'id': 101, 'x': 5, 'y': 0} of t

Otherwise the views are named: `view ratio: ...`, or `one of the views ratio, share: ...` where they share what failed.
"""

from __future__ import annotations

from collections.abc import Mapping

from evercurrent.data.zset import ZSet
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import EvaluationError
from evercurrent.session.blame import Scene, blame
from evercurrent.warehouse.version import Version

FEW = 10_000
"""Rows of larger batches are not looked at one by one."""


def blame_batch(
    engine: Engine, version: Version, error: EvaluationError, inputs: Mapping[str, Segment]
) -> EvaluationError:
    """Returns the error with what is known of the view; `inputs` are the changes of tables, by lower-case names."""
    tables = version.catalog.tables
    small = sum(segment.rows for segment in inputs.values()) <= FEW

    def rows(name: str) -> ZSet:
        key = name.lower()
        store = version.table_rows(key).plus(inputs[key]) if key in inputs else version.table_rows(key)
        return ZSet(engine.rows(store, version.table_types(key)))

    def count(key: str) -> int:
        return version.table_rows(key).rows + (inputs[key].rows if key in inputs else 0)

    deltas = {
        tables[key].name: ZSet(engine.rows(Store((segment,)), version.table_types(key))) if small else ZSet()
        for key, segment in inputs.items()
        if segment.rows
    }
    return blame(Scene(version.catalog, count, rows), error, deltas, _find_computed_views(version, error))


def _find_computed_views(version: Version, error: EvaluationError) -> set[str] | None:
    """Returns the views that depend on what was being computed, without those that only read one of the others."""
    parts = version.outlook.parts
    found = {name for name, part in parts.items() if error.relations & part.names}
    lowest = set()
    for name in found:
        view = version.catalog.view(name)
        if view is None or not {use.lower() for use in view.uses} & {other.lower() for other in found}:
            lowest.add(name)
    return lowest or found or None
