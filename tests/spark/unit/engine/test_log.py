"""The one commit point."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evercurrent.engine.spark import engine
from evercurrent.engine.spark.storage import batch_index
from evercurrent.engine.spark.storage.disk import Disk
from evercurrent.engine.spark.storage.documents import pack
from evercurrent.engine.spark.storage.files import Folder, Segment
from evercurrent.engine.spark.storage.log import Log
from evercurrent.engine.spark.storage.snapshots import Snapshot
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import ConflictError, StorageError, UnsupportedError
from evercurrent.warehouse.database import Warehouse


@pytest.fixture
def log(tmp_path: Path) -> Log:
    folder = Folder(tmp_path)
    folder.make()
    return Log(folder)


def test_a_version_is_read_as_it_was_committed(log: Log) -> None:
    segment = Segment(("data/x/1.parquet",), 3, 100)
    snapshot = Snapshot(
        {"s\0bag0": Store((segment,), (segment,))}, ({"kind": "table", "name": "t"},), {"o": {"v": 1}}
    )
    assert log.latest() == 0 and log.snapshot(0) == Snapshot()
    assert log.commit(snapshot, 0, kind="batch", batch="b1", changes={"v": segment}) == 1
    assert log.latest() == 1 and log.snapshot(1) == snapshot
    assert log.entry(1).changes == {"v": segment} and log.batch("b1") == 1 and log.batch("b2") is None


def test_the_second_writer_of_a_version_changes_nothing(log: Log) -> None:
    log.commit(Snapshot(), 0, kind="batch", batch="mine")
    with pytest.raises(ConflictError):
        log.commit(Snapshot({"s": Store()}), 0, kind="batch", batch="theirs")
    assert log.latest() == 1 and log.entry(1).batch == "mine"
    assert len(list((log.place / "snapshots").iterdir())) == 1
    assert not [p for p in log.place.iterdir() if p.name.startswith(".")]


def test_what_lies_about_is_not_a_version(log: Log) -> None:
    log.commit(Snapshot(), 0, kind="batch")
    (log.place / ".0123").write_text("{}")
    (log.place / "snapshots" / "orphan.json").write_text("{}")
    assert log.latest() == 1 and [e.version for e in log.entries()] == [1]


def test_forgotten_and_damaged_versions_are_storage_errors(log: Log) -> None:
    log.commit(Snapshot(), 0, kind="batch", batch="b")
    log.commit(Snapshot(), 1, kind="batch")
    log.forget(1)
    with pytest.raises(StorageError, match="cleaned up"):
        log.snapshot(1)
    assert log.list_snapshots() == [2] and log.batch("b") == 1
    (log.place / "snapshots" / log.entry(2).snapshot).write_text("not json")
    with pytest.raises(StorageError):
        log.snapshot(2)


def test_a_place_that_cannot_be_shared_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="hdfs"):
        Folder("hdfs://bucket/x")


def many_versions(folder: Folder, number: int) -> None:
    """A log of so many versions, written without syncing each."""
    before = None
    for version in range(1, number + 1):
        name = f"{version:020}-{'0' * 32}.json"
        entry = {
            "version": version,
            "before": before,
            "snapshot": name,
            "snapshot_digest": None,
            "kind": "batch",
        }
        text, before = pack({**entry, "batch": f"b{version}", "at": 0.0, "changes": {}, "record": {}})
        (Path(folder.root) / "_log" / f"{version:020}.json").write_bytes(text)


class CountingDisk(Disk):
    """Counts the files that are read."""

    def __init__(self) -> None:
        self.reads = 0

    def read(self, path: Any) -> bytes:
        self.reads += 1
        return super().read(path)


def test_a_batch_is_found_without_reading_every_entry(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "w")
    folder.make()
    many_versions(folder, 999)
    writer = Log(folder)
    for version in range(100, 1000, 100):
        writer.write_index(version)
    assert Log(folder).batch("b7") == 7
    assert writer.commit(Snapshot(), 999, kind="batch", batch="b1000") == 1000
    counting = folder.disk = CountingDisk()
    log = Log(folder)
    assert (log.latest(), counting.reads) == (1000, 0)
    assert [log.batch(b) for b in ("b1", "b100", "b101", "b1000", "b1001")] == [1, 100, 101, 1000, None]
    assert counting.reads == 10, "one file for each hundred versions, and no entry"
    writer.commit(Snapshot(), 1000, kind="batch", batch="b1001")
    assert log.batch("b1001") == 1001 and counting.reads <= 13
    # A file of the index that is damaged is passed over.
    path = tmp_path / "w" / "_log" / "batches" / f"{300:020}.json"
    path.write_bytes(path.read_bytes().replace(b"b250", b"b25x"))
    assert [Log(folder).batch(b) for b in ("b250", "b25x")] == [250, None]
    path.unlink()
    assert Log(folder).batch("b250") == 250


def test_ten_thousand_versions_are_one_file_of_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_index, "STEPS", (40, 10))
    folder = Folder(tmp_path / "w")
    folder.make()
    log = Log(folder)
    for version in range(95):
        log.commit(Snapshot(), version, kind="batch", batch=f"b{version + 1}")
    counting = folder.disk = CountingDisk()
    new = Log(folder)
    assert [new.batch(f"b{v}") for v in range(1, 97)] == [*range(1, 96), None]
    assert counting.reads == 2 + 1 + 5, "two of forty, one of ten, five entries"


def test_snapshots_of_commits_that_never_came_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "private", lambda spark: None)
    db = Warehouse(None, tmp_path / "w")
    db.execute("CREATE TABLE t (id INT)")
    stray = tmp_path / "w" / "_log" / "snapshots" / f"{2:020}-{'f' * 32}.json"
    stray.write_bytes(b"{}")
    db.vacuum()
    assert stray.exists(), "it may be that of a commit that is under way"
    db.vacuum(hours=0)
    assert not stray.exists() and db.check()
