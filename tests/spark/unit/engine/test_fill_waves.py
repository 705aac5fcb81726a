"""States that tasks fill from tables, compared with those that the driver fills."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.compute
import pyarrow.parquet
import pytest

from evercurrent.catalog.catalog import Catalog
from evercurrent.definitions.reading import add_definition
from evercurrent.delta.compile import compile_views
from evercurrent.delta.program import Input, Program
from evercurrent.design.compile import Design, compile_all
from evercurrent.engine.columnar.vectors import Unfit
from evercurrent.engine.spark.kernel.batch import DriverTransaction
from evercurrent.engine.spark.storage.entry_reader import EntryReader
from evercurrent.engine.spark.storage.file_schema import Shape
from evercurrent.engine.spark.storage.files import EMPTY, Folder, Segment
from evercurrent.engine.spark.storage.segments import JobContext
from evercurrent.engine.spark.storage.sort_order import orders
from evercurrent.engine.spark.tasks import fill_waves, rule_slices
from evercurrent.engine.spark.tasks.fill_waves import fill_states, lookups, select_served
from evercurrent.engine.spark.tasks.pieces import read_slice
from evercurrent.engine.spark.tasks.rule_slices import SliceRunner
from evercurrent.engine.spark.tasks.runner import Runner
from evercurrent.engine.spark.tasks.transaction import TaskTransaction
from evercurrent.engine.spark.translate.types import arrow_schema
from evercurrent.frontend.sql.parse import parse_script
from tests.spark.unit.engine.following import write
from tests.spark.unit.engine.sent_tasks import SentTasks
from tests.unit.delta.random_plans import CATALOG, Data, Plans


def unsettled(folder: Folder, segment: Segment) -> Segment:
    """The same rows as a sum of several files: twice, and once taken away."""
    if not segment.rows:
        return segment
    rows = pyarrow.parquet.read_table([folder.path(f) for f in segment.files])
    at = rows.schema.get_field_index("w")
    minus = folder.write("unsettled", rows.set_column(at, "w", pyarrow.compute.negate(rows.column("w"))))
    return Segment((*segment.files, *segment.files, *minus.files), 3 * segment.rows, 0, (), False)


def entries(folder: Folder, segment: Segment, shape: Shape, store: str) -> list[Any]:
    """The consolidated entries of a store, in an order of their own."""
    schema = shape.schemas[store]
    rows = EntryReader(folder)
    rows.allow(10**6)
    found = rows.parts(segment, arrow_schema(schema)) if segment.rows else ()
    return sorted((tuple(r.values()) for t in found for r in t.to_pylist()), key=repr)


def ground(path: Path, seed: int) -> tuple[Program, Folder, dict[str, Segment]]:
    program = compile_views({"v": Plans(seed).plan(1 + seed % 4)}, CATALOG, assume=False)
    folder = Folder(path)
    folder.make()
    folder.orders |= orders(program)
    data = Data(seed)
    for _ in range(20):
        data.step()
    given: dict[str, Segment] = {}
    for r in program.relations:
        if isinstance(r, Input):
            rows = data.tables[r.name].items() if r.rows is None else [(row, 1) for row in r.rows]
            given[r.name] = write(folder, r, list(rows))
    return program, folder, given


def run(program: Program, folder: Folder, given: dict[str, Segment], seed: int = 1) -> Any:
    reader = EntryReader(folder)
    reader.allow(10**6)
    context = JobContext(None, folder, True)  # type: ignore[arg-type]
    runner = SentTasks(reader, None, 2)
    sums = {n: unsettled(folder, s) for n, s in given.items()}
    return fill_states(runner, program, sums, None, context, here_rows=3 * (seed % 2), slice_rows=2)


@pytest.mark.parametrize("first", range(0, 40, 20))
def test_states_are_those_that_the_driver_fills(tmp_path: Path, first: int) -> None:
    """From inputs that are sums of files, by slices of two rows; a state is served whole, with its bags, or not at all."""
    served = joined = 0
    for seed in range(first, first + 20):
        program, folder, given = ground(tmp_path / str(seed), seed)
        reader = EntryReader(folder)
        reader.allow(10**6)
        expected = DriverTransaction(program, folder, reader, {}, beginning=True).execute(given)
        made = run(program, folder, given, seed)
        for state in program.states:
            shape = Shape(state)
            there = {s in made.stores for s in shape.stores}
            assert len(there) == 1, "some stores of a state are filled, and others are not"
            if there == {True}:
                rules = [r for rs in program.triggers.values() for r in rs if r.into == state.name]
                served, joined = served + 1, joined + any(lookups(r) for r in rules)
                for store in shape.stores:
                    filled = entries(folder, made.stores[store], shape, store)
                    wanted = entries(folder, expected.stores.get(store, EMPTY), shape, store)
                    assert filled == wanted, f"seed {seed}, {store}"
    assert served > 20 and joined > 0


def find_joined(tmp_path: Path) -> tuple[int, Program, dict[str, Segment]]:
    """A plan over two tables with rows, of which the larger one looks up a state of the smaller one."""
    for seed in range(120):
        program, _, given = ground(tmp_path / f"look{seed}", seed)
        part = select_served(program, given)
        joins = part.relations and any(lookups(r) for r in part.triggers[part.relations[-1].name])
        if joins and len(part.relations) > 1 and all(given[r.name].rows for r in part.relations):
            return seed, program, given
    raise AssertionError("no plan joins")


def test_smaller_tables_come_first(tmp_path: Path) -> None:
    _, program, given = find_joined(tmp_path)
    sizes = [given[r.name].rows for r in select_served(program, given).relations]
    assert len(sizes) > 1 and sizes == sorted(sizes)


def test_states_of_large_tables_are_not_looked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs join them; what needs no lookup is filled by tasks all the same."""
    _, program, given = find_joined(tmp_path)
    monkeypatch.setattr(fill_waves, "LOOKED_UP_ROWS", 0)
    part = select_served(program, given)
    last = part.relations[-1].name
    assert part.states
    assert not any(lookups(r) for r in part.triggers[last])


