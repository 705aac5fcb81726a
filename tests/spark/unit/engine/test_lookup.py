"""Sorted files: what is read for a key, and in which order stores lie."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from evercurrent.data.types import BIGINT, DATE, STRING, Array, Decimal, Float, Type
from evercurrent.delta.program import Index, Keyed, Program, Ranked, State
from evercurrent.engine.spark.storage.files import ROW_GROUP, Folder, Segment
from evercurrent.engine.spark.storage.lookup import Footer, find, find_groups, only
from evercurrent.engine.spark.storage.merge_policy import FAN, due, is_outgrown
from evercurrent.engine.spark.storage.sort_order import orders, row_order
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.storage.wanted import Wanted
from evercurrent.term.nodes import Column, SortKey

GROUPS = 20
KEY = pyarrow.int64()


@pytest.fixture
def footer(tmp_path: Path) -> Footer:
    """Twenty row groups: keys 0, 2, 4, ... in order; the last one holds NULLs too."""
    keys = [2 * i for i in range(GROUPS * ROW_GROUP)]
    table = pyarrow.table(
        {
            "c0": pyarrow.array([*keys[:-3], None, None, None], KEY),
            "c1": pyarrow.array([f"row {k}" for k in keys]),
            "w": pyarrow.array([1] * len(keys), KEY),
        }
    )
    folder = Folder(tmp_path)
    folder.orders["s"] = ("c0",)
    segment = folder.write("s", table)
    assert segment.order == ("c0",) and segment.rows == len(keys)
    return Footer.read(folder.path(segment.files[0]))


def schema(footer: Footer) -> pyarrow.Schema:
    return pyarrow.schema([("c0", KEY), ("c1", pyarrow.string()), ("w", KEY)])


def test_only_the_groups_that_can_hold_a_key_are_read(footer: Footer) -> None:
    wanted = [Wanted.of("c0", [0, 2 * ROW_GROUP], KEY)]
    assert footer.groups == GROUPS and find_groups(footer, wanted) == [0, 1]
    table, share = find(footer, schema(footer), wanted)
    assert table.column("c1").to_pylist() == ["row 0", f"row {2 * ROW_GROUP}"]
    assert share == pytest.approx(2 / GROUPS)


def test_of_keys_that_are_not_there_only_the_key_column_is_read(footer: Footer) -> None:
    table, share = find(footer, schema(footer), [Wanted.of("c0", [1, 3], KEY)])
    assert table.num_rows == 0 and table.schema == schema(footer)
    assert share == pytest.approx(footer.share(["c0"]) / GROUPS) and 0 < footer.share(["c0"]) < 0.9
    assert find(footer, schema(footer), [Wanted.of("c0", [-1, 10**9], KEY)])[1] == 0.0


def test_nulls_are_found_where_they_are(footer: Footer) -> None:
    table, _ = find(footer, schema(footer), [Wanted.of("c0", [None], KEY)])
    assert table.column("c0").to_pylist() == [None] * 3
    assert find_groups(footer, [Wanted.of("c0", [None], KEY)]) == [GROUPS - 1]


def test_every_key_column_narrows(footer: Footer) -> None:
    both = [Wanted.of("c0", [0, 4], KEY), Wanted.of("c1", ["row 4", "row 8"], pyarrow.string())]
    table, _ = find(footer, schema(footer), both)
    assert table.column("c1").to_pylist() == ["row 4"]


@pytest.mark.parametrize("plain", [False, True])
def test_columns_of_all_kinds_are_found_beside_the_key(tmp_path: Path, plain: bool) -> None:
    """Few strings are read as places in a dictionary, and are strings again in what is found."""
    count = 5 * ROW_GROUP + 7
    table = pyarrow.table(
        {
            "c0": pyarrow.array(range(count), KEY),
            "c1": pyarrow.array([None if i % 5 == 0 else "ab"[i % 2] for i in range(count)]),
            "c2": pyarrow.array([f"row {i}" for i in range(count)]),
            "c3": pyarrow.array([[i] if i % 3 else None for i in range(count)], pyarrow.list_(KEY)),
            "c4": pyarrow.array([b"x"] * count),
            "w": pyarrow.array([1] * count, KEY),
        }
    )
    path = str(tmp_path / "f.parquet")
    pyarrow.parquet.write_table(table, path, row_group_size=ROW_GROUP, use_dictionary=not plain)
    footer = Footer.read(path)
    assert [n for n in table.column_names if footer.is_coded(n)] == ([] if plain else ["c1", "c4"])
    # groups 0, 2 and 5 hold some; group 3 could, and does not, once the second column is asked as well
    keys = [0, 1, 7, 2 * ROW_GROUP, 3 * ROW_GROUP - 1, 3 * ROW_GROUP + 1, count - 1]
    for wanted in (
        [Wanted.of("c0", keys, KEY)],
        [Wanted.of("c0", keys, KEY), Wanted.of("c1", ["a", None], pyarrow.string())],
        [
            Wanted.of(n, table.column(n).take(keys).to_pylist(), table.schema.field(n).type)
            for n in ("c2", "c1")
        ],
    ):
        for order in ((), ("c0",), ("c1",)):  # c1 is not sorted, whatever is said
            found, share = find(footer, table.schema, wanted, order)
            expected = only(table, wanted)
            assert found.schema == table.schema and found.to_pylist() == expected.to_pylist()
        assert 2 <= expected.num_rows <= len(keys) and 0 < share <= 1


@pytest.mark.parametrize("seed", range(5))
def test_in_a_sorted_file_keys_are_found_by_binary_search(tmp_path: Path, seed: int) -> None:
    r = random.Random(seed)
    keys = sorted(r.randrange(-1_000, 40_000) // r.choice([1, 50]) for _ in range(3 * ROW_GROUP + 5))
    table = pyarrow.table(
        {"c0": pyarrow.array(keys, KEY), "c1": pyarrow.array([r.randrange(4) for _ in keys], KEY)}
    )
    path = str(tmp_path / "f.parquet")
    pyarrow.parquet.write_table(table, path, row_group_size=ROW_GROUP)
    asked = [Wanted.of("c0", r.sample(range(-2_000, 41_000), 300), KEY), Wanted.of("c1", [0, 3], KEY)]
    for wanted in (asked, asked[:1]):
        found, _ = find(Footer.read(path), table.schema, wanted, ("c0",))
        assert found.to_pylist() == only(table, wanted).to_pylist()


def test_rows_are_sorted_by_their_key_and_by_what_can_be_sorted() -> None:
    types: list[Type] = [Float(64), STRING, Array(BIGINT), DATE, BIGINT, Decimal(5, 2)]
    assert row_order(types) == ("c1", "c3", "c4")
    assert row_order(types, [4]) == ("c4", "c1", "c3")


def test_states_are_sorted_by_what_they_are_looked_up_by() -> None:
    a, b, c = (Column(n, BIGINT, False) for n in "abc")
    joined = State("joined", (a, b), (c,), indexes=(Index(("b",)), Index(("c", "a"), single=True)))
    top = State("top", (a, b, c))
    plain = State("plain", (b, a))
    reader = Keyed("first", (a,), "top", (), Ranked((SortKey(c),), 10, 0, (a,)))
    found = orders(Program((reader,), (joined, top, plain)))
    assert found == {"joined": ("d0", "c0", "c1"), "top": ("c2", "c0", "c1"), "plain": ("c0", "c1")}


def segments(*rows: int) -> tuple[Segment, ...]:
    return tuple(Segment((f"f{i}",), n, 0) for i, n in enumerate(rows))


def test_stores_stay_few_segments_however_many_batches() -> None:
    store, written = Store(segments(1_000_000)), 0
    for _ in range(2_000):
        store = store.plus(Segment(("x",), 100, 0))
        while chosen := due(store):
            rows = sum(s.rows for s in chosen)
            written += rows
            store = Store(store.base, (*store.recent[: -len(chosen)], Segment(("y",), rows, 0)))
        assert len(store.recent) < FAN * 5
    assert sum(s.rows for s in store.recent) == 200_000 and written < 5 * 200_000
    assert not is_outgrown(store) and is_outgrown(store.plus(Segment(("z",), 60_000, 0)))
