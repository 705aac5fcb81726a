"""Rows of Arrow tables, read by columns, beside the same values read one by one."""

from __future__ import annotations

import datetime
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from evercurrent.catalog.nodes import Table, TableColumn
from evercurrent.data import types as t
from evercurrent.data.values import NAN
from evercurrent.errors import EvercurrentError
from evercurrent.rows import readers
from evercurrent.rows.arrow_rows import changes_of_arrow, rows_of_arrow
from evercurrent.rows.conversion import RowReader
from evercurrent.rows.readers import rows_of

pyarrow = pytest.importorskip("pyarrow")

DAY = datetime.date(2024, 2, 29)
NOON = datetime.datetime(1969, 12, 31, 12, 0, 0, 1)
COLUMNS: list[tuple[t.Type, Any, list[Any]]] = [
    (t.BOOLEAN, pyarrow.bool_(), [True, False]),
    (t.INT, pyarrow.int32(), [1, -(1 << 31)]),
    (t.INT, pyarrow.int64(), [1, -5]),
    (t.SMALLINT, pyarrow.uint8(), [255]),
    (t.BIGINT, pyarrow.uint64(), [(1 << 63) - 1]),
    (t.DOUBLE, pyarrow.float64(), [-0.0, 1.5, float("nan")]),
    (t.FLOAT, pyarrow.float32(), [-0.0, 1.5]),
    (t.Decimal(12, 2), pyarrow.decimal128(12, 2), [Decimal("9.50"), Decimal("-9999999999.99")]),
    (
        t.Decimal(38, 4),
        pyarrow.decimal128(30, 1),
        [Decimal("-12345678901234567890123456789.1"), Decimal("0.1")],
    ),
    (t.Decimal(12, 1), pyarrow.decimal128(12, 2), [Decimal("9.55"), Decimal("-9.55")]),
    (t.Decimal(12, 2), pyarrow.int32(), [7]),
    (t.STRING, pyarrow.string(), ["", "é"]),
    (t.STRING, pyarrow.large_string(), ["a"]),
    (t.STRING, pyarrow.dictionary(pyarrow.int8(), pyarrow.string()), ["a", "b"]),
    (t.String(3), pyarrow.string(), ["abc", "ab"]),
    (t.BINARY, pyarrow.binary(), [b"\0"]),
    (t.DATE, pyarrow.date32(), [DAY, datetime.date.min, datetime.date.max]),
    (t.DATE, pyarrow.date64(), [DAY]),
    (t.TIMESTAMP, pyarrow.timestamp("us", "Europe/Berlin"), [NOON.replace(tzinfo=datetime.UTC)]),
    (t.TIMESTAMP, pyarrow.timestamp("us"), [NOON]),
    (t.TIMESTAMP_NTZ, pyarrow.timestamp("us"), [NOON, datetime.datetime.min, datetime.datetime.max]),
    (t.TIMESTAMP_NTZ, pyarrow.timestamp("ms"), [NOON.replace(microsecond=0)]),
    (t.Array(t.INT), pyarrow.list_(pyarrow.int64()), [[1, None]]),
]


def reader_of(*types: t.Type) -> RowReader:
    columns = tuple(TableColumn(f"C{i}", each) for i, each in enumerate(types))
    return RowReader(Table("t", columns), (None,) * len(types))


def read_one_by_one(reader: RowReader, table: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    with monkeypatch.context() as patch:
        patch.setattr(readers, "rows_of_arrow", lambda *_: None)
        try:
            return rows_of(reader, table)
        except EvercurrentError as error:
            return str(error)


@pytest.mark.parametrize("seed", range(4))
def test_columns_of_every_type_are_read_as_values_are(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    arrays = []
    for _, kind, values in COLUMNS:
        some = [random.choice([*values, *values, None]) for _ in range(9)]
        arrays.append(pyarrow.array(some, kind).slice(random.randrange(3), 6))
    table = pyarrow.table(arrays, [f"c{i}" for i in range(len(COLUMNS))])
    table = pyarrow.concat_tables([table, table.slice(1, 3)])
    reader = reader_of(*(c[0] for c in COLUMNS))
    found = rows_of_arrow(reader, table)
    wanted = read_one_by_one(reader, table, monkeypatch)
    assert found is not None
    assert repr(found) == repr(wanted)
    assert [list(map(type, row)) for row in found] == [list(map(type, row)) for row in wanted]
    assert all(v is NAN for row in found for v in row if v != v)
    kinds = [random.choice(["insert", "delete", "update_preimage"]) for _ in wanted]
    feed = table.append_column("_change_type", pyarrow.array(kinds)).append_column(
        "_commit_version", pyarrow.array([1] * len(kinds))
    )
    inserted = [row for row, kind in zip(wanted, kinds, strict=True) if kind == "insert"]
    deleted = [row for row, kind in zip(wanted, kinds, strict=True) if kind != "insert"]
    assert repr(changes_of_arrow(reader, feed)) == repr((inserted, deleted))


@pytest.mark.parametrize(
    ("kind", "array"),
    [
        (t.SMALLINT, pyarrow.array([1, 1 << 15])),
        (t.Decimal(4, 2), pyarrow.array(["100.00", "1.00"]).cast(pyarrow.decimal128(12, 2))),
        (t.Decimal(4, 2), pyarrow.array(["-100.00"]).cast(pyarrow.decimal128(12, 2))),
        (t.String(2), pyarrow.array(["ab", "abc"])),
        (t.DATE, pyarrow.array([1 << 30], pyarrow.int32()).cast(pyarrow.date32())),
        (t.TIMESTAMP_NTZ, pyarrow.array([1 << 62]).cast(pyarrow.timestamp("us"))),
        (t.TIMESTAMP_NTZ, pyarrow.array([0]).cast(pyarrow.timestamp("us", "UTC"))),
        (t.INT, pyarrow.array(["1"])),
    ],
)
def test_what_does_not_fit_is_left_to_reading_one_by_one(kind: t.Type, array: Any) -> None:
    assert rows_of_arrow(reader_of(kind), pyarrow.table({"c0": array})) is None


def test_other_columns_are_left_to_reading_one_by_one() -> None:
    reader = reader_of(t.INT, t.INT)
    one, both = pyarrow.table({"c0": [1]}), pyarrow.table({"c1": [1], "C0": [2]})
    assert rows_of_arrow(reader, one) is None
    assert rows_of_arrow(reader, both.append_column("c1", pyarrow.array([3]))) is None
    assert rows_of_arrow(reader, both.append_column("more", pyarrow.array([3]))) is None
    assert changes_of_arrow(reader, both) is None
    assert rows_of_arrow(reader, both) == rows_of_arrow(reader, both.to_batches()[0]) == [(2, 1)]
    assert rows_of_arrow(reader, both.slice(0, 0)) == []
    odd = both.append_column("_change_type", pyarrow.array(["upsert"]))
    assert changes_of_arrow(reader, odd) is None
    assert rows_of_arrow(reader, [(1, 2)]) is None
