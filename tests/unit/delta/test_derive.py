"""Derived programs against evaluation of their plans, on random plans, data and changes.

Law L8: after every transaction the relation that a program keeps for a plan equals the plan evaluated on the present data,
and the delta it reports is the difference. It holds for the interpreter of programs, which follows the laws L9, L10, L11
and L12 word for word, and for the live engine alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import pytest

import evercurrent as ec
from evercurrent.algebra.evaluate import evaluate
from evercurrent.data.zset import ZSet
from evercurrent.delta.analyses.show import show
from evercurrent.delta.compile import compile_views
from evercurrent.delta.interpret import Interpreter
from evercurrent.delta.program import Program
from evercurrent.delta.upkeep import DEFAULT
from evercurrent.engine.live.engine import LiveEngine
from tests.unit.delta.random_plans import CATALOG, Data, Guesses, Plans


class Runner(Protocol):
    def apply(self, deltas: Mapping[str, ZSet]) -> dict[str, ZSet]: ...

    def rows(self, name: str) -> ZSet: ...


class Live:
    def __init__(self, program: Program) -> None:
        self.engine = LiveEngine()
        self.engine.install(program, lambda _: ())

    def apply(self, deltas: Mapping[str, ZSet]) -> dict[str, ZSet]:
        return self.engine.apply(deltas, set(self.engine.program.views.values()))

    def rows(self, name: str) -> ZSet:
        return ZSet(self.engine.rows(name))


@pytest.mark.parametrize("engine", [Interpreter, Live])
@pytest.mark.parametrize("assume", [True, False])
@pytest.mark.parametrize("seed", range(150))
def test_program_equals_plan(seed: int, assume: bool, engine: type[Interpreter] | type[Live]) -> None:
    plan = Plans(seed).plan(1 + seed % 4)
    program = compile_views(
        {"v": plan},
        CATALOG,
        assume=assume,
        least_fan_out=seed % 5 if seed % 2 else DEFAULT,
        statistics=None if seed % 2 else Guesses(seed),
        ordered=seed % 3 < 2,
        bounded=seed % 4 < 3,
    )
    relation = program.views["v"]
    data = Data(seed)
    running: Runner = engine(program)
    before = evaluate(plan, lambda n: data.tables[n].items())
    assert running.rows(relation) == before, show(program)
    for _ in range(8):
        deltas = data.step()
        moved = running.apply(deltas)[relation]
        after = evaluate(plan, lambda n: data.tables[n].items())
        assert moved == after - before, f"{deltas}\n{show(program)}"
        assert running.rows(relation) == after, show(program)
        before = after


@pytest.mark.parametrize("engine", [Interpreter, Live])
@pytest.mark.parametrize("seed", range(150))
def test_program_by_identities_equals_plan(seed: int, engine: type[Interpreter] | type[Live]) -> None:
    plan = Plans(seed).plan(1 + seed % 4)
    program = compile_views({"v": plan}, CATALOG, identities=("v",))
    relation = program.views["v"]
    data = Data(seed)
    running: Runner = engine(program)
    before = evaluate(plan, lambda n: data.tables[n].items())
    for _ in range(8):
        deltas = data.step()
        moved = running.apply(deltas)[relation]
        after = evaluate(plan, lambda n: data.tables[n].items())
        assert moved == after - before, f"{deltas}\n{show(program)}"
        assert running.rows(relation) == after, show(program)
        before = after


def test_a_shown_attribute_reaches_the_view_through_identities() -> None:
    """A change of a name that no condition reads drives nothing but the lookup of the identities."""
    db = ec.connect()
    db.execute(
        "CREATE TABLE dept (id BIGINT PRIMARY KEY, name STRING, city STRING);"
        "CREATE TABLE emp (id BIGINT PRIMARY KEY, name STRING, dept BIGINT, age INT);"
        "CREATE VIEW older AS SELECT e.name AS e, d.name AS d FROM emp e JOIN dept d ON e.dept = d.id WHERE e.age >= 39"
    )
    stages = db._session.maintenance.design.stages["older"]
    program = compile_views({"older": stages.plan}, db._session.catalog, identities=("older",))
    running = Interpreter(program)
    running.apply(
        {"dept": ZSet([((1, "toys", "x"), 1)]), "emp": ZSet([((7, "Ann", 1, 40), 1), ((8, "Bob", 1, 20), 1)])}
    )
    driven: dict[str, ZSet] = {}
    run = running.run

    def noting(name: str, delta: ZSet) -> None:
        driven[name] = delta
        run(name, delta)

    running.run = noting  # type: ignore[method-assign]
    moved = running.apply({"emp": ZSet([((7, "Ann", 1, 40), -1), ((7, "Anne", 1, 40), 1)])})
    assert dict(moved[program.views["older"]].items()) == {("Ann", "toys"): -1, ("Anne", "toys"): 1}
    moving = [name for name, delta in driven.items() if delta]
    assert len(moving) == 3, f"the table, what is shown of it, and the view: {moving}"
