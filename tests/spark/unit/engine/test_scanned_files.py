"""Changes in Parquet files, read by tasks as Spark reads them; no session of Spark."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from evercurrent.data.types import BIGINT, DATE, STRING, Member
from evercurrent.engine.spark.intake import scanned_files
from evercurrent.engine.spark.intake.scanned_files import Scan, Wanted, find_columns, write_scanned
from evercurrent.engine.spark.storage.entry_reader import EntryReader
from evercurrent.engine.spark.storage.files import Folder
from evercurrent.engine.spark.storage.store_names import table_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.tasks.runner import Runner, Unserved

STORE = table_store("t")
FIELDS = (Member("id", BIGINT, False), Member("note", STRING, True))
CHANGES = pyarrow.table(
    {
        "Note": ["a", None, "c", "d"],
        "id": [4, 1, 3, 1],
        "other": [0, 0, 0, 0],
        "_change_type": ["insert", "update_preimage", "delete", "update_postimage"],
    }
)


@pytest.fixture
def reader(tmp_path: Path) -> EntryReader:
    folder = Folder(tmp_path)
    folder.make()
    folder.orders[STORE] = ("c0",)
    folder.digested[STORE] = (BIGINT, STRING)
    return EntryReader(folder)


def scan(place: Path, table: pyarrow.Table, constants: dict[str, str] | None = None) -> Scan:
    path = str(place / "changes.parquet")
    pyarrow.parquet.write_table(table, path, row_group_size=2)
    groups = [(path, i, min(2, table.num_rows - 2 * i)) for i in range(-(-table.num_rows // 2))]
    return Scan(tuple(groups), {n: n for n in table.column_names}, constants or {})


def wanted(found: Scan, kind: str = "_change_type") -> Wanted:
    result = find_columns(found, STORE, FIELDS, {"id": "id", "note": "Note"}, kind)
    assert result is not None
    return result


def rows_of(reader: EntryReader, pieces: Any) -> list[tuple[Any, ...]]:
    schema = scanned_files.arrow_schema(scanned_files.row_schema([BIGINT, STRING]))
    tables = [reader.folder.table(p.segment, schema) for p in pieces]
    return [tuple(r.values()) for t in tables for r in t.to_pylist()]


def test_rows_are_weighed_and_sorted_by_their_key(reader: EntryReader, tmp_path: Path) -> None:
    found = scan(tmp_path, CHANGES)
    pieces = write_scanned(Runner(reader, None, 2), wanted(found), found)
    assert [rows_of(reader, [p]) for p in pieces] == [
        [(1, None, -1), (4, "a", 1)],
        [(1, "d", 1), (3, "c", -1)],
    ]
    assert all(reader.has(f, "h") for p in pieces for f in p.segment.files)
    assert Store(tuple(p.segment for p in pieces)).rows == 4


def test_all_rows_may_be_the_same_change(reader: EntryReader, tmp_path: Path) -> None:
    for constants, kind, weight in (({}, "", 1), ({"_change_type": "delete"}, "_change_type", -1)):
        found = scan(tmp_path, CHANGES.drop(["_change_type"]), constants)
        pieces = write_scanned(Runner(reader, None, 1), wanted(found, kind), found)
        assert {row[-1] for row in rows_of(reader, pieces)} == {weight}


def test_what_is_not_certain_is_left_to_spark(reader: EntryReader, tmp_path: Path) -> None:
    def refused(table: pyarrow.Table) -> str:
        found = scan(tmp_path, table)
        with pytest.raises(Unserved) as refusal:
            write_scanned(Runner(reader, None, 1), wanted(found), found)
        return str(refusal.value)

    assert "none" in refused(
        CHANGES.set_column(3, "_change_type", pyarrow.array(["insert"] * 3 + ["upsert"]))
    )
    assert "none" in refused(CHANGES.set_column(3, "_change_type", pyarrow.array(["insert"] * 3 + [None])))
    assert "int32" in refused(CHANGES.set_column(1, "id", CHANGES.column("id").cast(pyarrow.int32())))
    bad = pyarrow.array([b"a", b"\xff", b"c", b"d"]).view(pyarrow.string())
    assert "UTF8" in refused(CHANGES.set_column(0, "Note", bad))
    other = Scan(scan(tmp_path, CHANGES).groups, {"id": "id", "Note": "nothing", "_change_type": "id"}, {})
    with pytest.raises(Unserved, match="other columns"):
        write_scanned(Runner(reader, None, 1), wanted(other), other)
    gone = scan(tmp_path, CHANGES)
    (tmp_path / "changes.parquet").unlink()
    with pytest.raises(Unserved):
        write_scanned(Runner(reader, None, 1), wanted(gone), gone)
    assert find_columns(gone, STORE, FIELDS, {"id": "id", "note": "missing"}, "") is None
    assert (
        find_columns(
            Scan((), gone.columns, {"k": "upsert"}), STORE, FIELDS, {"id": "id", "note": "Note"}, "k"
        )
        is None
    )


def test_dates_of_the_old_calendar_are_left_to_spark() -> None:
    days = [datetime.date(1582, 10, 15), None]
    scanned_files.check_values(pyarrow.chunked_array([days], pyarrow.date32()))
    with pytest.raises(Unserved):
        scanned_files.check_values(pyarrow.chunked_array([[datetime.date(1582, 10, 14)]], pyarrow.date32()))
    assert DATE is not None


def test_row_groups_are_put_together_up_to_a_number_of_rows() -> None:
    groups = [("a", i, 10) for i in range(5)] + [("b", 0, 3), ("b", 2, 3)]
    assert scanned_files.group(groups, 20) == [
        (("a", 0, 2),),
        (("a", 2, 4),),
        (("a", 4, 5), ("b", 0, 1), ("b", 2, 3)),
    ]
    assert scanned_files.group([], 20) == []
