"""Recursion by jobs: the same answers as by the driver, batch after batch, and each goes on from what the other left."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import evercurrent as ec
from evercurrent.engine.spark import engine
from evercurrent.engine.spark.jobs import fixpoint_jobs
from evercurrent.warehouse.database import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


class Edge(NamedTuple):
    src: int
    dst: int


REACH = """CREATE VIEW reach AS WITH RECURSIVE p(src, dst) AS (
    SELECT src, dst FROM edge UNION SELECT p.src, e.dst FROM p JOIN edge e ON p.dst = e.src) SELECT src, dst FROM p"""
SQUARED = """CREATE VIEW reach AS WITH RECURSIVE p(src, dst) AS (
    SELECT src, dst FROM edge UNION SELECT x.src, y.dst FROM p x JOIN p y ON x.dst = y.src) SELECT src, dst FROM p"""
COUNTED = "CREATE VIEW counted AS SELECT src, COUNT(*) AS n FROM reach GROUP BY src"
WALKS = """CREATE VIEW walks AS WITH RECURSIVE p(src, dst, depth) AS (
    SELECT src, dst, 1 FROM edge UNION ALL
    SELECT p.src, e.dst, p.depth + 1 FROM p JOIN edge e ON p.dst = e.src WHERE p.depth < 3) SELECT src, dst, depth FROM p"""


def closure(edges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found = set(edges)
    while more := {(a, d) for a, b in found for c, d in edges if b == c} - found:
        found |= more
    return sorted(found)


def change(db: Any, gone: list[tuple[int, int]], come: list[tuple[int, int]], strategy: str) -> None:
    with db.transaction():
        db._core.engine.strategy = "driver"  # the statements that make the change
        for src, dst in gone:
            db.execute(f"DELETE FROM edge WHERE src = {src} AND dst = {dst}")
        if come:
            db.execute(f"INSERT INTO edge VALUES {', '.join(map(str, come))}")
        db._core.engine.strategy = strategy
    assert bool(db.history()[-1].jobs) == (strategy == "spark")


BATCHES: list[tuple[list[tuple[int, int]], list[tuple[int, int]]]] = [
    ([(5, 6)], [(4, 5)]),
    ([(3, 1)], [(4, 2)]),  # one cycle goes, another comes
]
FIRST = [(1, 2), (2, 3), (3, 1), (3, 4), (5, 6)]


def test_the_closure_of_cyclic_data_by_driver_and_jobs_in_turn(spark: SparkSession, tmp_path: Path) -> None:
    db = Warehouse(spark, tmp_path / "w", strategy="driver")
    db.execute("CREATE TABLE edge (src INT, dst INT)")
    db.execute(f"INSERT INTO edge VALUES {', '.join(map(str, FIRST))}")
    db._core.engine.strategy = "spark"
    db.execute(REACH)
    db.execute(COUNTED)
    edges = list(FIRST)
    assert sorted(db.view("reach").rows()) == closure(edges)
    for strategy, (gone, come) in zip(("driver", "spark"), BATCHES, strict=True):
        change(db, gone, come, strategy)
        edges = [e for e in edges if e not in gone] + come
        expected = closure(edges)
        assert sorted(db.view("reach").rows()) == expected
        totals = {a: sum(1 for x, _ in expected if x == a) for a, _ in expected}
        assert dict(db.view("counted").rows()) == totals
    db._core.engine.strategy = "driver"
    assert db.verify()


def test_a_set_squared_and_a_bag(spark: SparkSession, tmp_path: Path) -> None:
    ours, theirs = (Warehouse(spark, tmp_path / s, strategy="driver") for s in ("driver", "spark"))
    for db in (ours, theirs):
        db.execute("CREATE TABLE edge (src INT, dst INT)")
        db.execute(f"INSERT INTO edge VALUES {', '.join(map(str, FIRST))}")
        db.execute(SQUARED)
        db.execute(WALKS)
    gone, come = BATCHES[1]
    change(ours, gone, come, "driver")
    change(theirs, gone, come, "spark")
    for view in ("reach", "walks"):
        rows = sorted(theirs.view(view).rows())
        assert rows == sorted(ours.view(view).rows())
        assert rows


TREE = """CREATE VIEW walks AS WITH RECURSIVE p(id, depth) AS (
    SELECT dst, 0 FROM edge WHERE src = 0 UNION ALL
    SELECT e.dst, p.depth + 1 FROM p JOIN edge e ON p.id = e.src) SELECT id, depth FROM p"""


def test_a_bag_whose_root_goes_below_itself(spark: SparkSession, tmp_path: Path) -> None:
    """What is lost and what is gained lie on one cycle. By the driver and by jobs."""
    for strategy in ("driver", "spark"):
        db = Warehouse(spark, tmp_path / strategy, strategy="driver")
        db.execute("CREATE TABLE edge (src INT, dst INT)")
        db.execute("INSERT INTO edge VALUES (0, 1), (1, 2), (1, 2), (2, 3), (0, 4)")
        db.execute(TREE)
        db.execute(
            TREE.replace("walks", "bare")
            .replace(", p.depth + 1", "")
            .replace(", 0", "")
            .replace(", depth", "")
        )
        for gone, come, expected in (
            ([(0, 1)], [(3, 1)], [(4, 0)]),
            ([(2, 3)], [(0, 3)], [(1, 1), (2, 2), (2, 2), (3, 0), (4, 0)]),
            ([(0, 4)], [(2, 4)], [(1, 1), (2, 2), (2, 2), (3, 0), (4, 3), (4, 3)]),
        ):
            change(db, gone, come, strategy)
            assert sorted(db.view("walks").rows()) == expected, strategy
            assert sorted(db.view("bare").rows()) == [(i,) for i, _ in expected], strategy


def parity(edges: Any) -> Any:
    """What can be reached from 0 by an even number of edges, and by an odd one."""
    return ec.recursive(
        lambda even, odd: (
            edges.where(lambda e: e.src == 0)
            .select(lambda e: e.src)
            .union_all(odd.join(edges, lambda o, e: o == e.src).select(lambda o, e: e.dst)),
            even.join(edges, lambda v, e: v == e.src).select(lambda v, e: e.dst),
        )
    )


def test_mutual_recursion_when_the_driver_gives_up(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live, db = ec.connect(), Warehouse(spark, tmp_path / "w")
    views = []
    for each in (live, db):
        edges: Any = each.table_of(Edge)
        even, odd = parity(edges)
        views.append((edges, each.view("even", even), each.view("odd", odd)))
    monkeypatch.setattr(engine, "RECURSION_ENTRIES", 3)
    (ours, *our_views), (theirs, *their_views) = views
    for gone, come in [([], [(0, 1), (1, 2), (2, 0)]), ([(2, 0)], [(2, 3)])]:
        for each, table in ((live, ours), (db, theirs)):
            with each.transaction():
                for edge in gone:
                    table.delete(Edge(*edge))
                if come:
                    table.insert([Edge(*e) for e in come])
        assert "updated by Spark: the change touches more than 3 entries" in db.history()[-1].notes
        for mine, other in zip(our_views, their_views, strict=True):
            assert sorted(other.rows()) == sorted(mine.rows())


def test_a_bag_that_never_ends_is_given_up(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fixpoint_jobs, "JOB_ROUNDS", 3)
    db = Warehouse(spark, tmp_path / "w", strategy="driver")
    db.execute("CREATE TABLE edge (src INT, dst INT)")
    db.execute("INSERT INTO edge VALUES (1, 2)")
    db.execute(WALKS.replace(" WHERE p.depth < 3", ""))
    with pytest.raises(ec.EvaluationError, match="has not come to an end after 3 rounds"):
        change(db, [], [(2, 1)], "spark")
    db._core.engine.strategy = "driver"
    assert sorted(db.view("walks").rows()) == [(1, 2, 1)]
