"""A database on Spark from end to end: versions, replays, conflicts, reopening, published views."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow
import pytest
from deltalake import DeltaTable

import evercurrent as ec
from evercurrent.warehouse.database import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SCHEMA = """
CREATE TABLE cust (id BIGINT PRIMARY KEY, name STRING NOT NULL, nation STRING);
CREATE TABLE orders (
    id BIGINT PRIMARY KEY, customer BIGINT REFERENCES cust (id), total DECIMAL(12,2), placed DATE, CHECK (total >= 0)
);
CREATE VIEW spend AS
    SELECT c.nation, SUM(o.total) AS total, COUNT(*) AS n, MAX(o.total) AS most
    FROM orders o JOIN cust c ON o.customer = c.id GROUP BY c.nation;
CREATE VIEW idle AS SELECT * FROM cust c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id);
CREATE VIEW rich AS SELECT nation, total FROM spend WHERE total > 10;
CREATE VIEW top2 AS SELECT id, total FROM orders ORDER BY total DESC, id LIMIT 2
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "warehouse"


def opened(spark: SparkSession, path: Path, strategy: Any = "auto") -> Warehouse:
    db = Warehouse(spark, path, strategy=strategy)
    db.execute(SCHEMA)
    db.table("cust").insert([(1, "Ann", "DE"), (2, "Bob", "FR"), (3, "Cyd", "FR")])
    db.table("orders").insert([(1, 1, "9.50", datetime.date(2024, 1, 1)), (2, 2, "1.50", None)])
    return db


def rows(db: Warehouse, view: str) -> list[Any]:
    return sorted(db.view(view).rows(), key=repr)


def published(path: Path, view: str) -> list[Any]:
    table = DeltaTable(str(path / "views" / view)).to_pyarrow_table()
    return sorted((tuple(r.values()) for r in table.to_pylist()), key=repr)


def test_views_follow_batches_and_are_published(spark: SparkSession, path: Path) -> None:
    db = opened(spark, path)
    assert rows(db, "spend") == [
        ("DE", Decimal("9.50"), 1, Decimal("9.50")),
        ("FR", Decimal("1.50"), 1, Decimal("1.50")),
    ]
    run = db.apply(
        {
            "orders": [
                {"_change_type": "insert", "id": 3, "customer": 2, "total": 12, "placed": None},
                {"_change_type": "delete", "id": 1},
            ]
        }
    )
    assert rows(db, "spend") == [("FR", Decimal("13.50"), 2, Decimal("12.00"))]
    assert rows(db, "idle") == [(1, "Ann", "DE"), (3, "Cyd", "FR")]
    assert rows(db, "rich") == [("FR", Decimal("13.50"))]
    assert rows(db, "top2") == [(2, Decimal("1.50")), (3, Decimal("12.00"))]
    assert run.version == db.version and {v.view for v in run.views} == {"spend", "idle", "rich", "top2"}
    assert "rows changed" in str(run)
    for view in db.views:
        assert published(path, view) == rows(db, view)
    assert db.verify(), str(db.verify())


def test_a_batch_counts_once(spark: SparkSession, path: Path) -> None:
    db = opened(spark, path)
    change = {"orders": [{"_change_type": "insert", "id": 9, "customer": 1, "total": 1, "placed": None}]}
    first = db.apply(change, batch="monday")
    again = db.apply(change, batch="monday")
    assert (again.repeated, again.version) == (True, first.version)
    other = ec.connect(spark=spark, path=path)
    assert other.apply(change, batch="monday").repeated
    assert len(other.table("orders")) == 3


def test_reopening_finds_everything(spark: SparkSession, path: Path) -> None:
    db = opened(spark, path)
    other = ec.connect(spark=spark, path=path)
    assert (other.version, other.tables, other.views) == (db.version, db.tables, db.views)
    for view in db.views:
        assert rows(other, view) == rows(db, view)
    other.table("orders").update({"id": 2}, total=20)
    assert rows(other, "rich") == [("FR", Decimal("20.00"))]


def test_the_second_of_two_drivers_changes_nothing(spark: SparkSession, path: Path) -> None:
    db = opened(spark, path)
    other = ec.connect(spark=spark, path=path)
    db.table("orders").insert((3, 3, 5, None))
    before = rows(other, "spend")
    with pytest.raises(ec.ConflictError):
        other.table("orders").insert((4, 3, 5, None))
    assert rows(other, "spend") == before
    other.reload()
    assert rows(other, "spend") == rows(db, "spend")
    other.table("orders").insert((4, 3, 5, None))
    assert other.version == db.version + 1


