"""Windows and top-k over columns, beside the same views kept row by row."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.engine.live import columns

ORDERS = ("n", "n DESC NULLS LAST, s", "s DESC", "x, n", "x DESC NULLS FIRST", "d NULLS LAST, s")
FUNCTIONS = {
    "row_number": "row_number() OVER (PARTITION BY g ORDER BY {order})",
    "rank": "rank() OVER (PARTITION BY g ORDER BY {order})",
    "dense_rank": "dense_rank() OVER (PARTITION BY g ORDER BY {order})",
    "percent_rank": "percent_rank() OVER (PARTITION BY g ORDER BY {order})",
    "cume_dist": "cume_dist() OVER (ORDER BY {order})",
    "ntile": "ntile(3) OVER (PARTITION BY g ORDER BY {order})",
    "lag": "lag(d) OVER (PARTITION BY g ORDER BY {order})",
    "lead": "lead(n, 2, -1) OVER (PARTITION BY g ORDER BY {order})",
    "first_value": "first_value(s) OVER (PARTITION BY g ORDER BY {order})",
    "last_value": "last_value(d) OVER (PARTITION BY g ORDER BY {order} ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING)",
    "running sum": "sum(d) OVER (PARTITION BY g ORDER BY {order})",
    "sliding sum": "sum(n) OVER (PARTITION BY g ORDER BY {order} ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING)",
    "whole count": "count(x) OVER (PARTITION BY g)",
    "filtered": "sum(n) FILTER (WHERE d > 0) OVER (PARTITION BY g ORDER BY {order})",
    "average": "avg(d) OVER (PARTITION BY g ORDER BY {order} ROWS UNBOUNDED PRECEDING)",
    "average of integers": "avg(n) OVER (PARTITION BY g ORDER BY {order})",
    "floats": "sum(x) OVER (PARTITION BY g ORDER BY {order})",
    "least": "min(s) OVER (PARTITION BY g ORDER BY {order} ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
}


@pytest.fixture(autouse=True)
def least() -> Iterator[None]:
    before = columns.LEAST_ROWS
    yield
    columns.LEAST_ROWS = before


def row(random: Random) -> tuple[Any, ...]:
    return (
        random.choice((None, "a", "b")),
        random.choice((None, *range(4))),
        random.choice((None, "x", "y", "z", "é")),
        random.choice((None, "1.50", "-2.25", "0.10")),
        random.choice((None, 0.5, -1.0, float("nan"), 1e300)),
    )


@pytest.mark.parametrize("function", FUNCTIONS)
def test_windows_over_columns_are_those_of_rows(function: str) -> None:
    random = Random(function)
    order = random.choice(ORDERS)
    databases = [ec.connect(), ec.connect()]
    text = f"SELECT g, n, s, d, {FUNCTIONS[function].format(order=order)} AS v FROM t"
    both = f"SELECT g, n, v, rank() OVER (PARTITION BY n ORDER BY s) AS r FROM ({text})"
    top = f"SELECT * FROM t ORDER BY {order} LIMIT 3 OFFSET 1"
    views = {"one": text, "two": both, "best": top}

    for db in databases:
        db.execute("CREATE TABLE t (g STRING, n INT, s STRING, d DECIMAL(6,2), x DOUBLE)")
    present: list[tuple[Any, ...]] = []
    over_columns = 0
    for step in range(8):
        inserted = [row(random) for _ in range(random.randrange(1, 12))]
        deleted = random.sample(present, min(len(present), random.randrange(6)))
        for db, size in zip(databases, (1, 1 << 60), strict=True):
            columns.LEAST_ROWS = size
            with db.transaction():
                for old in deleted:
                    db.table("t").delete(old)
                db.table("t").insert(inserted)
            if step == 2:
                for name, query in views.items():
                    db.execute(f"CREATE VIEW {name} AS {query}")
        for old in deleted:
            present.remove(old)
        present += inserted
        if step >= 2:
            for name in views:
                left, right = (sorted(map(repr, db.view(name).rows())) for db in databases)
                assert left == right, (name, order)
            over_columns += databases[0]._session.maintenance.engine.core.columns is not None
    assert over_columns > 3
