"""A small warehouse in whichever PySpark this process has: what `make test-sparks` runs in each release of PySpark 4.

    python -m tests.spark.versions FOLDER      prints the versions and what was run, or fails

Compared with Spark's own SQL by `verify`, and with sums that Python computes.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyspark
from deltalake import DeltaTable, write_deltalake

import evercurrent as ec

VIEWS = """
CREATE VIEW spend AS SELECT c.nation, sum(o.total) AS total, count(*) AS n, max(o.total) AS most
    FROM orders o JOIN customers c ON o.customer = c.id GROUP BY c.nation;
CREATE VIEW best AS SELECT * FROM (SELECT id, customer, total, row_number() OVER
    (PARTITION BY customer ORDER BY total DESC, id) AS place FROM orders) WHERE place <= 2;
CREATE VIEW idle AS SELECT id FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id);
CREATE VIEW top AS SELECT id, total FROM orders ORDER BY total DESC, id LIMIT 5;
CREATE VIEW days AS SELECT date_trunc('MONTH', at) AS month, count(DISTINCT customer) AS n FROM orders GROUP BY 1"""


def views_and_batches(spark: Any, folder: Path) -> None:
    for strategy in ("driver", "spark"):
        db = ec.connect(spark=spark, path=folder / strategy, strategy=strategy)  # type: ignore[call-overload]
        db.execute("CREATE TABLE customers (id BIGINT PRIMARY KEY, nation STRING)")
        db.execute(
            "CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT, total DECIMAL(12,2), at TIMESTAMP)"
        )
        db.execute(VIEWS)
        db.execute(
            "CREATE VIEW again AS SELECT customer, avg(total) AS mean FROM orders GROUP BY customer",
            policy="full",
        )
        db.table("customers").insert([(i, f"N{i % 3}") for i in range(12)])
        frame = spark.range(500).selectExpr(
            "id",
            "id % 10 AS customer",
            "cast(id % 37 AS decimal(12,2)) AS total",
            "timestamp'2024-01-01 00:00:00' + make_interval(0, 0, 0, cast(id % 90 AS int)) AS at",
            "'insert' AS _change_type",
        )
        db.apply({"orders": frame}, batch="load")
        db.execute("DELETE FROM orders WHERE id % 50 = 7")
        db.execute("UPDATE orders SET total = total + 1 WHERE id < 20")
        found = {n: (t, k) for n, t, k, _ in db.view("spend").rows()}
        rows = [(i, i % 37 + (i < 20)) for i in range(500) if i % 50 != 7]
        for n in range(3):
            own = [t for i, t in rows if i % 10 % 3 == n]
            assert found[f"N{n}"] == (sum(own), len(own)), found
        report = db.verify()
        assert report, str(report)
        assert len(db.view("best").dataframe().collect()) == 20 and db.check()
        assert db.query("SELECT count(*) FROM evercurrent_runs").fetchone()[0] > 5
        db.close()


def sources_and_publishing(spark: Any, folder: Path) -> None:
    lake = str(folder / "lake")
    write_deltalake(lake, pa.table({"id": [1, 2, 3], "x": [1, 1, 2]}))
    with ec.connect(spark=spark, path=folder / "sources") as db:
        db.source("t", format="delta", path=lake, key=["id"])
        db.execute("CREATE VIEW v AS SELECT x, count(*) AS n FROM t GROUP BY x")
        db.refresh()
        DeltaTable(lake).delete("id = 1")
        db.refresh()
        assert sorted(db.view("v").rows()) == [(1, 1), (2, 1)] and db.verify()
        assert DeltaTable(str(folder / "sources" / "views" / "v")).to_pyarrow_table().num_rows == 2


def only_spark(spark: Any, folder: Path) -> None:
    with ec.connect(spark=spark, path=folder / "only") as db:
        db.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, j STRING)")
        db.execute("CREATE VIEW v AS SELECT id, xpath_int(j, 'a') AS a FROM t", policy="full")
        db.table("t").insert([(1, "<a>7</a>"), (2, None)])
        assert sorted(db.view("v").rows(), key=repr) == [(1, 7), (2, None)]


STEPS: tuple[Callable[[Any, Path], None], ...] = (views_and_batches, sources_and_publishing, only_spark)


def main(folder: Path) -> None:
    from tests.spark_session import small_session

    begin = time.perf_counter()
    spark = small_session("evercurrent-versions")
    for step in STEPS:
        step(spark, folder)
    java = spark._jvm.java.lang.System.getProperty("java.version")  # type: ignore[union-attr]
    done = ", ".join(s.__name__ for s in STEPS)
    print(
        f"PySpark {pyspark.__version__}, Java {java}: {done} in {time.perf_counter() - begin:.0f} s",
        flush=True,
    )
    spark.stop()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(place))
