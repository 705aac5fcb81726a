"""A warehouse on S3: connect, create, apply, query, reopen, publish, check, vacuum; and twelve writers, of whom one wins."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import evercurrent as ec
from evercurrent.engine.spark import engine as engines
from evercurrent.engine.spark.storage.files import Folder
from evercurrent.engine.spark.storage.log import Log
from evercurrent.engine.spark.storage.object_disk import ObjectDisk
from evercurrent.engine.spark.storage.snapshots import Snapshot
from evercurrent.warehouse.database import Warehouse
from tests.spark.stores.s3_server import new_bucket, options_for, s3_server

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    pytest.importorskip("moto")
    with s3_server() as address:
        yield address


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "private", lambda spark: None)


def disk_of(db: Warehouse) -> ObjectDisk:
    disk = db._core.engine.folder.disk
    assert isinstance(disk, ObjectDisk)
    return disk


def changes(*rows: tuple[str, int, int]) -> dict[str, list[dict[str, Any]]]:
    return {"t": [{"_change_type": kind, "id": i, "k": k} for kind, i, k in rows]}


def test_a_warehouse_on_s3_without_a_job(endpoint: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small batches need no cluster: the driver reads and writes the bucket."""
    from deltalake import DeltaTable

    without_spark(monkeypatch)
    path, options = f"s3://{new_bucket(endpoint)}/deep/warehouse", options_for(endpoint)
    db = Warehouse(None, path, storage_options=options)
    db.execute(
        "CREATE TABLE t (id INT PRIMARY KEY, k INT); CREATE VIEW v AS SELECT k, count(*) AS n FROM t GROUP BY k"
    )
    db.apply(changes(*(("insert", i, i % 3) for i in range(30))), batch="one")
    db.apply(changes(("delete", 0, 0), ("insert", 100, 7)), batch="two")
    assert db.apply(changes(("insert", 5, 5)), batch="one").repeated
    wanted = [(0, 9), (1, 10), (2, 10), (7, 1)]
    assert sorted(db.view("v").rows()) == wanted
    again = Warehouse(None, path + "/", storage_options=options)
    assert again.version == db.version and sorted(again.view("v").rows()) == wanted
    assert [r.batch for r in again.history()][-2:] == ["one", "two"]
    published = DeltaTable(f"{path}/views/v", storage_options=options).to_pyarrow_table()
    assert sorted(zip(published["k"].to_pylist(), published["n"].to_pylist(), strict=True)) == wanted
    with pytest.raises(ec.ConflictError):
        again.apply(changes(("insert", 200, 1)))
        db.apply(changes(("insert", 201, 1)))
    db.reload()
    assert db.check()
    db.compact()
    assert db.vacuum(keep=1, hours=0) > 0 and db.check()
    assert sorted(Warehouse(None, path, storage_options=options).view("v").rows()) == [
        *wanted[:1],
        (1, 11),
        *wanted[2:],
    ]
    stored = b"".join(p.read_bytes() for p in cache.rglob("*") if p.is_file())
    stored += b"".join(disk_of(db).read(f"{path}/{f.path}") for f in disk_of(db).tree(path))
    assert b"test-secret" not in stored, "credentials are stored nowhere"


def test_damage_on_s3_is_noticed(endpoint: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_spark(monkeypatch)
    path, options = f"s3://{new_bucket(endpoint)}/w", options_for(endpoint)
    db = Warehouse(None, path, storage_options=options)
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, k INT)")
    db.apply(changes(("insert", 1, 1)))
    disk = disk_of(db)
    (file,) = db._core.snapshot.files()
    data = disk.read(f"{path}/{file}")
    disk.put(f"{path}/{file}", data[:50] + bytes([data[50] ^ 1]) + data[51:])
    report = db.check()
    assert not report and file in str(report)
    with pytest.raises(ec.StorageError, match="is damaged"):
        Warehouse(None, path, storage_options=options).table("t").rows()


