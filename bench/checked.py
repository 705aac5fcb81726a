"""What the checked public way costs: keys, references and types are checked, everything can be undone."""

from __future__ import annotations

import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow

import evercurrent as ec
from bench.measure import machine, quiet
from bench.report import Result, Table

ABOUT = (
    "Two stored tables with primary keys and a foreign key between them, two views (a grouped sum, and one over the join). "
    "Every row is given as a user writes it and goes through all checks; beside it the trusted way, `db.feed`. CPU time. "
    "The views are compared with sums in plain Python at the end."
)
CUSTOMERS = 1000
PRICE = Decimal("9.50")
SCHEMA = """
    CREATE TABLE customers (id BIGINT PRIMARY KEY, name STRING);
    CREATE TABLE orders (
        id BIGINT PRIMARY KEY, customer BIGINT NOT NULL REFERENCES customers (id), total DECIMAL(12,2));
    CREATE VIEW spend AS SELECT customer, SUM(total) AS total, COUNT(*) AS n FROM orders GROUP BY customer;
    CREATE VIEW named AS
        SELECT c.name, SUM(o.total) AS total FROM orders o JOIN customers c ON c.id = o.customer GROUP BY c.name;
"""


def fresh() -> ec.Database:
    db = ec.connect()
    db.execute(SCHEMA)
    db.table("customers").insert([(i, f"n{i}") for i in range(CUSTOMERS)])
    return db


def arrow(ids: range, **more: list[Any]) -> Any:
    return pyarrow.table(
        {
            **more,
            "id": pyarrow.array(ids, pyarrow.int64()),
            "customer": pyarrow.array([i % CUSTOMERS for i in ids], pyarrow.int64()),
            "total": pyarrow.array([PRICE] * len(ids), pyarrow.decimal128(12, 2)),
        }
    )


def ways(db: ec.Database, n: int) -> dict[str, Callable[[], object]]:
    """What is measured: each handles n rows, those of its own ids."""
    orders, feed = db.table("orders"), db.feed("orders")
    ids = [range(k * n, (k + 1) * n) for k in range(8)]
    rows = [[(i, i % CUSTOMERS, PRICE) for i in part] for part in ids]
    inserted = arrow(ids[7])
    changes = arrow(ids[4], _change_type=["insert"] * n)
    frame = arrow(ids[5], _change_type=["insert"] * n).to_pandas()
    inside = [(i, i % CUSTOMERS, 950) for i in ids[6]]

    def each(change: Callable[[Any], object], what: Any) -> None:
        for one in what:
            change(one)

    def block(row: Any) -> None:
        with db.transaction():
            orders.insert(row)

    def together() -> None:
        with db.transaction():
            each(orders.insert, rows[1])

    return {
        "insert, a transaction each": lambda: each(orders.insert, rows[0]),
        "insert, a `with` block each": lambda: each(block, rows[3]),
        "insert, one transaction": together,
        "insert a list": lambda: orders.insert(rows[2]),
        "insert an Arrow table": lambda: orders.insert(inserted),
        "apply an Arrow change feed": lambda: db.apply({"orders": changes}),
        "apply a pandas change feed": lambda: db.apply({"orders": frame}),
        "update by key, a transaction each": lambda: each(
            lambda i: orders.update({"id": i}, total=PRICE + 1), ids[0]
        ),
        "delete by key, a transaction each": lambda: each(orders.delete, ids[1]),
        "`db.feed`, unchecked": lambda: each(feed.insert, inside),
    }


def check(db: ec.Database) -> None:
    expected: dict[int, Decimal] = {}
    for _, customer, total in db.table("orders"):
        expected[customer] = expected.get(customer, Decimal(0)) + total
    assert {customer: total for customer, total, _ in db.view("spend")} == expected
    assert dict(db.view("named").rows()) == {f"n{customer}": total for customer, total in expected.items()}


def run(quick: bool) -> Result:
    n, repeats = (2_000, 2) if quick else (20_000, 5)
    found: dict[str, list[float]] = {}
    for _ in range(repeats):
        db = fresh()
        for name, way in ways(db, n).items():
            with quiet():
                start = time.process_time()
                way()
                found.setdefault(name, []).append((time.process_time() - start) / n * 1e6)
        check(db)
    table = Table(f"checked changes, {n:,} rows each", ["way", "microseconds per row"])
    table.rows = [[name, min(costs)] for name, costs in found.items()]
    table.notes.append(
        "In turns with the code before, where reading the row, taking the lock, the checks and the views were calls of their "
        "own, 2,000 rows each, least of three runs on one busy machine: insert 6.9 (before 10.9), a `with` block 25.4 (54.8), "
        "update 9.8 (15.1), delete 4.6 (11.4)."
    )
    return Result("checked", ABOUT, [table], machine(), quick)
