"""The negative of stored entries, as a segment: what must be added to a store to have it as it was without them.

A store is a sum, so `S - P` is S with one segment more. Weights and sums change their sign, whatever identifies an entry
stays.
"""

from __future__ import annotations

import pyarrow
import pyarrow.compute
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from evercurrent.engine.spark.engine import MERGED_ROWS, Engine
from evercurrent.engine.spark.storage.file_schema import added
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.store_names import StoreName
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.translate.types import arrow_schema


def less(engine: Engine, name: StoreName, store: Store, part: Store, schema: StructType) -> Store:
    """A store without a part of it."""
    return Store(store.base, (*store.recent, negative(engine, name, part, schema)))


def negative(engine: Engine, name: StoreName, part: Store, schema: StructType) -> Segment:
    """All entries of a part with the opposite sign; not consolidated."""
    if part.rows > MERGED_ROWS or engine.strategy == "spark":
        workshop = engine.workshop(part.rows)
        frame = workshop.read(schema, part.segments)
        turned = [
            (-F.col(f.name)).cast(f.dataType).alias(f.name) if added(f.name) else f.name for f in schema
        ]
        return workshop.collect({name: frame.select(*turned)})[name]
    arrow = arrow_schema(schema)
    tables = [engine.pool.whole(file, s, arrow) for s in part.segments for file in s.files]
    table = pyarrow.concat_tables(tables)
    columns = [
        pyarrow.compute.negate(table.column(f.name)).cast(f.type) if added(f.name) else table.column(f.name)
        for f in arrow
    ]
    return engine.folder.write(name, pyarrow.Table.from_arrays(columns, schema=arrow))
