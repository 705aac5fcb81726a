"""A warehouse does not grow with the number of its batches, nor does a published view."""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path

import pytest
from deltalake import DeltaTable

import evercurrent as ec
from evercurrent.engine.spark import engine
from evercurrent.engine.spark.storage.delta_tables import MANY_FILES
from evercurrent.warehouse.database import Warehouse


def size(folder: Path) -> int:
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())


def test_the_state_does_not_grow_with_the_number_of_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same rows come and go: after 90 batches there is about as much to keep as after 30."""
    monkeypatch.setattr(engine, "private", lambda spark: None)
    db = Warehouse(None, tmp_path / "w")
    db.execute(
        "CREATE TABLE t (id INT PRIMARY KEY, k INT, x INT);"
        "CREATE VIEW v AS SELECT k, count(*) AS n, sum(x) AS s, max(x) AS most FROM t GROUP BY k"
    )
    rows = [{"_change_type": "insert", "id": i, "k": i % 10, "x": i} for i in range(200)]
    db.apply({"t": rows})
    kept = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(90):
            one = i % 200
            db.apply(
                {
                    "t": [
                        {"_change_type": "delete", "id": one},
                        {"_change_type": "insert", "id": one, "k": one % 10, "x": 1000 + i},
                    ]
                },
                batch=f"batch {i}",
            )
            if i + 1 in (30, 90):
                db.compact()
                db.vacuum(keep=1, hours=0)
                entries = sum(s.rows for s in db._core.snapshot.stores.values())
                kept[i + 1] = (entries, size(tmp_path / "w" / "data"))
    assert kept[90][0] <= kept[30][0] + 10, f"entries: {kept}"
    assert kept[90][1] <= 1.2 * kept[30][1], f"bytes: {kept}"
    assert len(db.view("v")) == 10
    active = DeltaTable(str(tmp_path / "w" / "views" / "v")).file_uris()
    assert len(active) <= MANY_FILES + 1, "a published view is merged on the way"
    assert len(list((tmp_path / "w" / "_log" / "snapshots").iterdir())) <= 2, "old snapshots are forgotten"
    assert db.apply({"t": []}, batch="batch 3").repeated, "and yet no batch is forgotten"
    assert not db.apply({"t": []}, batch="nothing").repeated
    assert db.apply({"t": []}, batch="nothing").repeated, "not even one that changed nothing"


def small_warehouse(path: Path, monkeypatch: pytest.MonkeyPatch) -> Warehouse:
    monkeypatch.setattr(engine, "private", lambda spark: None)
    db = Warehouse(None, path)
    if not db.tables:
        db.execute(
            "CREATE TABLE t (id INT PRIMARY KEY, x INT); CREATE VIEW v AS SELECT x, count(*) AS n FROM t GROUP BY x"
        )
    return db


def inserted(*ids: int) -> dict[str, list[dict[str, object]]]:
    return {"t": [{"_change_type": "insert", "id": i, "x": i % 3} for i in ids]}


def test_vacuum_leaves_a_batch_in_flight_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another driver's vacuum comes between the files of a batch and its commit; with its default age it takes nothing."""
    db, other = small_warehouse(tmp_path / "w", monkeypatch), small_warehouse(tmp_path / "w", monkeypatch)
    other.reload()
    commit = db._core.engine.log.commit

    def vacuumed_before(*given: object, **more: object) -> int:
        assert other.vacuum(keep=1) == 0
        return commit(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(db._core.engine.log, "commit", vacuumed_before)
    db.apply(inserted(1, 2, 3))
    other.reload()
    assert sorted(other.table("t").rows()) == [(1, 1), (2, 2), (3, 0)]
    assert other.check()


def test_a_batch_whose_files_are_gone_is_not_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A vacuum without an age takes the files of the batch: the commit notices, changes nothing, and the batch can be repeated."""
    db, other = small_warehouse(tmp_path / "w", monkeypatch), small_warehouse(tmp_path / "w", monkeypatch)
    other.reload()
    db.apply(inserted(1))
    other.reload()
    version = db.version
    commit = db._core.engine.log.commit

    def vacuumed_before(*given: object, **more: object) -> int:
        assert other.vacuum(keep=1, hours=0) > 0
        return commit(*given, **more)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(db._core.engine.log, "commit", vacuumed_before)
        with pytest.raises(ec.StorageError, match="is gone\nhint: nothing was changed: repeat the batch"):
            db.apply(inserted(2))
    other.reload()
    assert other.version == version and other.check()
    assert other.table("t").rows() == [(1, 1)]
    again = small_warehouse(tmp_path / "w", monkeypatch)
    again.apply(inserted(2))
    assert len(again.table("t")) == 2 and again.check()


def test_files_of_a_slow_batch_are_made_young_at_its_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = small_warehouse(tmp_path / "w", monkeypatch)
    log = db._core.engine.log
    write_snapshot = log.write_snapshot
    long_ago = time.time() - 10 * 3600

    def slow(*given: object) -> str:
        for file in db._core.engine.folder.made:
            os.utime(tmp_path / "w" / file, (long_ago, long_ago))
        return write_snapshot(*given)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(log, "write_snapshot", slow)
        db.apply(inserted(1, 2))
    files = db._core.snapshot.files()
    assert files and all((tmp_path / "w" / f).stat().st_mtime > long_ago + 3600 for f in files)


def test_vacuum_keeps_the_versions_of_the_last_hours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = small_warehouse(tmp_path / "w", monkeypatch)
    for i in range(5):
        db.apply(inserted(i))
    db.compact()
    db.vacuum(keep=1)
    assert len(db._core.engine.log.list_snapshots()) == db.version
    db.vacuum(keep=2, hours=0)
    assert len(db._core.engine.log.list_snapshots()) == 2
    with pytest.raises(ec.QueryError, match="hours must be a number"):
        db.vacuum(hours=-1)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="mapped files are listed in /proc")
def test_vacuum_frees_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk keeps a removed file for as long as this process maps it."""
    monkeypatch.setattr(engine, "private", lambda spark: None)
    monkeypatch.setattr("evercurrent.engine.spark.storage.files.SMALL_FILE", 1_000)

    def mapped() -> list[str]:
        lines = Path("/proc/self/maps").read_text().splitlines()
        return [line for line in lines if str(tmp_path) in line]

    db = Warehouse(None, tmp_path / "w")
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, x INT)")
    db.apply({"t": [{"_change_type": "insert", "id": i, "x": i * 7919 % 1000} for i in range(5_000)]})
    db.execute("CREATE VIEW v AS SELECT x, count(*) AS n FROM t GROUP BY x")
    db.apply({"t": [{"_change_type": "delete", "id": 7, "x": 7 * 7919 % 1000}]})
    assert mapped()
    db.execute("DROP VIEW v; DROP TABLE t")
    db.vacuum(keep=1, hours=0)
    assert not [line for line in mapped() if "(deleted)" in line]
