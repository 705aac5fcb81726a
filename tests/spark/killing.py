"""Drivers that are killed: one process forks a driver for every round, and SIGKILL ends it.

A batch of this size needs no cluster, so a driver is a fork of a process that has everything imported: it begins within
milliseconds, and hundreds of deaths are affordable. Run as `python -m tests.spark.killing MODE FOLDER NUMBER SEED`.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evercurrent.engine.spark import engine
from evercurrent.engine.spark.storage import delta_tables, files, log
from evercurrent.errors import ConflictError
from evercurrent.warehouse.database import Warehouse

STEPS = ("write", "snapshot", "link", "publish", "tidy")
BATCHES = 5

SCHEMA = """
CREATE TABLE t (id INT PRIMARY KEY, k INT, x INT);
CREATE TABLE u (k INT, name STRING);
CREATE VIEW v AS SELECT k, count(*) AS n, sum(x) AS s, max(x) AS most FROM t GROUP BY k;
CREATE VIEW named AS SELECT u.name, v.s FROM v JOIN u ON v.k = u.k;
CREATE VIEW ranked AS SELECT id, row_number() OVER (PARTITION BY k ORDER BY x DESC, id) AS r FROM t
"""


def batch(i: int) -> dict[str, list[dict[str, Any]]]:
    """The i-th batch: insertions, and a deletion of what the one before has inserted."""
    changes = [
        {"_change_type": "insert", "id": 10 * i + j, "k": (i + j) % 4, "x": i * j % 7} for j in range(5)
    ]
    found = {"t": changes, "u": [{"_change_type": "insert", "k": i % 3, "name": f"n{i}"}]}
    if i:
        changes.append({"_change_type": "delete", "id": 10 * (i - 1)})
        found["u"].append({"_change_type": "delete", "k": (i - 1) % 3, "name": f"n{i - 1}"})
    return found


def expected_rows(batches: int = BATCHES) -> list[tuple[int, int, int]]:
    """The rows of `t` in the end."""
    rows = [(10 * i + j, (i + j) % 4, i * j % 7) for i in range(batches) for j in range(5)]
    return [r for r in rows if r[0] % 10 or r[0] == 10 * (batches - 1)]


def without_cluster() -> None:
    engine.private = lambda spark: None  # type: ignore[assignment, return-value]


def forked(work: Callable[[], None]) -> int:
    """Run work in a fork; gives its process."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def ended(child: int) -> int:
    """How a child has ended: 0, or the negative number of a signal; anything else is a failure."""
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, -signal.SIGKILL):
        raise SystemExit(f"a driver failed with {code}")
    return code


def define(path: Path) -> None:
    Warehouse(None, path).execute(SCHEMA)


def send_all(path: Path) -> None:
    """What a driver does: open, and send every batch from the first on."""
    db = Warehouse(None, path)
    for i in range(BATCHES):
        db.apply(batch(i), batch=f"batch {i}")


def fatal(target: str, side: str, when: int) -> None:
    """From now on, the `when`-th time that a step is reached kills this process, before or after the step."""
    count = 0

    def wrapped(function: Any) -> Any:
        def step(*args: Any, **options: Any) -> Any:
            nonlocal count
            count += 1
            if count == when and side == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            result = function(*args, **options)
            if count == when and side == "after":
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return step

    places = {
        "write": (files.Folder, "write"),
        "snapshot": (log.Log, "write_snapshot"),
        "link": (os, "link"),
        "publish": (delta_tables, "publish_change"),
        "tidy": (files.Folder, "tidy"),
    }
    owner, name = places[target]
    setattr(owner, name, wrapped(getattr(owner, name)))


def at_steps(folder: Path, rounds: int, chance: random.Random) -> dict[str, int]:
    """Every step of the protocol, before and after, several times each; gives the deaths by step."""
    deaths = {}
    for target in STEPS:
        for side in ("before", "after"):
            path = folder / f"{target}_{side}"
            ended(forked(lambda path=path: define(path)))  # type: ignore[misc]
            name = f"{target}:{side}"
            deaths[name] = 0
            most = 12 if target == "write" else BATCHES - 1  # a driver reaches the step so often at least
            for when in [2, *(chance.randint(1, most) for _ in range(rounds - 1)), 10**9]:

                def work(path: Path = path, target: str = target, side: str = side, when: int = when) -> None:
                    fatal(target, side, when)
                    send_all(path)

                deaths[name] += ended(forked(work)) != 0
    return deaths