@pytest.mark.parametrize(
    ("statement", "constraint"),
    [
        ("INSERT INTO orders VALUES (2, 1, 1, NULL)", "orders_pk"),
        ("INSERT INTO orders VALUES (7, 99, 1, NULL)", "orders_fk_1"),
        ("INSERT INTO orders VALUES (7, 1, -1, NULL)", "orders_check_1"),
        ("INSERT INTO cust VALUES (7, NULL, 'DE')", "name NOT NULL"),
        ("DELETE FROM cust WHERE id = 1", "orders_fk_1"),
    ],
)
def test_constraints_are_judged_before_the_commit(
    spark: SparkSession, path: Path, statement: str, constraint: str
) -> None:
    db = opened(spark, path)
    version, before = db.version, {v: rows(db, v) for v in db.views}
    with pytest.raises(ec.ConstraintError) as caught:
        db.execute(statement)
    assert caught.value.constraint == constraint and caught.value.rows
    assert db.version == version and {v: rows(db, v) for v in db.views} == before


def test_assertions_refuse_a_batch_as_a_whole(spark: SparkSession, path: Path) -> None:
    db = opened(spark, path)
    db.execute("CREATE ASSERTION cheap CHECK (NOT EXISTS (SELECT 1 FROM orders WHERE total > 100))")
    version = db.version
    with pytest.raises(ec.ConstraintError) as caught:
        db.table("orders").insert([(3, 1, 101, None), (4, 1, 1, None)])
    assert caught.value.constraint == "cheap" and caught.value.count == 1
    assert db.version == version and len(db.table("orders")) == 2


def test_views_are_created_replaced_and_dropped_over_data(spark: SparkSession, path: Path) -> None:
    db = opened(spark, path)
    db.execute("CREATE VIEW names AS SELECT name FROM cust")
    assert rows(db, "names") == [("Ann",), ("Bob",), ("Cyd",)]
    db.execute("CREATE OR REPLACE VIEW names AS SELECT name, nation FROM cust WHERE nation = 'FR'")
    assert rows(db, "names") == [("Bob", "FR"), ("Cyd", "FR")] == published(path, "names")
    db.execute("CREATE OR REPLACE VIEW spend AS SELECT nation, CAST(20 AS DECIMAL(12,2)) AS total FROM cust")
    assert rows(db, "rich") == [("DE", Decimal(20)), ("FR", Decimal(20)), ("FR", Decimal(20))]
    with pytest.raises(ec.QueryError):
        db.execute("DROP VIEW spend")
    db.execute("DROP VIEW spend CASCADE")
    assert "rich" not in db.views and not (path / "views" / "spend").exists()
    assert rows(ec.connect(spark=spark, path=path), "names") == rows(db, "names")


def test_time_travel_and_changes(spark: SparkSession, path: Path) -> None:
    db = opened(spark, path)
    before, version = rows(db, "spend"), db.version
    db.table("orders").insert((3, 1, 5, None))
    db.table("orders").delete({"id": 2})
    old = db.view("spend").dataframe(version=version).collect()
    assert sorted(map(tuple, old), key=repr) == before
    assert sorted(map(tuple, db.view("spend").dataframe().collect()), key=repr) == rows(db, "spend")
    changes = db.view("spend").changes(since=version).collect()
    assert {(r["nation"], r["_change_type"], r["_commit_version"]) for r in changes} == {
        ("DE", "delete", version + 1),
        ("DE", "insert", version + 1),
        ("FR", "delete", version + 2),
    }


def test_compaction_and_vacuum_change_no_row(spark: SparkSession, path: Path) -> None:
    db = opened(spark, path)
    for i in range(10, 40):
        db.table("orders").insert((i, 1 + i % 3, i, None))
    store = db._core.snapshot.stores
    assert max(len(s.segments) for s in store.values()) < 30, "stores are compacted on the way"
    before = {v: rows(db, v) for v in db.views}
    files = len(db._core.engine.folder.data_files())
    db.compact()
    freed = db.vacuum(keep=2, hours=0)
    assert freed > 0 and len(db._core.engine.folder.data_files()) < files
    assert {v: rows(db, v) for v in db.views} == before
    reopened = ec.connect(spark=spark, path=path)
    assert {v: rows(reopened, v) for v in db.views} == before
    with pytest.raises(ec.StorageError):
        db.view("spend").changes(since=0).collect()


