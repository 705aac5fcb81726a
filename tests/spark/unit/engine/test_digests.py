"""Digests tell rows apart that differ in the place of a NULL, and pass over how a table is cut into chunks."""

from __future__ import annotations

import pyarrow

from evercurrent.data.types import Integer, String, Type
from evercurrent.engine.spark.storage.digests import digests

TYPES: list[Type] = [Integer(64), Integer(64), String(None)]


def table(*rows: tuple[int | None, int | None, str | None]) -> pyarrow.Table:
    kinds = [pyarrow.int64(), pyarrow.int64(), pyarrow.string()]
    return pyarrow.table(
        [pyarrow.array(c, k) for c, k in zip(zip(*rows, strict=True), kinds, strict=True)], ["c0", "c1", "c2"]
    )


def test_the_place_of_a_null_counts() -> None:
    found = digests(TYPES, table((1, None, "a"), (None, 1, "a"), (1, None, None), (1, None, ""))).to_pylist()
    assert len(set(found)) == 4


def test_equal_rows_have_equal_digests() -> None:
    a, b = table((1, 2, "a"), (3, 4, None)), table((3, 4, None))
    assert digests(TYPES, pyarrow.concat_tables([a, b])).to_pylist()[1:] == digests(TYPES, b).to_pylist() * 2


def test_many_columns_have_all_their_nulls_told() -> None:
    types: list[Type] = [Integer(64)] * 70
    rows = [[None if i == j else 1 for i in range(70)] for j in range(70)]
    columns = [pyarrow.array([row[i] for row in rows], pyarrow.int64()) for i in range(70)]
    found = digests(types, pyarrow.table(columns, [f"c{i}" for i in range(70)])).to_pylist()
    assert len(set(found)) == 70
