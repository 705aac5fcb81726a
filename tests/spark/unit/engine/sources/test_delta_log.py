"""The log of Delta tables and the driver's reader of their files, against a writer that knows what each version has."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from evercurrent.data.types import Member
from evercurrent.engine.spark.sources.arrow_pieces import arrow_rows
from evercurrent.engine.spark.sources.delta import DeltaState
from evercurrent.engine.spark.sources.delta_log import replay_log
from evercurrent.engine.spark.sources.feed import feed_pieces
from evercurrent.engine.spark.sources.file_difference import all_rows, file_difference
from evercurrent.engine.spark.sources.nodes import Source
from evercurrent.engine.spark.sources.reading import Reading
from evercurrent.engine.spark.storage.disk import DISK
from tests.spark.delta_writer import DeltaWriter, Row

SCHEMA = pyarrow.schema([("id", pyarrow.int64()), ("g", pyarrow.string()), ("x", pyarrow.int32())])
FEED = {"delta.enableChangeDataFeed": "true"}


def some(n: int, begin: int = 0) -> list[Row]:
    return [(i, "abc"[i % 3] if i % 7 else None, i % 11) for i in range(begin, begin + n)]


def state(lake: DeltaWriter, version: int | None = None) -> DeltaState:
    return DeltaState(str(lake.root), DISK, replay_log(DISK, str(lake.root), version))


def weights(columns: tuple[Member, ...], *readings: Reading) -> dict[Row, int]:
    found: dict[Row, int] = {}
    for r in readings:
        for row in arrow_rows(DISK, r.layout, r.pieces, columns).to_pylist():
            *values, weight = row.values()
            found[tuple(values)] = found.get(tuple(values), 0) + weight
    return {row: w for row, w in found.items() if w}


def counted(rows: list[Row]) -> dict[Row, int]:
    found: dict[Row, int] = {}
    for row in rows:
        found[row] = found.get(row, 0) + 1
    return found


@pytest.mark.parametrize("seed", range(25))
def test_random_histories(tmp_path: Path, seed: int) -> None:
    """Law: whatever was done to a table, both ways to find a change say what the writer says, between any two versions."""
    draw = random.Random(seed)
    feed = draw.random() < 0.5
    lake = DeltaWriter(
        tmp_path / "lake",
        SCHEMA,
        mapping=draw.choice(["none", "name", "id"]),
        partition_by=draw.choice([[], ["g"], ["g", "x"]]),
        store=draw.choice("iup"),
        configuration=FEED if feed else {},
        stats=draw.random() < 0.5,
    )
    known: dict[int, dict[Row, int]] = {0: {}}
    for step in range(12):
        n, k = draw.randrange(2, 6), draw.randrange(5)

        def hit(row: Row, n: int = n, k: int = k) -> bool:
            return bool(row[0] % n == k)

        match draw.choice(
            ["append", "append", "delete", "delete", "update", "optimize", "restore", "checkpoint"]
        ):
            case "append":
                lake.append(some(draw.randrange(1, 12), 1000 * step))
            case "delete":
                lake.delete(hit, feed=feed)
            case "update":
                lake.update(hit, lambda r: (r[0] + 7, r[1], r[2]))
            case "optimize":
                lake.optimize()
            case "restore":
                lake.restore()
            case _:
                lake.checkpoint(parts=draw.choice([1, 2, 3]), sidecars=draw.random() < 0.3)
        known[lake.version] = counted(lake.rows)
    for version, rows in known.items():
        found = state(lake, version)
        assert weights(found.columns, all_rows(found)) == rows
        assert found.count_rows() == sum(rows.values())
    for _ in range(6):
        one, other = sorted(draw.sample(sorted(known), 2))
        then, now = state(lake, one), state(lake, other)
        source = Source("t", "delta", str(lake.root), now.columns)
        wanted = {
            r: w
            for r in known[one].keys() | known[other].keys()
            if (w := known[other].get(r, 0) - known[one].get(r, 0))
        }
        assert weights(now.columns, *file_difference(source, then, now)) == wanted
        assert weights(now.columns, Reading(now.layout, tuple(feed_pieces(then, now)))) == wanted


def test_a_delete_by_a_vector_reads_the_deleted_rows_only(tmp_path: Path) -> None:
    lake = DeltaWriter(tmp_path / "lake", SCHEMA)
    lake.append(some(100))
    lake.delete(lambda r: r[0] == 5)
    lake.delete(lambda r: r[0] == 6)
    then, now = state(lake, 2), state(lake, 3)
    (reading,) = file_difference(Source("t", "delta", str(lake.root), now.columns), then, now)
    (piece,) = reading.pieces
    assert list(piece.only or ()) == [6] and piece.sign == -1


def test_types_that_became_wider(tmp_path: Path) -> None:
    lake = DeltaWriter(tmp_path / "lake", SCHEMA, mapping="name")
    lake.append(some(3))
    wider = SCHEMA.set(2, pyarrow.field("x", pyarrow.int64())).append(pyarrow.field("y", pyarrow.float64()))
    lake.features.append("typeWidening")
    lake.alter(wider)
    lake.append([(90, "a", 2**40, -0.0)])
    now = state(lake)
    rows: Any = weights(now.columns, all_rows(now))
    assert rows == counted(lake.rows)
    assert str(next(r[3] for r in rows if r[0] == 90)) == "0.0"
