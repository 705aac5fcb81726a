"""Laws of lineage, over random schemas, data and queries, with views over views.

L15  what a row comes from are rows that are there, with the multiplicities that they have
L16  a view over nothing else still has the row, if it only puts rows together
L17  a view over everything else has it no more, if nothing comes from constants
L18  a group is itself over its lineage, if one aggregate stands over joins
L19  a row that a view does not have is refused
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.algebra.evaluate import evaluate
from evercurrent.algebra.lineage import origins
from evercurrent.algebra.nodes import (
    Aggregate,
    Constant,
    Distinct,
    Fixpoint,
    Join,
    Map,
    Plan,
    Scan,
    Select,
    Semi,
    SetOperation,
    Union,
    Unnest,
)
from evercurrent.algebra.origins import Origins
from evercurrent.algebra.walk import children, nodes, relations_of
from evercurrent.data.zset import ZSet
from evercurrent.design.why import base_plan
from evercurrent.errors import EvaluationError
from tests.laws.chooser import Seeded
from tests.laws.world import VIEW, World

SEEDS = range(int(os.environ.get("EVERCURRENT_SEEDS", "30")))
CHAINED = Scan | Constant | Select | Map | Join | Unnest | Union | Distinct | Fixpoint


def is_chained(plan: Plan) -> bool:
    """Whether a plan only puts rows together."""
    return all(
        isinstance(p, CHAINED)
        or (isinstance(p, Semi) and not p.anti)
        or (isinstance(p, SetOperation) and p.kind == "intersect" and not p.all)
        for p in nodes(plan)
    )


def is_one_group(plan: Plan) -> bool:
    """Whether a plan is one aggregate over what only puts rows together."""
    while isinstance(plan, Select | Map):
        plan = plan.input
    return isinstance(plan, Aggregate) and all(is_chained(c) for c in children(plan))


def over(contents: Mapping[str, ZSet]) -> Callable[[str], Any]:
    return lambda name: contents.get(name, ZSet()).items()


def check(world: World) -> set[str]:
    """Check the laws for some rows of the view; says which laws had something to check."""
    db = world.database()
    catalog, session = db._session.catalog, db._session
    view = session.view(VIEW)
    plan = base_plan(view, catalog)
    tables = {name: session.table_rows(name) for name in relations_of(plan)}
    checked: set[str] = set()
    for row, _ in list(session.view_rows(VIEW).items())[:4]:
        found = origins(plan, row, lambda name, needs: tables[name].items(), catalog)
        assert found is not None, f"{row}\n{world.story()}"
        checked |= {"L15"}
        for name, rows in found.rows.items():
            assert all(tables[name].weights[r] == w for r, w in rows.items()), world.story()
        try:
            checked |= puts_together(plan, row, found, tables, world.story())
        except EvaluationError:
            continue  # a query that fails on other data
        assert_told(db, row, found, world.story())
    return checked


def puts_together(plan: Plan, row: Any, found: Origins, tables: dict[str, ZSet], story: str) -> set[str]:
    checked: set[str] = set()
    if is_chained(plan):
        again = evaluate(plan, over(found.rows))
        assert row in again.weights, f"{row} not over its lineage alone\n{story}"
        checked |= {"L16"}
        if not any(isinstance(p, Constant) for p in nodes(plan)):
            rest = {name: rows - found.rows.get(name, ZSet()) for name, rows in tables.items()}
            assert row not in evaluate(plan, over(rest)).weights, f"{row} without its lineage\n{story}"
            checked |= {"L17"}
    elif is_one_group(plan):
        assert row in evaluate(plan, over(found.rows)).weights, f"{row} not over its lineage alone\n{story}"
        checked |= {"L18"}
    return checked


def assert_told(db: ec.Database, row: Any, found: Origins, story: str) -> None:
    """`view.why` says the same, through keys and the rows of the session."""
    view = db.view(VIEW)
    given = next(g for g, r in zip(view.rows(), view._internal(), strict=True) if r == row)
    told = view.why(given)
    counts = {name: sum(w for _, w in rows.items()) for name, rows in found.rows.items()}
    assert {name: len(told[name]) for name in told} == counts, story
    assert given == told.row or given != given, story
    assert str(told).startswith(VIEW)


@pytest.mark.parametrize("seed", SEEDS)
def test_lineage(seed: int) -> None:
    check(World(Seeded(seed)))


def test_every_law_is_asked() -> None:
    asked: set[str] = set()
    for seed in range(1000, 1300):
        asked |= check(World(Seeded(seed), depth=1))
        if asked >= {"L15", "L16", "L17", "L18"}:
            return
    pytest.fail(f"only {sorted(asked)} had something to check")


def test_a_row_that_is_not_there() -> None:
    """L19."""
    db = ec.connect()
    db.execute("CREATE TABLE t (a INT); INSERT INTO t VALUES (1); CREATE VIEW v AS SELECT a + 1 AS b FROM t")
    with pytest.raises(ec.QueryError, match=r"v has no row \(1,\)"):
        db.view("v").why((1,))
    assert db.view("v").why({"b": 2})["T"] == [(1,)]
