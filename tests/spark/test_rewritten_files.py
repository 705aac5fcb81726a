"""Files that were written again: only the rows that differ are written and added up."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow
import pytest
from deltalake import DeltaTable, write_deltalake

import evercurrent as ec
from evercurrent.data.types import BIGINT, STRING
from evercurrent.engine.spark.sources import reading, rewritten
from evercurrent.engine.spark.storage.file_schema import row_schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TYPES = (BIGINT, STRING)


def lake_of(place: Path, rows: int) -> str:
    ids = list(range(rows))
    notes = [None if i % 7 == 0 else f"note {i % 5}" for i in ids]
    write_deltalake(str(place), pyarrow.table({"id": ids, "note": notes}))
    return str(place)


@pytest.mark.parametrize("key", [(), ("id",)])
def test_only_what_differs_is_written(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: tuple[str, ...]
) -> None:
    lake = lake_of(tmp_path / "lake", 1000)
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.source("t", format="delta", path=lake, key=key)
    db.execute("CREATE VIEW per AS SELECT note, count(*) AS n, sum(id) AS s FROM t GROUP BY note")
    db.refresh()
    written = []

    def noted(engine: Any, source: Any, *parts: Any) -> Any:
        written.append(sum(p.rows for p in parts))
        return add_up(engine, source, *parts)

    add_up = reading.total
    monkeypatch.setattr(reading, "total", noted)
    monkeypatch.setattr(reading, "DRIVER_BYTES", -1)
    DeltaTable(lake).delete("id = 500")
    run = db.refresh()
    assert run.rows_in == {"t": 1} and written.pop() == 1
    DeltaTable(lake).update({"note": "'x'"}, predicate="id = 10 OR id = 14")
    run = db.refresh()
    assert run.rows_in == {"t": 4} and written.pop() == 4
    write_deltalake(lake, pyarrow.table({"id": [5000], "note": ["y"]}), mode="append")
    DeltaTable(lake).optimize.compact()
    run = db.refresh()
    assert run.rows_in == {"t": 1} and written.pop() == 1
    DeltaTable(lake).delete("id = 3")
    write_deltalake(lake, pyarrow.table({"id": [3], "note": ["note 3"]}), mode="append")
    assert not db.refresh().rows_in and not written, "every row is on both sides"
    assert len(db.table("t").rows()) == 1000 and db.verify()


@pytest.mark.parametrize("key", [(), (0,)])
@pytest.mark.parametrize("most", [0, 1_000_000])
def test_sums_stay(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, key: tuple[int, ...], most: int
) -> None:
    """Rows that stand several times, NULLs in other places, keys that stand twice."""
    monkeypatch.setattr(rewritten, "MOST_DIGESTS", most)
    draw = random.Random(7)
    some = [
        (draw.choice([None, 1, 2, 3]), draw.choice([None, "a", "b"]), draw.choice([1, -1])) for _ in range(60)
    ]
    some += [(i, "c", sign) for i in range(100, 140) for sign in (1, -1)]
    frame = spark.createDataFrame(some, row_schema(TYPES))
    found = rewritten.leave_out_copied(spark, frame, TYPES, key)
    assert found is not None
    left = [tuple(r) for r in found.collect()]

    def sums(rows: list[Any]) -> dict[Any, int]:
        totals: dict[Any, int] = {}
        for a, b, w in rows:
            totals[a, b] = totals.get((a, b), 0) + w
        return {row: w for row, w in totals.items() if w}

    assert sums(left) == sums(some)
    if most:
        assert not any(b == "c" for _, b, _ in left), "what is on both sides is left out"
