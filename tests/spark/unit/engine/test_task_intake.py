"""Large changes, taken in by tasks: pieces, ranges, and the rules that a range decides; no session of Spark."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pyarrow
import pytest

from evercurrent.catalog.nodes import ForeignKey, Table, TableColumn, Unique
from evercurrent.catalog.rules import NotNull, References, RowExists, UniqueKey
from evercurrent.data.types import BIGINT, INT, STRING
from evercurrent.engine.spark import engine as engines
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.intake.task_intake import Arrival, Checks, merge_arrivals
from evercurrent.engine.spark.storage.file_schema import row_schema
from evercurrent.engine.spark.storage.files import Folder
from evercurrent.engine.spark.storage.store_names import table_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.tasks import merging, sorted_frames
from evercurrent.engine.spark.tasks.runner import Runner
from evercurrent.engine.spark.translate.arrow_columns import rows_to_arrow
from tests.spark.unit.engine.sent_tasks import run_sent

TYPES = (BIGINT, INT, STRING)
PARENT = Table("parent", (TableColumn("k", INT),), primary_key=Unique("parent_key", ("k",)))
CHILD = Table(
    "child",
    (TableColumn("id", BIGINT), TableColumn("k", INT), TableColumn("note", STRING)),
    primary_key=Unique("child_key", ("id",)),
    foreign_keys=(ForeignKey("child_parent", ("k",), "parent", ("k",)),),
)
TABLES = {"parent": PARENT, "child": CHILD}

Change = tuple[tuple[Any, ...], int]


class Frame:
    """Rows in partitions, as far as tasks need a frame."""

    def __init__(self, partitions: list[list[Change]]) -> None:
        self.partitions = partitions
        self.schema = row_schema(TYPES)

    def mapInArrow(self, work: Callable[[Any], Iterator[pyarrow.RecordBatch]], _: str) -> Frame:
        self.made = []
        for rows in self.partitions:
            table = rows_to_arrow(TYPES, ["c0", "c1", "c2"], rows, "w")
            for batch in work(iter(table.to_batches(max_chunksize=7))):
                self.made += batch.to_pylist()
        return self

    def collect(self) -> list[Any]:
        return self.made


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.setattr(engines, "private", lambda spark: None)
    monkeypatch.setattr(Runner, "run", run_sent)
    monkeypatch.setattr(sorted_frames, "PIECE_ROWS", 20)
    monkeypatch.setattr("evercurrent.engine.spark.intake.task_intake.RANGE_ROWS", 16)
    monkeypatch.setattr(merging, "RANGE_ROWS", 16)
    folder = Folder(tmp_path)
    folder.make()
    found = Engine(cast(Any, None), folder)
    found.declare(table_store("parent"), [INT], [0])
    found.declare(table_store("child"), TYPES, [0])
    return found


def taken_in(engine: Engine, changes: list[Change], stores: dict[str, Store]) -> tuple[Any, set[type]]:
    """The segment of changes, and the kinds of rules that are certainly satisfied."""
    store = table_store("child")
    checks = Checks(TABLES, lambda name: stores.get(name, Store()), frozenset({"child"}))
    rules = checks.local_rules("child")
    parts = [changes[i::3] for i in range(3)]
    pieces = sorted_frames.write_pieces(engine.task_runner(), store, cast(Any, Frame(parts)))
    arrival = Arrival(store, TYPES, ("c0",), "child", TABLES, stores, tuple(rules))
    segment, sure = merge_arrivals(engine, arrival, pieces)
    kinds: dict[type, bool] = {}
    for rule, satisfied in zip(rules, sure, strict=True):
        kinds[type(rule)] = kinds.get(type(rule), True) and satisfied
    return segment, {kind for kind, satisfied in kinds.items() if satisfied}


def stored(engine: Engine, rows: list[tuple[Any, ...]]) -> dict[str, Store]:
    parents = engine.write_rows(table_store("parent"), [INT], [((k,), 1) for k in range(5)])
    children = engine.write_rows(table_store("child"), TYPES, [(row, 1) for row in rows])
    return {"parent": Store((parents,)), "child": Store((children,))}


@pytest.mark.parametrize("seed", range(8))
def test_changes_are_added_up_and_judged_by_ranges(engine: Engine, seed: int) -> None:
    draw = random.Random(seed)
    rows = [(i, i % 5, f"n{i}") for i in range(0, 200, 2)]
    stores = stored(engine, rows)
    changes: list[Change] = [(row, -1) for row in draw.sample(rows, 40)]
    gone = {row[0] for row, _ in changes}
    changes += [((i, draw.randrange(5), None if i % 7 == 0 else "new"), 1) for i in sorted(gone)[:20]]
    changes += [((i, 1, "odd"), 1) for i in range(1, 120, 2)]
    changes += [((500, 1, "both"), 1), ((500, 1, "both"), -1)]
    wrong: set[type] = set()
    match seed % 4:
        case 1:
            changes.append(((max(set(r[0] for r in rows) - gone), 1, "taken"), 1))
            wrong = {UniqueKey}
        case 2:
            changes.append(((1_001, 9, "orphan"), 1))
            wrong = {References}
        case 3:
            changes.append(((2, 2, "not as stored"), -1))
            wrong = {RowExists}
    draw.shuffle(changes)
    segment, sure = taken_in(engine, changes, stores)
    expected: Counter[Any] = Counter()
    for row, w in changes:
        expected[row] += w
    found = Counter(dict(engine.rows(Store((segment,)), TYPES)))
    assert found == Counter({row: w for row, w in expected.items() if w})
    assert sure >= {NotNull, UniqueKey, References, RowExists} - wrong
    assert not sure & wrong
    assert len(segment.files) > 1 and segment.order[0] == "c0"
    lows = [r.low for r in segment.ranges]
    assert lows == sorted(lows)  # ranges do not overlap
    assert all(a.high < b.low for a, b in zip(segment.ranges, segment.ranges[1:], strict=False))


def test_a_null_is_not_passed(engine: Engine) -> None:
    table = Table(
        "child",
        (TableColumn("id", BIGINT), TableColumn("k", INT, nullable=False), TableColumn("note", STRING)),
        primary_key=Unique("child_key", ("id",)),
    )
    checks = Checks({"child": table}, lambda name: Store(), frozenset({"child"}))
    rules = checks.local_rules("child")
    changes: list[Change] = [((i, None if i == 33 else 1, "x"), 1) for i in range(60)]
    pieces = sorted_frames.write_pieces(
        engine.task_runner(), table_store("child"), cast(Any, Frame([changes]))
    )
    arrival = Arrival(table_store("child"), TYPES, ("c0",), "child", {"child": table}, {}, tuple(rules))
    _, sure = merge_arrivals(engine, arrival, pieces)
    assert not all(sure)
