"""The smallest and largest values of groups, found at the edges of their groups in sorted files."""

from __future__ import annotations

import datetime
import json
import math
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from evercurrent.data.order import sort_key
from evercurrent.data.representation import NAN
from evercurrent.data.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    MICROS,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Decimal,
    Member,
    Struct,
    Type,
)
from evercurrent.data.zset import Row, ZSet
from evercurrent.delta.program import Accumulator, Amount, Finalize, Input, Keyed, Program, Rule, State
from evercurrent.engine.spark.kernel.batch import DriverTransaction
from evercurrent.engine.spark.storage import files, mapped_copy
from evercurrent.engine.spark.storage.entry_reader import EntryReader
from evercurrent.engine.spark.storage.file_schema import row_schema
from evercurrent.engine.spark.storage.files import Folder
from evercurrent.engine.spark.storage.sort_order import orders
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.translate.arrow_columns import rows_to_arrow
from evercurrent.term.nodes import Aggregate, Column, Literal

W = Column("w", BIGINT, False)
FIRST = datetime.date(2024, 1, 1)
MOMENT = datetime.datetime(1969, 12, 31, 23, 59, 59, 999_000)
KINDS: dict[str, tuple[Type, Callable[[int], Any]]] = {
    "number": (BIGINT, lambda n: n),
    "text": (STRING, lambda n: f"é{n:04}"),
    "day": (DATE, lambda n: FIRST + datetime.timedelta(n)),
    "price": (Decimal(12, 2), lambda n: n - 450),
    "long price": (Decimal(38, 2), lambda n: (n - 450) * 10**30),
    "moment": (TIMESTAMP, lambda n: MOMENT + datetime.timedelta(microseconds=n - 450)),
    "ratio": (DOUBLE, lambda n: NAN if n > 880 else math.inf if n < 5 else n / 7),
    "pair": (Struct((Member("a", BIGINT, True), Member("b", BIGINT, True))), lambda n: (n % 7, n)),
}
KEYS: dict[str, tuple[Type, list[Any]]] = {
    "truth": (BOOLEAN, [True, False]),
    "bytes": (BINARY, [b"", b"\x00", b"\xff"]),
    "moment": (TIMESTAMP_NTZ, [MOMENT, MOMENT + datetime.timedelta(microseconds=1)]),
    "time": (TIME, [datetime.time(1), datetime.time(1, 0, 0, 1)]),
    "price": (Decimal(9, 2), [-100, 0, 5]),
    "micros": (MICROS, [-3, 0, 10**9]),
    "ratio": (DOUBLE, [0.5, -1.0, math.inf]),
    "text": (STRING, ["", "a", "A", "\U0001f600", "\uffee"]),
}


def largest_and_smallest(keys: Sequence[Type], kind: Type) -> Program:
    """SELECT keys, max(x), min(x) GROUP BY keys."""
    by = tuple(Column(f"k{i}", t, True) for i, t in enumerate(keys))
    x = Column("x", kind, True)
    kept = tuple(Accumulator(name, kind, "aggregate", Aggregate(name, (x,), kind)) for name in ("max", "min"))
    state = State("kept", by, (), kept)
    outputs = (*by, Column("max", kind, True), Column("min", kind, True))
    final = Finalize(outputs, Literal(1, BIGINT))
    amounts = (Amount((x,), W), Amount((x,), W))
    rule = Rule("t", (*by, x), W, (), "kept", by, W, (), amounts)
    keyed = Keyed("best", outputs, "kept", tuple(c.name for c in by), final)
    return Program((Input("t", (*by, x)), keyed), (state,), {"t": (rule,)}, {"v": "best"})


class Groups:
    """A table in groups, its extremes as the driver keeps them, and as they are."""

    def __init__(self, path: Path, keys: Sequence[Type], kind: Type) -> None:
        self.made = largest_and_smallest(keys, kind)
        self.types = [*keys, kind]
        self.folder = Folder(path)
        self.folder.make()
        self.folder.orders |= orders(self.made)
        self.reader = EntryReader(self.folder)
        self.stores: dict[str, Store] = {}
        self.table, self.view = ZSet(), ZSet()

    def apply(self, delta: ZSet, budget: int = 10**9) -> int:
        """Applies a change; returns how many entries were read for it."""
        self.reader.allow(budget, 10**9)
        names = [f"c{i}" for i in range(len(self.types))]
        segment = self.folder.write("t", rows_to_arrow(self.types, names, delta.items(), "w"))
        outcome = DriverTransaction(self.made, self.folder, self.reader, self.stores).execute({"t": segment})
        read = budget - self.reader.budget
        for store, added in outcome.stores.items():
            self.stores[store] = self.stores.get(store, Store()).plus(added)
        for row, w in delta.items():
            self.table.add(row, w)
        change = outcome.deltas.get("best")
        if change is not None:
            shown = [c.type for c in self.made.relations[1].columns]
            self.reader.allow(10**9, 10**9)
            for *row, w in self.reader.rows(Store((change,)), row_schema(shown), shown):
                self.view.add(tuple(row), w)
        return read

    def compute(self) -> ZSet:
        groups: dict[Row, list[Any]] = {}
        for *key, x in (row for row, _ in self.table.items()):
            groups.setdefault(tuple(key), []).append(x)
        found, order = ZSet(), sort_key(self.types[-1])
        for key, values in groups.items():
            known = [v for v in values if v is not None]
            best = max(known, key=order, default=None), min(known, key=order, default=None)
            found.add((*key, *best), 1)
        return found


