"""What a failing disk does to a batch: nothing, or it stands and says so. No Spark runs here."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from evercurrent.engine.spark.storage import merge_policy
from evercurrent.engine.spark.storage.files import Folder
from evercurrent.errors import StorageError
from evercurrent.rows.subscriptions import SubscriberWarning
from evercurrent.warehouse.database import Warehouse
from evercurrent.warehouse.maintenance import commit, upkeep
from evercurrent.warehouse.maintenance.publish import PublishWarning
from evercurrent.warehouse.maintenance.publish import publish as really_publish
from tests.fuzz.campaign import Tally
from tests.fuzz.campaigns import disks
from tests.fuzz.campaigns.disks import FailingDisk
from tests.fuzz.warehouses import build, change, driver_alone


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with driver_alone():
        yield


@pytest.mark.parametrize("seed", [2, 9, 16, 23])
def test_a_batch_on_a_failing_disk(seed: int) -> None:
    tally = Tally()
    disks.Disks(faults=2).run(seed, tally)
    assert tally.faults == 2


def test_every_call_of_a_commit(tmp_path: Path) -> None:
    """An error at any call of the log leaves the version before or the version after."""
    place = tmp_path / "w"
    build(place, 0, batches=1)
    for at in range(1, 60):
        other = tmp_path / str(at)
        shutil.copytree(place, other)
        db = Warehouse(None, other, progress=False)
        before = db.version
        snapshot = db._core.snapshot
        db._core.engine.folder.disk = disk = FailingDisk(at, errno.ENOSPC)
        try:
            db._core.engine.log.commit(snapshot, before, kind="batch", batch="x")
            committed = True
        except StorageError as problem:
            assert "the disk is full" in str(problem) and "hint: free some space" in str(problem)
            committed = False
        again = Warehouse(None, other, progress=False)
        assert again.version == before + committed
        assert again._core.engine.log.batch("x") == (before + 1 if committed else None)
        if disk.calls < at:
            return
    raise AssertionError("a commit takes fewer calls than this")


def test_a_full_disk_is_a_storage_error(tmp_path: Path) -> None:
    db = build(tmp_path / "w", 0, batches=1)
    version, rows = db.version, sorted(db.view("best").rows())
    db._core.engine.folder.disk = FailingDisk(1, errno.ENOSPC, lasting=True)
    with pytest.raises(StorageError, match=r"the disk is full\nhint: free some space"):
        change(db)
    assert db.version == version
    db._core.engine.folder.disk = Folder.disk
    assert sorted(db.view("best").rows()) == rows
    change(db)
    assert db.version > version


def test_what_fails_after_the_commit_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = build(tmp_path / "w", 0, batches=1)
    version = db.version

    def full(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    def raising(_: object) -> None:
        raise RuntimeError("deaf")

    db.view("spend").subscribe(raising)
    with monkeypatch.context() as broken:
        broken.setattr(upkeep, "compact", full)
        broken.setattr(commit, "publish", lambda core: ("view spend could not be published: x",))
        with pytest.warns(upkeep.UpkeepWarning), pytest.warns(SubscriberWarning):
            run = db.apply(
                {"o": [{"_change_type": "insert", "id": 7777, "cust": 1, "total": 1, "note": "n"}]}
            )
    assert run.version == db.version == version + 1
    assert len(run.warnings) == 3 and "could not be merged" in str(run) and "deaf" in str(run)
    assert (7777,) in [row[:1] for row in Warehouse(None, tmp_path / "w", progress=False).table("o").rows()]


def test_compaction_that_failed_is_done_with_a_later_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merge_policy, "FAN", 2)
    db = build(tmp_path / "w", 0, batches=1)
    merge = db._core.engine.compact_store
    monkeypatch.setattr(
        db._core.engine,
        "compact_store",
        lambda *a, **k: (_ for _ in ()).throw(StorageError("the disk is full")),
    )
    with pytest.warns(upkeep.UpkeepWarning):
        change(db)
    monkeypatch.setattr(db._core.engine, "compact_store", merge)
    run = db.apply({"o": [{"_change_type": "insert", "id": 7777, "cust": 1, "total": 1, "note": "n"}]})
    assert not run.warnings and db._core.engine.log.entry(db.version).kind == "COMPACT"


def test_publishing_that_failed_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from evercurrent.warehouse.maintenance import publish as publishing

    db = build(tmp_path / "w", 0, batches=1)
    monkeypatch.setattr(publishing, "publish_view", lambda *_: (_ for _ in ()).throw(OSError("gone")))
    with pytest.warns(PublishWarning):
        problems = really_publish(db._core)
    assert len(problems) == len(db.views) and "could not be published: gone" in problems[0]
