"""Sources by reference with Spark: fills and refreshes by jobs, `verify`, frames of earlier versions, tables of a catalog."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow
import pytest
from deltalake import DeltaTable, write_deltalake

import evercurrent as ec
from evercurrent.engine.spark.sources import reading, references
from evercurrent.warehouse.database import Warehouse
from tests.spark.delta_writer import DeltaWriter
from tests.spark.unit.warehouse.test_references import CUSTOMERS, ORDERS, VIEWS, order

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(params=["auto", "spark"])
def strategy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """By the driver where it can, and everything by jobs of Spark."""
    if request.param == "spark":
        monkeypatch.setattr(reading, "DRIVER_BYTES", -1)
        monkeypatch.setattr(references, "HELD_BYTES", -1)
    return str(request.param)


def kept(db: Warehouse, table: str) -> list[str]:
    """The files of a table's rows in the warehouse."""
    return [f for s in db._core.present.table_rows(table).segments for f in s.files]


def test_one_source_from_end_to_end(spark: SparkSession, tmp_path: Path, strategy: Any) -> None:
    orders = DeltaWriter(tmp_path / "orders", ORDERS, mapping="name", partition_by=["customer"])
    customers = DeltaWriter(tmp_path / "customers", CUSTOMERS, mapping="id")
    orders.append([order(i) for i in range(40)])
    orders.delete(lambda r: r[0] % 9 == 0)
    customers.append([(i, f"c{i}") for i in range(7)])
    db = Warehouse(spark, tmp_path / "w", strategy=strategy)
    db.source("orders", format="delta", path=orders.root, key=["id"])
    db.source("customers", format="delta", path=customers.root, key=["id"])
    for name in ("per", "joined", "missing", "ranks", "copied"):
        db.execute(f"CREATE VIEW {name} AS {VIEWS[name]}")
    first = db.refresh().version
    assert db.verify() and not kept(db, "orders")
    orders.delete(lambda r: r[0] % 4 == 1)
    orders.append([order(i) for i in range(90, 95)])
    customers.update(lambda r: r[0] == 3, lambda r: (3, "other"))
    db.refresh()
    assert db.verify() and not kept(db, "orders")
    assert sorted(db.table("orders").rows(), key=repr) == sorted(orders.rows, key=repr)
    again = ec.connect(spark=spark, path=tmp_path / "w")
    assert again.verify()
    frame = again.table("orders").dataframe(version=first)
    assert frame.count() == 35, "an earlier version of the warehouse is an earlier version of the source"
    changes = again.table("orders").changes(since=first).groupBy("_change_type").count().collect()
    assert {r[0]: r[1] for r in changes} == {"insert": 5, "delete": 10 - 1}
    again.table("orders").dataframe().createOrReplaceTempView("theirs")
    assert spark.sql("SELECT count(*) FROM theirs").collect()[0][0] == len(orders.rows)
    again.execute("CREATE VIEW late AS SELECT note, count(*) AS n FROM orders GROUP BY note", policy="full")
    again.refresh()
    assert again.verify()


def test_a_table_of_the_catalog_by_reference(spark: SparkSession, tmp_path: Path) -> None:
    lake = str(tmp_path / "lake")
    write_deltalake(lake, pyarrow.table({"id": [1, 2, 3], "x": [1.5, None, -0.0]}))
    spark.sql("DROP TABLE IF EXISTS by_reference")
    try:
        spark.sql(
            f"CREATE TABLE by_reference (id BIGINT, x DOUBLE) USING parquet LOCATION '{tmp_path / 'empty'}'"
        )
        db = ec.connect(spark=spark, path=tmp_path / "w")
        db.source("t", table="by_reference")
        db.source("d", format="delta", path=lake)
        db.execute("CREATE VIEW v AS SELECT count(*) AS n, sum(x) AS s FROM d")
        db.refresh()
        assert "t: a copy" not in str(db.explain("v")) and "d: by reference" in str(db.explain("v"))
        assert db.view("v").rows() == [(3, 1.5)]
    finally:
        spark.sql("DROP TABLE IF EXISTS by_reference")


def test_large_changes_go_through_jobs(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evercurrent.engine.spark.engine.SMALL_ROWS", 10)
    monkeypatch.setattr("evercurrent.warehouse.changes.references.SMALL_ROWS", 10)
    lake = str(tmp_path / "lake")
    rows = pyarrow.table({"id": range(1000), "g": [i % 7 for i in range(1000)]})
    write_deltalake(lake, rows)
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.source("t", format="delta", path=lake, key=["id"])
    db.execute("CREATE VIEW per AS SELECT g, count(*) AS n, max(id) AS m FROM t GROUP BY g")
    db.refresh()
    DeltaTable(lake).delete("id % 3 = 0")
    db.refresh()
    assert db.verify() and not kept(db, "t")
    write_deltalake(lake, rows.slice(0, 100), mode="append")
    write_deltalake(lake, rows.slice(0, 100), mode="append")
    with pytest.raises(ec.ConstraintError, match="occurs more than once"):
        db.refresh()
    assert db.verify()
