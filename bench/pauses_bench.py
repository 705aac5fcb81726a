"""How long Python's cyclic garbage collector stops a program that holds many rows."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager

import evercurrent as ec
from bench.measure import machine
from bench.report import Result, Table
from evercurrent.engine.live import memory

ABOUT = (
    "A table with a key and a reference, three views, loaded by lists of 20,000 rows; then 5,000 inserts and updates of one row. The "
    "longest pass of the cyclic garbage collector during the changes, and a full one at the end, in milliseconds of CPU: with what "
    "there is set aside after loads (`gc.freeze`), and without, in the same run."
)
SCHEMA = """
    CREATE TABLE customers (id BIGINT PRIMARY KEY, name STRING);
    CREATE TABLE orders (
        id BIGINT PRIMARY KEY, customer BIGINT NOT NULL REFERENCES customers (id), total DECIMAL(12,2));
    CREATE VIEW spend AS SELECT customer, SUM(total) AS total, COUNT(*) AS n FROM orders GROUP BY customer;
    CREATE VIEW named AS
        SELECT c.name, SUM(o.total) AS total FROM orders o JOIN customers c ON c.id = o.customer GROUP BY c.name;
    CREATE VIEW large AS
        SELECT o.id, c.name, o.total FROM orders o JOIN customers c ON c.id = o.customer WHERE o.total > 100
"""
AT_ONCE = 20_000
CHANGES = 5_000


@contextmanager
def noted(passes: list[float]) -> Iterator[None]:
    """Notes how long each pass takes, in milliseconds."""
    start = [0.0]

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            start[0] = time.process_time()
        else:
            passes.append((time.process_time() - start[0]) * 1e3)

    gc.callbacks.append(note)
    try:
        yield
    finally:
        gc.callbacks.remove(note)


def pauses(rows: int) -> list[float]:
    gc.unfreeze()
    gc.collect()
    db = ec.connect()
    db.execute(SCHEMA)
    customers, orders = rows // 10, db.table("orders")
    db.table("customers").insert([(i, f"n{i}") for i in range(customers)])
    for k in range(0, rows, AT_ONCE):
        orders.insert([(i, i % customers, i % 1000) for i in range(k, min(k + AT_ONCE, rows))])
    orders.insert((rows, 1, 5))
    db._session.maintenance.engine.core.to_rows()  # small changes would do it sooner or later
    passes: list[float] = []
    with noted(passes):
        for i in range(CHANGES):
            orders.insert((rows + 1 + i, i % customers, 5))
            orders.update(i, total=7)
    whole: list[float] = []
    with noted(whole):
        gc.collect()
    assert db.verify()
    return [max(passes, default=0.0), max(whole)]


def run(quick: bool) -> Result:
    sizes = (10_000, 100_000) if quick else (10_000, 100_000, 1_000_000)
    table = Table(
        "Passes of the garbage collector, milliseconds",
        [
            "rows",
            "longest, set aside",
            "full, set aside",
            "longest, not",
            "full, not",
            "full, not / set aside",
        ],
    )
    for rows in sizes:
        spared = pauses(rows)
        many, memory.MANY = memory.MANY, 1 << 60
        try:
            left = pauses(rows)
        finally:
            memory.MANY = many
        table.rows.append([rows, *spared, *left, left[1] / spared[1]])
    return Result("pauses", ABOUT, [table], machine(), quick)
