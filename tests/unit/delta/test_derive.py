"""Derived programs against evaluation of their plans, on random plans, data and changes.

Law: after every transaction the relation that a program keeps for a plan equals the plan evaluated on the present data,
and the delta it reports is the difference. It holds for the interpreter of programs and for the live engine alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import pytest

from evercurrent.algebra.evaluate import evaluate
from evercurrent.data.zset import ZSet
from evercurrent.delta.compile import compile_views
from evercurrent.delta.interpret import Interpreter
from evercurrent.delta.program import Program
from evercurrent.delta.show import show
from evercurrent.engine.live.engine import LiveEngine
from tests.unit.delta.random_plans import CATALOG, Data, Plans


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
    program = compile_views({"v": plan}, CATALOG, assume=assume, least_fan_out=1 + seed % 3)
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
