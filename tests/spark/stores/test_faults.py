"""A commit on S3 under answers that are errors, slow or lost: it stands exactly once, or it does not stand and says so."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.engine.spark.storage import object_disk
from evercurrent.engine.spark.storage.files import Folder
from evercurrent.engine.spark.storage.log import Log
from evercurrent.engine.spark.storage.snapshots import Snapshot
from tests.spark.stores.faults import Fault, Proxy, faulty
from tests.spark.stores.s3_server import new_bucket, options_for, s3_server


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    pytest.importorskip("moto")
    with s3_server() as address:
        yield address


@pytest.fixture
def proxy(endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(object_disk, "PAUSE", 0.01)
    with faulty(endpoint) as found:
        yield found


ENTRY = "_log/00000000000000000001.json"


def logs(proxy: Proxy, endpoint: str) -> tuple[Log, Log]:
    """The log through the proxy, and the log of another driver, past it."""
    path = f"s3://{new_bucket(endpoint)}/w"
    return Log(Folder(path, options_for(proxy.address))), Log(Folder(path, options_for(endpoint)))


def commit(log: Log, batch: str) -> int:
    return log.commit(Snapshot(), 0, kind="batch", batch=batch)


@pytest.mark.parametrize("retries", [0, 3])
@pytest.mark.parametrize(
    "faults",
    [
        [503, 503],
        [409, 409, 503],
        ["dropped"],
        ["lost"],
        ["dropped", 503, "lost"],
        ["slow"],
        [412],  # a server that says so of a file that is not there
        [429, 500],
    ],
    ids=str,
)
def test_a_commit_stands_once(
    proxy: Proxy, endpoint: str, faults: list[Any], retries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_disk, "RETRIES", retries)
    mine, other = logs(proxy, endpoint)
    proxy.inject(*(Fault("PUT", ENTRY, kind) for kind in faults))
    assert commit(mine, "mine") == 1 and proxy.injected == len(faults)
    assert other.latest() == 1 and other.entry(1).batch == "mine"
    with pytest.raises(ec.ConflictError):
        commit(other, "other")
    assert [e.batch for e in Log(other.folder).entries()] == ["mine"]


@pytest.mark.parametrize("kind", [503, 409, "dropped"], ids=str)
def test_another_driver_is_first_meanwhile(
    proxy: Proxy, endpoint: str, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first attempt does not get through, another driver commits, the next attempt meets its entry."""
    monkeypatch.setattr(object_disk, "RETRIES", 0)
    mine, other = logs(proxy, endpoint)
    proxy.inject(Fault("PUT", ENTRY, kind))
    # A clock of its own: other threads of the process sleep too, and must not commit.
    monkeypatch.setattr(
        object_disk,
        "time",
        SimpleNamespace(**{**vars(time), "sleep": lambda seconds: commit(other, "other")}),
    )
    with pytest.raises(ec.ConflictError):
        commit(mine, "mine")
    assert [e.batch for e in other.entries()] == ["other"]
    assert other.list_snapshots() == [1] and len(other.folder.disk.names(other.place / "snapshots")) == 1


def test_a_store_that_stays_away(proxy: Proxy, endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that names the file; nothing is committed, and the same driver can commit later."""
    monkeypatch.setattr(object_disk, "RETRIES", 0)
    mine, other = logs(proxy, endpoint)
    proxy.inject(Fault("PUT", ENTRY, 503, times=1000))
    with pytest.raises(ec.StorageError, match=r"_log/0+1\.json cannot be written"):
        commit(mine, "mine")
    assert other.latest() == 0
    proxy.faults.clear()
    assert commit(mine, "mine") == 1


def test_reads_are_repeated(proxy: Proxy, endpoint: str) -> None:
    mine, other = logs(proxy, endpoint)
    commit(other, "other")
    proxy.inject(*(Fault("GET", "", kind) for kind in (503, "lost", 500)))
    assert mine.latest() == 1 and mine.entry(1).batch == "other" and proxy.injected == 3
