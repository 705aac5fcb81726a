"""A program over durable states, followed beside the evaluation of its plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from evercurrent.algebra.evaluate import evaluate
from evercurrent.algebra.nodes import columns
from evercurrent.data.zset import ZSet
from evercurrent.delta.analyses.show import show
from evercurrent.delta.compile import compile_views
from evercurrent.delta.program import Input, Program
from evercurrent.engine.spark.kernel.outcome import Outcome
from evercurrent.engine.spark.storage.entry_reader import EntryReader
from evercurrent.engine.spark.storage.file_schema import row_schema
from evercurrent.engine.spark.storage.files import Folder, Segment
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.translate.arrow_columns import rows_to_arrow
from tests.unit.delta.random_plans import CATALOG, Data, Plans

Execute = Callable[[Program, Folder, Mapping[str, Store], Mapping[str, Segment], bool], Outcome]


def write(folder: Folder, relation: Input, entries: Any) -> Segment:
    types = [c.type for c in relation.columns]
    names = [f"c{i}" for i in range(len(types))]
    return folder.write(relation.name, rows_to_arrow(types, names, entries, "w"))


def follow(path: Path, seed: int, steps: int, execute: Execute, before: int = 0) -> None:
    """Law: after every transaction the sum of the deltas so far is the plan, evaluated on the present data.

    The tables hold what so many steps `before` the first transaction have left.
    """
    plan = Plans(seed).plan(1 + seed % 4)
    program = compile_views({"v": plan}, CATALOG, assume=False)
    folder = Folder(path)
    folder.make()
    reader = EntryReader(folder)
    reader.budget = 10**9
    stores: dict[str, Store] = {}
    inputs = {r.name: r for r in program.relations if isinstance(r, Input)}
    types = [c.type for c in columns(plan)]
    data = Data(seed)
    for _ in range(before):
        data.step()
    first = {n: list(data.tables[n].items()) for n in inputs if n in data.tables}
    constants = {n: [(row, 1) for row in r.rows] for n, r in inputs.items() if r.rows is not None}
    view = ZSet()
    for number in range(steps):
        deltas: Any = (
            {**first, **constants} if number == 0 else {n: d.items() for n, d in data.step().items()}
        )
        segments = {n: write(folder, inputs[n], list(d)) for n, d in deltas.items() if n in inputs}
        outcome = execute(program, folder, stores, segments, number == 0)
        for name, segment in outcome.stores.items():
            stores[name] = stores.get(name, Store()).plus(segment)
        change = outcome.deltas.get(program.views["v"])
        if change is not None and change.rows:
            for row in reader.rows(Store((change,)), row_schema(types), types):
                view.add(row[:-1], row[-1])
        expected = evaluate(plan, lambda n: data.tables[n].items())
        assert view == expected, f"seed {seed}, transaction {number}\n{show(program)}"