def test_both_ways_to_run_agree(spark: SparkSession, tmp_path: Path) -> None:
    """What the driver does alone and what Spark does are the same, batch by batch."""
    one = opened(spark, tmp_path / "driver", "driver")
    two = opened(spark, tmp_path / "spark", "driver")
    two._core.engine.strategy = "spark"
    batch = {
        "orders": [
            {"_change_type": "insert", "id": 3, "customer": 3, "total": 12, "placed": None},
            {"_change_type": "update_preimage", "id": 2},
            {"_change_type": "update_postimage", "id": 2, "customer": 1, "total": 4, "placed": None},
            {"_change_type": "delete", "id": 1},
        ],
        "cust": [{"_change_type": "insert", "id": 4, "name": "Dan", "nation": "DE"}],
    }
    assert one.apply(batch).jobs == 0
    run = two.apply(batch)
    assert run.jobs > 0
    for view in one.views:
        assert rows(one, view) == rows(two, view), view


@pytest.mark.usefixtures("small_driver")
def test_large_changes_are_taken_in_and_judged_by_spark(spark: SparkSession, path: Path) -> None:
    db = opened(spark, path)
    many = spark.range(100, 13_100).selectExpr(
        "id",
        "1 + id % 3 AS customer",
        "CAST(id % 100 AS DECIMAL(12,2)) AS total",
        "DATE'2024-05-01' AS placed",
        "'insert' AS _change_type",
    )
    run = db.apply({"orders": many}, batch="bulk")
    assert run.jobs > 0 and run.rows_in == {"orders": 13_000}
    assert sum(r[2] for r in rows(db, "spend")) == 13_002
    assert db.verify(["spend", "top2"]), str(db.verify())
    with pytest.raises(ec.ConstraintError) as caught:
        db.apply({"orders": many})
    assert caught.value.constraint == "orders_pk" and caught.value.count == 26_000  # with the holders


@pytest.mark.usefixtures("small_driver")
def test_large_arrow_tables_are_taken_in_by_columns(spark: SparkSession, path: Path) -> None:
    """The driver takes them in; tasks update the views, here in the driver's process because there are few rows."""
    db = opened(spark, path)
    table = spark.range(100, 13_100).selectExpr(
        "id", "1 + id % 3 AS customer", "CAST(1 AS DECIMAL(12,2)) AS total", "DATE'2024-05-01' AS placed"
    )
    come = table.toArrow()
    feed = come.append_column("_change_type", pyarrow.array(["insert"] * come.num_rows))
    run = db.apply({"orders": feed})
    assert "updated by tasks" in str(run) and run.rows_in == {"orders": 13_000} and "intake" not in run.steps
    with pytest.raises(ec.ConstraintError) as caught:
        db.apply({"orders": feed})
    assert caught.value.constraint == "orders_pk" and caught.value.count == 26_000  # with the holders
    gone = come.slice(0, 5_000).append_column("_change_type", pyarrow.array(["delete"] * 5_000))
    db.apply({"orders": gone})
    assert sum(r[2] for r in rows(db, "spend")) == 8_002
    assert db.verify(["spend", "top2"]), str(db.verify())


def test_hostile_names_are_data(spark: SparkSession, path: Path) -> None:
    db = ec.connect(spark=spark, path=path)
    db.execute("CREATE TABLE `a b; DROP` (`x'\"y` INT, `select` STRING)")
    db.execute("CREATE VIEW `../v` AS SELECT `select`, count(*) AS `n;` FROM `a b; DROP` GROUP BY `select`")
    db.table("a b; DROP").insert([(1, "'); DROP"), (2, "'); DROP")])
    assert db.view("../v").rows() == [("'); DROP", 2)]
    assert [p.parent.name for p in path.rglob("_delta_log")] != [".."]
    assert rows(ec.connect(spark=spark, path=path), "../v") == [("'); DROP", 2)]


def test_what_is_missing_is_refused_by_name(spark: SparkSession) -> None:
    with pytest.raises(ec.StorageError, match="hdfs://host/warehouse"):
        ec.connect(spark=spark, path="hdfs://host/warehouse")


@pytest.mark.parametrize("strategy", ["driver", "spark"])
def test_data_that_makes_a_view_fail_is_refused(spark: SparkSession, path: Path, strategy: str) -> None:
    db = opened(spark, path)
    db.execute("CREATE VIEW share AS SELECT id, 1 / CAST(total AS DOUBLE) AS x FROM orders")
    db._core.engine.strategy = strategy
    version = db.version
    with pytest.raises(ec.EvaluationError):
        db.apply({"orders": [{"_change_type": "insert", "id": 3, "customer": 1, "total": 0, "placed": None}]})
    assert db.version == version and len(db.table("orders")) == 2
