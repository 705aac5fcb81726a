"""How the cost of a change grows with the fan-out of joins: maps, sums of products, sums and rows of ranges, with and without.

*Without* compiles the same view with neither: no bounds, no ordered states, `maps = 'none'`. Both run one after the other.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from statistics import median
from time import process_time
from typing import Any
from unittest import mock

import evercurrent as ec
from bench.measure import machine, quiet
from bench.report import Result, Table
from evercurrent.delta import compile as compiler
from evercurrent.design import compile as design

ABOUT = (
    "One row is inserted through a table's handle, with all checks. The fan-out is the number of rows that match it; for "
    "inequalities and thresholds, the number of rows of each table. Views that show rows have a subscriber, so that nothing of a "
    "change is deferred. *Without* is the same view without products of sums, order and maps, in the same run. Microseconds of CPU time, medians; after each figure the view is compared with its "
    "query on 100 rows. Before, 150 rows are inserted, so that states are rows, and maps are chosen. Sizes of *without* that take too long are left out."
)


WARM = 150
"""Changes before the first that is measured: they compile what they run, and turn states from columns into rows."""


@dataclass(frozen=True)
class Shape:
    """Tables with their columns, a query, the rows for a size, and the row that is inserted."""

    name: str
    tables: dict[str, str]
    query: str
    rows: Callable[[str, int], list[tuple[Any, ...]]]
    inserted: tuple[str, Callable[[int], tuple[Any, ...]]]
    quadratic: bool = False
    followed: bool = False


def chain(length: int) -> Shape:
    """r0(k0, k1) join r1(k1, k2) ...: the first fans out, the others do not."""
    names = [f"r{i}" for i in range(length)]
    tables = {n: f"k{i} INT NOT NULL, k{i + 1} INT NOT NULL" for i, n in enumerate(names)}
    joined = " AND ".join(f"r{i}.k{i + 1} = r{i + 1}.k{i + 1}" for i in range(length - 1))

    def rows(name: str, n: int) -> list[tuple[Any, ...]]:
        return [] if name == "r0" else [(1, i) if name == "r1" else (i, i) for i in range(n)]

    query = f"SELECT count(*) AS n FROM {', '.join(names)} WHERE {joined}"
    return Shape(f"chain of {length}", tables, query, rows, ("r0", lambda i: (i, 1)))


def product(kind: str) -> Shape:
    tables = {"r": f"k INT NOT NULL, a {kind} NOT NULL", "s": f"k INT NOT NULL, b {kind} NOT NULL"}
    query = "SELECT sum(r.a * s.b) AS x FROM r JOIN s ON r.k = s.k"

    def rows(name: str, n: int) -> list[tuple[Any, ...]]:
        return [] if name == "r" else [(1, i) for i in range(n)]

    return Shape(f"sum(r.a * s.b), {kind}", tables, query, rows, ("r", lambda i: (1, i % 100)))


def by_id(name: str, n: int) -> list[tuple[Any, ...]]:
    drawn = random.Random(name)
    return [(i, drawn.randint(1, 1000), drawn.randint(1, 100)) for i in range(n)]


QUOTES = {t: "id INT PRIMARY KEY, price INT NOT NULL, volume INT NOT NULL" for t in ("bids", "asks")}
STAR = {"f": "a INT NOT NULL, b INT NOT NULL, c INT NOT NULL", "x": "a INT NOT NULL, v INT NOT NULL"}
STAR |= {"y": "b INT NOT NULL, v INT NOT NULL", "z": "c INT NOT NULL, v INT NOT NULL"}


SUPPLY = {
    "ps": "part INT NOT NULL, supplier INT NOT NULL, cost DECIMAL(12, 2) NOT NULL, quantity INT NOT NULL"
}


def supply(name: str, n: int) -> list[tuple[Any, ...]]:
    drawn = random.Random(name)
    return [(i, 0, Decimal(drawn.randint(100, 99999)) / 100, drawn.randint(1, 100)) for i in range(n)]


def star_rows(name: str, n: int) -> list[tuple[Any, ...]]:
    return [(1, i, i) for i in range(n)] if name == "f" else [] if name == "x" else [(i, i) for i in range(n)]


SHAPES = [
    *map(product, ("INT", "BIGINT", "DOUBLE", "DECIMAL(10, 2)")),
    *map(chain, (3, 4, 5)),
    Shape(
        "star of 4",
        STAR,
        "SELECT count(*) AS n FROM f, x, y, z WHERE f.a = x.a AND f.b = y.b AND f.c = z.c",
        star_rows,
        ("x", lambda i: (1, i)),
    ),
    Shape(
        "inequality",
        {"r": "a INT NOT NULL", "s": "b INT NOT NULL"},
        "SELECT count(*) AS n, sum(s.b) AS x FROM r JOIN s ON r.a < s.b",
        lambda name, n: [(i,) for i in range(n)] if name == "s" else [],
        ("r", lambda i: (i * 7,)),
    ),
    Shape(
        "band",
        {"r": "a INT NOT NULL", "s": "b INT NOT NULL"},
        "SELECT count(*) AS n FROM r JOIN s ON s.b BETWEEN r.a - 50 AND r.a + 50",
        lambda name, n: [(i,) for i in range(n)] if name == "s" else [],
        ("r", lambda i: (i * 7,)),
    ),
    Shape(
        "thresholds (PSP)",
        QUOTES,
        "SELECT sum(a.price - b.price) AS x FROM bids b, asks a "
        "WHERE b.volume > 0.0001 * (SELECT sum(volume) FROM bids) AND a.volume > 0.0001 * (SELECT sum(volume) FROM asks)",
        by_id,
        ("bids", lambda i: (1_000_000 + i, 5, 50)),
        quadratic=True,
    ),
    Shape(
        "rows above a threshold",
        QUOTES,
        "SELECT * FROM bids WHERE volume > 0.0001 * (SELECT sum(volume) FROM bids)",
        by_id,
        ("bids", lambda i: (1_000_000 + i, 5, 50)),
        followed=True,
    ),
    Shape(
        "groups above a threshold (Q11)",
        SUPPLY,
        "SELECT part, sum(cost * quantity) AS value FROM ps GROUP BY part "
        "HAVING sum(cost * quantity) > (SELECT sum(cost * quantity) * 0.0001 FROM ps)",
        supply,
        ("ps", lambda i: (abs(i) % 100, 1 + abs(i), Decimal("1.50"), 3)),
        followed=True,
    ),
    Shape(
        "pairs of an inequality",
        {"r": "a INT NOT NULL", "s": "b INT NOT NULL"},
        "SELECT r.a, s.b FROM r JOIN s ON s.b < r.a",
        lambda name, n: [(i,) for i in range(n)] if name == "s" else [],
        ("r", lambda i: (abs(i) % 7,)),
        followed=True,
    ),
    Shape(
        "pairs of a band",
        {"r": "a INT NOT NULL", "s": "b INT NOT NULL"},
        "SELECT r.a, s.b FROM r JOIN s ON s.b BETWEEN r.a - 5 AND r.a + 5",
        lambda name, n: [(i,) for i in range(n)] if name == "s" else [],
        ("r", lambda i: (abs(i) * 7 % 90,)),
        followed=True,
    ),
]


@contextmanager
def plainly() -> Iterator[None]:
    """Views are compiled without bounds and without ordered states."""

    def plain(*args: Any, **options: Any) -> Any:
        return compiler.compile_views(
            *args, **options | {"bounded": False, "ordered": False, "statistics": None}
        )

    with mock.patch.object(design, "compile_views", plain):
        yield


def measured(shape: Shape, size: int, maps: str, repeats: int) -> float:
    """The median of single inserts, in microseconds of CPU time."""
    db = ec.connect()
    for name, columns in shape.tables.items():
        db.execute(f"CREATE TABLE {name} ({columns})")
        db.table(name).insert(shape.rows(name, size))
    db.execute(f"CREATE VIEW v WITH (maps = '{maps}') AS {shape.query}")
    if shape.followed:
        db.view("v").subscribe(lambda change: None)
    table, row = db.table(shape.inserted[0]), shape.inserted[1]
    for i in range(WARM):
        table.insert([row(-1 - i)])
    times = []
    with quiet():
        for i in range(repeats):
            start = process_time()
            table.insert([row(i)])
            times.append(process_time() - start)
    if size <= 100 and not db.verify():
        raise SystemExit(f"the answer of {shape.name} is wrong, so there is no figure for it")
    return median(times) * 1e6


def run(quick: bool) -> Result:
    sizes = (100, 1_000) if quick else (100, 1_000, 10_000, 100_000)
    table = Table(
        "One inserted row, by the number of rows that match it",
        ["shape", *(f"{n:,}" for n in sizes), *(f"without, {n:,}" for n in sizes[:3])],
    )
    for shape in SHAPES:
        figures: list[Any] = [round(measured(shape, n, "auto", 30), 1) for n in sizes]
        with plainly():
            for n in sizes[:3]:
                slow = shape.quadratic and n > 100
                figures.append(None if slow else round(measured(shape, n, "none", 15), 1))
        table.rows.append([shape.name, *figures])
    return Result("maps", ABOUT, [table], machine(), quick)


if __name__ == "__main__":
    for row in run(True).tables[0].rows:
        print(*row)
