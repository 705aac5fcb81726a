"""Changes that come as frames: checked by name, cast to the table's types, weighted, consolidated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from evercurrent.data.feeds import CHANGE_TYPE, PASSED_OVER, SIGNS
from evercurrent.data.types import Member, Timestamp
from evercurrent.engine.spark.engine import SMALL_ROWS, Engine
from evercurrent.engine.spark.storage.file_schema import W, consolidate, row_schema
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.segments import LARGE_ROWS, JobContext
from evercurrent.engine.spark.storage.sort_order import row_order
from evercurrent.engine.spark.storage.store_names import StoreName, scratch_store
from evercurrent.engine.spark.translate.types import spark_type
from evercurrent.engine.spark.translate.zeros import one_zero
from evercurrent.errors import QueryError

SMALL_SCAN = 256 << 20
"""Of files with more bytes than this it is not asked whether they have few rows."""


def is_frame(value: Any) -> bool:
    return isinstance(value, DataFrame)


def small_table(frame: DataFrame) -> Any | None:
    """The rows as an Arrow table if they are few; None if the cluster is to take them in."""
    if is_scan(frame) and bytes_of(frame) > SMALL_SCAN:
        return None
    table = frame.limit(SMALL_ROWS + 1).toArrow()
    return table if table.num_rows <= SMALL_ROWS else None


def take_in(
    engine: Engine, store: StoreName, table: str, fields: Sequence[Member], frame: DataFrame, feed: bool
) -> Segment:
    """A frame as a segment of weighted rows. `feed`: it has `_change_type`; otherwise all rows are inserted."""
    given = {c.lower(): c for c in frame.columns}
    wanted = {f.name.lower() for f in fields} | ({CHANGE_TYPE} if feed else set())
    unknown = [c for low, c in given.items() if low not in wanted | set(PASSED_OVER) | {CHANGE_TYPE}]
    if unknown:
        raise QueryError(f"{table} has no column {unknown[0]!r}")
    missing = [f.name for f in fields if f.name.lower() not in given]
    if missing:
        raise QueryError(f"the changes of {table} have no column {missing[0]!r}")
    if feed and CHANGE_TYPE not in given:
        raise QueryError(f"the changes of {table} have no {CHANGE_TYPE}")
    engine.folder.orders.setdefault(store, row_order([f.type for f in fields]))
    if is_scan(frame) and has_table_types(frame, given, fields):
        rows = weigh_rows(
            frame, [given[f.name.lower()] for f in fields], fields, given[CHANGE_TYPE] if feed else ""
        )
        context = JobContext(frame.sparkSession, engine.folder, True, parts_of(frame))
        return write_consolidated(engine, store, fields, context, rows, inf)
    # Written as it is first, in the session that made it; cast afterwards, in ours.
    relative = engine.folder.fresh(scratch_store(store, "staging"))
    columns = [frame[given[f.name.lower()]].alias(f"c{i}") for i, f in enumerate(fields)]
    kind = frame[given[CHANGE_TYPE]] if feed else F.lit("insert")
    frame.select(*columns, kind.alias(CHANGE_TYPE)).write.parquet(engine.folder.path(relative))
    staged = engine.folder.written(relative)
    if not staged.rows:
        return staged
    raw = engine.session.read.parquet(engine.folder.path(relative))
    rows = weigh_rows(raw, [f"c{i}" for i in range(len(fields))], fields, CHANGE_TYPE)
    context = engine.job_context(max(staged.rows, LARGE_ROWS + 1))
    return write_consolidated(engine, store, fields, context, rows, staged.rows)


def weigh_rows(frame: DataFrame, names: Sequence[str], fields: Sequence[Member], kind: str) -> DataFrame:
    """Rows `c0, c1, ..., w` of the columns of these names, with the weights that the column `kind` says; none: 1."""
    columns = [
        one_zero(frame[n].cast(spark_type(f.type)), f.type).alias(f"c{i}")
        for i, (n, f) in enumerate(zip(names, fields, strict=True))
    ]
    if not kind:
        return frame.select(*columns, F.lit(1).cast("bigint").alias(W))
    sign = F.lit(None).cast("bigint")
    for name, value in SIGNS.items():
        sign = F.when(frame[kind] == name, F.lit(value).cast("bigint")).otherwise(sign)
    wrong = F.raise_error(F.concat(F.lit(f"{CHANGE_TYPE} is "), F.coalesce(frame[kind], F.lit("NULL"))))
    return frame.select(*columns, F.coalesce(sign, wrong.cast("bigint")).alias(W))


def write_consolidated(
    engine: Engine,
    store: StoreName,
    fields: Sequence[Member],
    context: JobContext,
    rows: DataFrame,
    bound: float,
) -> Segment:
    """Weighted rows as a segment in which each stands once, in the order of the store.

    With a key and nothing but insertions no row can be there twice, or the key is broken: so only what the files tell of
    deletions is written again.
    """
    schema = row_schema([f.type for f in fields])
    keyed = bool(engine.keys.get(store))

    def summed(frame: DataFrame) -> DataFrame:
        return consolidate(frame, schema)

    segment = context.by_executors(store, rows, None if keyed else summed, bound)
    if keyed and segment.rows and not engine.only_inserts(segment):
        again = engine.job_context(max(segment.rows, LARGE_ROWS + 1))
        segment = again.by_executors(store, again.read(schema, [segment]), summed, segment.rows)
    return segment


# --- frames that are read as they are ----------------------------------------------------------------------

PART_BYTES = 64 << 20
"""So many bytes of a source become one file."""
UNKNOWN_BYTES = 1 << 60
"""Spark says that a table of which it knows nothing is larger than this."""


def is_scan(frame: DataFrame) -> bool:
    """Whether a frame does nothing but read files of known size: then it costs less to read it twice than to write it down."""
    plan = frame._jdf.queryExecution().optimizedPlan()
    while plan.children().size() == 1:
        if plan.nodeName() not in ("Project", "Filter"):
            return False
        plan = plan.children().head()
    if not str(plan.nodeName()).startswith("LogicalRelation"):
        return False
    files = str(plan.relation().getClass().getName()).endswith(".HadoopFsRelation")
    return files and bytes_of(frame) < UNKNOWN_BYTES


def bytes_of(frame: DataFrame) -> int:
    """What Spark takes the size of a frame's files to be."""
    return int(str(frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()))


def has_table_types(frame: DataFrame, given: Mapping[str, str], fields: Sequence[Member]) -> bool:
    """Whether columns become the table's alike in any session: they have its types, and no time of day."""
    types = {f.name: f.dataType for f in frame.schema.fields}
    if any(isinstance(f.type, Timestamp) for f in fields):
        return False
    return all(types[given[f.name.lower()]] == spark_type(f.type) for f in fields)


def parts_of(frame: DataFrame) -> int:
    return max(int(frame.sparkSession.sparkContext.defaultParallelism), bytes_of(frame) // PART_BYTES)
