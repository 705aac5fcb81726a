"""Aggregates of pairs while rows with NaN and infinities are inserted and deleted."""

from __future__ import annotations

import random

import pytest

import evercurrent as ec
from evercurrent.term.moments import PAIRS

VALUES = [1.0, 1.0, 2.0, 1e-300, float("inf"), float("nan"), None]


@pytest.mark.parametrize("seed", range(3))
def test_readings_of_pairs_follow_every_change(seed: int) -> None:
    chance = random.Random(seed)
    db = ec.connect()
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, y DOUBLE, x DOUBLE)")
    db.execute(f"CREATE VIEW v AS SELECT {', '.join(f'{f}(y, x) AS {f}' for f in PAIRS)} FROM t")
    kept: set[int] = set()
    for i in range(60):
        if kept and chance.random() < 0.55:
            gone = chance.choice(sorted(kept))
            db.table("t").delete({"id": gone})
            kept.remove(gone)
        else:
            db.table("t").insert((i, chance.choice(VALUES), chance.choice(VALUES)))
            kept.add(i)
        assert db.verify(), db.verify()


def test_a_constant_column_decides_alone() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (y DOUBLE, x DOUBLE)")
    db.execute("CREATE VIEW v AS SELECT corr(y, x), regr_slope(y, x), regr_r2(y, x), regr_r2(x, y) FROM t")
    db.table("t").insert([(float("inf"), 1.0), (2.0, 1.0)])
    assert db.view("v").rows() == [(None, None, None, 1.0)]
