"""Delta tables with deletion vectors, mapped columns, partitions, change files and checkpoints, written by hand."""

from __future__ import annotations

import datetime
import random
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow
import pytest

import evercurrent as ec
from evercurrent.engine.spark.sources import reading, references
from evercurrent.engine.spark.sources.deletion_vectors import Vector, bitmap_of, read_vector
from evercurrent.errors import StorageError, UnsupportedError
from evercurrent.warehouse.database import Warehouse
from tests.spark.delta_writer import DeltaWriter, Row, body, z85

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SCHEMA = pyarrow.schema([("id", pyarrow.int64()), ("g", pyarrow.string()), ("x", pyarrow.int32())])
VIEW = "CREATE VIEW per AS SELECT g, count(*) AS n, sum(x) AS s FROM t GROUP BY g"
FEED = {"delta.enableChangeDataFeed": "true"}


def some(n: int, begin: int = 0) -> list[Row]:
    return [(i, "abc"[i % 3] if i % 7 else None, i % 11) for i in range(begin, begin + n)]


def opened(spark: SparkSession, tmp_path: Path, lake: DeltaWriter, key: tuple[str, ...] = ()) -> Warehouse:
    db = ec.connect(spark=spark, path=tmp_path / "w")
    db.source("t", format="delta", path=lake.root, key=key)
    db.execute(VIEW)
    return db


def agrees(db: Warehouse, lake: DeltaWriter) -> None:
    """Refresh; the table is what the writer knows, and the view is that of its rows."""
    db.refresh()
    assert sorted(db.table("t").rows(), key=repr) == sorted(lake.rows, key=repr)
    wanted: dict[Any, tuple[int, int | None]] = {}
    for row in lake.rows:
        n, s = wanted.get(row[1], (0, None))
        wanted[row[1]] = n + 1, s if row[2] is None else (s or 0) + row[2]
    assert sorted(db.view("per").rows(), key=repr) == sorted(((g, *v) for g, v in wanted.items()), key=repr)


