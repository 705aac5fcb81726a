"""Drivers that follow a Delta source by reference and are killed, one after another or two at once.

Each driver goes through the commits of the source, from the first on, and refreshes after each: what another has read is not
read again. At the end a last driver comes to the end of the source, and tables and views are what the source holds.

    python -m tests.spark.reference_kills --kills 100
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from evercurrent.errors import ConflictError
from evercurrent.warehouse.database import Warehouse
from tests.spark.delta_writer import DeltaWriter
from tests.spark.killing import ended, forked, without_cluster
from tests.spark.stores.killing import fatal
from tests.spark.unit.warehouse.test_references import ORDERS, VIEWS, order

COMMITS = 8
DRIVERS = 6


def write_lake(root: Path) -> DeltaWriter:
    """A table with a history; its commits but the first two are hidden."""
    lake = DeltaWriter(root / "orders", ORDERS, mapping="name")
    lake.append([order(i) for i in range(30)])
    for i in range(COMMITS):
        if i % 3 == 0:
            lake.delete(lambda r, i=i: r[0] % 7 == i % 7)  # type: ignore[misc]
        elif i % 3 == 1:
            lake.append([order(n) for n in range(100 * i, 100 * i + 6)])
        else:
            lake.update(lambda r, i=i: r[0] % 5 == i % 5, lambda r: (r[0], r[1], r[2] + 1, r[3]))  # type: ignore[misc]
    (root / "hidden").mkdir()
    for version in range(2, lake.version + 1):
        name = f"{version:020}.json"
        os.rename(root / "orders" / "_delta_log" / name, root / "hidden" / name)
    return lake


def follow(root: Path) -> None:
    """Refresh at every version of the source."""
    db = Warehouse(None, root / "w")
    with suppress(ConflictError):
        db.source("orders", format="delta", path=root / "orders", key=["id"])
        for name in ("per", "ranks"):
            if name not in {v.lower() for v in db.views}:
                db.execute(f"CREATE VIEW {name} AS {VIEWS[name]}")
    for name in ["", *sorted(os.listdir(root / "hidden"))]:
        if name:
            with suppress(FileExistsError):
                os.link(root / "hidden" / name, root / "orders" / "_delta_log" / name)
        try:
            db.refresh()
        except ConflictError:
            db.reload()


def require_whole(root: Path, lake: DeltaWriter) -> None:
    db = Warehouse(None, root / "w")
    assert db.refresh().version == db.version, "there is nothing left to read"
    assert sorted(db.table("orders").rows(), key=repr) == sorted(lake.rows, key=repr)
    wanted: dict[int, tuple[int, int]] = {}
    for _, customer, total, _ in lake.rows:
        n, s = wanted.get(customer, (0, 0))
        wanted[customer] = n + 1, s + total
    assert sorted(db.view("per").rows()) == sorted((k, *v) for k, v in wanted.items())
    assert len(db.view("ranks").rows()) == len(lake.rows)
    assert db.check(), str(db.check())


def kill_some(root: Path, chance: random.Random) -> Counter[str]:
    """Start one driver or two and kill one."""
    step = chance.choice(["write", "snapshot", "commit on a disk", "tidy", "any moment"])
    side, when = chance.choice(["before", "after"]), chance.randint(1, 9)

    def work() -> None:
        if step != "any moment":
            fatal(step, side, when)
        follow(root)

    others = [forked(lambda: follow(root))] if chance.random() < 0.4 else []
    child = forked(work)
    if step == "any moment":
        time.sleep(chance.uniform(0, 2))
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    how = f"{step}: {side}" if step != "any moment" else step
    deaths = Counter([how] if ended(child) else [])
    for other in others:
        ended(other)
    return deaths


def campaign(kills: int, seed: int) -> Counter[str]:
    chance = random.Random(seed)
    without_cluster()
    deaths: Counter[str] = Counter()
    while deaths.total() < kills:
        root = Path(tempfile.mkdtemp(prefix="evercurrent-references-"))
        lake = write_lake(root)
        for _ in range(DRIVERS):
            deaths += kill_some(root, chance)
        if ended(forked(lambda root=root: follow(root))):  # type: ignore[misc]
            raise SystemExit("the last driver was killed")
        ended(forked(lambda root=root, lake=lake: require_whole(root, lake)))  # type: ignore[misc]
        shutil.rmtree(root)
    return deaths


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(json.dumps(campaign(given.kills, given.seed)))


if __name__ == "__main__":
    main()
