"""Requests and bytes of a batch on an object store, cold and warm, beside a local disk.

    python -m bench.stores_bench [ROWS]

A table of ROWS rows, a join with 1,000 rows grouped to 50, and batches that replace 100 rows at random places. The server is `moto` on
this machine, so seconds would say nothing: requests and bytes are counted. No Spark. On a disk, bytes in are those that Linux says
the process has fetched from the device, whether read or mapped; requests are files that are read, mapped or written. A new
driver is a new process there; before a cold one, the pages of the warehouse are dropped from memory.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa

from evercurrent.engine.spark.storage.disk import Disk
from evercurrent.engine.spark.storage.object_disk import ObjectDisk
from evercurrent.warehouse.database import Warehouse
from tests.spark.killing import without_cluster
from tests.spark.stores.s3_server import new_bucket, options_for, s3_server

SCHEMA = """CREATE TABLE facts (id BIGINT PRIMARY KEY, k BIGINT, amount BIGINT, note STRING);
CREATE TABLE dims (id BIGINT PRIMARY KEY, kind BIGINT);
CREATE VIEW v AS SELECT d.kind, sum(f.amount) AS amount, count(*) AS n FROM facts f JOIN dims d ON f.k = d.id GROUP BY d.kind"""


class CountingDisk(Disk):
    """Counts files that are read, mapped or written, and the bytes that the process fetches from the device."""

    def __init__(self) -> None:
        self.requests = self.bytes_out = 0

    @property
    def bytes_in(self) -> int:
        lines = Path("/proc/self/io").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("read_bytes"))

    def read(self, path: Any) -> bytes:
        self.requests += 1
        return super().read(path)

    def map(self, path: Any) -> pa.Buffer:
        self.requests += 1
        return super().map(path)

    def put(self, path: Any, *parts: Any, durable: bool = False) -> None:
        self.requests += 1
        self.bytes_out += sum(memoryview(p).nbytes for p in parts)
        super().put(path, *parts, durable=durable)


def changes(rows: int, seed: int) -> dict[str, Any]:
    """A batch that replaces 100 rows at random places; `seed` is less than 5."""
    chosen = sorted(random.Random(seed).sample(range(seed, rows, 5), 100))  # no row twice
    feed = []
    for i in chosen:
        old = {"id": i, "k": i * 7 % 1000, "amount": i % 97, "note": f"note {i * 7919 % rows}"}
        feed += [{**old, "_change_type": "update_preimage"}, {**old, "_change_type": "update_postimage"}]
        feed[-1] = {**feed[-1], "amount": old["amount"] + 1}
    return {"facts": feed}


def load(db: Any, rows: int) -> None:
    db.execute(SCHEMA)
    for view in db.views:
        db.publish(view, False)
    db.table("dims").insert([(i, i % 50) for i in range(1000)])
    ids = range(rows)
    columns = {
        "id": pa.array(ids, pa.int64()),
        "k": pa.array((i * 7 % 1000 for i in ids), pa.int64()),
        "amount": pa.array((i % 97 for i in ids), pa.int64()),
        "note": [f"note {i * 7919 % rows}" for i in ids],
        "_change_type": ["insert"] * rows,
    }
    db.apply({"facts": pa.table(columns)})


def counts(disk: Any) -> tuple[int, int, int]:
    return disk.requests, disk.bytes_in, disk.bytes_out


def measured(label: str, disk: Any, function: Any) -> Any:
    before = counts(disk)
    found = function()
    requests, fetched, written = (b - a for a, b in zip(before, counts(disk), strict=True))
    print(f"  {label:52} {requests:6} requests {fetched:10,} bytes in {written:10,} bytes out", flush=True)
    return found


def measure(path: str, options: dict[str, str], rows: int, cache: Path) -> None:
    os.environ["XDG_CACHE_HOME"] = str(cache / "first")
    db = Warehouse(None, path, storage_options=options)
    load(db, rows)
    db.apply(changes(rows, 1))
    measured("a batch of a warm driver", db._core.engine.folder.disk, lambda: db.apply(changes(rows, 2)))

    def opened() -> Any:
        made = Warehouse(None, path, storage_options=options)
        return made

    def first_batch(label: str, seed: int) -> None:
        made: list[Any] = []
        start = ObjectDisk.__init__

        def counted(self: Any, *given: Any) -> None:
            start(self, *given)
            made.append(self)

        ObjectDisk.__init__ = counted  # type: ignore[method-assign]
        try:
            db = opened()
        finally:
            ObjectDisk.__init__ = start  # type: ignore[method-assign]
        disk = made[0] if made else db._core.engine.folder.disk
        requests, fetched, written = counts(disk)
        print(f"  opening ({label}): {requests} requests, {fetched:,} bytes in, {written:,} bytes out")
        measured(f"the first batch of a new driver, {label}", disk, lambda: db.apply(changes(rows, seed)))

    if options:
        first_batch("with a warm cache", 3)
        os.environ["XDG_CACHE_HOME"] = str(cache / "second")
        first_batch("with an empty cache", 4)
    else:
        for way, seed in (("warm", 3), ("cold", 4)):
            subprocess.run(
                [sys.executable, "-m", "bench.stores_bench", "--new-driver", way, path, str(rows), str(seed)],
                check=True,
            )


def new_driver(way: str, path: str, rows: int, seed: int) -> None:
    """The first batch of a process, which has opened a small warehouse before, so that the program itself is in memory."""
    disk = CountingDisk()
    Warehouse.__init__.__globals__["Folder"].disk = disk
    with tempfile.TemporaryDirectory() as place:
        small = Warehouse(None, f"{place}/w")
        load(small, 1000)
        small.apply(changes(1000, 1))
    if way == "cold":
        os.sync()
        for file in (f for f in Path(path).rglob("*") if f.is_file()):
            with file.open("rb") as held:
                os.posix_fadvise(held.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    db = measured(f"opening, {way}", disk, lambda: Warehouse(None, path))
    measured(f"the first batch of a new driver, {way}", disk, lambda: db.apply(changes(rows, seed)))


def main(rows: int) -> None:
    without_cluster()
    with tempfile.TemporaryDirectory() as place, s3_server() as endpoint:
        print(f"S3 (moto), {rows:,} rows")
        measure(f"s3://{new_bucket(endpoint)}/w", options_for(endpoint), rows, Path(place))
        print("a local disk")
        Warehouse.__init__.__globals__["Folder"].disk = CountingDisk()
        measure(f"{place}/w", {}, rows, Path(place))


if __name__ == "__main__" and sys.argv[1:2] == ["--new-driver"]:
    without_cluster()
    new_driver(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
elif __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400_000)
