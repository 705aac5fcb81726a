"""Messages of a real broker into tables of a warehouse, by Spark's own connector."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from evercurrent.errors import QueryError
from evercurrent.warehouse.database import Warehouse
from tests.kafka.broker import Broker
from tests.kafka.session import messages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = """
CREATE TABLE orders (id INT PRIMARY KEY, customer INT, total DECIMAL(8,2), at TIMESTAMP);
CREATE VIEW spend AS SELECT customer, count(*) AS n, sum(total) AS total FROM orders GROUP BY customer
"""


class Order(NamedTuple):
    id: int
    customer: int
    total: Any
    at: Any


def orders(db: Warehouse) -> list[Order]:
    return [Order(*row) for row in db.table("orders").rows()]


def encoded(*listed: tuple[Any, Any]) -> list[tuple[bytes | None, bytes | None]]:
    def text(v: Any) -> bytes | None:
        return None if v is None else v if isinstance(v, bytes) else json.dumps(v).encode()

    return [(text(k), text(v)) for k, v in listed]


def order(
    id: int, customer: int = 1, total: str = "1.00", at: str = "2024-01-01T00:00:00Z"
) -> dict[str, Any]:
    return {"id": id, "customer": customer, "total": total, "at": at}


def change(op: str, id: int, **more: Any) -> tuple[Any, Any]:
    after = None if op in "dt" else order(id, **more)
    return {"id": id}, {"op": op, "before": order(id) if op == "d" else None, "after": after}


def take(
    db: Warehouse, spark: SparkSession, broker: Broker, topic: str, table: str = "orders", **more: Any
) -> None:
    options = {"decimals": "string"} if more.get("format") == "debezium" else None
    frame = messages(spark, broker.servers, topic)
    db.stream(table, frame, name=topic, once=True, **{"options": options, **more}).awaitTermination()


def test_rows_in_json(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    db = Warehouse(spark, tmp_path / "w")
    db.execute(SCHEMA)
    broker.create("rows")
    broker.produce("rows", encoded((None, order(1)), (None, order(2, 2, "2.50")), (None, None)))
    take(db, spark, broker, "rows", format="json")
    assert [(r[0], str(r[2])) for r in sorted(db.view("spend").rows())] == [(1, "1.00"), (2, "2.50")]
    broker.produce("rows", encoded((None, order(3, 2))))
    take(db, spark, broker, "rows", format="json")
    take(db, spark, broker, "rows", format="json")
    assert [r[0] for r in sorted(db.table("orders").rows())] == [1, 2, 3]
    assert db.verify()


def test_rows_in_avro(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    from pyspark.sql import functions as F
    from pyspark.sql.avro.functions import to_avro

    schema = json.dumps(
        {
            "type": "record",
            "name": "o",
            "fields": [
                {"name": "id", "type": "int"},
                {"name": "customer", "type": ["null", "int"]},
                {
                    "name": "total",
                    "type": {"type": "bytes", "logicalType": "decimal", "precision": 8, "scale": 2},
                },
                {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
            ],
        }
    )
    rows = spark.sql(
        "SELECT 7 AS id, 3 AS customer, CAST(9.50 AS DECIMAL(8,2)) AS total, TIMESTAMP '2024-01-01' AS at"
    )
    packed = rows.select(to_avro(F.struct("*"), schema).alias("v")).collect()[0]["v"]
    db = Warehouse(spark, tmp_path / "w")
    db.execute(SCHEMA)
    broker.create("avro")
    broker.produce("avro", [(b"7", b"\x00\x00\x00\x00\x05" + bytes(packed))])
    take(db, spark, broker, "avro", format="avro", options={"schema": schema, "framing": "confluent"})
    (row,) = orders(db)
    assert (row.id, row.customer, str(row.total), row.at.isoformat()) == (
        7,
        3,
        "9.50",
        "2024-01-01T00:00:00+00:00",
    )
    plain = json.dumps({"type": "record", "name": "o", "fields": [{"name": "at", "type": "long"}]})
    with pytest.raises(QueryError, match="logicalType"):
        take(db, spark, broker, "avro", format="avro", options={"schema": plain})


def test_changes_of_debezium(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    db = Warehouse(spark, tmp_path / "w")
    db.execute(SCHEMA)
    broker.create("cdc", 2)
    snapshot = [change("r", i, customer=i % 3) for i in range(30)]
    broker.produce("cdc", encoded(*snapshot))
    take(db, spark, broker, "cdc", format="debezium")
    assert len(db.table("orders")) == 30
    digits = base64.b64encode((1234).to_bytes(2, "big")).decode()
    fields = [
        {"field": "id", "type": "int32"},
        {"field": "customer", "type": "int32"},
        {
            "field": "total",
            "type": "bytes",
            "name": "org.apache.kafka.connect.data.Decimal",
            "parameters": {"scale": "2"},
        },
        {"field": "at", "type": "int64", "name": "io.debezium.time.MicroTimestamp"},
    ]
    schema = {"type": "struct", "fields": [{"field": "after", "type": "struct", "fields": fields}]}
    payload = {"op": "u", "after": {"id": 5, "customer": 9, "total": digits, "at": 1_700_000_000_000_000}}
    more = [
        change("u", 1, total="5.00"),
        change("u", 1, total="6.00"),
        change("d", 2),
        ({"id": 2}, None),
        change("c", 100),
        change("d", 100),
        ({"id": 5}, {"schema": schema, "payload": payload}),
        ({"schema": {}, "payload": {"id": 3}}, None),
        *snapshot[10:12],  # delivered again
    ]
    broker.produce("cdc", encoded(*[m for m in more if m[0] != {"schema": {}, "payload": {"id": 3}}]))
    take(db, spark, broker, "cdc", format="debezium")
    found = {r.id: r for r in orders(db)}
    assert set(found) == set(range(30)) - {2}
    assert str(found[1].total) == "6.00"
    assert (found[5].customer, str(found[5].total), found[5].at.year) == (9, "12.34", 2023)
    assert db.verify()
    changed = db.history()[-1].rows_in
    assert changed == {"orders": 5}, (
        "two updates and a deletion are five changed rows; what came again is none"
    )


def test_truncations_and_values_that_were_not_sent(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    db = Warehouse(spark, tmp_path / "w")
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, n INT, long STRING)")
    broker.create("cut")

    def row(op: str, id: int, n: int, long: str) -> tuple[Any, Any]:
        return {"id": id}, {"op": op, "after": {"id": id, "n": n, "long": long}}

    unsent = "__debezium_unavailable_value"
    broker.produce("cut", encoded(row("c", 1, 1, "a"), row("c", 2, 1, "b"), row("u", 2, 2, unsent)))
    take(db, spark, broker, "cut", "t", format="debezium")
    broker.produce("cut", encoded(row("u", 1, 2, unsent)))
    take(db, spark, broker, "cut", "t", format="debezium")
    assert sorted(db.table("t").rows()) == [(1, 2, "a"), (2, 2, "b")]
    broker.produce("cut", encoded(row("c", 3, 1, "c"), (None, {"op": "t"}), row("c", 2, 5, "new")))
    take(db, spark, broker, "cut", "t", format="debezium")
    assert sorted(db.table("t").rows()) == [(2, 5, "new")]


@pytest.mark.usefixtures("small_driver")
def test_more_messages_than_the_driver_holds(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    db = Warehouse(spark, tmp_path / "w")
    db.execute(SCHEMA)
    broker.create("large", 2)
    broker.produce("large", encoded(*(change("r", i, customer=i % 7) for i in range(3_000))))
    take(db, spark, broker, "large", format="debezium")
    assert len(db.table("orders")) == 3_000
    second = [change("u", i, customer=8, total="2.00") for i in range(0, 3_000, 2)]
    second += [change("d", i) for i in range(0, 3_000, 3)]
    second += [change("c", 5_000 + i, customer=9) for i in range(100)]
    broker.produce("large", encoded(*second))
    take(db, spark, broker, "large", format="debezium")
    wanted = {i for i in range(3_000) if i % 3} | set(range(5_000, 5_100))
    assert {r.id for r in orders(db)} == wanted
    assert {r.id for r in orders(db) if r.customer == 8} == {i for i in wanted if i < 3_000 and i % 2 == 0}
    assert db.verify()


def test_what_is_refused(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    from pyspark.errors import StreamingQueryException

    db = Warehouse(spark, tmp_path / "w")
    db.execute("CREATE TABLE t (id INT, n INT); CREATE TABLE k (id INT PRIMARY KEY, n INT)")
    broker.create("bad")
    broker.produce("bad", encoded(({"id": 1}, {"op": "c", "after": {"id": 1}}), (None, b"{")))
    with pytest.raises(QueryError, match="no primary key"):
        take(db, spark, broker, "bad", "t", format="debezium")
    with pytest.raises(QueryError, match="no column 'key'"):
        db.stream("k", spark.readStream.format("rate").load(), format="json")
    with pytest.raises(StreamingQueryException, match="offset 1 of bad, partition 0, cannot be read"):
        take(db, spark, broker, "bad", "k", format="debezium")
    assert len(db.table("k")) == 0, "nothing of the batch was applied"
