"""The log stays small: snapshots are differences from checkpoints, and old entries lie in archives."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from evercurrent.engine.spark.storage.files import Folder, Segment
from evercurrent.engine.spark.storage.log import Log
from evercurrent.engine.spark.storage.manifests import archive
from evercurrent.engine.spark.storage.snapshots import Snapshot
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import StorageError


def log_at(path: Path) -> Log:
    folder = Folder(path)
    folder.make()
    return Log(folder)


def segment(n: int) -> Segment:
    return Segment((f"data/x/{n:032}.parquet",), n, 10 * n + 1)


def many_stores(stores: int) -> Snapshot:
    content: Any = {f"state{i}": Store((segment(i),)) for i in range(stores)}
    return Snapshot(content, ({"kind": "table", "name": "t", "text": "x" * 4000},), {"o": {"v": 1}})


def changed(snapshot: Snapshot, rng: random.Random, n: int) -> Snapshot:
    """Another snapshot: stores that grow, are merged, come and go, and other parts."""
    stores = dict(snapshot.stores)
    for name in rng.sample(sorted(stores), 3):
        match rng.randrange(4):
            case 0 | 1:
                stores[name] = stores[name].plus(segment(n))
            case 2:
                stores[name] = Store((segment(n),))
            case _:
                del stores[name]
    if rng.random() < 0.3:
        stores[f"new{n}"] = Store((segment(n),))  # type: ignore[index]
    if rng.random() < 0.1:
        stores[rng.choice(sorted(stores))] = Store()
    parts = {"definitions": snapshot.definitions, "sources": snapshot.sources, "factors": snapshot.factors}
    if rng.random() < 0.2:
        parts["definitions"] = (*snapshot.definitions, {"kind": "view", "name": f"v{n}"})
    if rng.random() < 0.3:
        parts["sources"] = {"o": {"v": n}}
    if rng.random() < 0.3:
        parts["factors"] = {"rules": n / 2}
    return Snapshot(stores, cold={"r": {"n": n}} if n % 5 == 0 else {}, **parts)  # type: ignore[arg-type]


def without_empty(snapshot: Snapshot) -> Snapshot:
    kept = {n: s for n, s in snapshot.stores.items() if s.segments}
    return Snapshot(kept, snapshot.definitions, snapshot.sources, snapshot.cold, snapshot.factors)


@pytest.mark.parametrize("seed", range(6))
def test_snapshots_are_read_as_they_were_committed(tmp_path: Path, seed: int) -> None:
    rng, log = random.Random(seed), log_at(tmp_path)
    snapshot, written = many_stores(150), []
    for n in range(60):
        if rng.random() < 0.1:
            log = log_at(tmp_path)  # another driver, which has read the version before
            log.snapshot(n)
        log.commit(snapshot, n, kind="batch", batch=f"b{n}")
        written.append(without_empty(snapshot))
        snapshot = changed(snapshot, rng, 1000 + n)
    reader = log_at(tmp_path)
    for version in rng.sample(range(1, 61), 60):
        assert reader.snapshot(version) == written[version - 1]
    sizes = [p.stat().st_size for p in (tmp_path / "_log" / "snapshots").iterdir()]
    whole = max(p.stat().st_size for p in (tmp_path / "_log" / "checkpoints").iterdir())
    assert sum(sizes) < 60 * whole / 2 and max(sizes) <= whole / 2 + 64


def test_a_change_of_one_store_writes_one_store(tmp_path: Path) -> None:
    log, snapshot = log_at(tmp_path), many_stores(400)
    log.commit(snapshot, 0, kind="batch")
    for n in range(1, 20):
        snapshot = snapshot.plus({"state7": segment(9000 + n)})  # type: ignore[dict-item]
        log.commit(snapshot, n, kind="batch")
    files = sorted((tmp_path / "_log" / "snapshots").iterdir())
    assert len(list((tmp_path / "_log" / "checkpoints").iterdir())) == 1
    assert files[1].stat().st_size < 1000 and files[-1].stat().st_size < 6000


def test_a_checkpoint_that_is_gone_or_damaged_is_noticed(tmp_path: Path) -> None:
    log, snapshot = log_at(tmp_path), many_stores(200)
    log.commit(snapshot, 0, kind="batch")
    (place,) = (tmp_path / "_log" / "checkpoints").iterdir()
    text = place.read_bytes()
    place.write_bytes(text.replace(b"state7", b"state9"))
    with pytest.raises(StorageError, match=r"checkpoints.*damaged"):
        log_at(tmp_path).snapshot(1)
    place.unlink()
    with pytest.raises(StorageError, match=r"checkpoints.*missing"):
        log_at(tmp_path).snapshot(1)
    log.commit(snapshot.plus({"state1": segment(1)}), 1, kind="batch")  # type: ignore[dict-item]
    assert log_at(tmp_path).snapshot(2).stores.keys() == snapshot.stores.keys()
    place.write_bytes(text)
    assert log_at(tmp_path).snapshot(1) == snapshot


def test_checkpoints_that_no_version_needs_are_removed(tmp_path: Path) -> None:
    log, snapshot = log_at(tmp_path), many_stores(200)
    for n in range(30):
        log.commit(snapshot, n, kind="batch")
        snapshot = Snapshot({f"s{n}_{i}": Store((segment(i),)) for i in range(200)})  # type: ignore[misc]
    place = tmp_path / "_log" / "checkpoints"
    assert len(list(place.iterdir())) > 20
    named = log.checkpoints.find_name(log.place / "snapshots" / log.entry(30).snapshot)
    assert log.checkpoints.remove_others({str(named)}, 0) == 0
    assert log.checkpoints.remove_others({str(named)}, 1e12) > 0
    assert [p.name for p in place.iterdir()] == [named] and log_at(tmp_path).snapshot(30).stores


def test_old_entries_are_archived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "SPAN", 10)
    log = log_at(tmp_path)
    for n in range(35):
        log.commit(Snapshot(), n, kind="batch", batch=f"b{n}", record={"n": n})
    assert log.archive_entries(28) == 20
    assert len(log.list_versions()) == 15 and len(list((tmp_path / "_log" / "archive").iterdir())) == 2
    for reader in (log, log_at(tmp_path)):
        assert reader.versions() == list(range(1, 36)) and reader.latest() == 35
        assert [e.record["n"] for e in reader.entries()] == list(range(35))
        assert reader.batch("b3") == 4 and reader.batch("b34") == 35 and reader.batch("none") is None
    assert log.archive_entries(28) == 0 and log.archive_entries(36) == 10
    log.commit(Snapshot(), 35, kind="batch", batch="b35")
    assert log_at(tmp_path).snapshot(36) == Snapshot() and log_at(tmp_path).versions()[-1] == 36
    (tmp_path / "_log" / log.entry_name(33)).unlink()
    with pytest.raises(StorageError, match=r"33\.json is missing"):
        log_at(tmp_path).versions()
    first = tmp_path / "_log" / "archive" / f"{10:020}.json"
    first.write_bytes(first.read_bytes().replace(b"b3", b"b4", 1))
    with pytest.raises(StorageError, match="damaged"):
        log_at(tmp_path).entry(4)


def test_an_archive_that_was_begun_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that dies after it has written an archive leaves entries, which the next vacuum removes."""
    monkeypatch.setattr(archive, "SPAN", 10)
    log = log_at(tmp_path)
    for n in range(25):
        log.commit(Snapshot(), n, kind="batch", batch=f"b{n}")
    delete, calls = log.folder.disk.delete, []

    def dies(path: Any) -> int:
        calls.append(path)
        if len(calls) == 4:
            raise OSError("killed")
        return delete(path)

    monkeypatch.setattr(log.folder.disk, "delete", dies)
    with pytest.raises(OSError, match="killed"):
        log.archive_entries(25)
    monkeypatch.undo()
    monkeypatch.setattr(archive, "SPAN", 10)
    other = log_at(tmp_path)
    assert [e.batch for e in other.entries()] == [f"b{n}" for n in range(25)]
    assert other.archive_entries(25) == 17 and other.versions() == list(range(1, 26))