def test_a_cold_driver_reads_what_it_needs(
    endpoint: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few keys of a large file: some blocks of it are fetched, kept on the disk, and fetched again if the disk has damaged them."""
    import pyarrow as pa

    without_spark(monkeypatch)
    path, options = f"s3://{new_bucket(endpoint)}/w", options_for(endpoint)
    db = Warehouse(None, path, storage_options=options)
    db.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, note STRING)")
    number = 300_000
    notes = [f"{i * 2654435761 % 2**64:016x}" for i in range(number)]
    rows = pa.table({"id": range(number), "note": notes, "_change_type": pa.repeat("insert", number)})
    db.apply({"t": rows})
    assert disk_of(db).bytes_in < 100_000, "what a driver has written it need not fetch"
    size = sum(s.bytes for s in db._core.table_segments("t").segments)
    assert size > 2_000_000

    def looked_up() -> int:
        new = Warehouse(None, path, storage_options=options)
        before = disk_of(new).bytes_in
        assert new.table("t").get(123_456)[1] == notes[123_456]
        return disk_of(new).bytes_in - before

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cold"))
    cold = looked_up()
    assert 0 < cold < size / 2
    assert looked_up() == 0, "a warm cache is enough"
    for file in (tmp_path / "cold").rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            file.write_bytes(bytes(b ^ 1 for b in data))
    assert looked_up() > 0, "what the disk has damaged is fetched again"


def test_of_twelve_writers_one_wins(endpoint: str, cache: Path) -> None:
    """Each version is committed by exactly one of twelve drivers that try at the same time."""
    path, options = f"s3://{new_bucket(endpoint)}/race", options_for(endpoint)

    def write(version: int, i: int) -> bool:
        log = Log(Folder(path, options))
        start.wait()
        try:
            log.commit(Snapshot(), version, kind="batch", batch=f"{version}-{i}")
        except ec.ConflictError:
            return False
        return True

    start = threading.Barrier(12)
    for version in range(5):
        with ThreadPoolExecutor(12) as pool:
            wins = list(pool.map(write, [version] * 12, range(12)))
        won = [i for i, first in enumerate(wins) if first]
        assert len(won) == 1
        log = Log(Folder(path, options))
        assert log.latest() == version + 1 and log.entry(version + 1).batch == f"{version}-{won[0]}"
        assert len(log.list_snapshots()) == version + 1


def test_credentials_of_the_environment(endpoint: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_spark(monkeypatch)
    for name, value in options_for(endpoint).items():
        monkeypatch.setenv(name, value)
    db = Warehouse(None, f"S3A://{new_bucket(endpoint)}/w")
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, k INT)")
    assert os.fspath(db._core.engine.folder.root).startswith("s3://")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr("evercurrent.engine.spark.storage.object_disk.RETRIES", 0)
    with pytest.raises(ec.StorageError, match=r"s3://nowhere/w/_log.* cannot be"):
        Warehouse(None, "s3://nowhere/w")


@pytest.mark.spark
def test_tasks_read_and_write_s3(
    spark: SparkSession, endpoint: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The session has no connector for S3, as pip installs it; jobs, frames, recomputed and published views work all the same."""
    from deltalake import DeltaTable

    path, options = f"s3://{new_bucket(endpoint)}/w", options_for(endpoint)
    db = ec.connect(spark=spark, path=path, storage_options=options, strategy="spark")
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, k INT, at TIMESTAMP, tags ARRAY<STRING>)")
    db.execute("CREATE VIEW v AS SELECT k, count(*) AS n, max(at) AS late FROM t GROUP BY k")
    db.execute("CREATE VIEW f AS SELECT id, tags FROM t WHERE k = 1", policy="full")
    frame = spark.range(300).selectExpr(
        "cast(id as int) id",
        "cast(id % 3 as int) k",
        "timestamp'2024-05-06 07:08:09' at",
        "array('a', null) tags",
        "'insert' _change_type",
    )
    db.apply({"t": frame})
    db.apply(
        {
            "t": [
                {"_change_type": "delete", "id": 1},
                {"_change_type": "insert", "id": 1000, "k": 9, "at": None, "tags": ["x"]},
            ]
        }
    )
    rows = sorted((k, n) for k, n, _ in db.view("v").rows())
    assert rows == [(0, 100), (1, 99), (2, 100), (9, 1)] and len(db.view("f")) == 99
    assert db.verify(), str(db.verify())
    assert db.view("v").dataframe().count() == 4 and db.view("v").changes(since=0).count() > 4
    monkeypatch.setattr(engines, "DRIVER_ENTRIES", 2)
    db.apply({"t": [{"_change_type": "delete", "id": i} for i in (2, 4)]})
    published = DeltaTable(f"{path}/views/v", storage_options=options).to_pyarrow_table()
    assert sorted(published["n"].to_pylist()) == [1, 98, 99, 100]
    again = ec.connect(spark=spark, path=path, storage_options=options)
    assert len(again.table("t")) == 298 and again.verify() and again.check()
