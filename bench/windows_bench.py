"""What one change of a partition costs under window functions, as the partition grows.

    python -m bench.windows_bench

Each view is over one partition of n rows. A change updates one row: its place moves by a few rows, or a row is inserted at the
end. Beside it, the time that the reference evaluator takes to compute the view's query once. Times are microseconds of CPU, the median of
the changes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from statistics import median
from typing import Any, cast

import evercurrent as ec
from bench.measure import machine
from bench.report import Result, Table, save
from evercurrent.algebra.rules import rank_to_top
from evercurrent.calculus.nodes import Query
from evercurrent.design.evaluation import reference

VIEWS = {
    "rank, all places": "SELECT id, rank() OVER (ORDER BY points DESC) AS r FROM t",
    "row_number, first ten": "SELECT id, points FROM (SELECT id, points, row_number() OVER (ORDER BY points DESC, id) AS n FROM t) WHERE n <= 10",
    "lag": "SELECT id, points - lag(points) OVER (ORDER BY at) AS d FROM t",
    "mean of seven rows": "SELECT id, avg(points) OVER (ORDER BY at ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS m FROM t",
    "sum within 100": "SELECT id, sum(points) OVER (ORDER BY at RANGE BETWEEN 100 PRECEDING AND CURRENT ROW) AS s FROM t",
    "two orders": "SELECT id, lag(points) OVER (ORDER BY at) AS a, lead(points) OVER (ORDER BY points, id) AS b FROM t",
    "running sum, at the end": "SELECT id, sum(points) OVER (ORDER BY at) AS s FROM t",
}
CHANGES = 30
ABOUT = (
    "Window functions in process. A row's points change a little, or, for the running sum, a row is inserted at the end. "
    "Beside it, the time in which the reference evaluator computes the query once. CPU time, medians of 30 changes."
)


def measure(text: str, rows: int, at_end: bool) -> tuple[float, float]:
    """Returns the microseconds of one change, and those of computing the query once."""
    random = Random(rows)
    db = ec.connect()
    db.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, at BIGINT, points BIGINT)")
    db.table("t").insert([(i, 10 * i, random.randrange(100 * rows)) for i in range(rows)])
    db.execute(f"CREATE VIEW v AS {text}")
    view = db._session.view("v")
    begin = time.process_time()
    if rows <= 2000:
        reference(cast(Query, view.query), db._session.catalog, db._session.table_rows)
    once = time.process_time() - begin
    db.view("v").subscribe(lambda change: None)
    table, times = db.table("t"), []
    for n in range(CHANGES):
        row: Any = random.randrange(rows)
        points = table.get({"id": row})[2]
        begin = time.process_time()
        if at_end:
            table.insert((rows + n, 10 * (rows + n), n))
        else:
            table.update({"id": row}, points=points + random.randint(-300, 300))
        times.append(time.process_time() - begin)
    return median(times) * 1e6, once * 1e6


FIRST = {
    "row_number <= 10": "SELECT id, n FROM (SELECT id, row_number() OVER (ORDER BY points DESC, id) AS n FROM t) WHERE n <= 10",
    "rank <= 10": "SELECT id, n FROM (SELECT id, rank() OVER (ORDER BY points DESC) AS n FROM t) WHERE n <= 10",
    "dense_rank <= 10": "SELECT id, n FROM (SELECT id, dense_rank() OVER (ORDER BY points DESC) AS n FROM t) WHERE n <= 10",
    "ORDER BY rank LIMIT 10": "SELECT id, rank() OVER (ORDER BY points DESC) AS n FROM t ORDER BY n, id LIMIT 10",
}


def first_ranks(quick: bool) -> Table:
    """The first ranks alone, beside the same without the rule that makes tops of them."""
    sizes = [100, 1_000, 10_000] if quick else [100, 1_000, 10_000, 100_000, 1_000_000]
    columns = ["view", *(f"{n:,} rows" for n in sizes), "10,000 rows, all ranks kept"]
    table = Table("The first ten ranks, microseconds of one change", columns)
    for name, text in FIRST.items():
        with keeping_all_ranks():
            before = measure(text, 10_000, at_end=False)[0]
        table.rows.append([name, *(measure(text, n, at_end=False)[0] for n in sizes), before])
    return table


@contextmanager
def keeping_all_ranks() -> Iterator[None]:
    """Turns the rule off that makes tops of ranks."""
    limit = rank_to_top._limit
    rank_to_top._limit = lambda plan: plan
    try:
        yield
    finally:
        rank_to_top._limit = limit


def run(quick: bool = False) -> Result:
    """Measures every view at each size."""
    sizes = [200, 2_000] if quick else [200, 2_000, 20_000]
    columns = ["view", *(f"{n:,} rows" for n in sizes), "computed once, 2,000 rows", "ratio at 2,000 rows"]
    table = Table("One change of one partition, microseconds", columns)
    for name, text in VIEWS.items():
        found = {n: measure(text, n, at_end="at the end" in name) for n in sizes}
        change, once = found[2_000]
        table.rows.append([name, *(found[n][0] for n in sizes), once, once / change])
    table.notes.append(
        "Before, a change evaluated its whole partition: `rank()` took 2.9 ms at 200 rows and 34 ms at 2,000."
    )
    return Result("windows", ABOUT, [table, first_ranks(quick)], machine(), quick)


if __name__ == "__main__":
    save(run("--quick" in sys.argv))