def change_often(groups: Groups, chance: random.Random, fresh: Callable[[], Row]) -> None:
    """Insertions and deletions, above all of the extreme values; every version is compared."""
    order = sort_key(groups.types[-1])
    for number in range(7):
        there = dict(groups.table.items())
        gone = dict(chance.sample(list(there.items()), min(len(there), 15)))
        if number % 2:  # the best and worst of each group go, and the next ones with them
            many = 40 if number == 5 else 3
            for key in {row[:-1] for row in there}:
                group = [row for row in there if row[:-1] == key and row[-1] is not None]
                group.sort(key=lambda row: order(row[-1]))
                gone |= {row: there[row] for row in (*group[-many:], *group[:many])}
        delta = ZSet((row, -w) for row, w in gone.items())
        for _ in range(900 if number == 0 else 10):
            delta.add(fresh(), 1)
        groups.apply(delta)
        assert groups.view == groups.compute(), number


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("keys", [0, 1, 2])
@pytest.mark.parametrize("seed", range(2))
def test_extremes_follow_every_change(
    tmp_path: Path, seed: int, keys: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "SMALL_FILE", 0)  # every file has a mapped copy
    chance, (type_, value) = random.Random(seed), KINDS[kind]
    nulls = seed % 2 == 1

    def or_null(x: Any) -> Any:
        return None if nulls and chance.random() < 0.05 else x

    def fresh() -> Row:
        key = (
            or_null(FIRST + datetime.timedelta(chance.randrange(3))),
            or_null(chance.choice(["AT", "DE", "FR"])),
        )
        return (*key[:keys], or_null(value(chance.randrange(900))))

    change_often(Groups(tmp_path, [DATE, STRING][:keys], type_), chance, fresh)


@pytest.mark.parametrize("kind", KEYS)
def test_groups_are_found_by_keys_of_every_type(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "SMALL_FILE", 0)
    chance, (type_, values) = random.Random(1), KEYS[kind]

    def fresh() -> Row:
        return (chance.choice(values), chance.randrange(3), chance.randrange(900))

    change_often(Groups(tmp_path, [type_, BIGINT], BIGINT), chance, fresh)


def test_values_that_cancel_in_many_files_are_not_extremes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "SMALL_FILE", 0)
    groups = Groups(tmp_path, [STRING], BIGINT)
    groups.apply(ZSet((("a", n), 1) for n in range(3_000)))
    for begin in range(2_900, 2_400, -100):  # more of the edge than is read at first, in files of their own
        groups.apply(ZSet((("a", n), -1) for n in range(begin, begin + 100)))
        assert groups.view == ZSet([(("a", begin - 1, 0), 1)])
    groups.apply(ZSet([(("a", 2_450), 2)]))
    assert groups.view == ZSet([(("a", 2_499, 0), 1)])


def test_the_cost_of_an_extreme_does_not_grow_with_its_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "SMALL_FILE", 0)
    read = []
    for size in (2_000, 50_000):
        groups = Groups(tmp_path / str(size), [DATE, STRING], BIGINT)
        groups.apply(ZSet(((FIRST, "FR" if n % 2 else "DE", n), 1) for n in range(size)))
        change = ZSet([((FIRST, "FR", size - 1), -1), ((FIRST, "DE", size + 9), 1)])
        read.append(groups.apply(change, budget=1_000))  # entries that may be read
        assert groups.view == groups.compute()
    assert read[0] == read[1] < 100


@pytest.mark.parametrize("damage", ["old", "missing"])
def test_files_without_a_known_order_are_read_whole(tmp_path: Path, damage: str) -> None:
    groups = Groups(tmp_path, [STRING], BIGINT)
    groups.apply(ZSet((("a", n), 1) for n in range(50_000)))
    for path in tmp_path.rglob("*.map"):
        if damage == "missing":
            path.unlink()
        else:  # as it was written before copies said by which columns they rise
            content = path.read_bytes().replace(b'"order": [', b'"other": [')
            size = content.rindex(b'{"size":')
            size = json.loads(content[size : content.rindex(b"}") + 1])["size"]
            arrow = pyarrow.py_buffer(content[:size])
            of = json.loads(content[content.rindex(b'{"size":') : content.rindex(b"}") + 1])["of"]
            path.write_bytes(content[:size] + mapped_copy.trailer(arrow, of))
    groups.reader = EntryReader(groups.folder)
    groups.apply(ZSet([(("a", 49_999), -1), (("a", 0), -1)]))
    assert groups.view == ZSet([(("a", 49_998, 1), 1)])
