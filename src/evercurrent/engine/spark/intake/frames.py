"""Changes that come as frames: checked by name, cast to the table's types, weighted, consolidated.

    orders (id BIGINT, total DECIMAL(12,2))
    frame     TOTAL 9.5, ID 1, _change_type insert        c0 1, c1 9.50, w +1
    frame     the same row inserted and deleted           nothing

Columns are found by their names, in any case and order. One that the table does not have is an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, BinaryType, MapType, StringType, StructType

from evercurrent.data.feeds import CHANGE_TYPE, PASSED_OVER, SIGNS
from evercurrent.data.types import Member, Timestamp, Type
from evercurrent.engine.spark.doors.door import door_of
from evercurrent.engine.spark.engine import SMALL_ROWS, Engine
from evercurrent.engine.spark.intake.scanned_files import find_columns, scan_of, write_scanned
from evercurrent.engine.spark.intake.task_intake import Checks, merge_pieces, serves_rows, take_in_by_tasks
from evercurrent.engine.spark.storage.file_schema import W, consolidate, row_schema
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.segments import (
    HELD_BYTES,
    LARGE_ROWS,
    JobContext,
    read_files,
    write_frame,
)
from evercurrent.engine.spark.storage.sort_order import row_order
from evercurrent.engine.spark.storage.store_names import StoreName, scratch_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.tasks.runner import Unserved
from evercurrent.engine.spark.translate.types import spark_type
from evercurrent.engine.spark.translate.zeros import one_zero
from evercurrent.errors import QueryError
from evercurrent.frontend.sql.spark_text import quote_name

SMALL_SCAN = 256 << 20
"""The rows of files with more bytes than this are not counted: they are not few."""
COUNTED_BYTES = 1 << 20
"""Files with fewer bytes have few rows, as a rule: their footers are not read by themselves."""
MEASURED_ROWS = 2_000
"""Up to this number of rows are not measured, if their files are small."""
FIXED_WIDTH = 16
"""The most bytes that a number takes."""


def is_frame(value: Any) -> bool:
    return isinstance(value, DataFrame)


def hold_or_stage(engine: Engine, store: StoreName, frame: DataFrame) -> Any:
    """The rows as an Arrow table if the driver may hold them; otherwise a frame of the same rows that only reads files.

    A frame is computed once: what does more than read files is written first, by the executors, and then looked at.
    """
    if is_scan(frame):
        if bytes_of(frame) > SMALL_SCAN:
            return frame
        scan = scan_of(frame) if bytes_of(frame) > COUNTED_BYTES else None
        if scan is not None and scan.rows > SMALL_ROWS:
            return frame  # as the footers of its files say, without a job
        rows, size = measure(frame)
    else:
        session = frame.sparkSession
        staged, frame = stage(engine, store, frame)
        rows, size = staged.rows, staged.bytes
        if not rows:
            return session.createDataFrame([], frame.schema).toArrow()
        if rows > MEASURED_ROWS and rows <= SMALL_ROWS and size <= SMALL_SCAN:
            rows, size = measure(frame)
    return frame.toArrow() if rows <= SMALL_ROWS and size <= HELD_BYTES else frame


def stage(engine: Engine, store: StoreName, frame: DataFrame) -> tuple[Segment, DataFrame]:
    """Have the executors write a frame as it is, in the session that made it; returns the files, and a frame that reads them."""
    folder, schema = engine.folder, frame.schema
    relative = folder.fresh(scratch_store(store, "staging"))
    if folder.disk.remote:
        staged = write_frame(frame, folder, store, relative)
    else:
        frame.write.parquet(folder.path(relative))
        staged = folder.find_written(relative)
    if not staged.rows:
        return staged, frame
    return staged, read_files(frame.sparkSession, folder, [staged], schema)


def measure(frame: DataFrame) -> tuple[int, int]:
    """How many rows a frame of files has, and how many bytes they take in memory, by one job."""
    size = F.lit(0).cast("bigint")
    for f in frame.schema.fields:
        if isinstance(f.dataType, StringType | BinaryType):
            size = size + F.coalesce(F.octet_length(frame[quote_name(f.name)]), F.lit(0))
        elif isinstance(f.dataType, ArrayType | MapType | StructType):
            size = size + F.octet_length(F.to_json(F.struct(frame[quote_name(f.name)])))
        else:
            size = size + F.lit(FIXED_WIDTH)
    found = frame.agg(F.count(F.lit(1)), F.coalesce(F.sum(size), F.lit(0))).collect()[0]
    return int(found[0]), int(found[1])


def take_in(
    engine: Engine,
    store: StoreName,
    table: str,
    fields: Sequence[Member],
    frame: DataFrame,
    feed: bool,
    checks: Checks | None = None,
) -> Segment:
    """A frame as a segment of weighted rows. `feed`: it has `_change_type`; otherwise all rows are inserted.

    Rules that are found to be satisfied on the way are noted in `checks`.
    """
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
        taken = by_files(
            engine, store, table, fields, frame, given, given[CHANGE_TYPE] if feed else "", checks
        )
        if taken is not None:
            return taken
        rows = weigh_rows(
            frame, [given[f.name.lower()] for f in fields], fields, given[CHANGE_TYPE] if feed else ""
        )
        context = JobContext(frame.sparkSession, engine.folder, True, parts_of(frame))
        return write_weighted(engine, store, table, fields, context, rows, inf, checks)
    # Written as it is first, in the session that made it; cast afterwards, in ours.
    columns = [frame[given[f.name.lower()]].alias(f"c{i}") for i, f in enumerate(fields)]
    kind = frame[given[CHANGE_TYPE]] if feed else F.lit("insert")
    chosen = frame.select(*columns, kind.alias(CHANGE_TYPE))
    staged, _ = stage(engine, store, chosen)
    if not staged.rows:
        return staged
    raw = read_files(engine.session, engine.folder, [staged], chosen.schema)
    rows = weigh_rows(raw, [f"c{i}" for i in range(len(fields))], fields, CHANGE_TYPE)
    context = engine.job_context(max(staged.rows, LARGE_ROWS + 1))
    return write_weighted(engine, store, table, fields, context, rows, staged.rows, checks)


def write_weighted(
    engine: Engine,
    store: StoreName,
    table: str,
    fields: Sequence[Member],
    context: JobContext,
    rows: DataFrame,
    bound: float,
    checks: Checks | None,
) -> Segment:
    """Weighted rows `c0, c1, ..., w` as a segment in which each stands once: by tasks, or where those do not serve by jobs."""
    taken = by_tasks(engine, store, table, fields, rows, checks)
    return write_consolidated(engine, store, fields, context, rows, bound) if taken is None else taken


def by_tasks(
    engine: Engine,
    store: StoreName,
    table: str,
    fields: Sequence[Member],
    rows: DataFrame,
    checks: Checks | None,
) -> Segment | None:
    """The rows as a segment that tasks have written; None if tasks do not serve."""
    types = [f.type for f in fields]
    if not serves_rows(engine, store, types):
        return None
    try:
        return take_in_by_tasks(engine, store, types, rows, table.lower(), checks)
    except Unserved:
        return None


def by_files(
    engine: Engine,
    store: StoreName,
    table: str,
    fields: Sequence[Member],
    frame: DataFrame,
    given: dict[str, str],
    kind: str,
    checks: Checks | None,
) -> Segment | None:
    """The rows of plain Parquet files as a segment, read by tasks without Spark; None if Spark is to read them."""
    types = [f.type for f in fields]
    if not serves_rows(engine, store, types):
        return None
    scan = scan_of(frame)
    wanted = None if scan is None else find_columns(scan, store, fields, given, kind)
    if scan is None or wanted is None:
        return None
    try:
        pieces = write_scanned(engine.task_runner(), wanted, scan)
        return merge_pieces(engine, store, types, pieces, table.lower(), checks)
    except Unserved:
        return None


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


def widen_rows(
    context: JobContext, name: StoreName, held: Store, old: Sequence[Type], new: Sequence[Type]
) -> Segment:
    """The rows of a store with columns of wider types, and more of them, in which held rows are NULL."""
    frame = context.read(row_schema(old), held.segments)
    columns = [
        (F.col(f"c{i}") if i < len(old) else F.lit(None)).cast(spark_type(t)).alias(f"c{i}")
        for i, t in enumerate(new)
    ]
    return context.collect({name: consolidate(frame.select(*columns, W), row_schema(new))})[name]


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

    def add_up(frame: DataFrame) -> DataFrame:
        return consolidate(frame, schema)

    segment = context.by_executors(store, rows, None if keyed else add_up, bound)
    if keyed and segment.rows and not engine.only_inserts(segment):
        again = engine.job_context(max(segment.rows, LARGE_ROWS + 1))
        segment = again.by_executors(store, again.read(schema, [segment]), add_up, segment.rows)
    return segment


# --- frames that are read as they are ----------------------------------------------------------------------

PART_BYTES = 64 << 20
"""The number of bytes of a source that become one file."""


def is_scan(frame: DataFrame) -> bool:
    """Whether a frame does nothing but read files of known size: then it costs less to read it twice than to write it down."""
    return door_of(frame.sparkSession).is_scan(frame)


def bytes_of(frame: DataFrame) -> int:
    """What Spark takes the size of a frame's files to be."""
    return door_of(frame.sparkSession).bytes_of(frame)


