"""Changes that come as frames: checked by name, cast to the table's types, weighted, consolidated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from evercurrent.data.types import Member
from evercurrent.engine.spark.engine import SMALL_ROWS, Engine
from evercurrent.engine.spark.files import Segment
from evercurrent.engine.spark.frames import LARGE_ROWS
from evercurrent.engine.spark.layout import leading
from evercurrent.engine.spark.shapes import W, consolidate, row_schema
from evercurrent.engine.spark.types import spark_type
from evercurrent.errors import QueryError

CHANGE_TYPE = "_change_type"
PASSED_OVER = ("_commit_version", "_commit_timestamp")
SIGNS = {"insert": 1, "update_postimage": 1, "delete": -1, "update_preimage": -1}


def is_frame(value: Any) -> bool:
    return isinstance(value, DataFrame)


def small_table(frame: DataFrame) -> Any | None:
    """The rows as an Arrow table if they are few; None if the cluster is to take them in."""
    table = frame.limit(SMALL_ROWS + 1).toArrow()
    return table if table.num_rows <= SMALL_ROWS else None


def take_in(
    engine: Engine, store: str, table: str, fields: Sequence[Member], frame: DataFrame, feed: bool
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
    # Written as it is first, in the session that made it; cast afterwards, in ours.
    relative = engine.folder.fresh(f"{store}\0staging")
    columns = [frame[given[f.name.lower()]].alias(f"c{i}") for i, f in enumerate(fields)]
    kind = frame[given[CHANGE_TYPE]] if feed else F.lit("insert")
    frame.select(*columns, kind.alias(CHANGE_TYPE)).write.parquet(engine.folder.path(relative))
    staged = engine.folder.written(relative)
    if not staged.rows:
        return staged
    schema = row_schema([f.type for f in fields])
    raw = engine.session.read.parquet(engine.folder.path(relative))
    sign = F.lit(None).cast("bigint")
    for name, value in SIGNS.items():
        sign = F.when(F.col(CHANGE_TYPE) == name, F.lit(value).cast("bigint")).otherwise(sign)
    wrong = F.raise_error(
        F.concat(F.lit(f"{CHANGE_TYPE} is "), F.coalesce(F.col(CHANGE_TYPE), F.lit("NULL")))
    )
    rows = raw.select(
        *(F.col(f"c{i}").cast(spark_type(f.type)).alias(f"c{i}") for i, f in enumerate(fields)),
        F.coalesce(sign, wrong.cast("bigint")).alias(W),
    )
    workshop = engine.workshop(max(staged.rows, LARGE_ROWS + 1))
    engine.folder.orders.setdefault(store, leading([f.type for f in fields]))
    if not engine.keys.get(store) or has_deletions(raw):
        rows = consolidate(rows, schema)  # with a key and nothing but insertions no row can be there twice
    return workshop.collect({store: rows})[store]


def has_deletions(raw: DataFrame) -> bool:
    """Whether any change is something else than an insertion."""
    plain = F.col(CHANGE_TYPE).isin("insert", "update_postimage")
    return not raw.where(~F.coalesce(plain, F.lit(False))).select(F.lit(1)).limit(1).isEmpty()
