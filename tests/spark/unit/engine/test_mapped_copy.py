"""Mapped copies: what they give is what the file holds, and what is found in them is what is found in the file."""

from __future__ import annotations

import datetime
import decimal
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercurrent.data.types import BIGINT, Type
from evercurrent.engine.spark.storage import mapped_copy
from evercurrent.engine.spark.storage.entry_reader import EntryReader
from evercurrent.engine.spark.storage.file_schema import row_schema
from evercurrent.engine.spark.storage.files import SMALL_FILE, Folder
from evercurrent.engine.spark.storage.lookup import Footer, find, find_in
from evercurrent.engine.spark.storage.mapped_copy import UNFINISHED, Copy, pack, unpack
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.storage.wanted import Wanted

KEY = pyarrow.int64()
KINDS: dict[str, tuple[pyarrow.DataType, st.SearchStrategy[Any]]] = {
    "tinyint": (pyarrow.int8(), st.integers(-128, 127)),
    "bigint": (KEY, st.integers(-(2**63), 2**63 - 1)),
    "near": (KEY, st.integers(2**62, 2**62 + 300)),
    "date": (pyarrow.date32(), st.dates()),
    "instant": (pyarrow.timestamp("us", tz="UTC"), st.datetimes(timezones=st.just(datetime.UTC))),
    "price": (
        pyarrow.decimal128(12, 2),
        st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=-(10**9), max_value=10**9),
    ),
    "huge": (
        pyarrow.decimal128(38, 0),
        st.integers(-(10**37), 10**37).map(decimal.Decimal),
    ),
    "text": (pyarrow.string(), st.text(max_size=5)),
    "flag": (pyarrow.bool_(), st.booleans()),
    "ratio": (pyarrow.float64(), st.floats(allow_nan=False)),
    "list": (pyarrow.list_(KEY), st.lists(st.integers(0, 9), max_size=3)),
}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_what_is_packed_is_as_it_was(kind: str, data: st.DataObject) -> None:
    arrow, values = KINDS[kind]
    listed = data.draw(st.lists(st.none() | values, max_size=30))
    column = pyarrow.chunked_array([pyarrow.array(listed[:7], arrow), pyarrow.array(listed[7:], arrow)])
    packed, packing = pack(column)
    assert unpack(packed, packing, arrow).equals(column.combine_chunks())
    places = data.draw(st.lists(st.integers(0, max(0, len(listed) - 1)), max_size=5)) if listed else []
    chosen = packed.take(pyarrow.array(places, KEY))
    assert unpack(chosen, packing, arrow).to_pylist() == [column[i].as_py() for i in places]


def test_a_narrow_range_takes_few_bytes() -> None:
    for spread, width in ((200, "uint8"), (60_000, "uint16"), (10**9, "uint32"), (10**12, "int64")):
        packed, _ = pack(pyarrow.chunked_array([[10**15, 10**15 + spread]]))
        assert str(packed.type) == width
    few, _ = pack(pyarrow.chunked_array([["a", "b"] * 100]))
    many, _ = pack(pyarrow.chunked_array([[str(i) for i in range(200)]]))
    assert pyarrow.types.is_dictionary(few.type) and many.type == pyarrow.string()


Made = Callable[[pyarrow.Table, "list[str] | None"], tuple[Footer, Copy]]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """A Parquet file of these rows, and its copy with these columns."""

    def make(table: pyarrow.Table, names: list[str] | None = None) -> tuple[Footer, Copy]:
        path = str(tmp_path / "rows.parquet")
        pyarrow.parquet.write_table(table, path, row_group_size=100)
        mapped_copy.copy(path, names, table.column_names)
        return Footer.read(path), Copy(path)

    return make


def agree(footer: Footer, copy: Copy, schema: pyarrow.Schema, wanted: list[Wanted]) -> pyarrow.Table:
    """What is found in the copy, which is what is found in the file."""
    found = find_in(copy, lambda: footer, schema, wanted)
    assert found is not None
    table = find(footer, schema, wanted)[0]
    assert found[0].schema == table.schema == schema
    assert found[0].to_pylist() == table.to_pylist()
    assert found[1] > 0 or not table.num_rows
    return table


