"""Views written in Python against the same views in SQL: the same program, so the same cost after definition.

Both spellings are kept by databases of their own and given the same changes in turns, so that whatever else the machine does
falls on both; times are of the processor.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import evercurrent as ec
from bench.measure import machine, quiet
from bench.report import Result, Table

ABOUT = (
    "The same view as a query object and as SQL: time to define it on an empty database, and time per changed row (an insertion, "
    "later the deletion of the row, each a transaction of its own, through the same handle). An opaque function is what the "
    "compiler does not look into; the same expression in SQL is the ratio's other side."
)


class Order(NamedTuple):
    id: int
    customer: int
    amount: int


class Customer(NamedTuple):
    id: int
    city: str


class Edge(NamedTuple):
    src: int
    dst: int


def halved(amount: int) -> int:
    """A loop, so that it stays opaque."""
    for _ in range(1):
        amount //= 2
    return amount


Build = Callable[[Any, Any, Any], Any]

VIEWS: dict[str, tuple[Build, str]] = {
    "filter": (
        lambda o, c, e: o.where(lambda x: x.amount > 50 and x.customer != 7).select(
            lambda x: (x.id, x.amount)
        ),
        "SELECT id, amount FROM Orders WHERE amount > 50 AND customer <> 7",
    ),
    "join and group": (
        lambda o, c, e: (
            o.join(c, lambda x, y: x.customer == y.id)
            .group_by(lambda x, y: y.city)
            .select(lambda city, g: (city, g.sum(lambda x, y: x.amount), g.max(lambda x, y: x.amount)))
        ),
        "SELECT c.city, sum(o.amount), max(o.amount) FROM Orders o JOIN Customers c ON o.customer = c.id GROUP BY c.city",
    ),
    "recursion": (
        lambda o, c, e: ec.recursive(
            lambda r: e.union_all(
                r.join(e, lambda a, b: a.dst == b.src).select(lambda a, b: Edge(a.src, b.dst))
            )
        ),
        "WITH RECURSIVE r(src, dst) AS (SELECT src, dst FROM Edges UNION "
        "SELECT a.src, b.dst FROM r a JOIN Edges b ON a.dst = b.src) SELECT * FROM r",
    ),
    "opaque function": (
        lambda o, c, e: o.select(lambda x: (x.id, halved(x.amount))),
        "SELECT id, amount div 2 FROM Orders",
    ),
}


def tables(db: Any) -> tuple[Any, Any, Any]:
    return (
        db.table_of(Order, name="Orders", key="id"),
        db.table_of(Customer, name="Customers", key="id"),
        db.table_of(Edge, name="Edges"),
    )


def defined(name: str, python: bool) -> tuple[Any, float]:
    """A database with the view, and how many milliseconds defining it took."""
    build, sql = VIEWS[name]
    db = ec.connect()
    made = tables(db)
    made[1].insert([Customer(i, f"city {i % 20}") for i in range(200)])
    columns = ", ".join(f"c{i}" for i in range(len(build(*made).schema)))
    start = time.process_time()
    if python:
        db.view("v", build(*made))
    else:
        db.execute(f"CREATE VIEW v ({columns}) AS {sql}")
    return db, (time.process_time() - start) * 1e3


def changes(name: str, count: int) -> list[tuple[str, tuple[Any, ...]]]:
    chooser = random.Random(1)
    if name == "recursion":
        return [("Edges", (i, i + chooser.randrange(1, 4))) for i in range(0, 4 * count, 4)]
    return [("Orders", (i, chooser.randrange(200), chooser.randrange(100))) for i in range(count)]


def work(db: Any, part: list[tuple[str, tuple[Any, ...]]], insert: bool) -> float:
    handles = {"Orders": db.table("Orders"), "Edges": db.table("Edges")}
    calls = [(handles[t].insert if insert else handles[t].delete, row) for t, row in part]
    start = time.process_time()
    for call, row in calls:
        call(row)
    return time.process_time() - start


def measured(name: str, count: int, repeats: int) -> list[Any]:
    defining = {p: min(defined(name, p)[1] for _ in range(repeats)) for p in (True, False)}
    best = {True: float("inf"), False: float("inf")}
    for _ in range(repeats):
        both = {p: defined(name, p)[0] for p in (True, False)}
        spent = {True: 0.0, False: 0.0}
        rows = changes(name, count)
        with quiet():
            for insert in (True, False):
                for at in range(0, count, 200):
                    for p in (True, False) if at % 400 else (False, True):
                        spent[p] += work(both[p], rows[at : at + 200], insert)
        assert sorted(both[True].view("v").rows()) == sorted(both[False].view("v").rows()) == []
        best = {p: min(best[p], spent[p]) for p in best}
    per_row = {p: t / (2 * count) * 1e6 for p, t in best.items()}
    return [
        name,
        defining[True],
        defining[False],
        per_row[True],
        per_row[False],
        per_row[True] / per_row[False],
    ]


def run(quick: bool = False) -> Result:
    count, repeats = (2_000, 3) if quick else (10_000, 5)
    rows = [measured(name, count, repeats) for name in VIEWS]
    headers = ["view", "define in Python, ms", "in SQL, ms", "us per row, Python", "SQL", "ratio"]
    table = Table("Views in Python and in SQL", headers, rows)
    return Result("python", ABOUT, [table], machine(), quick)


if __name__ == "__main__":
    for line in run(quick=True).tables[0].rows:
        print(line)
