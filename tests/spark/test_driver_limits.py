"""What the driver holds is bounded in rows and in bytes, whatever a change makes of the data; limits are lowered to show it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import evercurrent as ec
from evercurrent.engine.spark import engine as engines
from evercurrent.engine.spark.intake import frames
from evercurrent.engine.spark.storage import entry_reader, segments
from evercurrent.engine.spark.storage.files import Folder
from evercurrent.warehouse.changes import apply

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

HELD = 200_000
FACTS = 6_000


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The bytes of every result that the driver takes into its hands."""
    from pyspark.sql.classic.dataframe import DataFrame

    found: list[int] = []
    to_arrow, parquet = DataFrame.toArrow, Folder.read_bounded

    def watched(frame: Any) -> Any:
        table = to_arrow(frame)
        found.append(table.nbytes)
        return table

    def watched_read(*given: Any) -> Any:
        table = parquet(*given)
        found.append(0 if table is None else table.nbytes)
        return table

    monkeypatch.setattr(DataFrame, "toArrow", watched)
    monkeypatch.setattr(Folder, "read_bounded", watched_read)
    for module in (segments, frames, apply):
        monkeypatch.setattr(module, "HELD_BYTES", HELD)
    monkeypatch.setattr(segments, "COLLECTED_BYTES", HELD)
    yield found


def text_of(i: int) -> str:
    return f"{i * 2654435761 % 2**32:08x}" * 16


@pytest.mark.parametrize("strategy", ["auto", "spark"])
def test_one_changed_row_that_meets_many(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: list[int], strategy: Any
) -> None:
    db = ec.connect(spark=spark, path=tmp_path / "w", strategy=strategy)
    db.execute("""
        CREATE TABLE fact (id BIGINT PRIMARY KEY, k INT, txt STRING);
        CREATE TABLE dim (k INT PRIMARY KEY, name STRING);
        CREATE VIEW v AS SELECT f.id, f.txt, d.name FROM fact f JOIN dim d ON f.k = d.k
    """)
    rows = pa.table({"id": range(FACTS), "k": [1] * FACTS, "txt": list(map(text_of, range(FACTS)))})
    rows = rows.append_column("_change_type", pa.array(["insert"] * FACTS))
    db.apply({"fact": rows, "dim": [{"_change_type": "insert", "k": 1, "name": "old"}]})
    held.clear()
    monkeypatch.setattr(engines, "BATCH_ENTRIES", 1_000)
    monkeypatch.setattr(segments, "LARGE_ROWS", 900)
    run = db.apply(
        {
            "dim": [
                {"_change_type": "update_preimage", "k": 1, "name": "old"},
                {"_change_type": "update_postimage", "k": 1, "name": "new"},
            ]
        }
    )
    assert run.view("v").rows_changed == 2 * FACTS
    assert max(held, default=0) <= HELD
    assert sorted(db.view("v").rows()) == [(i, text_of(i), "new") for i in range(FACTS)]


def test_wide_entries_are_left_to_the_executors(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: list[int]
) -> None:
    """Few entries, and many bytes: the driver gives up by bytes."""
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.execute("""
        CREATE TABLE doc (id BIGINT PRIMARY KEY, k INT, body STRING);
        CREATE TABLE kind (k INT PRIMARY KEY, name STRING);
        CREATE VIEW v AS SELECT d.id, d.body, k.name FROM doc d JOIN kind k ON d.k = k.k
    """)
    bodies = [text_of(i) * 40 for i in range(300)]
    docs = [{"_change_type": "insert", "id": i, "k": 1, "body": body} for i, body in enumerate(bodies)]
    db.apply({"doc": docs})
    held.clear()
    monkeypatch.setattr(entry_reader, "BATCH_BYTES", 500_000)
    allow = entry_reader.EntryReader.allow
    monkeypatch.setattr(
        entry_reader.EntryReader, "allow", lambda reader, entries, most=500_000: allow(reader, entries, most)
    )
    run = db.apply({"kind": [{"_change_type": "insert", "k": 1, "name": "x"}]})
    assert "by tasks" in " ".join(run.notes) and run.jobs > 0
    assert max(held, default=0) <= HELD
    assert sorted(db.view("v").rows()) == [(i, body, "x") for i, body in enumerate(bodies)]


def test_a_wide_frame_is_computed_once_and_by_the_executors(
    spark: SparkSession, tmp_path: Path, held: list[int]
) -> None:
    from pyspark.sql import functions as F

    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.execute("CREATE TABLE doc (id BIGINT PRIMARY KEY, body STRING)")
    computed = spark.sparkContext.accumulator(0)

    @F.udf("string")
    def body(i):  # type: ignore[no-untyped-def]
        computed.add(1)
        return "x" * 5_000  # files take next to nothing, memory does not

    frame = spark.range(3_000).select("id", body("id").alias("body"), F.lit("insert").alias("_change_type"))
    db.apply({"doc": frame})
    assert computed.value == 3_000
    assert max(held, default=0) <= HELD
    assert list(db.query("SELECT count(*) AS n, min(length(body)) AS least FROM doc").rows()) == [
        (3_000, 5_000)
    ]


def test_a_small_frame_is_read_by_the_driver(spark: SparkSession, tmp_path: Path, held: list[int]) -> None:
    from pyspark.sql import functions as F

    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, at TIMESTAMP, tags ARRAY<STRING>)")
    frame = spark.range(3).select(
        "id",
        F.lit("2024-05-06 07:08:09").cast("timestamp").alias("at"),
        F.array(F.lit("a"), F.lit(None)).alias("tags"),
        F.lit("insert").alias("_change_type"),
    )
    run = db.apply({"t": frame})
    assert run.count == 3 and len(held) == 1
    assert sorted(row[0] for row in db.table("t").rows()) == [0, 1, 2]
    assert {tuple(row[2]) for row in db.table("t").rows()} == {("a", None)}


def test_a_recomputed_view_is_computed_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: list[int]
) -> None:
    from evercurrent.engine.spark.own_sql import recompute

    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, body STRING)")
    db.execute("CREATE VIEW v AS SELECT id, body || body AS twice FROM t", policy="full")
    db.apply({"t": [{"_change_type": "insert", "id": 0, "body": text_of(0)}]})
    held.clear()
    monkeypatch.setattr(recompute, "COLLECTED_ROWS", 2_000)
    rows = [{"_change_type": "insert", "id": i, "body": text_of(i)} for i in range(1, 2_000)]
    db.apply({"t": rows})
    assert max(held, default=0) <= HELD
    assert sorted(db.view("v").rows()) == [(i, text_of(i) * 2) for i in range(2_000)]
