"""Warehouses in Google's and Azure's stores: what S3 has been tried with, on servers on loopback."""

from __future__ import annotations

import threading
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import evercurrent as ec
from evercurrent.engine.spark import engine as engines
from evercurrent.engine.spark.storage.disk import MissingFileError
from evercurrent.engine.spark.storage.files import Folder
from evercurrent.engine.spark.storage.log import Log
from evercurrent.engine.spark.storage.object_disk import ObjectDisk
from evercurrent.engine.spark.storage.snapshots import Snapshot
from evercurrent.warehouse.database import Warehouse
from tests.spark.stores import azure_server, gcs_server

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VIEW = "CREATE VIEW v AS SELECT k, count(*) AS n FROM t GROUP BY k"


class Cloud:
    """Addresses in a store, and how it is reached."""

    def __init__(self, new_address: Callable[[], str], options: dict[str, str], secret: bytes) -> None:
        self.new_address = new_address
        self.options = options
        self.secret = secret


@pytest.fixture(scope="module", params=["gs", "az", "abfss"])
def cloud(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    if request.param == "gs":
        with gcs_server.gcs_server() as endpoint:

            def bucket() -> str:
                name = f"b-{uuid.uuid4().hex}"
                urllib.request.urlopen(urllib.request.Request(f"{endpoint}/{name}", method="PUT")).close()
                return f"gs://{name}"

            yield Cloud(bucket, gcs_server.options_for(endpoint), b"test-secret")
        return
    program = azure_server.find_azurite()
    if program is None:
        pytest.skip("Azurite is not there: make test-stores")
    with azure_server.azure_server(program, tmp_path_factory.mktemp("azurite")) as endpoint:

        def container() -> str:
            name = azure_server.new_container(endpoint)
            if request.param == "az":
                return f"az://{name}"
            return f"abfss://{name}@{azure_server.ACCOUNT}.dfs.core.windows.net"

        yield Cloud(container, azure_server.options_for(endpoint), azure_server.KEY.encode())


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def disk_of(db: Warehouse) -> ObjectDisk:
    disk = db._core.engine.folder.disk
    assert isinstance(disk, ObjectDisk)
    return disk


def changes(*rows: tuple[str, int, int]) -> dict[str, list[dict[str, Any]]]:
    return {"t": [{"_change_type": kind, "id": i, "k": k} for kind, i, k in rows]}


def test_a_second_put_is_refused(cloud: Cloud) -> None:
    """The store itself says which of two was first; and each of them learns it."""
    url = f"{cloud.new_address()}/w"
    disk = ObjectDisk(url, cloud.options)
    assert disk.put_if_absent(f"{url}/_log/1", b"first")
    assert not disk.put_if_absent(f"{url}/_log/1", b"second")
    assert disk.put_if_absent(f"{url}/_log/1", b"first"), "a lost answer: what is there is ours"
    assert disk.read(f"{url}/_log/1") == b"first"
    from obstore.exceptions import AlreadyExistsError

    with pytest.raises(AlreadyExistsError):
        disk.store.put("_log/1", b"third", mode="create", use_multipart=False)


def test_what_a_disk_does(cloud: Cloud) -> None:
    url = f"{cloud.new_address()}/deep/w"
    disk = ObjectDisk(url, cloud.options)
    for i in range(12):
        disk.put(f"{url}/_log/{i:04d}.json", b"%d" % i)
    disk.put(f"{url}/_log/heads/a", b"x")
    disk.put(f"{url}/data/big", bytes(range(256)) * 100)
    assert sorted(disk.names(f"{url}/_log")) == [*(f"{i:04d}.json" for i in range(12)), "heads"]
    assert disk.names_after(f"{url}/_log", "0009.json") == ["0010.json", "0011.json"]
    assert disk.read_ranges(f"{url}/data/big", [0, 256 + 7], [3, 256 + 9]) == [b"\0\1\2", b"\7\x08"]
    assert sorted((f.path, f.size) for f in disk.tree(f"{url}/data")) == [("big", 25600)]
    assert disk.marks(f"{url}/data/none") is None and disk.marks(f"{url}/data/big") is not None
    assert disk.delete(f"{url}/data/big") == 25600 and disk.delete(f"{url}/data/big") == 0
    with pytest.raises(MissingFileError):
        disk.read(f"{url}/data/big")


def test_a_warehouse_without_a_job(cloud: Cloud, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from deltalake import DeltaTable

    monkeypatch.setattr(engines, "private", lambda spark: None)
    path, options = f"{cloud.new_address()}/deep/warehouse", cloud.options
    db = Warehouse(None, path, storage_options=options)
    db.execute(f"CREATE TABLE t (id INT PRIMARY KEY, k INT); {VIEW}")
    db.apply(changes(*(("insert", i, i % 3) for i in range(30))), batch="one")
    db.apply(changes(("delete", 0, 0), ("insert", 100, 7)), batch="two")
    assert db.apply(changes(("insert", 5, 5)), batch="one").repeated
    wanted = [(0, 9), (1, 10), (2, 10), (7, 1)]
    again = Warehouse(None, path + "/", storage_options=options)
    assert again.version == db.version and sorted(again.view("v").rows()) == wanted
    published = DeltaTable(f"{path}/views/v", storage_options=options).to_pyarrow_table()
    assert sorted(zip(published["k"].to_pylist(), published["n"].to_pylist(), strict=True)) == wanted
    again.apply(changes(("insert", 200, 1)))
    with pytest.raises(ec.ConflictError):
        db.apply(changes(("insert", 201, 1)))
    db.reload()
    db.compact()
    assert db.check() and db.vacuum(keep=1, hours=0) > 0 and db.check()
    new = Warehouse(None, path, storage_options=options)
    assert sorted(new.view("v").rows()) == [(0, 9), (1, 11), (2, 10), (7, 1)]
    stored = b"".join(p.read_bytes() for p in cache.rglob("*") if p.is_file())
    stored += b"".join(disk_of(db).read(f"{path}/{f.path}") for f in disk_of(db).tree(path))
    assert cloud.secret not in stored, "credentials are stored nowhere"


def test_of_twelve_writers_one_wins(cloud: Cloud, cache: Path) -> None:
    path = f"{cloud.new_address()}/race"
    start = threading.Barrier(12)

    def write(version: int, i: int) -> bool:
        log = Log(Folder(path, cloud.options))
        start.wait()
        try:
            log.commit(Snapshot(), version, kind="batch", batch=f"{version}-{i}")
        except ec.ConflictError:
            return False
        return True

    for version in range(3):
        with ThreadPoolExecutor(12) as pool:
            wins = list(pool.map(write, [version] * 12, range(12)))
        won = [i for i, first in enumerate(wins) if first]
        assert len(won) == 1
        log = Log(Folder(path, cloud.options))
        assert log.latest() == version + 1 and log.entry(version + 1).batch == f"{version}-{won[0]}"


def test_a_cold_driver_reads_what_it_needs(
    cloud: Cloud, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranges of a large file are fetched, and kept on the disk."""
    monkeypatch.setattr(engines, "private", lambda spark: None)
    path, number = f"{cloud.new_address()}/w", 200_000
    db = Warehouse(None, path, storage_options=cloud.options)
    db.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, note STRING)")
    notes = [f"{i * 2654435761 % 2**64:016x}" for i in range(number)]
    db.apply(
        {"t": pa.table({"id": range(number), "note": notes, "_change_type": pa.repeat("insert", number)})}
    )
    size = sum(s.bytes for s in db._core.table_segments("t").segments)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cold"))
    for cold in (True, False):
        new = Warehouse(None, path, storage_options=cloud.options)
        before = disk_of(new).bytes_in
        assert new.table("t").get(123_456)[1] == notes[123_456]
        fetched = disk_of(new).bytes_in - before
        assert 0 < fetched < size / 2 if cold else fetched == 0


@pytest.mark.spark
def test_tasks_sources_and_frames(cloud: Cloud, spark: SparkSession, cache: Path) -> None:
    """The session has no connector for these stores, as pip installs it: tasks read and write by our own interface."""
    from deltalake import DeltaTable, write_deltalake

    root = cloud.new_address()
    rows = pa.table({"id": range(300), "k": [i % 3 for i in range(300)]})
    write_deltalake(f"{root}/lake/t", rows, storage_options=cloud.options)
    for strategy in ("spark", "tasks"):
        db = ec.connect(
            spark=spark,
            path=f"{root}/{strategy}",
            storage_options=cloud.options,
            strategy=strategy,  # type: ignore[call-overload]
        )
        db.source("t", format="delta", path=f"{root}/lake/t", key=["id"])
        db.refresh()
        db.execute(VIEW)
        own = "CREATE TABLE own (id BIGINT PRIMARY KEY, k BIGINT)"
        db.execute(
            f"{own}; CREATE VIEW both AS SELECT t.k, sum(own.k) AS s FROM t JOIN own ON t.id = own.id GROUP BY t.k"
        )
        frame = spark.range(200).selectExpr("id", "id % 7 AS k", "'insert' AS _change_type")
        db.apply({"own": frame})
        assert sorted(db.view("both").rows()) == [(g, sum(i % 7 for i in range(g, 200, 3))) for g in range(3)]
        assert sorted(tuple(r) for r in db.view("v").dataframe().collect()) == [(g, 100) for g in range(3)]
        assert db.verify() and db.check()
    DeltaTable(f"{root}/lake/t", storage_options=cloud.options).delete("id % 3 = 0")
    db.refresh()
    assert sorted(db.view("v").rows()) == [(1, 100), (2, 100)] and db.verify()
