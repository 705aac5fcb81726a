"""Sums of floats over columns are exact, whatever the values and the history."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.engine.live import columns

KINDS = {
    "ordinary": lambda r: round(r.uniform(-1e6, 1e6), 2),
    "halves": lambda r: r.randrange(-8, 8) / 2,
    "tiny and huge": lambda r: r.choice((1e-300, 1e16, 1.0, -1e16, 5e-324, 1e300)),
    "not finite": lambda r: r.choice((float("nan"), float("inf"), float("-inf"), 0.1, -0.0)),
}


@pytest.fixture(autouse=True)
def least() -> Iterator[None]:
    before = columns.LEAST_ROWS
    yield
    columns.LEAST_ROWS = before


@pytest.mark.parametrize("kind", KINDS)
def test_sums_over_columns_are_those_of_rows(kind: str) -> None:
    random = Random(kind)
    databases = [ec.connect(), ec.connect()]
    for db in databases:
        db.execute("CREATE TABLE t (g INT, x DOUBLE)")
        db.execute("CREATE VIEW v AS SELECT g, sum(x) AS s, avg(x) AS a, count(x) AS n FROM t GROUP BY g")
        db.execute("CREATE VIEW whole AS SELECT sum(x) AS s, sum(x) FILTER (WHERE g > 1) AS f FROM t")
    present: list[tuple[Any, ...]] = []
    over_columns = 0
    for step in range(25):
        inserted = [(random.randrange(4), random.choice((None, KINDS[kind](random)))) for _ in range(9)]
        deleted = random.sample(present, min(len(present), random.randrange(12)))
        mixed = 1 if random.random() < 0.7 else 1 << 60
        for db, size in zip(databases, (mixed, 1 << 60), strict=True):
            columns.LEAST_ROWS = size
            with db.transaction():
                for old in deleted:
                    db.table("t").delete(old)
                db.table("t").insert(inserted)
        over_columns += databases[0]._session.maintenance.engine.core.columns is not None
        for old in deleted:
            present.remove(old)
        present += inserted
        for name in ("v", "whole"):
            left, right = (sorted(map(repr, db.view(name).rows())) for db in databases)
            assert left == right, (name, step)
    assert over_columns > 5
