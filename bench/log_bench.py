"""What a long log costs: opening, finding a batch, history, and what a version writes, at very many versions.

    python -m bench.log_bench 100000 [STORES]

CPU seconds and files read of a new driver, before and after vacuum has archived old entries. No Spark.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evercurrent.engine.spark.storage.batch_index import STEPS, BatchIndex
from evercurrent.engine.spark.storage.disk import Disk
from evercurrent.engine.spark.storage.documents import pack
from evercurrent.engine.spark.storage.files import Folder, Segment
from evercurrent.engine.spark.storage.log import Log
from evercurrent.engine.spark.storage.snapshots import Snapshot
from evercurrent.engine.spark.storage.stored_state import Store


class CountingDisk(Disk):
    """Counts the files that are read."""

    reads = 0

    def read(self, path: Any) -> bytes:
        self.reads += 1
        return super().read(path)


def write_log(folder: Folder, versions: int) -> None:
    """Entries as batches leave them, without syncing each."""
    place, before, batches = folder.root / "_log", None, {}
    index = BatchIndex(folder)
    record = {"rows_in": {"t": 1}, "views": [["v", "delta", "", 1]], "seconds": 0.04, "jobs": 0}
    for version in range(1, versions + 1):
        name = f"{version:020}-{version:032x}.json"
        own = None
        if version == versions:
            text, own = pack({"stores": {}, "definitions": [], "sources": {}, "cold": {}, "factors": {}})
            folder.disk.put(place / "snapshots" / name, text)
        entry = {
            "version": version,
            "before": before,
            "snapshot": name,
            "snapshot_digest": own,
            "kind": "batch",
        }
        entry |= {"batch": f"batch-{version}", "at": 1e9 + version, "changes": {}, "record": record}
        text, before = pack(entry)
        folder.disk.put(place / f"{version:020}.json", text)
        batches[f"batch-{version}"] = version
        if index.is_due(version):
            index.write(version, batches)
    folder.disk.put(place / "heads" / f"{versions:020}.json", text)


def timed(path: Path, label: str, function: Callable[[Log], Any]) -> None:
    folder = Folder(path)
    disk = folder.disk = CountingDisk()
    begin = time.process_time()
    found = function(Log(folder))
    print(
        f"  {label}: {time.process_time() - begin:.3f} s CPU, {disk.reads} files read ({found})", flush=True
    )


def measure(path: Path, versions: int) -> None:
    timed(path, "opening", lambda log: len(log.snapshot(log.latest()).stores))
    timed(path, "a batch of long ago", lambda log: log.batch("batch-7"))
    timed(path, "a batch that never was", lambda log: log.batch("none"))
    timed(
        path,
        "the last 20 versions",
        lambda log: len([log.entry(v) for v in range(versions - 19, versions + 1)]),
    )
    timed(path, "the whole history", lambda log: sum(1 for _ in log.entries()))


def written(stores: int) -> None:
    """The bytes that versions write of a warehouse of so many stores, each of which changes two of them."""
    with tempfile.TemporaryDirectory() as place:
        folder = Folder(place)
        folder.make()
        log = Log(folder)
        content: Any = {
            f"state{i}": Store(tuple(Segment((f"data/s/{i:016}{j:016}.parquet",), 9, 9) for j in range(4)))
            for i in range(stores)
        }
        snapshot = Snapshot(content)
        for n in range(200):
            log.commit(snapshot, n, kind="batch")
            new = Segment((f"data/s/{n:032}.parquet",), 9, 9)
            more: Any = {f"state{n % 3}": new, "state9": new}
            snapshot = snapshot.plus(more)
            if n % 8 == 7:  # merged
                snapshot = Snapshot({**snapshot.stores, **{k: content[k] for k in more}})
        root = Path(place) / "_log"
        sizes = {k: sum(p.stat().st_size for p in (root / k).iterdir()) for k in ("snapshots", "checkpoints")}
        whole = len(
            pack({"stores": {k: {"base": [s.to_json() for s in v.base]} for k, v in content.items()}})[0]
        )
    print(f"{stores} stores, 200 versions: {sizes} bytes; whole lists would be {200 * whole:,}")


def main(versions: int, stores: int) -> None:
    written(stores)
    with tempfile.TemporaryDirectory() as place:
        folder = Folder(place)
        folder.make()
        write_log(folder, versions)
        print(f"{versions:,} versions, batches indexed by {STEPS}")
        measure(Path(place), versions)
        begin = time.process_time()
        removed = Log(folder).archive_entries(versions - 100)
        print(f"archived {removed:,} entries in {time.process_time() - begin:.1f} s CPU")
        measure(Path(place), versions)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 500)
