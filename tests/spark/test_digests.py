"""The digests of rows are the same from Spark and from the driver."""

from __future__ import annotations

import datetime
import decimal
import random
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from evercurrent.data.types import (
    Binary,
    Boolean,
    Date,
    Decimal,
    Float,
    Integer,
    String,
    Time,
    Timestamp,
    Type,
)
from evercurrent.engine.spark.storage.digests import digest_column, digests
from evercurrent.engine.spark.storage.file_schema import row_schema
from evercurrent.engine.spark.storage.files import SMALL_FILE_ROWS, Folder
from evercurrent.engine.spark.translate.types import arrow_schema

pytestmark = pytest.mark.spark

TYPES: list[Type] = [
    *(Integer(bits) for bits in (64, 32, 16, 8)),
    Boolean(),
    Date(),
    Timestamp(),
    Time(),
    Time(3),
    Decimal(15, 2),
    Decimal(30, 4),
    Float(64),
    Float(32),
    String(None),
    Binary(),
]
ZERO = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def value(r: random.Random, t: Type) -> Any:
    if r.random() < 0.15:
        return None
    match t:
        case Integer(bits):
            return r.choice([0, 1, -1, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)), r.randrange(-100, 100)])
        case Boolean():
            return r.random() < 0.5
        case Date():
            return ZERO.date() + datetime.timedelta(r.randrange(-90_000, 90_000))
        case Time():
            edges = [datetime.time(), datetime.time(23, 59, 59), datetime.time(1, 2, 3, 456000)]
            return r.choice([*edges, datetime.time(23, 59, 59, 999999)] if t == Time() else edges)
        case Timestamp():
            return ZERO + datetime.timedelta(0, r.randrange(-(10**9), 10**9), r.randrange(10**6))
        case Decimal(precision, scale):
            edges = [0, 1, -1, 127, 128, -128, -129, 255, 256, 10**precision - 1, 1 - 10**precision]
            chosen = r.choice([*edges, r.randrange(1 - 10**precision, 10**precision)])
            return decimal.Decimal(chosen).scaleb(-scale, decimal.Context(prec=38))
        case Float():
            return r.choice([0.0, -0.0, float("nan"), float("inf"), 1.5, -3.25])
        case String():
            return "".join(r.choice("aé€𝄞xyz ") for _ in range(r.randrange(50)))
        case _:
            return r.randbytes(r.randrange(70))


def test_spark_and_the_driver_agree(spark: Any, tmp_path: Path) -> None:
    r = random.Random(7)
    rows = [[value(r, t) for t in TYPES] for _ in range(2_000)]
    schema = arrow_schema(row_schema(TYPES))
    columns = [pyarrow.array([row[i] for row in rows], schema.field(i).type) for i in range(len(TYPES))]
    table = pyarrow.table(columns, [f"c{i}" for i in range(len(TYPES))])
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet", store_schema=False)
    read = spark.read.schema(row_schema(TYPES)).parquet(str(tmp_path / "rows.parquet"))
    theirs = read.select(digest_column(TYPES).alias("h")).toArrow().column("h").to_pylist()
    assert digests(TYPES, table).to_pylist() == theirs
    assert digests(TYPES, table.slice(5, 100)).to_pylist() == theirs[5:105]
    assert len(set(theirs)) == len({repr(row) for row in rows})


@pytest.mark.parametrize("vectorized", ["true", "false"])
def test_spark_reads_large_files_as_they_were_written(spark: Any, tmp_path: Path, vectorized: str) -> None:
    """Their integers, dates and timestamps are encoded as differences, others are not; with extreme values and NULLs."""
    r = random.Random(8)
    some = [[value(r, t) for t in TYPES] for _ in range(2_000)]
    schema = arrow_schema(row_schema(TYPES))
    columns = [pyarrow.array([row[i] for row in some], schema.field(i).type) for i in range(len(TYPES))]
    part = pyarrow.table(columns, [f"c{i}" for i in range(len(TYPES))])
    table = pyarrow.concat_tables([part] * (SMALL_FILE_ROWS // 2_000 + 1))
    folder = Folder(tmp_path)
    path = folder.path(folder.write("s", table).files[0])
    group = pyarrow.parquet.ParquetFile(path).metadata.row_group(0)
    packed = [i for i in range(len(TYPES)) if "DELTA_BINARY_PACKED" in group.column(i).encodings]
    assert {type(TYPES[i]) for i in packed} >= {Integer, Date, Timestamp}
    option = "spark.sql.parquet.enableVectorizedReader"
    before = spark.conf.get(option)
    spark.conf.set(option, vectorized)
    try:
        read = spark.read.schema(row_schema(TYPES)).parquet(path)
        counts = read.groupBy(digest_column(TYPES).alias("h")).count().collect()
    finally:
        spark.conf.set(option, before)
    times = table.num_rows // part.num_rows
    wanted: dict[int, int] = {}
    for h in digests(TYPES, part).to_pylist():
        wanted[h] = wanted.get(h, 0) + times
    assert {row["h"]: row["count"] for row in counts} == wanted
