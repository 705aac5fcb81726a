"""Versions say of each file between which keys it lies: lookups open no other files."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from evercurrent.data.types import BIGINT, DATE, STRING
from evercurrent.data.types import Decimal as DecimalType
from evercurrent.engine.spark.storage.entry_reader import EntryReader
from evercurrent.engine.spark.storage.file_schema import row_schema
from evercurrent.engine.spark.storage.files import Folder, Segment
from evercurrent.engine.spark.storage.sort_order import KeyRange
from evercurrent.engine.spark.storage.stored_state import Store, join_segments
from evercurrent.engine.spark.translate.arrow_columns import rows_to_arrow
from evercurrent.errors import StorageError

TYPES = {"numbers": BIGINT, "texts": STRING, "days": DATE, "amounts": DecimalType(12, 2)}


def key(kind: str, i: int) -> Any:
    match kind:
        case "texts":
            return f"{i:05}"
        case "days":
            return datetime.date(2020, 1, 1) + datetime.timedelta(days=i)
        case _:
            return i


def files(folder: Folder, kind: str) -> Segment:
    """Ten files of a hundred keys each."""
    folder.orders["t"] = ("c0",)
    parts = []
    for n in range(10):
        entries = [((key(kind, 100 * n + i), i), 1) for i in range(100)]
        parts.append(folder.write("t", rows_to_arrow([TYPES[kind], BIGINT], ["c0", "c1"], entries, "w")))
    return join_segments(parts, ("c0",))


@pytest.mark.parametrize("kind", TYPES)
def test_only_files_that_can_hold_a_key_are_opened(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Folder(tmp_path)
    folder.make()
    known = files(folder, kind)
    again = Segment.of_json(known.to_json())  # as a version says it
    assert again == known and all(r is not None for r in again.ranges)
    opened: list[str] = []
    plain = Folder.open
    monkeypatch.setattr(Folder, "open", lambda self, file: (opened.append(file), plain(self, file))[1])
    reader = EntryReader(folder)
    reader.allow(10_000)
    types = [TYPES[kind], BIGINT]
    wanted = {(key(kind, 250),), (key(kind, 777),), (key(kind, 5_000),)}
    found = reader.rows(Store((again,)), row_schema(types), types, [0], wanted)
    assert {row[0] for row in found if (row[0],) in wanted} == {key(kind, 250), key(kind, 777)}
    assert set(opened) == {known.files[2], known.files[7]}


def test_a_file_with_nulls_is_opened_for_them(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.make()
    folder.orders["t"] = ("c0",)
    table = pyarrow.table({"c0": pyarrow.array([1, None], pyarrow.int64()), "w": [1, 1]})
    segment = folder.write("t", table)
    reader = EntryReader(folder)
    reader.allow(10)
    rows = reader.rows(Store((segment,)), row_schema([BIGINT]), [BIGINT], [0], {(None,)})
    assert (None, 1) in rows


@pytest.mark.parametrize(
    "wrong",
    [
        5,
        [[1, 2, False], [1, 2, False]],
        [[1, 2]],
        [[True, 2, False]],
        [[{"date": "x"}, 2, False]],
        [[None, 1, True]],
    ],
)
def test_ranges_that_are_none_are_damage(wrong: Any) -> None:
    value = {"files": ["data/t/a.parquet"], "rows": 1, "bytes": 1, "order": ["c0"], "ranges": wrong}
    with pytest.raises(StorageError, match="a version says"):
        Segment.of_json(value)


def test_what_is_not_told_is_not_known() -> None:
    assert KeyRange(Decimal("1.50"), datetime.date(2020, 1, 2)).to_json() == [
        {"decimal": "1.50"},
        {"date": "2020-01-02"},
        False,
    ]
    assert Segment.of_json({"files": ["data/t/a.parquet"], "rows": 1, "bytes": 1}).ranges == ()