def test_what_lies_in_a_source_is_left_to_jobs(tmp_path: Path) -> None:
    _, program, given = find_joined(tmp_path)
    elsewhere = {n: Segment((), s.rows, 0, origins=("there",)) for n, s in given.items()}
    assert not select_served(program, elsewhere).states


def test_a_slice_that_does_not_fit_columns_leaves_all_to_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loops over rows would take longer than Spark's jobs."""

    def refuse(*_: Any) -> Any:
        raise Unfit("too large a number")

    seed, program, given = find_joined(tmp_path)
    folder = Folder(tmp_path / f"look{seed}")
    folder.orders |= orders(program)
    assert run(program, folder, given).stores
    monkeypatch.setattr(SliceRunner, "over_columns", refuse)
    monkeypatch.setattr(SliceRunner, "over_rows", lambda *_: pytest.fail("a fill has run by loops"))
    assert not run(program, folder, given).stores


def test_empty_states_are_not_looked_up(tmp_path: Path) -> None:
    """The first table of a join finds nothing: its rule is not run, so a wave reads the table for its own state only."""
    seed, program, given = find_joined(tmp_path)
    folder = Folder(tmp_path / f"look{seed}")
    folder.orders |= orders(program)
    part = select_served(program, given)
    transaction = TaskTransaction(part, SentTasks(EntryReader(folder), None, 2), {}, fill=True)
    first = part.relations[0].name
    transaction.follow(first, given[first])
    found = transaction.wave.rules.get(first, [])
    assert not any(s for r in found for s in lookups(r) if not (s.absent or s.outer))


def test_views_that_are_defined_together_share_scans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row of a table is read once, however many states of however many views it fills."""
    catalog = Catalog()
    for text in parse_script(
        """CREATE TABLE line (id BIGINT PRIMARY KEY, part STRING, price BIGINT);
        CREATE VIEW parts AS SELECT part, sum(price) AS total FROM line GROUP BY part;
        CREATE VIEW dear AS SELECT part, max(price) AS most FROM line WHERE price > 3 GROUP BY part;
        CREATE VIEW whole AS SELECT count(*) AS n FROM line"""
    ):
        kind = "table" if text.startswith("CREATE TABLE") else "view"
        catalog = add_definition(catalog, {"kind": kind, "name": "", "text": text, "policy": "incremental"})
    _, design = compile_all(catalog, Design(), full=False)
    program = design.program
    folder = Folder(tmp_path)
    folder.make()
    folder.orders |= orders(program)
    (line,) = (r for r in program.relations if isinstance(r, Input))
    given = {"line": write(folder, line, [((i, f"p{i % 3}", i), 1) for i in range(40)])}
    read: list[int] = []

    def count_rows(*args: Any) -> Any:
        rows = read_slice(*args)
        read.append(rows.num_rows)
        return rows

    monkeypatch.setattr(rule_slices, "read_slice", count_rows)
    reader = EntryReader(folder)
    reader.allow(10**6)
    context = JobContext(None, folder, True)  # type: ignore[arg-type]
    made = fill_states(Runner(reader, None, 2), program, given, None, context, here_rows=0, slice_rows=10)
    assert {s for state in program.states for s in Shape(state).stores} == made.stores.keys()
    assert len(program.states) >= 3 and sum(read) == 40
