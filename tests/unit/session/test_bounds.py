"""Amounts that are taken apart under bounds: exact at the edge, and computed row by row beyond it.

Law L1 with the errors of the query: a change succeeds if and only if the query can be computed after it.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

import evercurrent as ec

QUERY = (
    "SELECT r.k AS k, sum(r.a * s.b) AS x, sum(s.b) AS y, sum(r.a - r.c) AS z, avg(r.a * s.b) AS w, "
    "sum((r.a + r.c) * (s.b - 1)) AS u, count(*) AS n FROM r JOIN s ON r.k = s.k GROUP BY r.k"
)
PRODUCT = "SELECT sum(r.a * s.b) AS x, count(*) AS n FROM r JOIN s ON r.k = s.k"

VALUES: dict[str, list[object]] = {
    "INT": [3, -5, 7, 0],
    "INT near": [46340, -46341, 32768, 1],
    "BIGINT": [2**31, -(2**31), 2**32 - 1, 2**30],
    "SMALLINT": [181, -182, 7],
    "DOUBLE": [0.5, -3.0, 1024.25, 2.0**30],
    "DOUBLE rounded": [0.1, 0.5, 3.3, 1e17],
    "DOUBLE odd": [float("nan"), float("inf"), 1.0, -0.0, 5e-324],
    "FLOAT": [0.5, 3.0, -2.25, 0.0999755859375],
}


def database(type_: str, query: str) -> ec.Database:
    db = ec.connect()
    db.execute(f"CREATE TABLE r (k INT, a {type_}, c {type_}); CREATE TABLE s (k INT, b {type_})")
    db.execute(f"CREATE VIEW v AS {query}")
    return db


def unbounded(db: ec.Database) -> frozenset[str]:
    return db._session.maintenance.design.unbounded


@pytest.mark.parametrize("by_feed", [False, True], ids=["transactions", "feed"])
@pytest.mark.parametrize("query", [QUERY, PRODUCT], ids=["many", "product"])
@pytest.mark.parametrize("values", VALUES)
def test_view_equals_query_within_and_beyond_bounds(values: str, query: str, by_feed: bool) -> None:
    chooser = random.Random(values)
    db = database(values.split(maxsplit=1)[0], query)
    feeds = {name: db.feed(name) for name in "rs"}
    functions = {name: (None, feeds[name].insert, feeds[name].delete) for name in "rs"}
    rows: dict[str, list[tuple[object, ...]]] = {"r": [], "s": []}
    for _ in range(30):
        name = chooser.choice("rs")
        width = 2 if name == "r" else 1
        if rows[name] and chooser.random() < 0.3:
            row, weight = chooser.choice(rows[name]), -1
        else:
            drawn = (None if chooser.random() < 0.1 else chooser.choice(VALUES[values]) for _ in range(width))
            row, weight = (chooser.randint(0, 2), *drawn), 1
        try:
            change(db, name, row, weight, functions[name] if by_feed else None)
        except ec.EvaluationError:
            after = list(rows[name])
            after.remove(row) if weight < 0 else after.append(row)
            with pytest.raises(ec.EvaluationError):
                evaluate_afresh(values.split(maxsplit=1)[0], query, rows | {name: after})
            continue
        rows[name].remove(row) if weight < 0 else rows[name].append(row)
        if not (by_feed and values == "BIGINT"):
            assert db.verify(), db.verify()


def change(db: ec.Database, name: str, row: tuple[object, ...], weight: int, by: Callable | None) -> None:
    if by is not None:
        by[weight](row)
    elif weight > 0:
        db.table(name).insert([row])
    else:
        db.table(name).delete([row])


def evaluate_afresh(type_: str, query: str, rows: dict[str, list[tuple[object, ...]]]) -> object:
    db = database(type_, "SELECT k FROM r")
    for name, content in rows.items():
        db.table(name).insert(content)
    return db.query(query).rows()


@pytest.mark.parametrize(
    ("type_", "inside", "beyond"),
    [("INT", 40000, 60000), ("BIGINT", 2**30, 2**33), ("DOUBLE", 0.75, 0.1), ("FLOAT", 0.75, 0.1)],
)
def test_amount_is_computed_row_by_row_only_beyond_its_bounds(
    type_: str, inside: object, beyond: object
) -> None:
    db = database(type_, PRODUCT)
    db.table("s").insert([(1, inside), (1, inside)])
    db.table("r").insert([(1, inside, inside)])
    assert not unbounded(db)
    assert "by its factors" in db.view("v").explain()
    db.table("r").insert([(2, beyond, beyond)])
    db.table("s").insert([(3, beyond)])
    assert len(unbounded(db)) == 1
    assert "row by row" in db.view("v").explain()
    assert db.verify()


def test_view_that_is_created_over_large_values_is_computed_row_by_row() -> None:
    db = database("INT", "SELECT k FROM r")
    db.table("r").insert([(1, 1_000_000, 0)])
    db.table("s").insert([(2, 1_000_000)])
    db.execute(f"CREATE VIEW w AS {PRODUCT}")
    assert len(unbounded(db)) == 1 and db.view("w").rows() == db.query(PRODUCT).rows()
    with pytest.raises(ec.EvaluationError):
        db.table("s").insert([(1, 1_000_000)])
    assert db.verify()


def test_overflow_that_no_joined_row_has_is_no_error() -> None:
    db = database("INT", PRODUCT)
    db.table("r").insert([(1, 2_000_000_000, 0), (2, 1, 0)])
    db.table("s").insert([(2, 2_000_000_000), (1, 1)])
    assert db.view("v").rows() == [(4_000_000_000, 2)]


def test_transaction_reads_its_own_rows_beyond_the_bounds() -> None:
    db = database("INT", PRODUCT)
    with db.transaction():
        db.table("r").insert([(1, 2_000_000_000, 0)])
        db.table("s").insert([(1, 1), (2, 2_000_000_000)])
        assert db.view("v").rows(pending=True) == [(2_000_000_000, 1)]
    assert db.view("v").rows() == [(2_000_000_000, 1)]


def test_factors_keep_their_magnitudes_when_views_come_and_go() -> None:
    db = database("INT", PRODUCT)
    db.table("r").insert([(1, 40000, 0)])
    db.table("s").insert([(2, 40000)])
    db.execute("CREATE VIEW other AS SELECT sum(r.c * s.b) AS x FROM r JOIN s ON r.k = s.k")
    db.execute("DROP VIEW v")
    db.execute(f"CREATE VIEW v AS {PRODUCT}")
    db.table("s").insert([(1, 53000)])
    with pytest.raises(ec.EvaluationError):
        db.table("s").insert([(1, 53688)])
    assert db.verify()
