"""Statements that users of other databases know, on Spark: views are compared with Spark's own SQL."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import evercurrent as ec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_views_are_what_spark_says(spark: SparkSession, tmp_path: Path) -> None:
    with ec.connect(spark=spark, path=tmp_path / "w", progress=False) as db:
        db.execute(
            """
            CREATE TABLE clicks (id INT PRIMARY KEY, at TIMESTAMP, kind STRING, n BIGINT, m DOUBLE, doc STRING);
            CREATE TEMPORARY VIEW known AS SELECT * FROM clicks WHERE kind IS NOT NULL;
            CREATE VIEW kinds AS SELECT kind, count(*) AS n FROM known GROUP BY kind;
            CREATE VIEW wide AS SELECT * FROM (SELECT date(at) AS day, kind, n FROM clicks WHERE id < 5)
                PIVOT (sum(n) AS s, count(*) AS c FOR kind IN ('a' AS first, 'b'));
            CREATE VIEW long AS SELECT * FROM (SELECT id, n, m FROM clicks) UNPIVOT (v FOR k IN (n, m AS other));
            CREATE VIEW tumbling AS SELECT window.start AS s, window.end AS e, count(*) AS c
                FROM clicks GROUP BY window(at, '10 minutes');
            CREATE VIEW sliding AS SELECT window.start AS s, kind, count(*) AS c
                FROM clicks GROUP BY window(at, '10 minutes', '4 minutes', '1 minute'), kind;
            CREATE VIEW readings AS SELECT kind, try_sum(n) AS s, try_avg(m) AS a, percentile_approx(n, 0.5) AS p
                FROM clicks GROUP BY kind;
            CREATE VIEW docs AS SELECT id, get_json_object(doc, '$.a.b') AS b, json_array_length(doc) AS l,
                to_json(named_struct('n', n, 'kind', kind)) AS j FROM clicks
            """
        )
        db.execute(
            """INSERT INTO clicks VALUES
            (1, TIMESTAMP'2024-01-01 00:03:00', 'a', 1, 0.5, '{"a": {"b": 1.50}}'),
            (2, TIMESTAMP'2024-01-01 00:07:00', 'b', 2, NULL, '[1, 2]'),
            (3, TIMESTAMP'2024-01-02 00:12:30.5', 'a', NULL, 2, NULL),
            (4, NULL, NULL, 9, 1, 'bad')"""
        )
        assert db.verify(), str(db.verify())
        db.execute("UPDATE clicks SET n = n + 1 WHERE id = 2; DELETE FROM clicks WHERE id = 1")
        db.execute(
            "INSERT INTO clicks VALUES (5, TIMESTAMP'2024-01-01 00:08:00', 'c', 9223372036854775807, 0, '{}')"
        )
        db.execute("INSERT INTO clicks VALUES (6, TIMESTAMP'2024-01-01 00:09:00', 'c', 1, 0, '[]')")
        assert db.verify(), str(db.verify())
        assert dict(row[:2] for row in db["readings"].rows())["c"] is None
        assert sorted(db["kinds"].rows()) == [("a", 1), ("b", 1), ("c", 2)]
        assert sorted(row[0] for row in db["known"].rows()) == [2, 3, 5, 6]
        db.execute("BEGIN; DELETE FROM clicks; ROLLBACK")
        frame = spark.createDataFrame([(1, "x"), (2, None)], "id INT, name STRING")
        assert sorted(db.create_table("names", frame, key="id").rows()) == [(1, "x"), (2, None)]


@pytest.mark.parametrize("strategy", ["auto", "spark"])
def test_alter_table(spark: SparkSession, tmp_path: Path, strategy: str) -> None:
    """Rows on the driver and by jobs; the warehouse is opened again, and earlier versions stay what they were."""
    with ec.connect(spark=spark, path=tmp_path / "w", progress=False, strategy=strategy) as db:
        db.execute(
            """
            CREATE TABLE customers (id INT PRIMARY KEY, name STRING, city STRING);
            CREATE TABLE orders (id INT PRIMARY KEY, customer INT REFERENCES customers, total DECIMAL(9,2), x INT);
            CREATE VIEW spend AS SELECT c.name, sum(o.total) AS total FROM orders o JOIN customers c ON c.id = o.customer
                GROUP BY c.name;
            CREATE VIEW everything AS SELECT * FROM customers
            """
        )
        db.execute(
            "INSERT INTO customers VALUES (1, 'Ann', 'Ulm'), (2, 'Bob', 'Bonn');"
            "INSERT INTO orders VALUES (10, 1, 5, 0), (11, 2, 7, 0), (12, 1, 1, 0)"
        )
        before = db.version
        db.execute(
            "ALTER TABLE customers ADD COLUMN note STRING DEFAULT 'none', ADD COLUMN n DECIMAL(5,2) DEFAULT 1.5"
        )
        db.execute("ALTER TABLE customers DROP COLUMN city; ALTER TABLE orders RENAME COLUMN x TO y")
        assert db["everything"].columns == ["id", "name", "note", "n"]
        assert sorted(db["everything"].rows()) == [
            (1, "Ann", "none", Decimal("1.50")),
            (2, "Bob", "none", Decimal("1.50")),
        ]
        assert sorted(db["spend"].rows()) == [("Ann", 6), ("Bob", 7)]
        with pytest.raises(ec.QueryError, match="with the columns that it has now"):
            db["customers"].dataframe(version=before)
        assert db["spend"].dataframe(version=before).count() == 2
        for wrong, why in (
            ("ALTER TABLE customers DROP COLUMN name", "view spend mentions it"),
            ("ALTER TABLE orders RENAME TO sales", "view spend mentions it"),
            ("ALTER TABLE customers ADD COLUMN k INT NOT NULL", "would have no value"),
        ):
            with pytest.raises(ec.QueryError, match=why):
                db.execute(wrong)
        with pytest.raises(ec.StorageError, match="has had other columns before version"):
            db.changes("everything", since=before)
        assert db.changes("spend", since=before).count() == 0
        db.execute("DROP VIEW spend; DROP VIEW everything; ALTER TABLE customers RENAME TO clients")
        db.execute(
            "CREATE VIEW spend AS SELECT c.note, sum(o.total) AS t FROM orders o JOIN clients c ON c.id = o.customer GROUP BY c.note"
        )
    with ec.connect(spark=spark, path=tmp_path / "w", progress=False, strategy=strategy) as db:
        db.execute(
            "INSERT INTO clients VALUES (3, 'Cid', 'new', NULL); INSERT INTO orders VALUES (13, 3, 2, 1)"
        )
        assert sorted(db["spend"].rows()) == [("new", 2), ("none", 13)]
        for wrong in ("INSERT INTO orders VALUES (14, 9, 1, 1)", "DELETE FROM clients WHERE id = 1"):
            with pytest.raises(ec.ConstraintError):
                db.execute(wrong)
        assert db.verify(), str(db.verify())
        assert db.check(), str(db.check())
