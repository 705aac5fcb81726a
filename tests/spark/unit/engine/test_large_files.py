"""Large files: how their columns are encoded, and that a damaged block is noticed however many places are asked for."""

from __future__ import annotations

from pathlib import Path

import numpy
import pyarrow
import pyarrow.parquet
import pytest

from evercurrent.engine.spark.storage import checksums
from evercurrent.engine.spark.storage.checksums import BLOCK, MANY, Checked, block_sums
from evercurrent.engine.spark.storage.disk import DamageError
from evercurrent.engine.spark.storage.files import SMALL_FILE_ROWS, Folder


def write(place: Path, rows: int) -> tuple[pyarrow.Table, str]:
    numbers = numpy.arange(rows)
    table = pyarrow.table(
        {
            "c0": pyarrow.array(numbers, pyarrow.int64()),
            "c1": pyarrow.array([f"text {n % 7}" for n in range(rows)]),
            "c2": pyarrow.array(numbers % 100, pyarrow.int16()),
            "c3": pyarrow.array(numbers % 2 == 0),
            "w": pyarrow.array(numpy.ones(rows, numpy.int64)),
        }
    )
    folder = Folder(place)
    folder.orders["s"] = ("c0",)
    return table, folder.path(folder.write("s", table).files[0])


def encodings(path: str) -> dict[str, tuple[str, ...]]:
    group = pyarrow.parquet.ParquetFile(path).metadata.row_group(0)
    return {group.column(i).path_in_schema: group.column(i).encodings for i in range(group.num_columns)}


def test_integers_of_large_files_are_differences_and_small_files_are_as_before(tmp_path: Path) -> None:
    table, large = write(tmp_path, SMALL_FILE_ROWS + 1)
    found = encodings(large)
    assert all("DELTA_BINARY_PACKED" in found[c] for c in ("c0", "c2", "w"))
    assert "RLE_DICTIONARY" in found["c1"] and "DELTA_BINARY_PACKED" not in found["c3"]
    assert pyarrow.parquet.read_table(large).cast(table.schema) == table
    few, small = write(tmp_path, SMALL_FILE_ROWS)
    assert not any("DELTA_BINARY_PACKED" in e for e in encodings(small).values())
    assert pyarrow.parquet.read_table(small).cast(few.schema) == few


@pytest.mark.parametrize("count", [MANY // 10, 2 * MANY])
@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_every_asked_block_is_checked_and_no_other_one(count: int, width: int) -> None:
    offset, blocks = 24, 40
    data = numpy.random.default_rng(0).integers(0, 256, blocks * BLOCK + 100).astype(numpy.uint8)
    sums = block_sums(pyarrow.py_buffer(data.tobytes()))
    last = (len(data) - offset) // width
    places = numpy.sort(numpy.random.default_rng(1).choice(last // 4, count))
    asked = {
        b
        for p in places.tolist()
        for b in ((offset + p * width) // BLOCK, (offset + p * width + width - 1) // BLOCK)
    }
    for block in range(blocks + 1):
        damaged = data.copy()
        damaged[min(block * BLOCK + 17, len(data) - 1)] ^= 1 << (block % 8)
        checked = Checked("f", pyarrow.py_buffer(damaged.tobytes()), sums)
        if block in asked:
            for _ in range(2):  # what failed once is not taken as checked
                with pytest.raises(DamageError):
                    checked.require_at(offset, places, width)
        else:
            checked.require_at(offset, places, width)
            assert set(numpy.flatnonzero(checked._seen).tolist()) == asked


def test_many_places_are_found_without_sorting(monkeypatch: pytest.MonkeyPatch) -> None:
    data = pyarrow.py_buffer(bytes(10 * BLOCK))
    checked = Checked("f", data, block_sums(data))
    monkeypatch.setattr(checksums.numpy, "unique", None)
    checked.require_at(0, numpy.arange(MANY), 8)
    assert checked._seen[: MANY * 8 // BLOCK].all()
