"""The difference of what is stored and what was computed anew: a minimal change, as a segment."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import functions as F

from evercurrent.data.types import Type
from evercurrent.engine.spark.engine import DRIVER_ENTRIES, Engine
from evercurrent.engine.spark.storage.file_schema import W, consolidate, row_schema
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.store_names import StoreName
from evercurrent.engine.spark.storage.stored_state import Store


def difference(engine: Engine, name: StoreName, old: Store, new: Segment, types: Sequence[Type]) -> Segment:
    """new - old: what must be added to the old rows to have the new ones."""
    if not old.segments:
        return new
    if old.rows + new.rows <= DRIVER_ENTRIES and engine.strategy != "spark":
        weights = dict(engine.rows(Store((new,)), types)) if new.rows else {}
        for row, w in engine.rows(old, types):
            weights[row] = weights.get(row, 0) - w
        return engine.write_rows(name, types, [(row, w) for row, w in weights.items() if w])
    workshop = engine.workshop(old.rows + new.rows)
    schema = row_schema(types)
    both = workshop.read(schema, old.segments).withColumn(W, -F.col(W))
    if new.rows:
        both = both.unionByName(workshop.read(schema, [new]))
    return workshop.collect({name: consolidate(both, schema)})[name]
