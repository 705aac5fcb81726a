"""The cache of executors: immutable files on their own disks, checked, of a bounded size."""

from __future__ import annotations

from pathlib import Path

import pytest

from evercurrent.engine.spark.storage.checksums import file_digest
from evercurrent.engine.spark.storage.disk import DamageError, Reach
from evercurrent.engine.spark.storage.file_cache import FileCache
from evercurrent.engine.spark.storage.object_disk import ObjectDisk, disk_of_task
from evercurrent.engine.spark.storage.remote_frames import read_checked

URL = "memory:///w"
FILE = f"{URL}/data/t/a.parquet"


def test_a_task_reads_from_the_disk_of_its_executor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    # A task sets this for good; this way it is as it was at the end.
    monkeypatch.setenv("EVERCURRENT_CACHE_BYTES", "0")
    monkeypatch.delenv("EVERCURRENT_CACHE_BYTES")
    data = bytes(range(256)) * 100
    disk = disk_of_task(Reach(URL, {}, {"EVERCURRENT_CACHE_BYTES": "1000000"}))
    monkeypatch.delenv("EVERCURRENT_CACHE_BYTES")
    assert disk.cache is not None and disk.cache.most_bytes == 1_000_000
    disk.put(FILE, data)
    asked = disk.requests
    assert read_checked(disk, FILE, file_digest(data)) == data and disk.requests == asked
    (cached,) = [p for p in tmp_path.rglob("*") if p.is_file()]
    cached.write_bytes(b"\1" + data[1:])
    assert read_checked(disk, FILE, file_digest(data)) == data and disk.requests == asked + 1
    assert cached.read_bytes() == data
    disk.put(FILE, b"other")
    with pytest.raises(DamageError, match=r"a\.parquet is damaged"):
        read_checked(disk, FILE, file_digest(data))


def test_the_cache_has_a_bound(tmp_path: Path) -> None:
    disk = ObjectDisk(URL, {}, FileCache(str(tmp_path), 10_000))
    for n in range(20):
        disk.put(f"{URL}/data/t/{n}", bytes(1500))
        assert sum(p.stat().st_size for p in tmp_path.iterdir()) <= 10_000