@pytest.mark.parametrize("names", [None, ["c0", "c1"], ["c0"]])
@pytest.mark.parametrize("key", ["number", "text", "date", "price", "instant", "time", "huge"])
def test_the_same_rows_are_found(made: Made, key: str, names: list[str] | None) -> None:
    numbers = sorted(random.Random(7).choices(range(0, 4000, 2), k=1000))
    day = datetime.date(2020, 1, 1)
    kinds: dict[str, tuple[pyarrow.DataType, Callable[[int], Any]]] = {
        "number": (KEY, lambda n: n),
        "text": (pyarrow.string(), lambda n: f"{n:05}é"),
        "date": (pyarrow.date32(), lambda n: day + datetime.timedelta(n)),
        "price": (pyarrow.decimal128(12, 2), lambda n: decimal.Decimal(n).scaleb(-2)),
        "instant": (
            pyarrow.timestamp("us"),
            lambda n: datetime.datetime(2020, 1, 1) + datetime.timedelta(0, 0, n),
        ),
        "time": (
            pyarrow.time64("us"),
            lambda n: (datetime.datetime(2020, 1, 1) + datetime.timedelta(0, 0, n * 7919)).time(),
        ),
        "huge": (pyarrow.decimal128(38, 0), lambda n: decimal.Decimal(n) * 10**30),
    }
    kind, value = kinds[key]
    table = pyarrow.table(
        {
            "c0": pyarrow.array([value(n) for n in numbers], kind),
            "c1": pyarrow.array([n % 3 for n in range(1000)], KEY),
            "c2": pyarrow.array([f"note {n}" for n in numbers]),
            "w": pyarrow.array([1] * 1000, KEY),
        }
    )
    footer, copy = made(table, names)
    assert copy.sorted == "c0" and copy.rows == 1000
    asked = [*random.Random(8).sample(numbers, 20), 1, 3, -5, 10**6]
    first = Wanted.of("c0", [value(n) for n in asked], kind)
    assert agree(footer, copy, table.schema, [first]).num_rows >= 20
    agree(footer, copy, table.schema, [first, Wanted.of("c1", [0, 2], KEY)])
    agree(footer, copy, table.select(["c2"]).schema, [first, Wanted.of("c1", [5], KEY)])
    agree(footer, copy, table.schema, [Wanted.of("c0", [None, value(numbers[0])], kind)])
    if names is None:
        agree(
            footer,
            copy,
            table.schema,
            [Wanted.of("c1", [1], KEY), Wanted.of("c2", ["note 2"], pyarrow.string())],
        )
    if names == ["c0"]:
        assert find_in(copy, lambda: footer, table.schema, [Wanted.of("c1", [1], KEY)]) is None


@pytest.mark.parametrize(
    "values", [[1, 3, 3, 7], ["a", "b", "b", "d"], [decimal.Decimal(10**30), decimal.Decimal(2 * 10**30)]]
)
def test_rows_up_to_a_value_and_from_it(made: Made, values: list[Any]) -> None:
    kind = pyarrow.decimal128(38, 0) if isinstance(values[0], decimal.Decimal) else None
    _, copy = made(pyarrow.table({"c0": pyarrow.array(values, kind)}), None)
    for value in values:
        assert [values[i] for i in copy.find_reaching(value, True)] == [v for v in values if v >= value]
        assert [values[i] for i in copy.find_reaching(value, False)] == [v for v in values if v <= value]


@pytest.mark.parametrize("keys", [[3, 1, 2], [1, None, 2], [None, None, None], []])
def test_a_file_that_is_not_sorted_says_so(made: Made, keys: list[int | None]) -> None:
    table = pyarrow.table({"c0": pyarrow.array(keys, KEY), "w": pyarrow.array([1] * len(keys), KEY)})
    footer, copy = made(table, None)
    assert (copy.sorted is None) == bool(keys)
    agree(footer, copy, table.schema, [Wanted.of("c0", [2, None, 7], KEY)])
    agree(footer, copy, table.schema, [Wanted.of("c0", [2], KEY)])


def test_large_sorted_files_of_a_folder_have_copies(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.orders |= {"s": ("c0",), "t": ("c0",), "small": ("c0",)}
    folder.looked_at["t"] = ("c0", "w")
    shuffled = random.Random(1).sample(range(2**40), 200_000)
    table = pyarrow.table({"c0": shuffled, "c1": list(reversed(shuffled)), "w": [1] * len(shuffled)})
    types: list[Type] = [BIGINT, BIGINT]
    reader = EntryReader(folder)
    reader.budget = 10
    for store, names in (("s", {"c0", "c1", "w"}), ("t", {"c0", "w"})):
        segment = folder.write(store, table)
        assert segment.bytes > SMALL_FILE
        copy = reader.copy(segment.files[0])
        assert copy is not None and copy.names == names and copy.sorted == "c0"
        rows = reader.rows(Store((segment,)), row_schema(types), types, [0], {(shuffled[5],), (-1,)})
        assert rows == [(shuffled[5], shuffled[-6], 1)]
        Path(folder.path(segment.files[0]) + UNFINISHED).touch()  # of a process that was killed
        assert folder.remove(segment.files) > segment.bytes
        assert not list(tmp_path.rglob("*.map*"))
    dense = table.set_column(0, "c0", pyarrow.array(range(200_000))).select(["c0", "w"])
    segment = folder.write("s", dense)
    assert segment.bytes < SMALL_FILE
    assert reader.copy(segment.files[0]) is not None, "few bytes, but many rows"
    assert reader.copy(folder.write("small", table.slice(0, 10)).files[0]) is None
    assert reader.copy(folder.write("unsorted", table).files[0]) is None


def test_footers_are_read_only_for_columns_that_the_copy_lacks(made: Made) -> None:
    table = pyarrow.table({"c0": [1, 2, 3], "c1": ["a", "b", "c"]})
    _, copy = made(table, ["c0"])
    asked = [Wanted.of("c0", [2], KEY)]

    def never() -> Footer:
        raise AssertionError("the file was opened")

    found = find_in(copy, never, table.select(["c0"]).schema, asked)
    assert found is not None and found[0].to_pylist() == [{"c0": 2}]
    with pytest.raises(AssertionError, match="opened"):
        partial(find_in, copy, never)(table.schema, asked)
