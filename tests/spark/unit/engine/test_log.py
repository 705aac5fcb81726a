"""The one commit point."""

from __future__ import annotations

from pathlib import Path

import pytest

from evercurrent.engine.spark.storage.files import Folder, Segment
from evercurrent.engine.spark.storage.log import Log, Snapshot
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import ConflictError, StorageError, UnsupportedError


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
    assert log.kept_versions() == [2] and log.batch("b") == 1
    (log.place / "snapshots" / log.entry(2).snapshot).write_text("not json")
    with pytest.raises(StorageError):
        log.snapshot(2)


def test_a_place_that_cannot_be_shared_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="s3"):
        Folder("s3://bucket/x")
