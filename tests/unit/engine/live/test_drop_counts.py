"""Sums without the counts beside them: where they go, where they stay, and that no answer changes."""

from __future__ import annotations

import random

import pytest

import evercurrent as ec
from evercurrent.delta.analyses.drop_counts import lean

ZEROED = "CREATE VIEW zeroed AS SELECT g.k, g.n, COALESCE(s.t, 0) AS t FROM g LEFT JOIN (SELECT k, SUM(v) AS t FROM r GROUP BY k) s ON g.k = s.k"
PLAIN = "CREATE VIEW plain AS SELECT g.k, g.n, s.t FROM g LEFT JOIN (SELECT k, SUM(v) AS t FROM r GROUP BY k) s ON g.k = s.k"


def database(*views: str) -> ec.Database:
    db = ec.connect()
    db.execute("CREATE TABLE g (k INT PRIMARY KEY, n STRING)")
    db.execute("CREATE TABLE r (k INT, v INT)")
    for view in views:
        db.execute(view)
    return db


def sums(db: ec.Database) -> int:
    """How many sums and counts the engine keeps."""
    return sum(len(s.accumulators) for s in db._session.maintenance.engine.program.states)


def test_a_count_that_only_tells_null_from_zero_is_not_kept() -> None:
    assert sums(database(ZEROED)) == 1
    assert sums(database(PLAIN)) == 2
    assert sums(database(ZEROED, PLAIN)) == 2


def test_a_view_that_shows_the_sum_itself_keeps_it() -> None:
    db = database("CREATE VIEW v AS SELECT k, SUM(v) AS t FROM r GROUP BY k")
    program = db._session.maintenance.design.program
    assert lean(program) is program


@pytest.mark.parametrize("order", [(ZEROED,), (PLAIN,), (ZEROED, PLAIN), (PLAIN, ZEROED)])
def test_the_answers_are_the_same(order: tuple[str, ...]) -> None:
    db, chance = database(order[0]), random.Random(3)
    rows: list[tuple[int, int | None]] = []
    db.table("g").insert([(k, f"n{k}") for k in range(4)])
    for turn in range(60):
        if turn == 30:
            for view in order[1:]:
                db.execute(view)
        if rows and chance.random() < 0.5:
            db.table("r").delete(rows.pop(chance.randrange(len(rows))))
        else:
            rows.append((chance.randrange(4), chance.choice([None, None, 0, 1, -1, 5])))
            db.table("r").insert(rows[-1])
        if turn % 10 == 5:
            db.table("g").update({"k": turn % 4}, n=f"m{turn}")
        assert db.verify()
    found = {(k, t) for k, _, t in db.view(order[0].split()[2]).rows()}
    for k in range(4):
        values = [v for key, v in rows if key == k and v is not None]
        total = sum(values) if values or order[0] is ZEROED else None
        assert (k, total) in found
