"""A race of twelve drivers, each a process of its own: in every round all of them apply a batch to the same version.

Exactly one wins a round; the others raise ConflictError, change nothing, and go on from the version of the winner.

    python -m tests.spark.stores.racing --rounds 20 --place s3
    {"rounds": 20, "drivers": 12, "conflicts": 220, "drivers that won": 9}
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from evercurrent.errors import ConflictError
from evercurrent.warehouse.database import Warehouse
from tests.spark.killing import SCHEMA, ended, forked, without_cluster
from tests.spark.stores.s3_server import new_bucket, options_for, s3_server

DRIVERS = 12
ROOT = Path(__file__).resolve().parents[3]
FORK = multiprocessing.get_context("fork")
"""Drivers are forks of a process that has asked the store nothing: the libraries for stores have threads."""


def row(attempt: int, driver: int) -> tuple[int, int, int]:
    return 100 * attempt + driver, attempt % 4, driver


def drive(path: str, options: dict[str, str], rounds: int, driver: int, gate: Any, results: Any) -> None:
    """One driver: says for every round whether it has won."""
    db = Warehouse(None, path, storage_options=options)
    for attempt in range(rounds):
        db.reload()
        before = db.version
        change = dict(zip(("id", "k", "x"), row(attempt, driver), strict=True))
        gate.wait(120)
        try:
            db.apply({"t": [{"_change_type": "insert", **change}]}, batch=f"{attempt}-{driver}")
            results.put((attempt, driver, True))
        except ConflictError:
            assert db.version == before, "a driver that has lost is where it was"
            results.put((attempt, driver, False))
        gate.wait(120)


def race(path: str, options: dict[str, str], rounds: int) -> list[int]:
    """Runs all rounds; returns who has won each."""
    if ended(forked(lambda: Warehouse(None, path, storage_options=options).execute(SCHEMA))):
        raise SystemExit("the warehouse was not made")
    gate, results = FORK.Barrier(DRIVERS), FORK.Queue()
    drivers = [
        FORK.Process(target=drive, args=(path, options, rounds, i, gate, results)) for i in range(DRIVERS)
    ]
    for d in drivers:
        d.start()
    found = [results.get(timeout=300) for _ in range(rounds * DRIVERS)]
    for d in drivers:
        d.join()
    assert not any(d.exitcode for d in drivers)
    winners = []
    for attempt in range(rounds):
        won = [driver for own, driver, first in found if own == attempt and first]
        assert len(won) == 1, f"round {attempt}: {won}"
        winners.append(won[0])
    return winners


def require_whole(path: str, options: dict[str, str], winners: list[int]) -> None:
    """The versions, the rows and the view are those of the winners."""
    db = Warehouse(None, path, storage_options=options)
    named = [e.batch for e in db._core.engine.log.entries() if e.batch]
    assert named == [f"{attempt}-{driver}" for attempt, driver in enumerate(winners)], named
    rows = [row(attempt, driver) for attempt, driver in enumerate(winners)]
    assert sorted(db.table("t").rows()) == sorted(rows)
    groups = {k: [x for _, own, x in rows if own == k] for _, k, _ in rows}
    assert sorted(db.view("v").rows()) == sorted((k, len(x), sum(x), max(x)) for k, x in groups.items())
    assert db.check(), str(db.check())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--place", choices=("s3", "disk"), default="s3")
    parser.add_argument("--look", nargs=3, metavar=("PATH", "OPTIONS", "WINNERS"))
    given = parser.parse_args()
    without_cluster()
    if given.look:
        path, options, winners = given.look
        require_whole(path, json.loads(options), json.loads(winners))
        return
    with tempfile.TemporaryDirectory(prefix="evercurrent-race-") as root, s3_server() as endpoint:
        os.environ["XDG_CACHE_HOME"] = f"{root}/cache"
        options = options_for(endpoint) if given.place == "s3" else {}
        path = f"s3://{new_bucket(endpoint)}/w" if given.place == "s3" else f"{root}/w"
        won = race(path, options, given.rounds)
        look = ["--look", path, json.dumps(options), json.dumps(won)]
        subprocess.run([sys.executable, "-m", "tests.spark.stores.racing", *look], check=True, cwd=ROOT)
    conflicts = given.rounds * (DRIVERS - 1)
    found = {"rounds": given.rounds, "drivers": DRIVERS, "conflicts": conflicts}
    print(json.dumps({**found, "drivers that won": len(set(won))}))


if __name__ == "__main__":
    main()
