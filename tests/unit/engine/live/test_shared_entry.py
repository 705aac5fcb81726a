"""A scalar aggregate and a test for existence share the one entry of a state: it stays, and its weight says what is there."""

from __future__ import annotations

import pytest

import evercurrent as ec

SOME = "(SELECT posexplode(array(10, 20, 30)))"


@pytest.mark.parametrize("position", [1, 7])
@pytest.mark.parametrize("turned", [False, True])
def test_over_constants(position: int, turned: bool) -> None:
    columns = [
        f"(SELECT col FROM {SOME} WHERE pos = {position})",
        f"EXISTS (SELECT 1 FROM {SOME} WHERE pos = {position})",
    ]
    if turned:
        columns.reverse()
    db = ec.connect()
    db.execute(f"CREATE VIEW v AS SELECT {columns[0]} AS a, {columns[1]} AS b")
    there = position == 1
    row = (20 if there else None, there)
    assert db.view("v").rows() == [row[::-1] if turned else row]
    assert db.verify()


def test_over_a_table_that_empties() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (x BIGINT)")
    db.execute(
        "CREATE VIEW v AS SELECT (SELECT count(*) FROM t WHERE x > 0) AS n, s.y FROM (SELECT 1 AS y) s "
        "WHERE EXISTS (SELECT 1 FROM t WHERE x > 0)"
    )
    db.execute("INSERT INTO t VALUES (1), (2)")
    assert db.view("v").rows() == [(2, 1)]
    db.execute("DELETE FROM t")
    assert db.view("v").rows() == []
    db.execute("INSERT INTO t VALUES (5)")
    assert db.view("v").rows() == [(1, 1)]
    assert db.verify()
