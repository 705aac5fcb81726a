"""Files of tables of a catalog, as Spark names them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from evercurrent.engine.spark.sources.tables import TableDescription, file_marks


def marks_of(location: Path, *named: Path) -> Any:
    frame: Any = SimpleNamespace(inputFiles=lambda: [p.as_uri() for p in named])
    return file_marks(TableDescription(frame, "hive", str(location)))


def test_a_folder_does_not_tell_what_changes_in_it(tmp_path: Path) -> None:
    """Of a table that only Hive reads, Spark names the folder: a file that is new in a partition leaves no trace there."""
    part = tmp_path / "g=a"
    part.mkdir()
    file = part / "1"
    file.write_text("1,2")
    assert list(marks_of(tmp_path, file)) == [str(file)]
    assert marks_of(tmp_path, tmp_path) is None
