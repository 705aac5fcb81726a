"""Subtraction of stored Z-sets: the change between old rows and new ones, and a store without a part of it.

A store is a sum of segments. So `S - P` is S with one segment more, in which weights and sums have the opposite sign and
whatever identifies an entry stays; and the change that turns old rows into new ones is `new - old`, each row added up.

    old {a: 1, b: 1}    new {b: 1, c: 1}    difference {a: -1, c: 1}
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow
import pyarrow.compute
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from evercurrent.data.types import Type
from evercurrent.engine.spark.engine import DRIVER_BYTES, MERGED_ROWS, Engine, fits_driver
from evercurrent.engine.spark.storage.file_schema import W, consolidate, is_added, row_schema
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.store_names import StoreName
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.translate.types import arrow_schema


def difference(engine: Engine, name: StoreName, old: Store, new: Segment, types: Sequence[Type]) -> Segment:
    """Returns new - old: what must be added to the old rows to have the new ones."""
    if not old.segments:
        return new
    if fits_driver(old, Store((new,))) and engine.strategy != "spark":
        weights = dict(engine.rows(Store((new,)), types)) if new.rows else {}
        for row, w in engine.rows(old, types):
            weights[row] = weights.get(row, 0) - w
        return engine.write_rows(name, types, [(row, w) for row, w in weights.items() if w])
    context = engine.job_context(old.rows + new.rows)
    schema = row_schema(types)
    both = context.read(schema, old.segments).withColumn(W, -F.col(W))
    if new.rows:
        both = both.unionByName(context.read(schema, [new]))
    return context.collect({name: consolidate(both, schema)})[name]


def subtract(engine: Engine, name: StoreName, store: Store, part: Store, schema: StructType) -> Store:
    """Returns a store without a part of it."""
    return Store(store.base, (*store.recent, negate(engine, name, part, schema)))


def negate(engine: Engine, name: StoreName, part: Store, schema: StructType) -> Segment:
    """Writes all entries of a part with the opposite sign, not consolidated."""
    if part.rows > MERGED_ROWS or part.bytes > DRIVER_BYTES or engine.strategy == "spark":
        context = engine.job_context(part.rows)
        frame = context.read(schema, part.segments)
        turned = [
            (-F.col(f.name)).cast(f.dataType).alias(f.name) if is_added(f.name) else f.name for f in schema
        ]
        return context.collect({name: frame.select(*turned)})[name]
    arrow = arrow_schema(schema)
    tables = [table for s in part.segments for table in engine.reader.parts(s, arrow)]
    table = pyarrow.concat_tables(tables)
    columns = [
        pyarrow.compute.negate(table.column(f.name)).cast(f.type)
        if is_added(f.name)
        else table.column(f.name)
        for f in arrow
    ]
    return engine.folder.write(name, pyarrow.Table.from_arrays(columns, schema=arrow))
