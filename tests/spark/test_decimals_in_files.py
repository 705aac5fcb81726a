"""Decimals in files: as integers, beside files of earlier versions that hold them as bytes, by every way in which a batch can run."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from pyspark.sql import SparkSession

import evercurrent as ec
from evercurrent.engine.spark.storage import file_schema, files
from evercurrent.engine.spark.tasks import pieces
from evercurrent.statements.options import STRATEGIES

MANY = files.SMALL_FILE_ROWS + 100


def rows(first: int, last: int, kind: str = "insert") -> pyarrow.Table:
    numbers = range(first, last)
    return pyarrow.table(
        {
            "id": pyarrow.array(numbers, pyarrow.int64()),
            "short": pyarrow.array([Decimal(n % 7 - 3) / 4 for n in numbers], pyarrow.decimal128(6, 2)),
            "price": pyarrow.array(
                [None if n % 11 == 0 else Decimal(n * 10**9 - 1) / 100 for n in numbers],
                pyarrow.decimal128(18, 2),
            ),
            "long": pyarrow.array([Decimal(10**20 + n) for n in numbers], pyarrow.decimal128(30, 0)),
            "_change_type": [kind] * len(numbers),
        }
    )


def physical(path: Path) -> set[tuple[str, ...]]:
    """How the files of the table have their three columns of decimals."""
    found = set()
    for file in path.glob("data/table_t-*/*.parquet"):
        schema = pyarrow.parquet.ParquetFile(file).schema
        found.add(tuple(schema.column(i).physical_type for i in (1, 2, 3)))
    return found


@pytest.mark.parametrize("strategy", [s for s in STRATEGIES if s != "auto"])
def test_files_of_both_kinds(
    spark: SparkSession, tmp_path: Path, strategy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = ec.connect(spark=spark, path=tmp_path / "w", progress=False, strategy=strategy)
    db.execute(
        "CREATE TABLE t (id BIGINT PRIMARY KEY, short DECIMAL(6, 2), price DECIMAL(18, 2), long DECIMAL(30, 0));"
        "CREATE VIEW v AS SELECT short, sum(price) AS p, max(price) AS m, sum(long) AS l, count(*) AS n FROM t GROUP BY short;"
        "CREATE VIEW j AS SELECT a.id, b.price FROM t a JOIN t b ON a.short = b.price WHERE a.id < 50"
    )
    with monkeypatch.context() as before:
        for module in (file_schema, files, pieces):
            before.setattr(module, "DECIMALS", {})
        before.setattr(file_schema, "is_packed", pyarrow.types.is_integer)
        db.apply({"t": rows(0, MANY)})
    assert physical(tmp_path / "w") == {("FIXED_LEN_BYTE_ARRAY",) * 3}
    db.apply({"t": pyarrow.concat_tables([rows(10, 30, "delete"), rows(MANY, 2 * MANY)])})
    assert ("INT32", "INT64", "FIXED_LEN_BYTE_ARRAY") in physical(tmp_path / "w")
    assert db.verify() and db.check()
    assert db.table("t").get({"id": 7})[1:3] == (Decimal("-0.75"), Decimal(7 * 10**9 - 1) / 100)
    assert db.table("t").get({"id": MANY + 1})[1] == Decimal((MANY + 1) % 7 - 3) / 4
    least = 2 * MANY - 5
    db.execute(f"DELETE FROM t WHERE price > {Decimal(least * 10**9) / 100}")
    deleted = sum(n % 11 != 0 for n in range(least + 1, 2 * MANY))
    assert deleted and len(db.table("t")) == 2 * MANY - 20 - deleted
    assert db.verify()
    db.close()
