"""Many rows at once: in from Arrow and pandas, and out again."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pytest

from evercurrent.catalog.nodes import Table, TableColumn
from evercurrent.data import types as t
from evercurrent.data.values import NAN, FrozenMap
from evercurrent.errors import QueryError
from evercurrent.rows.conversion import RowReader
from evercurrent.rows.export import arrow_table, pandas_frame
from evercurrent.rows.readers import changes_of, rows_of

pyarrow = pytest.importorskip("pyarrow")
pandas = pytest.importorskip("pandas")

EVERYTHING = Table(
    "t",
    tuple(
        TableColumn(name, type)
        for name, type in {
            "flag": t.BOOLEAN,
            "tiny": t.TINYINT,
            "big": t.BIGINT,
            "single": t.FLOAT,
            "double": t.DOUBLE,
            "money": t.Decimal(12, 2),
            "text": t.STRING,
            "raw": t.BINARY,
            "day": t.DATE,
            "at": t.TIMESTAMP,
            "wall": t.TIMESTAMP_NTZ,
            "span": t.MICROS,
            "list": t.Array(t.Decimal(5, 1)),
            "pairs": t.Map(t.STRING, t.INT),
            "thing": t.Struct((t.Member("a", t.INT), t.Member("b", t.Array(t.STRING)))),
        }.items()
    ),
)
READER = RowReader(EVERYTHING, (None,) * len(EVERYTHING.columns))
NOON = datetime.datetime(2025, 3, 1, 12, 0, 0, 1)
FULL = (
    True,
    -7,
    1 << 60,
    0.5,
    0.1,
    950,
    "é\0';--",
    b"\x00\xff",
    NOON.date(),
    NOON,
    NOON,
    90_000_000,
    (15, None),
    FrozenMap({"x": 1, "y": None}),
    (1, ("p", None)),
)
EMPTY = (None,) * len(FULL)


def test_arrow_goes_out_and_comes_in_unchanged() -> None:
    table = arrow_table(EVERYTHING.fields, [FULL, EMPTY])
    assert table.column("money").to_pylist() == [Decimal("9.50"), None]
    assert str(table.schema.field("at").type) == "timestamp[us, tz=UTC]"
    assert rows_of(READER, table) == [FULL, EMPTY]
    assert rows_of(READER, table.to_batches()[0]) == [FULL, EMPTY]


def test_no_rows_keep_their_columns() -> None:
    assert arrow_table(EVERYTHING.fields, []).num_columns == len(FULL)
    assert list(pandas_frame(EVERYTHING.fields, []).columns) == [c.name for c in EVERYTHING.columns]


def test_pandas_goes_out_and_comes_in_unchanged() -> None:
    frame = pandas_frame(EVERYTHING.fields, [FULL, EMPTY])
    assert str(frame["big"].dtype) == "Int64"
    assert frame["big"].iloc[0] == 1 << 60
    assert rows_of(READER, frame) == [FULL, EMPTY]


def test_in_pandas_nan_is_null_and_in_arrow_it_is_not() -> None:
    table = Table("n", (TableColumn("x", t.DOUBLE), TableColumn("s", t.STRING)))
    reader = RowReader(table, (None, None))
    frame = pandas.DataFrame({"s": ["a", float("nan")], "x": [float("nan"), 1.0]})
    assert rows_of(reader, frame) == [(None, "a"), (1.0, None)]
    arrow = pyarrow.table({"x": pyarrow.array([float("nan"), None]), "s": ["a", "b"]})
    assert rows_of(reader, arrow) == [(NAN, "a"), (None, "b")]


def test_columns_may_come_in_any_order_and_be_left_out() -> None:
    frame = pandas.DataFrame({"TEXT": ["a"], "big": [3]})
    (row,) = rows_of(READER, frame)
    assert (row[2], row[6], row[0]) == (3, "a", None)
    with pytest.raises(QueryError, match="no column 'bog'"):
        rows_of(READER, pandas.DataFrame({"bog": [3]}))


CHANGES: list[dict[str, Any]] = [
    {"_change_type": "insert", "big": 1, "_commit_version": 3, "_commit_timestamp": NOON},
    {"_change_type": "update_preimage", "big": 2, "_commit_version": 3, "_commit_timestamp": NOON},
    {"_change_type": "update_postimage", "big": 3, "_commit_version": 3, "_commit_timestamp": NOON},
    {"_change_type": "delete", "big": 4, "_commit_version": 3, "_commit_timestamp": NOON},
]


@pytest.mark.parametrize(
    "feed",
    [CHANGES, iter(CHANGES), pyarrow.Table.from_pylist(CHANGES), pandas.DataFrame(CHANGES)],
    ids=["rows", "iterator", "arrow", "pandas"],
)
def test_change_feeds_of_every_shape(feed: Any) -> None:
    come, gone = changes_of(READER, feed)
    assert [row[2] for row in come] == [1, 3]
    assert gone == [{"big": 2}, {"big": 4}]


def test_a_feed_without_columns_is_of_defaults() -> None:
    feed = [{"_change_type": "insert"}, {"_change_type": "insert"}]
    for each in (feed, pyarrow.Table.from_pylist(feed), pandas.DataFrame(feed)):
        assert changes_of(READER, each) == ([EMPTY, EMPTY], [])


@pytest.mark.parametrize(
    ("feed", "said"),
    [
        ([{"big": 1}], "have no _change_type"),
        ([(1, 2)], "have no _change_type"),
        (pandas.DataFrame({"big": [1]}), "have no _change_type"),
        ([{"_change_type": "upsert", "big": 1}], "_change_type is 'upsert'"),
        ([{"_change_type": None, "big": 1}], "_change_type is None"),
    ],
)
def test_a_feed_must_say_what_each_change_is(feed: Any, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        changes_of(READER, feed)
