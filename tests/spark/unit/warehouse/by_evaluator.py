"""In the place of Spark's SQL, the reference evaluator: what recomputed views do to a warehouse can be tried without Spark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from evercurrent.calculus.nodes import Query
from evercurrent.data.zset import ZSet
from evercurrent.design.evaluation import reference
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.kernel.outcome import Report
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.store_names import table_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.warehouse.planning.strategies import Outlook
from evercurrent.warehouse.program_parts import rows_store


def evaluated(
    engine: Engine, outlook: Outlook, name: str, stores: Mapping[str, Store], known: object
) -> tuple[Segment, Report]:
    """What Spark's SQL would make of a view, found by the reference evaluator instead."""
    view = outlook.catalog.view(name)
    assert view is not None and outlook.said[name].text is not None

    def table(key: str) -> ZSet:
        types = [c.type for c in outlook.catalog.tables[key.lower()].columns]
        return ZSet(engine.rows(stores.get(table_store(key), Store()), types))

    new = reference(cast(Query, view.query), outlook.catalog, table)
    place, types = (
        rows_store(outlook.design.program, outlook.design.program.views[name]),
        [f.type for f in view.fields],
    )
    change = new - ZSet(engine.rows(stores.get(place, Store()), types))
    return engine.write_rows(place, types, list(change.items())), Report("sql", "", 0, 0, 1, 0.0)
