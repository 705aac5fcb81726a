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


def states_of(path: Path) -> list[list[tuple[Any, ...]]]:
    """The rows of a Delta table at each of its versions."""
    from deltalake import DeltaTable

    last = DeltaTable(str(path)).version()
    tables = [DeltaTable(str(path), version=v).to_pyarrow_table() for v in range(last + 1)]
    return [sorted(tuple(row.values()) for row in t.to_pylist()) for t in tables]


def test_a_large_view_is_replaced_in_one_commit(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Readers of the published table see the old rows or the new ones, and never none."""
    from evercurrent.engine.spark import engine

    monkeypatch.setattr(engine, "DRIVER_ENTRIES", 50)
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, k STRING, at TIMESTAMP, day DATE, x DECIMAL(8,2))")
    db.execute("CREATE VIEW v AS SELECT id, k, at, day, x FROM t")
    for begin in (0, 200):
        made = range(begin, begin + 200)
        at = "2024-01-01 10:00:00.001500"
        rows = [{"id": i, "k": f"k{i:03}", "at": at, "day": "2024-02-03", "x": i} for i in made]
        db.apply({"t": [{"_change_type": "insert", **row} for row in rows]})
    place = tmp_path / "w" / "views" / "v"
    sizes = [len(rows) for rows in states_of(place)]
    assert sizes[0] in (0, 200) and sizes[1:] == [200, 400][-len(sizes[1:]) :], (
        "each commit is a state of the view"
    )
    assert states_of(place)[-1] == sorted(map(tuple, db.view("v").rows()))
    stats = [json.loads(a["stats"]) for a in log_adds(place)]
    assert all(s["numRecords"] > 0 and s["nullCount"]["k"] == 0 for s in stats)
    assert (
        min(s["minValues"]["id"] for s in stats[-4:]) == 0
        and max(s["maxValues"]["k"] for s in stats) == "k399"
    )
    assert (
        stats[-1]["maxValues"]["at"] == "2024-01-01T10:00:00.002Z"
        and stats[-1]["minValues"]["day"] == "2024-02-03"
    )
    db.execute("DROP VIEW v; CREATE VIEW v AS SELECT id, k || '!' AS k, 1 AS more FROM t")
    assert {row[1:] for row in states_of(place)[-1]} == {(f"k{i:03}!", 1) for i in range(400)}


def log_adds(path: Path) -> list[dict[str, Any]]:
    lines = [
        line for e in sorted((path / "_delta_log").glob("*.json")) for line in e.read_text().splitlines()
    ]
    return [action["add"] for action in map(json.loads, lines) if "add" in action]


def test_a_change_rewrites_only_the_files_that_it_touches(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table of many files, of which most are large: one deleted row rewrites one file."""
    from evercurrent.engine.spark.storage import delta_tables

    monkeypatch.setattr(delta_tables, "MANY_FILES", 4)
    monkeypatch.setattr(delta_tables, "MERGED_BYTES", 1_000)
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, k STRING); CREATE VIEW v AS SELECT id, k FROM t")
    place = tmp_path / "w" / "views" / "v"
    for part in range(8):
        made = range(part * 100, part * 100 + 100)
        db.apply({"t": [{"_change_type": "insert", "id": i, "k": f"{i:x}"} for i in made]})
    before = set(active_files(place))
    assert len(before) == 8, "large files are not merged"
    db.table("t").delete({"id": 350})
    after = set(active_files(place))
    assert len(before - after) == 1 and len(after - before) == 1
    monkeypatch.setattr(delta_tables, "MERGED_BYTES", 1 << 20)
    db.table("t").delete({"id": 351})
    assert len(active_files(place)) == 1, "small ones are"
    assert states_of(place)[-1] == sorted(map(tuple, db.view("v").rows()))
    monkeypatch.setattr(delta_tables, "REWRITTEN_BYTES", 10)
    db.table("t").delete({"id": 352})
    assert states_of(place)[-1] == sorted(map(tuple, db.view("v").rows()))