@pytest.fixture(params=["driver", "spark"])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both readers of files: the driver's own, and Spark's."""
    if request.param == "spark":
        monkeypatch.setattr(reading, "DRIVER_BYTES", -1)
        monkeypatch.setattr(references, "HELD_BYTES", -1)
    return str(request.param)


@pytest.mark.parametrize(("mapping", "store"), [("none", "i"), ("name", "u"), ("id", "p")])
def test_rows_that_vectors_delete(
    spark: SparkSession, tmp_path: Path, reader: str, store: str, mapping: str
) -> None:
    lake = DeltaWriter(tmp_path / "lake", SCHEMA, store=store, mapping=mapping)
    lake.append(some(20))
    lake.delete(lambda r: r[0] in (0, 7, 19))
    db = opened(spark, tmp_path, lake, ("id",))
    agrees(db, lake)
    lake.append(some(10, 100))
    lake.delete(lambda r: r[0] % 2 == 0)
    agrees(db, lake)
    lake.delete(lambda r: r[0] % 5 == 0)
    lake.delete(lambda r: r[0] % 3 == 0)
    agrees(db, lake)
    lake.restore()
    agrees(db, lake)
    lake.delete(lambda r: r[0] == 1)
    lake.optimize()
    run = db.refresh()
    assert run is not None and run.rows_in == {"t": 1}, "what was only rewritten cancels"
    agrees(db, lake)
    assert db.verify()


@pytest.mark.parametrize("mapping", ["none", "id"])
def test_partitions_and_types(spark: SparkSession, tmp_path: Path, reader: str, mapping: str) -> None:
    schema = pyarrow.schema(
        [
            ("id", pyarrow.int64()),
            ("g", pyarrow.string()),
            ("x", pyarrow.int32()),
            ("day", pyarrow.date32()),
            ("price", pyarrow.decimal128(12, 2)),
            ("at", pyarrow.timestamp("us", tz="UTC")),
        ]
    )
    begin = datetime.date(2024, 1, 1)
    moment = datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.UTC)

    def rows(n: int, first: int = 0) -> list[Row]:
        return [
            (
                i,
                "a b" if i % 2 else None,
                i,
                begin + datetime.timedelta(i % 3),
                Decimal(i).scaleb(-2).quantize(Decimal("0.01")),
                moment + datetime.timedelta(seconds=i),
            )
            for i in range(first, first + n)
        ]

    lake = DeltaWriter(tmp_path / "lake", schema, mapping=mapping, partition_by=["day", "g"])
    lake.append(rows(12))
    db = opened(spark, tmp_path, lake)
    agrees(db, lake)
    lake.delete(lambda r: r[0] in (1, 4))
    lake.append(rows(4, 50))
    agrees(db, lake)


def test_a_change_feed_with_vectors(spark: SparkSession, tmp_path: Path, reader: str) -> None:
    lake = DeltaWriter(tmp_path / "lake", SCHEMA, mapping="name", partition_by=["g"], configuration=FEED)
    lake.append(some(30))
    db = opened(spark, tmp_path, lake, ("id",))
    agrees(db, lake)
    lake.update(lambda r: r[0] == 4, lambda r: (r[0], r[1], 1000))
    run = db.refresh()
    assert run is not None and run.rows_in == {"t": 2} and "change feed" in str(run.notes)
    agrees(db, lake)
    lake.delete(lambda r: r[0] < 6, feed=True)
    lake.append(some(3, 200))
    lake.delete(lambda r: r[0] == 201)
    lake.optimize()
    lake.delete(lambda r: r[0] == 10, feed=True)
    run = db.refresh()
    assert run is not None and "change feed" in str(run.notes)
    agrees(db, lake)
    lake.update(lambda r: r[0] == 11, lambda r: (r[0], r[1], 7))
    for path in (tmp_path / "lake" / "_change_data").iterdir():
        path.unlink()
    run = db.refresh()
    assert run is not None and "the change feed has a gap" in str(run.notes)
    agrees(db, lake)


@pytest.mark.parametrize("how", ["one", "parts", "sidecars"])
def test_checkpoints(spark: SparkSession, tmp_path: Path, how: str) -> None:
    lake = DeltaWriter(
        tmp_path / "lake", SCHEMA, partition_by=["g"], mapping="name", features=["v2Checkpoint"], stats=False
    )
    lake.append(some(20))
    lake.delete(lambda r: r[0] in (3, 8))
    lake.checkpoint(parts=3 if how == "parts" else 1, sidecars=how == "sidecars")
    lake.forget_commits()
    db = opened(spark, tmp_path, lake)
    agrees(db, lake)
    lake.delete(lambda r: r[0] == 5)
    agrees(db, lake)
    lake.append(some(5, 40))
    lake.checkpoint()
    lake.forget_commits()
    with pytest.raises(StorageError, match="no longer tells"):
        db.refresh()
    db.refresh(full=["t"])
    agrees(db, lake)


def test_a_column_that_another_takes_the_name_of(spark: SparkSession, tmp_path: Path, reader: str) -> None:
    lake = DeltaWriter(tmp_path / "lake", SCHEMA, mapping="name")
    lake.append(some(10))
    db = opened(spark, tmp_path, lake)
    agrees(db, lake)
    lake.alter(SCHEMA, fresh=["x"])
    lake.append(some(2, 50))
    agrees(db, lake)
    wider = SCHEMA.set(2, pyarrow.field("x", pyarrow.int64())).append(pyarrow.field("y", pyarrow.float64()))
    lake.features.append("typeWidening")
    lake.alter(wider)
    lake.append([(90, "a", 2**40, -0.0)])
    agrees(db, lake)
    assert db.verify()


def test_random_histories(spark: SparkSession, tmp_path: Path) -> None:
    for seed in range(4):
        draw = random.Random(seed)
        lake = DeltaWriter(
            tmp_path / f"lake{seed}",
            SCHEMA,
            mapping=draw.choice(["none", "name", "id"]),
            partition_by=draw.choice([[], ["g"]]),
            store=draw.choice("iup"),
            configuration=draw.choice([FEED, {}]),
            stats=draw.random() < 0.5,
        )
        lake.append(some(15))
        (tmp_path / str(seed)).mkdir()
        db = opened(spark, tmp_path / str(seed), lake)
        for step in range(6):
            for _ in range(draw.randrange(1, 4)):
                n, k = draw.randrange(2, 6), draw.randrange(5)
                match draw.choice(["append", "delete", "update", "optimize", "restore", "checkpoint"]):
                    case "append":
                        lake.append(some(draw.randrange(1, 8), 1000 * (step + 1)))
                    case "delete":
                        lake.delete(
                            lambda r, n=n, k=k: r[0] % n == k,
                            feed="delta.enableChangeDataFeed" in lake.configuration,
                        )
                    case "update":
                        lake.update(lambda r, n=n, k=k: r[0] % n == k, lambda r: (r[0], r[1], r[2] + 1))
                    case "optimize":
                        lake.optimize()
                    case "restore":
                        lake.restore()
                    case _:
                        lake.checkpoint(parts=draw.choice([1, 2]))
            agrees(db, lake)


def test_damaged_and_unknown_vectors_are_refused(tmp_path: Path) -> None:
    data = body([1, 2])
    vector = Vector("i", z85(data), None, len(data), 2)
    assert sorted(read_vector("", vector, bytes)) == [1, 2]
    with pytest.raises(StorageError, match="the log says 3"):
        read_vector("", Vector("i", z85(data), None, len(data), 3), bytes)
    with pytest.raises(UnsupportedError, match="cannot be read"):
        bitmap_of(b"\0\0\0\0" + data[4:])
    lake = DeltaWriter(tmp_path / "lake", SCHEMA)
    found = lake.vector({4, 5})
    own = Vector.of_action(found)
    assert own is not None

    def read(path: str) -> bytes:
        return Path(path).read_bytes()

    assert sorted(read_vector(str(lake.root), own, read)) == [4, 5]
    with pytest.raises(StorageError, match="is damaged"):
        read_vector(str(lake.root), own, lambda p: read(p)[:-5] + b"x" + read(p)[-4:])
    with pytest.raises(StorageError, match="ends before"):
        read_vector(str(lake.root), own, lambda p: read(p)[:-1])


def test_an_unknown_feature_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    lake = DeltaWriter(tmp_path / "lake", SCHEMA, features=["fancyRows"])
    lake.append(some(1))
    db = ec.connect(spark=spark, path=tmp_path / "w")
    with pytest.raises(UnsupportedError, match="the reader feature fancyRows"):
        db.source("t", format="delta", path=lake.root)
