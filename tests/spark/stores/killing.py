"""Drivers of a warehouse on S3, or on a disk, that are killed: before or after a step of the protocol, or at any moment.

Every driver opens the warehouse and sends all batches from the first on, each under its name. A campaign is

    python -m tests.spark.stores.killing --kills 200 --place s3

and `tests/spark/stores/test_kills.py` runs a small one. A driver is a fork of a process that has everything imported and has
asked the store nothing: the libraries for stores have threads, which do not survive a fork.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from evercurrent.engine.spark.storage import delta_tables, disk, files, log, object_disk
from evercurrent.engine.spark.storage.manifests import checkpoints
from evercurrent.warehouse.database import Warehouse
from tests.spark.killing import BATCHES, SCHEMA, batch, ended, expected_rows, forked, without_cluster
from tests.spark.stores.s3_server import new_bucket, options_for, s3_server

STEPS: dict[str, tuple[Any, str]] = {
    "write": (files.Folder, "put"),
    "snapshot": (log.Log, "write_snapshot"),
    "checkpoint": (checkpoints.Checkpoints, "document"),
    "commit": (object_disk.ObjectDisk, "put_if_absent"),
    "commit on a disk": (disk.Disk, "put_if_absent"),
    "publish": (delta_tables, "publish_change"),
    "tidy": (files.Folder, "tidy"),
}
checkpoints.WHOLE = 0  # snapshots of this small warehouse are differences, too
DRIVERS = 8
"""So many drivers are killed over one warehouse, before it is looked at."""


def fatal(step: str, side: str, when: int) -> None:
    """From now on, the `when`-th time that a step is reached kills this process, before or after the step."""
    owner, name = STEPS[step]
    function = getattr(owner, name)
    count = 0

    def replaced(*given: Any, **options: Any) -> Any:
        nonlocal count
        count += 1
        if count == when and side == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = function(*given, **options)
        if count == when and side == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, replaced)


def send_all(path: str, options: dict[str, str]) -> None:
    db = Warehouse(None, path, storage_options=options)
    if not db.tables:
        db.execute(SCHEMA)
    for i in range(BATCHES):
        db.apply(batch(i), batch=f"batch {i}")


def require_whole(path: str, options: dict[str, str]) -> None:
    """Every batch is there once, tables and views are what they should be, and published tables are their views."""
    from deltalake import DeltaTable

    db = Warehouse(None, path, storage_options=options)
    named = [e.batch for e in db._core.engine.log.entries() if e.batch]
    assert named == [f"batch {i}" for i in range(BATCHES)], named
    assert sorted(db.table("t").rows()) == sorted(expected_rows())
    assert db.check(), str(db.check())
    rows = expected_rows()
    groups = {k: [x for _, own, x in rows if own == k] for _, k, _ in rows}
    assert sorted(db.view("v").rows()) == sorted((k, len(x), sum(x), max(x)) for k, x in groups.items())
    for view in db.views:
        table = DeltaTable(f"{path}/views/{view}", storage_options=options or None).to_pyarrow_table()
        assert sorted(tuple(r.values()) for r in table.to_pylist()) == sorted(db.view(view).rows()), view


def kill_one(path: str, options: dict[str, str], chance: random.Random) -> str:
    """Start a driver and kill it; returns how, or nothing if it came to its end first."""
    steps = [s for s in STEPS if s != ("commit on a disk" if options else "commit")]
    step = chance.choice([*steps, "any moment"])
    if step == "any moment":
        child = forked(lambda: send_all(path, options))
        time.sleep(chance.uniform(0, 1.5))
        os.kill(child, signal.SIGKILL)
        return step if ended(child) else ""
    side, when = chance.choice(["before", "after"]), chance.randint(1, 6 if step == "write" else 3)

    def work() -> None:
        fatal(step, side, when)
        send_all(path, options)

    return f"{step}: {side}" if ended(forked(work)) else ""


def campaign(kills: int, place: str, seed: int) -> Counter[str]:
    """Kill drivers until so many are dead; raises if something is lost or double."""
    chance = random.Random(seed)
    without_cluster()
    deaths: Counter[str] = Counter()
    root = tempfile.mkdtemp(prefix="evercurrent-kills-")
    os.environ["XDG_CACHE_HOME"] = f"{root}/cache"
    with s3_server() as endpoint:
        while deaths.total() < kills:
            options = options_for(endpoint) if place == "s3" else {}
            path = f"s3://{new_bucket(endpoint)}/w" if place == "s3" else tempfile.mkdtemp(dir=root)
            for _ in range(min(DRIVERS, kills - deaths.total())):
                how = kill_one(path, options, chance)
                deaths.update([how] if how else [])
            last = forked(lambda path=path, options=options: send_all(path, options))  # type: ignore[misc]
            look = [sys.executable, "-m", "tests.spark.stores.killing", "--look", path, json.dumps(options)]
            if ended(last):
                raise SystemExit("the last driver was killed")
            subprocess.run(look, check=True, cwd=Path(__file__).resolve().parents[3])
    subprocess.run(["rm", "-rf", root], check=True)
    return deaths


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--place", choices=("s3", "disk"), default="s3")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--look", nargs=2, metavar=("PATH", "OPTIONS"))
    given = parser.parse_args()
    if given.look:
        without_cluster()
        require_whole(given.look[0], json.loads(given.look[1]))
        return
    print(json.dumps(campaign(given.kills, given.place, given.seed)))


if __name__ == "__main__":
    main()
