"""What statements of SQL cost as tables grow, by keys and indexes and without; what a view costs after many others."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from typing import Any

import evercurrent as ec
from bench import queries, tpch
from bench.measure import machine, quiet
from bench.report import Result, Table
from bench.views_bench import texts
from evercurrent.delta.memory import Memory
from evercurrent.session import target

ABOUT = (
    "Statements with parameters over one table with a primary key, an index of (kind, size) and a view that groups it, run again "
    "and again: microseconds for one, CPU time. *Scanned* is the same query with lookups by keys and indexes turned off, in the same "
    "run. Then views that are created one after another, over empty tables."
)
SCHEMA = """
    CREATE TABLE items (id BIGINT PRIMARY KEY, kind STRING, size INT, price DECIMAL(12,2));
    CREATE INDEX by_kind ON items (kind, size);
    CREATE VIEW spend AS SELECT kind, SUM(price) AS price, COUNT(*) AS n FROM items GROUP BY kind
"""
BY_KEY = "SELECT price FROM items WHERE id = ?"


def fresh(rows: int) -> ec.Database:
    db = ec.connect()
    db.execute(SCHEMA)
    db.table("items").insert([(i, f"k{i // 10}", i % 10, i % 1000) for i in range(rows)])
    return db


def cost(run: Callable[[int], object], times: int) -> float:
    """Microseconds for one; a plan is made by the first two."""
    for i in range(3):
        run(i)
    with quiet():
        start = time.process_time()
        for i in range(3, 3 + times):
            run(i)
        return (time.process_time() - start) / times * 1e6


@contextmanager
def scanning() -> Iterator[None]:
    """Turns lookups by keys and indexes off."""
    shapes, prepare = target.shapes_of, target.prepare
    target.shapes_of = lambda session, name: []  # type: ignore[assignment]
    target.prepare = lambda *_: None  # type: ignore[assignment]
    try:
        yield
    finally:
        target.shapes_of, target.prepare = shapes, prepare


def statements(rows: int, times: int) -> list[Any]:
    db = fresh(rows)
    items = db.table("items")
    fresh_ids, gone = count(rows), count(rows)
    with scanning():
        scanned = cost(lambda i: db.query(BY_KEY + " ", [i]), 2 if rows > 10_000 else 10)
    found = [
        cost(items.get, times),
        cost(lambda i: db.query(BY_KEY, [i]), times),
        scanned,
        cost(lambda i: db.query("SELECT id FROM items WHERE kind = ?", [f"k{i % (rows // 10)}"]), times),
        cost(
            lambda i: db.query("SELECT id FROM items WHERE kind = ? AND size > 7", [f"k{i % (rows // 10)}"]),
            times,
        ),
        cost(lambda i: db.execute("UPDATE items SET price = price + 1 WHERE id = ?", [i % rows]), times),
        cost(lambda i: db.execute("INSERT INTO items VALUES (?, 'new', 1, 5)", [next(fresh_ids)]), times),
        cost(lambda i: db.execute("DELETE FROM items WHERE id = ?", [next(gone)]), times),
    ]
    report = db.verify()
    assert report, report
    return [rows, *found]


def views(quick: bool) -> Table:
    table = Table(
        "views one after another, milliseconds of CREATE VIEW", ["what", "first", "last", "all together"]
    )
    alike = [
        f"SELECT kind, SUM(price * {i + 2}) AS p, MAX(size) AS s FROM items WHERE size > {i} GROUP BY kind"
        for i in range(50)
    ]
    for remembers in (False, True):
        db = ec.connect()
        for name in tpch.NAMES:
            db.execute(queries.table(name, known=True, stored=True))
        how = "" if remembers else ", rules derived again"
        table.rows.append(
            [f"22 queries of TPC-H{how}", *creating(db, list(texts().values()), remembers=remembers)]
        )
        table.rows.append([f"50 groups of one table{how}", *creating(fresh(10), alike, remembers=remembers)])
    table.notes.append(
        "*Rules derived again*: what earlier views were compiled to is forgotten before each statement."
    )
    return table


def creating(db: ec.Database, definitions: list[str], *, remembers: bool) -> list[float]:
    costs = []
    maintenance = db._session.maintenance
    for i, text in enumerate(definitions):
        if not remembers:
            maintenance.design = replace(maintenance.design, memory=Memory())
        start = time.process_time()
        db.execute(f"CREATE VIEW made_{i} AS {text}")
        costs.append((time.process_time() - start) * 1e3)
    return [costs[0], costs[-1], sum(costs)]


def run(quick: bool) -> Result:
    sizes, times = ((1_000, 10_000), 300) if quick else ((1_000, 10_000, 100_000, 1_000_000), 2_000)
    table = Table(
        "statements with parameters, microseconds",
        [
            "rows",
            "`table.get`",
            "SELECT by key",
            "the same, scanned",
            "by index",
            "by index and range",
            "UPDATE by key",
            "INSERT",
            "DELETE by key",
        ],
    )
    for rows in sizes:
        table.rows.append(statements(rows, times))
        gc.collect()
    return Result("statements", ABOUT, [table, views(quick)], machine(), quick)
