"""Lookups by several columns: what comes along with the asked rows stays with Arrow."""

from __future__ import annotations

import decimal
from pathlib import Path

import pyarrow
import pytest

from evercurrent.data.types import BIGINT, STRING, Decimal, Type
from evercurrent.data.zset import Row
from evercurrent.engine.spark.storage.entry_reader import EntryReader, TooLarge
from evercurrent.engine.spark.storage.file_schema import row_schema
from evercurrent.engine.spark.storage.files import Folder
from evercurrent.engine.spark.storage.stored_state import Store

SIDE = 120
TYPES: list[Type] = [Decimal(9, 2), STRING, BIGINT]


@pytest.fixture
def store(tmp_path: Path) -> tuple[EntryReader, Store]:
    """All pairs of 120 values with 120 others, and a row with a NULL."""
    pairs = [(a, f"b{b}") for a in range(SIDE) for b in range(SIDE)]
    prices = [decimal.Decimal(a).scaleb(-2) for a, _ in pairs]
    table = pyarrow.table(
        {
            "c0": pyarrow.array([*prices, decimal.Decimal(7).scaleb(-2)], pyarrow.decimal128(9, 2)),
            "c1": pyarrow.array([*(b for _, b in pairs), None]),
            "c2": pyarrow.array(range(len(pairs) + 1), pyarrow.int64()),
            "w": pyarrow.array([1] * (len(pairs) + 1), pyarrow.int64()),
        }
    )
    folder = Folder(tmp_path)
    return EntryReader(folder), Store((folder.write("s", table),))


def asked(reader: EntryReader, store: Store, wanted: set[Row], budget: int) -> set[Row]:
    reader.budget = budget
    found = reader.rows(store, row_schema(TYPES), TYPES, (0, 1), wanted)
    return {row[:2] for row in found}


def test_other_pairs_of_asked_values_become_no_python_values(store: tuple[EntryReader, Store]) -> None:
    wanted: set[Row] = {(i, f"b{(i * 7) % SIDE}") for i in range(SIDE)}
    assert asked(*store, wanted, len(wanted)) == wanted
    assert asked(*store, wanted | {(SIDE, "b1")}, len(wanted)) == wanted


def test_a_null_is_found_and_others_come_along(store: tuple[EntryReader, Store]) -> None:
    wanted: set[Row] = {(i, f"b{i}") for i in range(SIDE)} | {(7, None)}
    assert asked(*store, wanted, SIDE * SIDE + 1) >= wanted
    with pytest.raises(TooLarge):
        asked(*store, wanted, len(wanted))
