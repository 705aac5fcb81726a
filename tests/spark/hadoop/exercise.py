"""What a warehouse must do on any file system of Hadoop."""

from __future__ import annotations

import tempfile
import threading
import time
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.engine.spark.storage.hadoop.disk import HadoopDisk

TABLES = """CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT, total BIGINT, note STRING);
CREATE TABLE customers (id BIGINT PRIMARY KEY, nation STRING);
CREATE VIEW spend AS SELECT c.nation, sum(o.total) AS total, count(*) AS n
    FROM orders o JOIN customers c ON o.customer = c.id GROUP BY c.nation"""


def opened(spark: Any, url: str, options: dict[str, str], **more: Any) -> Any:
    return ec.connect(spark=spark, path=url, storage_options=options, **more)


def use_a_warehouse(spark: Any, url: str, options: dict[str, str], rows: int = 60_000) -> None:
    """Load, views, batches by the driver and by jobs, reading, verify, check, another driver, vacuum, opening again."""
    db = opened(spark, url, options)
    db.execute(TABLES)
    db.table("customers").insert([(i, f"N{i % 5}") for i in range(20)])
    frame = spark.range(rows).selectExpr(
        "id",
        "id % 20 AS customer",
        "id % 7 AS total",
        "repeat(md5(cast(id as string)), 2) AS note",
        "'insert' AS _change_type",
    )
    db.apply({"orders": frame}, batch="load")
    change = [
        {"_change_type": "insert", "id": rows + i, "customer": i, "total": 1, "note": None} for i in range(3)
    ]
    db.apply({"orders": change}, batch="small")
    db.execute("DELETE FROM orders WHERE id = 5")
    stream_into(spark, db)
    other = opened(spark, url, options, strategy="spark")
    other.apply(
        {"orders": [{"_change_type": "insert", "id": rows + 9, "customer": 1, "total": 5, "note": "x"}]}
    )
    with pytest.raises(ec.ConflictError):
        db.table("customers").insert([(99, "N9")])
    db.reload()
    assert db.apply({"orders": []}, batch="small").repeated
    assert sum(n for _, _, n in db.view("spend").rows()) == rows + 3
    assert db.query("SELECT total FROM orders WHERE id = 77").rows() == [(0,)]
    assert db.table("orders").dataframe().count() == rows + 3
    assert_whole(db)
    again = opened(spark, url, options)
    assert sorted(again.view("spend").rows()) == sorted(db.view("spend").rows())
    again.compact()
    assert again.vacuum(keep=1, hours=0) > 0
    assert_whole(again)
    assert len(again.history()) == again.version


def stream_into(spark: Any, db: Any) -> None:
    """A stream without a folder for its checkpoint: Spark writes it into the warehouse, and goes on from there."""
    with tempfile.TemporaryDirectory() as folder:
        for part in range(2):
            spark.range(3).selectExpr(f"{part} AS id", "'N' AS nation").limit(1).selectExpr(
                "id + 100 AS id", "nation"
            ).write.mode("append").parquet(folder)
            frame = spark.readStream.schema("id BIGINT, nation STRING").parquet(folder)
            db.stream("customers", frame, once=True).awaitTermination()
        assert db.query("SELECT id FROM customers WHERE id >= 100").rows() == [(100,), (101,)]


def assert_whole(db: Any) -> None:
    verified, checked = db.verify(), db.check()
    assert verified, str(verified)
    assert checked, str(checked)


def race(spark: Any, url: str, options: dict[str, str], writers: int = 12, rounds: int = 5) -> None:
    """Of several writers of one name exactly one wins, and the file is that of the winner, as a whole."""
    disks = [HadoopDisk(spark, url, options) for _ in range(writers)]
    disks[0].make_folder(f"{url}/race")
    for attempt in range(rounds):
        path, found, gate = f"{url}/race/{attempt}", {}, threading.Barrier(writers)

        def write(n: int, path: str = path, found: Any = found, gate: Any = gate) -> None:
            gate.wait()
            found[n] = disks[n].put_if_absent(path, b"%d " % n * 5000)

        threads = [threading.Thread(target=write, args=(n,)) for n in range(writers)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        winners = [n for n, won in found.items() if won]
        assert len(found) == writers and len(winners) == 1
        assert disks[0].read(path) == b"%d " % winners[0] * 5000
        assert disks[0].names(f"{url}/race") == [str(i) for i in range(attempt + 1)]


def look_at_files(spark: Any, url: str, options: dict[str, str]) -> None:
    """The operations of a disk, one by one."""
    disk = HadoopDisk(spark, url, options)
    disk.make_folder(f"{url}/ops/deep")
    disk.put(f"{url}/ops/a", b"12", b"34")
    large = bytes(range(256)) * (5 << 12)
    disk.put(f"{url}/ops/deep/b", large)
    assert disk.read(f"{url}/ops/a") == b"1234" and disk.read(f"{url}/ops/deep/b") == large
    assert disk.read_ranges(f"{url}/ops/deep/b", [1, 600], [3, 603]) == [b"\x01\x02", bytes(range(88, 91))]
    assert sorted(disk.names(f"{url}/ops")) == ["a", "deep"] and disk.names(f"{url}/none") == []
    assert sorted(f.path for f in disk.tree(f"{url}/ops")) == ["a", "deep/b"]
    size, changed = disk.marks(f"{url}/ops/a") or (0, 0)
    assert size == 4 and abs(changed / 1e9 - time.time()) < 3600 and disk.marks(f"{url}/none") is None
    with pytest.raises(ec.StorageError, match=r"ops/none is missing"):
        disk.read(f"{url}/ops/none")
    assert disk.put_if_absent(f"{url}/ops/c", b"mine") and not disk.put_if_absent(f"{url}/ops/c", b"theirs")
    assert disk.put_if_absent(f"{url}/ops/c", b"mine")  # the answer was lost: it is ours all the same
    assert disk.delete(f"{url}/ops/a") == 4 and disk.delete(f"{url}/ops/a") == 0
    disk.replace(f"{url}/ops/c", b"new")
    assert disk.read(f"{url}/ops/c") == b"new"
