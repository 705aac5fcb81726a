"""What an outer join pads does not have the key of what it matches: both kinds of rows are groups of their own."""

from __future__ import annotations

import pytest

import evercurrent as ec

SCALAR = "k LEFT JOIN (SELECT avg(b) AS a, count(*) AS n FROM s) z ON k.x = z.a"
GROUPED = "k LEFT JOIN (SELECT b AS a, count(*) AS n FROM s GROUP BY b) z ON k.x = z.a"


@pytest.mark.parametrize("source", [SCALAR, GROUPED])
@pytest.mark.parametrize(
    "text",
    [
        "SELECT z.n, k.y, sum(k.id) AS i, avg(z.a) AS a FROM {} GROUP BY z.n, k.y",
        "SELECT DISTINCT z.n, k.y FROM {}",
        "SELECT n, count(*) AS c FROM (SELECT DISTINCT z.n, z.a, k.y FROM {}) q GROUP BY n",
    ],
)
def test_matched_and_padded_rows_are_two_groups(source: str, text: str) -> None:
    db = ec.connect()
    db.execute("CREATE TABLE k (id INT PRIMARY KEY, x INT, y INT); CREATE TABLE s (b INT)")
    db.view("v", text.format(source))
    for statement in (
        "INSERT INTO k VALUES (1, 0, 0), (2, 1, 0), (3, 2, 0)",
        "INSERT INTO s VALUES (0)",
        "INSERT INTO s VALUES (2)",
        "INSERT INTO k VALUES (4, 1, 0), (5, NULL, 0)",
        "DELETE FROM s WHERE b = 0",
        "DELETE FROM s",
    ):
        db.execute(statement)
        assert db.verify(), statement
