"""Change feeds as Arrow tables: the same as value by value, or not taken at all."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import pyarrow
import pytest

from evercurrent.catalog.nodes import Table, TableColumn
from evercurrent.data.types import BIGINT, BOOLEAN, DATE, DOUBLE, INT, Array, Decimal, String, Timestamp, Type
from evercurrent.engine.spark.intake.arrow_feeds import read_feed_rows
from evercurrent.errors import EvercurrentError
from evercurrent.rows.conversion import RowReader
from evercurrent.rows.readers import changes_of

DAY = datetime.datetime(2024, 2, 29, 12, 30, 1, 5)
UTC = pyarrow.timestamp("us", tz="UTC")
PRICE = Decimal(6, 2)
PRICES = [decimal.Decimal("9.50"), None, decimal.Decimal("-0.01")]
FINE: list[tuple[Type, pyarrow.Array]] = [
    (BIGINT, pyarrow.array([1, None, -(2**63)], pyarrow.int64())),
    (INT, pyarrow.array([1, None, 7], pyarrow.int64())),
    (BOOLEAN, pyarrow.array([True, None, False])),
    (String(), pyarrow.array(["", None, "ü"])),
    (String(3), pyarrow.array(["üüü", None, ""])),
    (String(3), pyarrow.array(["abc  ", None, "ab "])),
    (String(3), pyarrow.array([None, None, None], pyarrow.string())),
    (String(), pyarrow.array(["a", None, "b"], pyarrow.large_string())),
    (String(), pyarrow.array(["a", None, "a"]).dictionary_encode()),
    (DATE, pyarrow.array([DAY.date(), None, DAY.date()])),
    (Timestamp(True), pyarrow.array([DAY, None, DAY], UTC)),
    (Timestamp(True), pyarrow.array([DAY, None, DAY], pyarrow.timestamp("us", tz="Europe/Berlin"))),
    (Timestamp(False), pyarrow.array([DAY, None, DAY], pyarrow.timestamp("us"))),
    (DOUBLE, pyarrow.array([0.5, None, float("nan")])),
    (PRICE, pyarrow.array(PRICES, pyarrow.decimal128(6, 2))),
    (PRICE, pyarrow.array(PRICES, pyarrow.decimal128(20, 4))),
    (PRICE, pyarrow.array([1.25, None, 2.0])),
    (Decimal(38, 10), pyarrow.array([decimal.Decimal(10**27), None, 0], pyarrow.decimal128(38, 10))),
    (Array(BIGINT), pyarrow.array([[1, None], None, []])),
]
KINDS = ["insert", "update_preimage", "delete"]


def fields_of(t: Type) -> tuple[RowReader, Any]:
    table = Table("t", (TableColumn("id", BIGINT), TableColumn("x", t)))
    return RowReader(table, (None, None)), table.fields


def feed_of(column: pyarrow.Array, kinds: list[Any] = KINDS) -> pyarrow.Table:
    columns = {"x": column, "_commit_version": [1, 2, 3], "id": [1, 2, 3], "_change_type": kinds}
    return pyarrow.table(columns)


@pytest.mark.parametrize(("t", "column"), FINE, ids=str)
def test_columns_are_taken_in_as_value_by_value(t: Type, column: pyarrow.Array) -> None:
    reader, fields = fields_of(t)
    feed = feed_of(column)
    come, gone = changes_of(reader, feed)
    found = read_feed_rows(fields, feed)
    assert found is not None
    assert repr(found) == repr((come, reader.many(gone)))
    assert [len(rows) for rows in found] == [1, 2]


AMISS: list[tuple[Type, pyarrow.Array]] = [
    (String(3), pyarrow.array(["abcd", "a", "b"])),
    (INT, pyarrow.array([2**31, 1, 2])),
    (BIGINT, pyarrow.array(["one", "two", "three"])),
    (PRICE, pyarrow.array([decimal.Decimal("12345.00"), None, None], pyarrow.decimal128(20, 2))),
    (Timestamp(False), pyarrow.array([DAY, None, DAY], UTC)),
]


@pytest.mark.parametrize(("t", "column"), AMISS, ids=str)
def test_what_is_amiss_is_left_to_the_slow_way(t: Type, column: pyarrow.Array) -> None:
    reader, fields = fields_of(t)
    assert read_feed_rows(fields, feed_of(column)) is None
    with pytest.raises(EvercurrentError):
        changes_of(reader, feed_of(column))


def test_a_decimal_beyond_its_precision_is_not_taken_as_it_stands() -> None:
    wide = pyarrow.array([decimal.Decimal("1234567.00")] * 3, pyarrow.decimal128(20, 2))
    lies = pyarrow.Array.from_buffers(pyarrow.decimal128(6, 2), 3, wide.buffers())
    assert read_feed_rows(fields_of(PRICE)[1], feed_of(lies)) is None


@pytest.mark.parametrize(
    "feed",
    [
        [{"id": 1, "x": 1, "_change_type": "insert"}],
        pyarrow.table({"id": [1], "_change_type": ["delete"]}),
        pyarrow.table({"id": [1], "x": [1]}),
        pyarrow.table({"id": [1], "X": [1], "_change_type": ["insert"]}),
        pyarrow.table({"id": [1], "x": [1], "y": [1], "_change_type": ["insert"]}),
        feed_of(pyarrow.array([1, 2, 3]), ["insert", "upsert", "delete"]),
        feed_of(pyarrow.array([1, 2, 3]), ["insert", None, "delete"]),
        feed_of(pyarrow.array([1, 2, 3]), [1, 2, 3]),
    ],
    ids=["mappings", "a key", "no kind", "spelling", "unknown", "kind", "null kind", "number"],
)
def test_other_feeds_are_left_to_the_slow_way(feed: Any) -> None:
    assert read_feed_rows(fields_of(BIGINT)[1], feed) is None
