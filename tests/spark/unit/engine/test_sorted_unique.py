"""Strictly rising files: the certificate that a key is unique."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow
import pytest

from evercurrent.engine.spark.intake.sorted_unique import is_ascending
from evercurrent.engine.spark.storage.files import EMPTY, Folder, Segment


def segment_of(folder: Folder, *files: dict[str, list[Any]]) -> Segment:
    folder.orders["t"] = ("c0", "c1")
    written = [folder.write("t", pyarrow.table({**f, "w": [1] * len(f["c0"])})) for f in files]
    names = tuple(name for s in written for name in s.files)
    return Segment(names, sum(s.rows for s in written), 0, ("c0", "c1"))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path)
    made.make()
    return made


@pytest.mark.parametrize(
    ("files", "columns", "expected"),
    [
        ([{"c0": [1, 1, 2], "c1": [1, 2, 1]}], ["c0", "c1"], True),
        ([{"c0": [1, 1, 2], "c1": [1, 2, 1]}], ["c0"], False),
        ([{"c0": [3, 4], "c1": [0, 0]}, {"c0": [1, 2], "c1": [0, 0]}], ["c0"], True),
        ([{"c0": [1, 3], "c1": [0, 0]}, {"c0": [2, 4], "c1": [0, 0]}], ["c0"], False),
        ([{"c0": [1, 2], "c1": [0, 0]}, {"c0": [2, 3], "c1": [0, 0]}], ["c0"], False),
        ([{"c0": [1, None], "c1": [0, 0]}], ["c0"], False),
        ([{"c0": ["a", "b", "é"], "c1": [0, 0, 0]}], ["c0"], True),
        ([{"c0": [1, 2], "c1": [0, 0]}], ["c1"], False),
    ],
)
def test_what_rises(folder: Folder, files: list[dict[str, Any]], columns: list[str], expected: bool) -> None:
    assert is_ascending(folder, segment_of(folder, *files), columns) is expected


def test_nothing_rises_vacuously(folder: Folder) -> None:
    assert is_ascending(folder, Segment((), 0, 0, ("c0",)), ["c0"])
    assert not is_ascending(folder, EMPTY, ["c0"])  # of no known order
