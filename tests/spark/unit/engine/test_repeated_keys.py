"""Only keys that are repeated are grouped; the sums are those of grouping all rows. No Spark runs here."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercurrent.engine.spark.kernel import constraint_precheck
from evercurrent.engine.spark.kernel.constraint_precheck import add_up, consolidate_rows, distinct, find_alone
from evercurrent.engine.spark.kernel.equal_rows import MOST, sum_equal

KEYS = st.one_of(st.none(), st.integers(-3, 3), st.sampled_from([2**63 - 1, -(2**63)]))
ROWS = st.lists(st.tuples(st.sampled_from("ab"), KEYS, st.integers(-2, 2), st.integers(-2, 2)), max_size=12)


def table_of(rows: list[tuple[Any, ...]], chunks: int = 2) -> pyarrow.Table:
    schema = pyarrow.schema(
        [("s", pyarrow.string()), ("k", pyarrow.int64()), ("n", pyarrow.int32()), ("w", pyarrow.int64())]
    )
    cut = len(rows) // chunks
    parts = [rows[:cut], rows[cut:]]
    return pyarrow.concat_tables(
        pyarrow.table(
            [pyarrow.array([r[i] for r in p], schema.field(i).type) for i in range(4)], schema=schema
        )
        for p in parts
    )


def sums(rows: list[tuple[Any, ...]], places: tuple[int, ...]) -> Counter[Any]:
    result: Counter[Any] = Counter()
    for row in rows:
        result[tuple(row[i] for i in places)] += row[3]
    return result


@pytest.mark.parametrize("keys", [("s",), ("k",), ("n",), ("s", "k"), ("k", "n"), ("s", "k", "n")])
@given(rows=ROWS)
def test_sums_of_keys_are_those_of_all_rows(keys: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    places = tuple("skn".index(k) for k in keys)
    found = add_up(table_of(rows), keys)
    assert found.column_names == [*keys, "w"] and found.schema.field("w").type == pyarrow.int64()
    assert {tuple(r.values())[:-1]: r["w"] for r in found.to_pylist()} == sums(rows, places)
    assert found.num_rows == len({tuple(row[i] for i in places) for row in rows})


@pytest.mark.parametrize("keys", [("k",), ("s", "n"), ("s", "k", "n")])
@given(rows=ROWS)
def test_consolidated_rows_add_up_to_all_rows(keys: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    places = tuple("skn".index(k) for k in keys)
    found = consolidate_rows(table_of(rows), keys)
    assert found.schema == table_of([]).schema
    left = [tuple(r.values()) for r in found.to_pylist()]
    wanted = {k: w for k, w in sums(rows, places).items() if w}
    assert {k: w for k, w in sums(left, places).items() if w} == wanted
    if len({tuple(row[i] for i in places) for row in rows}) < len(rows):
        assert len(left) == len(wanted) and {row[:3] for row in left} <= {row[:3] for row in rows}


@given(rows=ROWS)
def test_distinct_keys_are_each_there_once(rows: list[tuple[Any, ...]]) -> None:
    for names in (["k"], ["s"], ["s", "k"]):
        found = [tuple(r.values()) for r in distinct(table_of(rows).select(names)).to_pylist()]
        places = ["skn".index(n) for n in names]
        assert sorted(map(repr, found)) == sorted(map(repr, {tuple(r[i] for i in places) for r in rows}))


def test_keys_that_are_not_repeated_are_not_grouped(monkeypatch: pytest.MonkeyPatch) -> None:
    grouped: list[int] = []
    whole = constraint_precheck.sum_weights

    def count(table: pyarrow.Table, keys: Any) -> pyarrow.Table:
        grouped.append(table.num_rows)
        return whole(table, keys)

    monkeypatch.setattr(constraint_precheck, "sum_weights", count)
    rows = [("a", k, 0, 1) for k in (5, 1, 4, 1, 2)]
    assert add_up(table_of(rows), ["s", "k"]).num_rows == 4 and grouped == [2]
    assert find_alone(table_of(rows), ["s"]) is None


@pytest.mark.parametrize("seed", range(6))
def test_equal_rows_are_added_up_by_sorting(seed: int) -> None:
    draw = numpy.random.default_rng(seed)
    most, size = (1, 3, 16, 40, 3, 2)[seed], 400
    keys = numpy.repeat(draw.permutation(size) - size // 2, draw.integers(1, most + 1, size))
    if seed % 2:
        keys = draw.permutation(keys)
    if seed == 4:
        keys = numpy.concatenate([keys, numpy.arange(10_000, 20_000)])  # few rows are near others
    table = pyarrow.table(
        {
            "k": keys,
            "n": draw.integers(0, 2, len(keys)).astype(numpy.int32),
            "w": draw.integers(-2, 3, len(keys)),
        }
    )
    found = sum_equal(table, ["k", "n"])
    longest = Counter(keys.tolist()).most_common(1)[0][1]
    assert (found is None) == (longest > MOST)
    if found is None:
        return
    places, weights = found
    wanted: Counter[Any] = Counter()
    for row in table.to_pylist():
        wanted[row["k"], row["n"]] += row["w"]
    rows = table.take(pyarrow.array(places)).to_pylist()
    assert {(r["k"], r["n"]): w for r, w in zip(rows, weights.tolist(), strict=True)} == dict(wanted)
    assert len(rows) == len(wanted)
