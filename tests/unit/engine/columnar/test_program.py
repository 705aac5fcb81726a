"""Random programs over columns, beside the interpreter, which follows the laws word for word."""

from __future__ import annotations

import pytest

from evercurrent.data.zset import ZSet
from evercurrent.delta.analyses.drop_counts import lean
from evercurrent.delta.compile import compile_views
from evercurrent.delta.interpret import Interpreter
from evercurrent.delta.program import Input, Keyed, Linear, Program
from evercurrent.engine.columnar.deltas import Delta, of_rows, to_rows
from evercurrent.engine.columnar.program import ColumnProgram
from evercurrent.engine.columnar.vectors import Unfit
from tests.unit.delta.random_plans import CATALOG, Data, Plans


class Run:
    """A program over columns, read as rows."""

    def __init__(self, program: Program) -> None:
        self.made = ColumnProgram(program)
        self.types = {name: [c.type for c in columns] for name, columns in self.made.columns.items()}
        self.watched = [r.name for r in program.relations if not isinstance(r, Input)]
        self.made.transact(self.made.constants())
        self.made.commit()

    def apply(self, deltas: dict[str, ZSet]) -> dict[str, ZSet]:
        given = {n: of_rows(self.types[n], list(z.items()), self.made.pools) for n, z in deltas.items()}
        moved = self.made.transact(given, self.watched)
        return {n: self.zset(n, moved[n]) if n in moved else ZSet() for n in self.watched}

    def zset(self, name: str, delta: Delta) -> ZSet:
        types = self.types[name]
        columns = [delta.column(i) for i in range(len(types))] if len(delta) else []
        rows = to_rows(types, columns, len(delta), self.made.pools) if len(delta) else []
        return ZSet(zip(rows, delta.weights.tolist(), strict=True))

    def entries(self) -> dict[str, ZSet]:
        return {r.name: ZSet(self.made.rows(r.name)) for r in self.made.program.relations if is_kept(r)}


def is_kept(relation: object) -> bool:
    return isinstance(relation, Keyed) or (isinstance(relation, Linear) and relation.state is not None)


def program_of(seed: int) -> Program:
    plans = Plans(seed)
    return lean(compile_views({"v": plans.plan(1 + seed % 4)}, CATALOG, assume=seed % 2 == 0))


@pytest.mark.parametrize("seeds", [range(k * 20, (k + 1) * 20) for k in range(6)], ids=str)
def test_columns_do_what_the_interpreter_does(seeds: range) -> None:
    ran = 0
    for seed in seeds:
        program = program_of(seed)
        try:
            run = Run(program)
        except Unfit:
            continue
        interpreter, data = Interpreter(program), Data(seed)
        known = {r.name for r in program.relations}
        for step in range(8):
            deltas = {n: z for n, z in data.step().items() if n in known}
            before = run.entries()
            run.apply(deltas)
            run.made.undo()
            assert run.entries() == before, f"undo, seed {seed}"
            if step % 3 == 2:
                run.made.repair()
            expected = interpreter.apply(deltas)
            found = run.apply(deltas)
            run.made.commit()
            for name in run.watched:
                assert found[name] == expected[name], f"delta of {name}, seed {seed}"
            for name, rows in run.entries().items():
                assert rows == interpreter.rows(name), f"rows of {name}, seed {seed}"
        ran += 1
    assert ran >= len(seeds) // 3, "most programs of random plans can run over columns"
