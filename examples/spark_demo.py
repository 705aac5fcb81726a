"""Six views over orders, kept current on Spark, beside the time that recomputing them takes.

Twenty batches of changes go into a warehouse; after each one, every view is recomputed by Spark's own SQL from the tables
and compared, row for row. Run it with `make demo`, or `python -m examples.spark_demo`.
"""

from __future__ import annotations

import random
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table

import evercurrent as ec
from evercurrent.engine.spark.private_session import local_session

CUSTOMERS, ORDERS, BATCHES, CHANGES = 1_000, 12_000, 20, 100
NATIONS = ["Kenya", "Japan", "Peru", "France", "India", "Canada"]

TABLES = """
CREATE TABLE customers (id BIGINT PRIMARY KEY, name STRING NOT NULL, nation STRING NOT NULL);
CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT NOT NULL, placed DATE NOT NULL, total DECIMAL(12,2) NOT NULL)
"""

VIEWS = {
    "revenue": "SELECT c.nation, SUM(o.total) AS total, COUNT(*) AS orders, MAX(o.total) AS largest "
    "FROM orders o JOIN customers c ON o.customer = c.id GROUP BY c.nation",
    "monthly": "SELECT year(placed) AS y, month(placed) AS m, COUNT(*) AS n, AVG(total) AS average FROM orders "
    "GROUP BY year(placed), month(placed)",
    "top_orders": "SELECT id, customer, total FROM orders ORDER BY total DESC, id LIMIT 10",
    "latest": "SELECT customer, id, placed, total FROM (SELECT customer, id, placed, total, row_number() OVER "
    "(PARTITION BY customer ORDER BY placed DESC, id DESC) AS rn FROM orders) WHERE rn = 1",
    "idle": "SELECT c.id, c.name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)",
    "strong": "SELECT nation, total FROM revenue WHERE total > (SELECT AVG(total) FROM revenue)",
}


class Changes:
    """Random orders, and random changes of them."""

    def __init__(self) -> None:
        self.random = random.Random(7)
        self.orders: dict[int, tuple[int, int, date, Decimal]] = {}
        self.next = 1

    def order(self) -> tuple[int, int, date, Decimal]:
        r = self.random
        row = (
            self.next,
            r.randint(1, CUSTOMERS),
            date(2024, 1, 1) + timedelta(r.randint(0, 600)),
            Decimal(r.randint(100, 500_000)) / 100,
        )
        self.orders[row[0]] = row
        self.next += 1
        return row

    def batch(self) -> list[dict[str, Any]]:
        names = ("id", "customer", "placed", "total")
        changes: list[dict[str, Any]] = []
        for _ in range(CHANGES):
            kind = self.random.random()
            if kind < 0.5:
                changes.append({"_change_type": "insert", **dict(zip(names, self.order(), strict=True))})
                continue
            old = self.orders.pop(self.random.choice(list(self.orders)))
            gone = "update_preimage" if kind < 0.8 else "delete"
            changes.append({"_change_type": gone, **dict(zip(names, old, strict=True))})
            if kind < 0.8:
                new = (*old[:3], old[3] + 1)
                self.orders[new[0]] = new
                changes.append({"_change_type": "update_postimage", **dict(zip(names, new, strict=True))})
        return changes


def recompute(db: Any) -> tuple[float, dict[str, Counter[Any]]]:
    """Every view by Spark's own SQL, from the tables alone: the seconds that it took, and the rows."""
    for name in db.tables:
        db.table(name).dataframe().createOrReplaceTempView(name)
    session = db.table("orders").dataframe().sparkSession
    begin = time.perf_counter()
    found = {}
    for name, text in VIEWS.items():
        frame = session.sql(text)
        frame.createOrReplaceTempView(name)
        found[name] = Counter(tuple(row) for row in frame.collect())
    return time.perf_counter() - begin, found


def show(rows: list[tuple[int, float, float, bool]]) -> Table:
    table = Table(title=f"{BATCHES} batches of {CHANGES} changes, {len(VIEWS)} views, {ORDERS:,} orders")
    for name in ("batch", "incremental", "recomputed", "times faster", "equal"):
        table.add_column(name, justify="right")
    for number, seconds, again, equal in rows:
        table.add_row(
            str(number),
            f"{seconds * 1000:,.0f} ms",
            f"{again * 1000:,.0f} ms",
            f"{again / seconds:.1f}",
            "yes" if equal else "NO",
        )
    return table


def main() -> int:
    console = Console()
    folder = tempfile.mkdtemp(prefix="evercurrent-demo-")
    try:
        with console.status("starting Spark"):
            db = ec.connect(spark=local_session("local[2]"), path=folder)
        changes = Changes()
        with console.status("making customers and orders"):
            db.execute(TABLES)
            people = [(i, f"customer {i}", changes.random.choice(NATIONS)) for i in range(1, CUSTOMERS + 51)]
            db.table("customers").insert(people)
            db.table("orders").insert([changes.order() for _ in range(ORDERS)])
        for name, text in VIEWS.items():
            with console.status(f"view {name}"):
                db.execute(f"CREATE VIEW {name} AS {text}")
            console.print(f"[bold]{name}[/bold]  {text}", highlight=False, soft_wrap=True)
        recompute(db)  # warm up: the first queries of a session are slow
        rows: list[tuple[int, float, float, bool]] = []
        run = None
        with Live(show(rows), console=console, refresh_per_second=4) as live:
            for number in range(1, BATCHES + 1):
                run = db.apply({"orders": changes.batch()}, batch=f"batch {number}")
                again, found = recompute(db)
                equal = all(Counter(db.view(name).rows()) == found[name] for name in VIEWS)
                rows.append((number, run.seconds, again, equal))
                live.update(show(rows))
        console.print(run, highlight=False, soft_wrap=True)
        faster = statistics.geometric_mean(again / seconds for _, seconds, again, _ in rows)
        console.print(
            f"incremental, with commit and publishing, was {faster:.1f} times faster (geometric mean)"
        )
        return 0 if all(equal for *_, equal in rows) else 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
