"""Published views, read by others: Spark's Parquet reader over the files that the log names, read as plain JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest

import evercurrent as ec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def active_files(path: Path) -> list[str]:
    """The files of a Delta table, by the protocol: what was added and not removed since."""
    files: dict[str, None] = {}
    for entry in sorted((path / "_delta_log").glob("*.json")):
        for line in entry.read_text().splitlines():
            action: dict[str, Any] = json.loads(line)
            if "remove" in action:
                files.pop(action["remove"]["path"], None)
            if "add" in action:
                files[action["add"]["path"]] = None
    return [str(path / unquote(f)) for f in files]


def test_published_views_are_ordinary_tables(spark: SparkSession, tmp_path: Path) -> None:
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, k STRING, x DECIMAL(8,2), d TIMESTAMP)")
    db.execute("CREATE VIEW v AS SELECT k, sum(x) AS s, count(*) AS n, max(d) AS d FROM t GROUP BY k")
    for i in range(6):
        changes: list[dict[str, Any]] = [
            {"_change_type": "insert", "id": i, "k": "ab"[i % 2], "x": i, "d": f"2024-01-0{i + 1} 12:00:00"}
        ]
        if i % 3 == 2:
            changes.append({"_change_type": "delete", "id": i - 1})
        db.apply({"t": changes})
    place = tmp_path / "w" / "views" / "v"
    theirs = spark.read.parquet(*active_files(place))
    ours = db.view("v").dataframe()
    assert theirs.columns == ["k", "s", "n", "d"] and theirs.schema["s"].dataType == ours.schema["s"].dataType
    assert sorted(map(tuple, theirs.collect())) == sorted(map(tuple, ours.collect()))
    db.publish("v", tmp_path / "elsewhere")
    db.table("t").delete({"id": 0})
    assert not place.exists()
    moved = spark.read.parquet(*active_files(tmp_path / "elsewhere")).collect()
    assert sorted(map(tuple, moved)) == sorted(map(tuple, db.view("v").dataframe().collect()))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("do not touch")
    with pytest.raises(ec.QueryError, match="something else lies there"):
        db.publish("v", tmp_path / "mine")
