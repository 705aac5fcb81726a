"""A query computed by Spark's own SQL over stored tables, and what it changes of the rows that were kept.

Law. `kept rows + change(kept rows, query) = rows of the query`, and the change is minimal. So nothing but the change is
written, and whoever reads the rows reads it as one segment more.

A table with a primary key needs no sums of weights: what recent segments take away is in the base, once, and what they
bring is not. So

    rows = base without the keys that recent segments take away  +  what recent segments bring

with one scan of the base, of the columns that the query reads, beside a broadcast set of keys. Several recent segments are
added up first, by the driver as long as they are small: a query over them by itself would be a shuffle, twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import pyarrow
import pyarrow.compute
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from evercurrent.data.types import Member, Type
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.failures import FAILURES
from evercurrent.engine.spark.storage.entry_reader import consolidate_tables, plain_keys
from evercurrent.engine.spark.storage.file_schema import W, consolidate, row_schema
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.segments import JobContext, may_broadcast, read_files
from evercurrent.engine.spark.storage.store_names import StoreName, scratch_store
from evercurrent.engine.spark.storage.stored_state import Contents, Store
from evercurrent.engine.spark.storage.user_frames import copies, name_columns, user_frame
from evercurrent.engine.spark.translate.types import arrow_schema, spark_type
from evercurrent.engine.spark.translate.zeros import one_zero
from evercurrent.frontend.sql.spark_text import quote_name

COLLECTED_ROWS = 100_000
"""Results of at most this number of rows are compared by the driver, as Arrow tables."""

REFUSALS = (AnalysisException, ParseException, Py4JJavaError, *FAILURES)
"""What Spark raises where it does not know a query, where its planner fails, or where a row makes it fail."""


@dataclass(frozen=True)
class StoredRows:
    """Stored rows that a query may name: their columns, and the positions of a primary key if there is one.

    With a key, the store has at most one recent segment (`merge_recent`).
    """

    store: Store
    fields: tuple[Member, ...]
    key: tuple[int, ...] = ()


@dataclass(frozen=True)
class QueryText:
    """A query that others may name: its text, and the names of its columns."""

    text: str
    columns: tuple[str, ...]


def merge_recent(engine: Engine, name: StoreName, store: Store, fields: tuple[Member, ...]) -> Store:
    """The same rows, with one recent segment at most."""
    if len(store.recent) < 2:
        return store
    schema = row_schema([f.type for f in fields])
    return Store(store.base).plus(
        engine.merge_segments(scratch_store(name, "net"), Store((), store.recent), schema)
    )


def register(context: JobContext, known: dict[str, StoredRows | QueryText]) -> None:
    """Let Spark's SQL know these names, in this order."""
    for name, one in known.items():
        match one:
            case StoredRows(store, fields, key):
                frame = plain_rows(context, store, fields, key)
            case QueryText(text, columns):
                frame = context.session.sql(text).toDF(*columns)
        frame.createOrReplaceTempView(quote_name(name))


def plain_rows(
    context: JobContext, store: Store, fields: tuple[Member, ...], key: tuple[int, ...]
) -> DataFrame:
    """The rows of a store under their own names, each as often as it is there; with a key, of one recent segment at most."""
    schema = row_schema([f.type for f in fields])
    if not store.segments:
        return user_frame(context.session, None, fields)
    if not key:
        return name_columns(copies(Contents(context, schema, store).entries()), fields)
    if not store.recent:
        return name_columns(context.read(schema, store.base), fields)
    base = context.read(schema, store.base)
    recent = context.read(schema, store.recent)
    by = [f"c{i}" for i in key]
    gone = recent.where(F.col(W) < 0).select(*by)
    if may_broadcast(store.recent):
        gone = F.broadcast(gone)
    stay = name_columns(base.join(gone, by, "left_anti"), fields)
    return stay.unionAll(name_columns(recent.where(F.col(W) > 0), fields))


def change(
    engine: Engine,
    context: JobContext,
    name: StoreName,
    text: str,
    old: Store,
    types: Sequence[Type],
    *,
    collected: bool,
) -> Segment:
    """What a query over what is registered changes of the old rows: a minimal change, as a segment of the store `name`.

    `collected`: the result is expected to be small.
    """
    made = context.session.sql(text).toDF(*(f"c{i}" for i in range(len(types))))
    columns = (one_zero(F.col(f"c{i}").cast(spark_type(t)), t) for i, t in enumerate(types))
    made = made.select(*(c.alias(f"c{i}") for i, c in enumerate(columns)))
    schema = row_schema(types)
    if collected and old.rows <= COLLECTED_ROWS and plain_keys(schema):
        staged = context.by_executors(scratch_store(name, "unsorted"), made, None, inf)
        table = context.collect_rows(staged, made.schema) if staged.rows <= 2 * COLLECTED_ROWS else None
        if table is not None:
            return engine.folder.write(name, subtract_rows(engine, old, table, types))
        made = read_files(context.session, engine.folder, [staged], made.schema)
    both = made.withColumn(W, F.lit(1).cast(schema[W].dataType))
    if old.segments:
        both = both.unionByName(context.read(schema, old.segments).withColumn(W, -F.col(W)))
    apart = scratch_store(
        name, "change"
    )  # in no order: to find one, the executors would compute the query twice
    return context.collect({apart: consolidate(both, schema)})[apart]


def subtract_rows(engine: Engine, old: Store, new: pyarrow.Table, types: Sequence[Type]) -> pyarrow.Table:
    """new - old, by Arrow."""
    schema = row_schema(types)
    arrow = arrow_schema(schema)
    one = pyarrow.scalar(1, arrow.field(W).type)
    tables = [new.append_column(W, pyarrow.repeat(one, new.num_rows))]
    for segment in old.segments:
        for table in engine.reader.parts(segment, arrow):
            place = table.schema.get_field_index(W)
            tables.append(table.set_column(place, W, pyarrow.compute.negate(table.column(W))))
    return consolidate_tables([t.cast(arrow) for t in tables], schema)
