"""Intersections of selections of one table, beside DuckDB; those that are not one selection stay as they are."""

from __future__ import annotations

from random import Random
from typing import Any

import duckdb
import pytest

import evercurrent as ec

SIDES = ["SELECT {0} FROM t WHERE a > 1", "SELECT {0} FROM t WHERE b < 3", "SELECT {0} FROM t"]


@pytest.mark.parametrize("operation", ["INTERSECT", "INTERSECT ALL"])
@pytest.mark.parametrize(
    ("shown", "one"),
    [
        ("id, a", True),  # the key is shown
        ("a, b", True),  # what the conditions read is shown
        ("b, a, b + 1", False),
        ("a", False),
        ("u", False),  # unique, but rows without it look alike
    ],
)
def test_one_selection_where_rows_that_look_alike_are_alike(shown: str, one: bool, operation: str) -> None:
    text = f" {operation} ".join(s.format(shown) for s in SIDES[:2])
    db, duck = ec.connect(), duckdb.connect()
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, u INT UNIQUE)")
    duck.execute("CREATE TABLE t (id INT, a INT, b INT, u INT)")
    db.execute(f"CREATE VIEW v AS {text}")
    assert ("Intersect" not in str(db.view("v").explain("optimised"))) == one
    random = Random(5)
    rows: dict[int, tuple[Any, ...]] = {}
    for i in range(80):
        if rows and random.random() < 0.3:
            gone = random.choice(list(rows))
            del rows[gone]
            db.table("t").delete(gone)
            duck.execute("DELETE FROM t WHERE id = ?", [gone])
        row = (i, *(random.choice((None, 0, 1, 2, 3, 4)) for _ in "ab"), random.choice((None, i)))
        rows[i] = row
        db.table("t").insert(row)
        duck.execute("INSERT INTO t VALUES (?, ?, ?, ?)", row)
        expected = sorted(duck.execute(text).fetchall(), key=repr)
        assert sorted(map(tuple, db.view("v").rows()), key=repr) == expected


def test_a_condition_that_can_fail_is_asked_of_all_rows() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, a INT)")
    db.execute("CREATE VIEW v AS SELECT id FROM t WHERE a > 1 INTERSECT SELECT id FROM t WHERE 10 div a > 1")
    assert "Intersect" in str(db.view("v").explain("optimised"))
