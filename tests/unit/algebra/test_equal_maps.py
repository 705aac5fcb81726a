"""Equalities that the compiler makes compare maps too, which SQL itself does not compare."""

from __future__ import annotations

import pytest

import evercurrent as ec

QUERIES = [
    "SELECT d, id FROM m",
    "SELECT m.d, n.x FROM m JOIN n ON n.id = m.id",
    "SELECT m.d, (SELECT max(x) FROM n WHERE n.id = cardinality(m.d)) AS y FROM m",
    "SELECT m.d, (SELECT max(x) FROM n WHERE n.id < cardinality(m.d)) AS y FROM m WHERE m.d IS NOT NULL",
    "SELECT m.d, (SELECT max(map_keys(m.d)[0]) FROM n WHERE n.id < cardinality(m.d)) AS y FROM m WHERE m.d IS NOT NULL",
    "SELECT id FROM m WHERE EXISTS (SELECT 1 FROM n WHERE n.id < cardinality(m.d))",
]


@pytest.mark.parametrize("query", QUERIES)
def test_queries_that_depend_on_a_map(query: str) -> None:
    db = ec.connect()
    db.execute(
        "CREATE TABLE m (id INT PRIMARY KEY, d MAP<STRING, INT>); CREATE TABLE n (id INT PRIMARY KEY, x INT)"
    )
    db.execute(f"CREATE VIEW v AS {query}")
    db.execute("INSERT INTO m VALUES (1, map('a', 1)), (2, NULL), (3, map('b', 2, 'c', 3))")
    db.execute("INSERT INTO n VALUES (1, 5), (2, 6)")
    db.execute("DELETE FROM n WHERE id = 2")
    assert bool(db.verify())
    for row in db.view("v").rows():
        assert db.view("v").why(row)