MODES = """
CREATE TABLE t (id INT PRIMARY KEY, k INT, x INT);
CREATE TABLE u (k INT, name STRING);
CREATE VIEW lazily WITH (mode = 'lazy') AS SELECT k, count(*) AS n, sum(x) AS s, max(x) AS most FROM t GROUP BY k;
CREATE VIEW partly WITH (mode = 'hybrid') AS
  SELECT u.name, v.s FROM (SELECT k, sum(x) AS s FROM t GROUP BY k) v JOIN u ON v.k = u.k
"""


def send_and_read(path: Path) -> None:
    """What a driver does whose views are read after every second batch."""
    db = Warehouse(None, path)
    for i in range(BATCHES):
        db.apply(batch(i), batch=f"batch {i}")
        if i % 2:
            for view in db.views:
                db.view(view).rows()


def at_reads(folder: Path, rounds: int, chance: random.Random) -> dict[str, int]:
    """Every step of the protocol, while what has waited is worked off or is about to be."""
    deaths = {}
    for target in STEPS:
        for side in ("before", "after"):
            path = folder / f"{target}_{side}"
            ended(forked(lambda path=path: Warehouse(None, path).execute(MODES) and None))  # type: ignore[misc]
            name = f"{target}:{side}"
            deaths[name] = 0
            most = 12 if target == "write" else BATCHES - 1
            for when in [*(chance.randint(2, most) for _ in range(rounds)), 10**9]:

                def work(path: Path = path, target: str = target, side: str = side, when: int = when) -> None:
                    fatal(target, side, when)
                    send_and_read(path)

                deaths[name] += ended(forked(work)) != 0
    return deaths


def at_random(folder: Path, rounds: int, chance: random.Random) -> dict[str, int]:
    """Kills at random times, until the batches of several warehouses are in."""
    begin = time.perf_counter()
    path = folder / "quiet"
    ended(forked(lambda: (define(path), send_all(path))[0]))
    whole = time.perf_counter() - begin
    deaths, warehouses = 0, 0
    while deaths < rounds:
        path = folder / f"random_{warehouses}"
        warehouses += 1
        ended(forked(lambda path=path: define(path)))  # type: ignore[misc]
        for _ in range(12):
            child = forked(lambda path=path: send_all(path))  # type: ignore[misc]
            time.sleep(chance.random() ** 2 * whole)
            os.kill(child, signal.SIGKILL)
            if ended(child) == 0:
                break
            deaths += 1
        ended(forked(lambda path=path: send_all(path)))  # type: ignore[misc]
    return {"deaths": deaths, "warehouses": warehouses}


def at_once(folder: Path, drivers: int, chance: random.Random) -> dict[str, int]:
    """Several drivers at once, each with batches of its own, each repeating what loses a race."""
    path = folder / "shared"
    ended(forked(lambda: define(path)))
    report = folder / "conflicts"
    report.mkdir()

    def work(number: int) -> None:
        db = Warehouse(None, path)
        lost = 0
        for i in range(BATCHES):
            rows = [{"_change_type": "insert", "id": 1000 * number + i, "k": number, "x": i}]
            while True:
                version, before = db.version, sorted(db.table("t").rows())
                try:
                    db.apply({"t": rows}, batch=f"{number} {i}")
                    break
                except ConflictError:
                    assert (db.version, sorted(db.table("t").rows())) == (version, before)
                    lost += 1
                    db.reload()
        (report / str(number)).write_text(str(lost))

    children = [forked(lambda n=n: work(n)) for n in range(drivers)]  # type: ignore[misc]
    for child in children:
        assert ended(child) == 0
    return {"lost": sum(int(p.read_text()) for p in report.iterdir())}


if __name__ == "__main__":
    mode, place, number, seed = sys.argv[1:]
    without_cluster()
    modes = {"steps": at_steps, "random": at_random, "once": at_once, "reads": at_reads}
    print(json.dumps(modes[mode](Path(place), int(number), random.Random(int(seed)))))
