"""The type TIME on Spark: stored, looked up, recomputed, published, read again."""

from __future__ import annotations

from datetime import time
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

import evercurrent as ec
from evercurrent.warehouse.database import Warehouse

pytestmark = pytest.mark.spark

NOON, LAST = time(12, 34, 56, 123_456), time(23, 59, 59, 999_999)


def filled(db: Any) -> None:
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, a TIME, b TIME(3), many ARRAY<TIME>)")
    db.execute(
        "CREATE VIEW grouped AS SELECT a, COUNT(*) AS n, MIN(b) AS low, MAX(b) AS high FROM t GROUP BY a"
    )
    db.execute("CREATE VIEW joined AS SELECT x.id, y.id AS other FROM t x JOIN t y ON x.a = y.a")
    db.execute(
        "CREATE VIEW again AS SELECT a, many FROM t WHERE a >= TIME'12:00:00' OR many IS NULL", policy="full"
    )
    db.table("t").insert([(1, NOON, LAST, [NOON, None]), (2, None, None, None), (3, time(0), time(1, 2), [])])


def test_views_follow(spark: Any, tmp_path: Path) -> None:
    db = ec.connect(spark=spark, path=tmp_path / "w")
    filled(db)
    db.execute("INSERT INTO t VALUES (4, TIME'12:34:56.123456', '00:00', array(TIME'23:59:59.999999'))")
    cut = time(23, 59, 59, 999_000)
    assert set(db.view("grouped").rows()) == {
        (NOON, 2, time(0), cut),
        (None, 1, None, None),
        (time(0), 1, time(1, 2), time(1, 2)),
    }
    assert sorted(db.view("joined").rows()) == [(1, 1), (1, 4), (3, 3), (4, 1), (4, 4)]
    db.execute("DELETE FROM t WHERE id = 4")
    db.execute("UPDATE t SET a = TIME'12:00:00' WHERE id = 3")
    assert set(db.view("grouped").rows()) == {
        (NOON, 1, cut, cut),
        (None, 1, None, None),
        (time(12), 1, time(1, 2), time(1, 2)),
    }
    assert db.verify()
    again = Warehouse(spark, tmp_path / "w", strategy="spark")
    again.execute("UPDATE t SET a = TIME'23:59:59.999999' WHERE id = 1")
    assert sorted(again.view("joined").rows()) == [(1, 1), (3, 3)]
    assert [r["a"] for r in again.view("again").dataframe().orderBy("a").collect()] == [None, time(12), LAST]
    assert again.verify()


def test_delta_has_the_microseconds(spark: Any, tmp_path: Path) -> None:
    db = ec.connect(spark=spark, path=tmp_path / "w")
    filled(db)
    db.execute("DELETE FROM t WHERE id = 3")
    micros = 45_296_123_456
    found = DeltaTable(str(tmp_path / "w" / "views" / "again")).to_pyarrow_table().to_pylist()
    assert sorted(found, key=str) == [{"a": micros, "many": [micros, None]}, {"a": None, "many": None}]


def test_a_spark_without_the_type_says_so(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("pyspark.sql.types.TimeType")
    db = ec.connect(spark=spark, path=tmp_path / "w")
    for statement in ("CREATE TABLE t (a TIME)", "CREATE TABLE t (a ARRAY<TIME>)"):
        with pytest.raises(ec.UnsupportedError, match=r"has no type TIME, which came with Spark 4\.1"):
            db.execute(statement)
    db.execute("CREATE TABLE u (a STRING)")
    with pytest.raises(ec.UnsupportedError, match=r"has no type TIME"):
        db.execute("CREATE VIEW v AS SELECT CAST(a AS TIME) AS t FROM u")