def has_table_types(frame: DataFrame, given: Mapping[str, str], fields: Sequence[Member]) -> bool:
    """Whether columns become the table's alike in any session: they have its types, and no time of day."""
    types = {f.name: f.dataType for f in frame.schema.fields}
    if any(isinstance(f.type, Timestamp) for f in fields):
        return False
    return all(types[given[f.name.lower()]] == spark_type(f.type) for f in fields)


def parts_of(frame: DataFrame) -> int:
    return max(door_of(frame.sparkSession).cores, bytes_of(frame) // PART_BYTES)


# --- changes that a statement says -------------------------------------------------------------------------

INSERT, DELETE, UPDATE = 1, 2, 3
"""What the first column of a statement's rows says; behind it stand the old row and the new one."""


def split_changes(changes: DataFrame, width: int) -> DataFrame:
    """Weighted rows: the old ones that a statement deletes or replaces, and the new ones."""
    action = F.col("c0")
    old = [F.col(f"c{1 + i}").alias(f"c{i}") for i in range(width)]
    new = [F.col(f"c{1 + width + i}").alias(f"c{i}") for i in range(width)]
    gone = changes.where(action.isin(DELETE, UPDATE)).select(*old, (-F.col(W)).alias(W))
    return gone.unionByName(changes.where(action.isin(INSERT, UPDATE)).select(*new, W))


def count_changes(changes: DataFrame) -> int:
    """How many rows a statement concerns."""
    found = changes.where(F.col("c0") != 0).agg(F.coalesce(F.sum(W), F.lit(0))).collect()
    return int(found[0][0])


def find_repeated_row(changes: DataFrame, width: int) -> Sequence[Any] | None:
    """An old row that a statement changes more than once, of a table with a key."""
    old = [f"c{1 + i}" for i in range(width)]
    affected = changes.where(F.col("c0").isin(DELETE, UPDATE)).groupBy(*old).agg(F.sum(W).alias("n"))
    found = affected.where(F.col("n") > 1).select(*old).limit(1).toArrow().to_pylist()
    return list(found[0].values()) if found else None


def select_deleted(rows: DataFrame) -> DataFrame:
    """The same rows, taken away."""
    return rows.withColumn(W, -F.col(W))
