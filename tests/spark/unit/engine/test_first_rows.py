"""The first rows of a large state, found without reading the rest of it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from evercurrent.data.order import sort_key
from evercurrent.data.types import BIGINT, STRING, Type
from evercurrent.data.zset import Row, ZSet
from evercurrent.delta.program import Input, Keyed, Program, Ranked, Rule, State
from evercurrent.engine.spark.kernel.batch import DriverTransaction
from evercurrent.engine.spark.storage import files
from evercurrent.engine.spark.storage.entry_reader import EntryReader
from evercurrent.engine.spark.storage.file_schema import row_schema
from evercurrent.engine.spark.storage.files import Folder
from evercurrent.engine.spark.storage.sort_order import orders
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.translate.arrow_columns import rows_to_arrow
from evercurrent.term.nodes import Column, SortKey

A, B = Column("a", STRING, True), Column("b", BIGINT, True)
W = Column("w", BIGINT, False)
TYPES: list[Type] = [STRING, BIGINT]


def program(order: SortKey, limit: int, offset: int) -> Program:
    top = Keyed("top", (A, B), "kept", (), Ranked((order,), limit, offset, (A, B)))
    rule = Rule("t", (A, B), W, (), "kept", (A, B), W)
    return Program((Input("t", (A, B)), top), (State("kept", (A, B)),), {"t": (rule,)}, {"v": "top"})


@pytest.mark.parametrize("copies", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_the_first_rows_follow_without_the_rest(
    tmp_path: Path, seed: int, copies: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "ROW_GROUP", 8)
    if copies:
        monkeypatch.setattr(files, "SMALL_FILE", 0)
    chance = random.Random(seed)
    by_b, descending, nulls_first = chance.random() < 0.6, chance.random() < 0.5, chance.random() < 0.5
    order = SortKey(B if by_b else A, descending, nulls_first)
    limit, offset = chance.choice([1, 5, 20]), chance.choice([0, 3])
    made = program(order, limit, offset)
    folder = Folder(tmp_path)
    folder.make()
    folder.orders |= orders(made)
    reader = EntryReader(folder)
    stores: dict[str, Store] = {}
    table, view = ZSet(), ZSet()
    nulls = seed % 3 == 0

    def fresh() -> Row:
        b = None if nulls and chance.random() < 0.02 else chance.randrange(300)
        return (f"x{chance.randrange(500):03}", b)

    read = []
    for number in range(8):
        gone = chance.sample(list(table.items()), min(len(table), 30)) if number else []
        if number % 2:  # what is shown goes too
            gone += [(row, w) for row, w in view.items() if row not in dict(gone)]
        delta = ZSet((row, -w) for row, w in dict(gone).items())
        for _ in range(1_000 if number == 0 else 20):
            delta.add(fresh(), 1)
        before = reader.read_bytes
        reader.budget = 10**9
        segment = folder.write("t", rows_to_arrow(TYPES, ["c0", "c1"], delta.items(), "w"))
        outcome = DriverTransaction(made, folder, reader, stores, beginning=number == 0).execute(
            {"t": segment}
        )
        read.append(reader.read_bytes - before)
        for name, added in outcome.stores.items():
            stores[name] = stores.get(name, Store()).plus(added)
        table = table + delta
        change = outcome.deltas.get("top")
        if change is not None:
            for row in reader.rows(Store((change,)), row_schema(TYPES), TYPES):
                view.add(row[:-1], row[-1])
        assert view == expected(table, order, limit, offset), number
    if copies:
        assert list(tmp_path.rglob("*.map"))
    elif not (nulls and by_b):
        assert max(read[1:3]) < sum(s.bytes for s in stores["kept"].base), "the rest was not read"


def expected(table: ZSet, order: SortKey, limit: int, offset: int) -> ZSet:
    first = sort_key(order.term.type, order.descending, order.nulls_first)
    rest = [sort_key(t) for t in TYPES]
    at = 1 if order.term == B else 0
    rows = [row for row, w in table.items() for _ in range(w)]
    rows.sort(key=lambda r: (first(r[at]), *(k(x) for k, x in zip(rest, r, strict=True))))
    return ZSet((row, 1) for row in rows[offset : offset + limit])
