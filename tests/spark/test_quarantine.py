"""Changes that break a constraint or an assertion are set aside, and the rest of the batch is applied."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import evercurrent as ec
from evercurrent.data.zset import ZSet
from evercurrent.engine.spark.storage.entry_reader import TooLarge
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.warehouse.changes import assertion_trials
from evercurrent.warehouse.changes.apply import find_touched_rows, refuse_assertions
from evercurrent.warehouse.changes.constraints import validate_rows
from evercurrent.warehouse.changes.quarantine import split_batch
from evercurrent.warehouse.database import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SCHEMA = """
CREATE TABLE cust (id BIGINT PRIMARY KEY, name STRING NOT NULL, mail STRING UNIQUE);
CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT REFERENCES cust (id), total DECIMAL(9,2), CHECK (total >= 0));
CREATE VIEW spend AS SELECT customer, SUM(total) AS total FROM orders GROUP BY customer
"""


@pytest.fixture
def db(spark: SparkSession, tmp_path: Path) -> Warehouse:
    db = Warehouse(spark, tmp_path / "warehouse")
    db.execute(SCHEMA)
    db.table("cust").insert([(1, "Ann", "a@x"), (2, "Bob", "b@x"), (3, "Cyd", None)])
    db.table("orders").insert([(1, 1, "9.50"), (2, 2, "1.50")])
    return db


def changes(kind: str, *rows: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"_change_type": kind, **row} for row in rows]


def inserts(names: str, *rows: tuple[Any, ...]) -> list[dict[str, Any]]:
    return changes("insert", *(dict(zip(names.split(), row, strict=True)) for row in rows))


def table(db: Warehouse, name: str) -> list[Any]:
    return sorted(db.table(name).rows(), key=repr)


def set_aside(db: Warehouse) -> list[tuple[str, str, Any, str]]:
    found = db.query("SELECT table_name, change, row, constraint_name FROM evercurrent_quarantine").rows()
    return sorted(((t, c, json.loads(r).get("id"), k) for t, c, r, k in found), key=repr)


def test_each_constraint_names_what_it_sets_aside(db: Warehouse) -> None:
    feed = {
        "cust": inserts(
            "id name mail",
            (4, "Dan", "d@x"),
            (5, None, None),  # NOT NULL
            (1, "Eve", None),  # the key is taken
            (6, "Fay", "b@x"),  # the mail is taken
            (7, "Gus", "g@x"),  # two want this mail: neither has it
            (8, "Hal", "g@x"),
        ),
        "orders": [
            *inserts("id customer total", (3, 4, "2.00"), (4, 99, "1.00"), (5, 1, "-1.00"), (6, 5, "1.00")),
            *inserts("id customer total", (7, 2, "many")),  # cannot be taken in
            *changes("delete", {"id": 77}),  # is not there
            *changes("delete", {"id": 2, "customer": 2, "total": "7.00"}),  # is not there in this form
        ],
    }
    with pytest.raises(ec.EvercurrentError):
        db.apply(feed)
    before = db.version
    run = db.apply(feed, batch="b1", on_violation="quarantine")
    assert run.quarantined == {"cust": 5, "orders": 6} and "were set aside" in str(run)
    assert [r[0] for r in table(db, "cust")] == [1, 2, 3, 4]
    assert [r[0] for r in table(db, "orders")] == [1, 2, 3]
    assert set_aside(db) == [
        ("cust", "insert", 1, "cust_pk"),
        ("cust", "insert", 5, "name NOT NULL"),
        ("cust", "insert", 6, "cust_unique_mail"),
        ("cust", "insert", 7, "cust_unique_mail"),
        ("cust", "insert", 8, "cust_unique_mail"),
        ("orders", "delete", 2, "existing row"),
        ("orders", "delete", 77, "existing row"),
        ("orders", "insert", 4, "orders_fk_1"),
        ("orders", "insert", 5, "orders_check_1"),
        ("orders", "insert", 6, "orders_fk_1"),
        ("orders", "insert", 7, "type"),
    ]
    kept = db.query("SELECT DISTINCT batch, version FROM evercurrent_quarantine").rows()
    assert kept == [("b1", run.version)] and run.version == before + 2  # the table was made first
    assert db.apply(feed, batch="b1", on_violation="quarantine").repeated
    assert db.history()[-1].quarantined == run.quarantined


def test_what_belongs_together_is_set_aside_together(db: Warehouse) -> None:
    feed = {
        "cust": [
            *changes("update_preimage", {"id": 2}),
            *inserts("id name mail", (2, "Bob", "a@x")),  # the mail is taken: Bob stays as he was
            *changes("delete", {"id": 1}),  # has orders
            *changes("delete", {"id": 3}),
        ],
        "orders": inserts(
            "id customer total", (9, 3, "1.00")
        ),  # its parent stays: cust 3 is only now referred to
    }
    run = db.apply(feed, on_violation="quarantine")
    # Both ways of orders 9 and cust 3 are right by themselves; together they are not, so neither is done.
    assert table(db, "cust") == [(1, "Ann", "a@x"), (2, "Bob", "b@x"), (3, "Cyd", None)]
    assert [r[0] for r in table(db, "orders")] == [1, 2]
    assert run.quarantined == {"cust": 4, "orders": 1}


def test_an_assertion_sets_aside_as_little_as_it_can(db: Warehouse) -> None:
    db.execute("CREATE ASSERTION modest CHECK (NOT EXISTS (SELECT customer FROM spend WHERE total > 10))")
    rows = [(100 + i, 1 + i % 2, "0.01") for i in range(40)]
    feed = {
        "orders": inserts("id customer total", *rows, (200, 1, "5.00"), (201, 2, "8.00"), (202, 2, "9.00"))
    }
    with pytest.raises(ec.ConstraintError, match="modest") as refused:
        db.apply(feed)
    assert refused.value.count == 2 and len(refused.value.rows) == 2
    run = db.apply(feed, on_violation="quarantine")
    assert set_aside(db) == [("orders", "insert", 200, "modest"), ("orders", "insert", 202, "modest")]
    assert run.rows_in["orders"] == 41 and {r[0] for r in db.view("spend").rows()} == {1, 2}
    every = "SELECT c.id FROM cust c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id) AND c.id > 10"
    db.execute(f"CREATE ASSERTION active CHECK (NOT EXISTS ({every}))")
    db.apply(
        {
            "cust": inserts("id name mail", (11, "Kim", None), (12, "Lee", None), (13, "Max", None)),
            "orders": inserts("id customer total", (300, 11, "1.00"), (301, 13, "1.00")),
        },
        on_violation="quarantine",
    )
    assert [r[0] for r in table(db, "cust")] == [1, 11, 13, 2, 3]
    assert ("cust", "insert", 12, "active") in set_aside(db)


def test_where_the_blame_is_not_found_all_is_refused(db: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    db.execute("CREATE ASSERTION few CHECK ((SELECT COUNT(*) FROM orders) <= 3)")
    monkeypatch.setattr(assertion_trials, "UNITS", 1)
    before = table(db, "orders")
    feed = {"orders": inserts("id customer total", (50, 1, "1.00"), (51, 1, "1.00"))}
    with pytest.raises(ec.ConstraintError, match="as a whole") as refused:
        db.apply(feed, on_violation="quarantine")
    assert refused.value.constraint == "few" and refused.value.count == 1
    assert table(db, "orders") == before and set_aside(db) == []
    with pytest.raises(ec.ConstraintError, match="as a whole"), refuse_assertions(db._core):
        db.apply(feed)  # as large batches are


def test_large_batches_are_parted_by_spark(db: Warehouse, spark: SparkSession, monkeypatch: Any) -> None:
    monkeypatch.setattr("evercurrent.warehouse.changes.apply.SMALL_ROWS", 5)
    rows = [("insert", i, 1 + i % 3, str(i)) for i in range(10, 30)]
    rows += [("insert", 1, 1, "1"), ("insert", 40, 50, "1"), ("insert", 41, 1, "-4"), ("insert", 42, 1, "x")]
    rows += [("insert", 43, 1, "1"), ("insert", 43, 2, "2"), ("delete", 2, 2, "1.50"), ("odd", 44, 1, "1")]
    feed = spark.createDataFrame(
        rows, "_change_type STRING, id BIGINT, customer BIGINT, total STRING"
    ).repartition(2)
    run = db.apply({"orders": feed.limit(1000)}, batch="large", on_violation="quarantine")
    assert run.quarantined == {"orders": 7}
    assert {r[0] for r in table(db, "orders")} == set(range(10, 30)) | {1}
    assert sorted(i for _, _, i, _ in set_aside(db)) == [1, 40, 41, 42, 43, 43, 44]


def test_rows_of_a_source_leave_the_quarantine_with_it(spark: SparkSession, tmp_path: Path) -> None:
    def write(name: str, *rows: tuple[int, str]) -> None:
        (tmp_path / "lake").mkdir(exist_ok=True)
        file = tmp_path / "lake" / f"{name}.parquet"
        pq.write_table(pa.table({"id": [r[0] for r in rows], "name": [r[1] for r in rows]}), file)

    write("one", (1, "a"), (2, "b"))
    db = Warehouse(spark, tmp_path / "warehouse")
    db.source("people", format="parquet", path=tmp_path / "lake", key=["id"])
    db.refresh()
    write("two", (2, "z"), (3, "c"))
    with pytest.raises(ec.ConstraintError, match="more than once"):
        db.refresh()
    run = db.refresh(on_violation="quarantine")
    assert table(db, "people") == [(1, "a"), (2, "b"), (3, "c")] and run.quarantined == {"people": 1}
    write("three", (4, "d"))
    db.refresh(on_violation="quarantine")
    assert len(set_aside(db)) == 1 and len(table(db, "people")) == 4
    write("two", (3, "c"))  # the source has been put right
    db.refresh()
    assert set_aside(db) == [] and table(db, "people") == [(1, "a"), (2, "b"), (3, "c"), (4, "d")]
    write("five", (1, "y"))
    db.refresh(on_violation="quarantine")
    (tmp_path / "lake" / "one.parquet").unlink()  # now the other one is right
    db.refresh(full=["people"])
    assert set_aside(db) == [] and table(db, "people") == [(1, "y"), (3, "c"), (4, "d")]


def test_streams_set_aside_what_breaks_a_constraint(
    spark: SparkSession, db: Warehouse, tmp_path: Path
) -> None:
    place = tmp_path / "arriving"
    place.mkdir()
    schema = "id BIGINT, customer BIGINT, total DECIMAL(9,2)"
    frame = spark.readStream.schema(schema).json(str(place))
    (place / "0.json").write_text(
        '{"id": 7, "customer": 3, "total": 2.50}\n{"id": 8, "customer": 99, "total": 1.00}\n'
    )
    db.stream("orders", frame, once=True, on_violation="quarantine").awaitTermination()
    assert {row[0] for row in db.table("orders").rows()} == {1, 2, 7}
    assert set_aside(db) == [("orders", "insert", 8, "orders_fk_1")]
    refused = db.stream("orders", frame, name="strict", once=True)
    with pytest.raises(Exception, match="PRIMARY KEY"):
        refused.awaitTermination()
    with pytest.raises(ec.QueryError, match="on_violation"):
        db.stream("orders", frame, on_violation="ignore")  # type: ignore[arg-type]


def test_what_the_driver_cannot_hold_is_judged_by_spark(
    db: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = db._core
    find = core.engine.find

    def too_many(store: Store, *asked: Any) -> Any:
        if store in core.snapshot.stores.values():
            raise TooLarge
        return find(store, *asked)  # rows of the batch

    monkeypatch.setattr(core.engine, "find", too_many)
    ann, cyd = (1, "Ann", "a@x"), (3, "Cyd", None)
    validate_rows(core, {"cust": ZSet([(cyd, -1)])}, find_touched_rows(core))  # nobody refers to it
    gone = {"cust": ZSet([(ann, -1), (cyd, -1)])}
    with pytest.raises(ec.ConstraintError, match="orders_fk_1"):
        validate_rows(core, gone, find_touched_rows(core))
    split = split_batch(core, gone, find_touched_rows(core))
    assert [(a.row, a.constraint) for a in split.asides] == [(ann, "orders_fk_1")]
    assert core.engine.rows(Store((split.segments["cust"],)), core.table_types("cust")) == [(cyd, -1)]
