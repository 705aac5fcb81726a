"""Lookups over columns that compare one column with several terms, beside the query evaluated from scratch."""

from __future__ import annotations

from random import Random

import pytest

import evercurrent as ec
from evercurrent.engine.live import columns

QUERIES = (
    "SELECT r.a, r.b, y.n FROM r LEFT JOIN (SELECT b, count(*) AS n FROM s GROUP BY b) y ON r.a = y.b AND r.b = y.b",
    "SELECT r.a, r.b, y.n FROM r LEFT JOIN (SELECT b, sum(c) AS n FROM s GROUP BY b) y ON r.a <=> y.b AND r.b <=> y.b",
    "SELECT r.a, r.b, y.p FROM r LEFT JOIN (SELECT sum(c) AS p FROM s) y ON r.a = y.p AND r.b = y.p",
    "SELECT r.a, r.b FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.b = r.a AND s.b = r.b)",
)


@pytest.mark.parametrize("late", [False, True], ids=["before", "filled"])
@pytest.mark.parametrize("query", QUERIES)
def test_one_column_beside_two(monkeypatch: pytest.MonkeyPatch, query: str, late: bool) -> None:
    monkeypatch.setattr(columns, "LEAST_ROWS", 1)
    chance = Random(1)
    values = (None, *range(9))
    db = ec.connect()
    db.execute("CREATE TABLE r (a INT, b INT)")
    db.execute("CREATE TABLE s (b INT, c INT)")
    if not late:
        db.execute(f"CREATE VIEW v AS {query}")
    db.table("s").insert([(0, 2), (3, 1), (None, 2)])
    db.table("r").insert([(chance.choice(values), chance.choice(values)) for _ in range(3000)])
    if late:
        db.execute(f"CREATE VIEW v AS {query}")
    assert len(db.view("v")) > 0
    assert bool(db.verify())
