"""The rows of a store in other columns: some taken from where they were, some the same in every row.

    write_rearranged(engine, "table orders", store, [INT, STRING], [STRING, INT], [(1, None), (None, 7)])
    (1, 'x')        ('x', 7)

A store that fits the driver is written by it, a larger one by a job.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import functions as F

from evercurrent.data.types import Type
from evercurrent.data.zset import ZSet
from evercurrent.engine.spark.engine import Engine, fits_driver
from evercurrent.engine.spark.storage.file_schema import W, consolidate, row_schema
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.store_names import StoreName
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.translate.literals import literal

Places = Sequence[tuple[int | None, Any]]
"""For each new column the position of the old one, or None and the value of all rows."""


def write_rearranged(
    engine: Engine,
    name: StoreName,
    store: Store,
    before: Sequence[Type],
    types: Sequence[Type],
    places: Places,
) -> Segment:
    """Writes the rows of a store, whose columns are of the types `before`, as rows of the store `name`."""
    if not store.segments:
        return EMPTY
    if fits_driver(store) and engine.strategy != "spark":
        result = ZSet()
        for row, weight in engine.rows(store, before):
            result.add(tuple([value if at is None else row[at] for at, value in places]), weight)
        return engine.write_rows(name, types, list(result.items()))
    frame = engine.frame(store, before)
    if frame is None:
        return EMPTY
    columns = [
        (literal(value, t) if at is None else F.col(f"c{at}")).alias(f"c{i}")
        for i, ((at, value), t) in enumerate(zip(places, types, strict=True))
    ]
    schema = row_schema(types)
    return engine.job_context(store.rows).collect(
        {name: frame.select(*columns, F.col(W))},
        {name: store.rows},
        {name: lambda rows: consolidate(rows, schema)},
    )[name]
