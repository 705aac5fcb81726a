"""Faults in a database that a file keeps: as `faults`, and the file says the same as the database, whatever came in between.

After each transaction the file is copied and the copy is opened: it holds what the database holds, so an interrupt between the commit of
SQLite and the rest of the commit loses nothing and adds nothing. Half of the faults come just before and after that commit. Every fourth
seed walks line by line, as `interrupts` does; every eighth walks over the commit of objects, with a second fault a few lines after each.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import evercurrent as ec
from tests.fuzz.campaign import Tally
from tests.fuzz.campaigns.faults import Scenario
from tests.fuzz.campaigns.interrupts import PAIRS, STRIDE, walk
from tests.fuzz.faulty_worlds import Objects, Tables, World, weight
from tests.laws.chooser import Seeded

REACH = 64
"""Lines from the last statement that is written to behind the point where a commit is decided."""
SECONDS = 10


@dataclass(frozen=True)
class DurableFaults:
    name: str = "durable"
    needs_spark: bool = False
    transactions: int = 8

    def run(self, seed: int, tally: Tally) -> None:
        with tempfile.TemporaryDirectory() as folder:
            c = Seeded(seed)
            line_by_line = seed % 4 == 0
            world: World = Objects(c) if seed % 4 == 1 else Tables(c)
            files = count()
            world.connect = lambda: ec.connect(
                Path(folder) / f"{next(files)}.db", durability="off", functions=[weight]
            )
            if line_by_line and isinstance(world, Tables):
                world.chosen = dict.fromkeys(PAIRS[seed // 4 % len(PAIRS)][2], "strict")
                world.full = False
            scenario = DurableScenario(seed, tally, world, Path(folder))
            try:
                if line_by_line:
                    forth, back, _ = PAIRS[seed // 4 % len(PAIRS)]
                    walk(scenario, forth, back, seed // 16 % STRIDE)
                elif seed % 8 == 5:
                    walk_commit(scenario, seed // 8 % SECONDS)
                else:
                    scenario.run(self.transactions)
            finally:
                scenario.db.close()
                scenario.twin.close()


class DurableScenario(Scenario):
    """A database in a file that is interrupted, and its twin in another file."""

    aim = (
        "_write_beside"  # the last that `FileKeeper.write` does before SQLite commits, which cannot be undone
    )

    def __init__(self, seed: int, tally: Tally, world: World, folder: Path) -> None:
        super().__init__(seed, tally, world)
        self.folder = folder

    def _check(self, when: str, found: Any) -> None:
        super()._check(when, found)
        copy = self.folder / "copy.db"
        self.db.backup(copy)
        try:
            with ec.connect(copy, functions=[weight]) as again:
                kept = self.world.contents(again)
                version = again.version
        except ec.EvercurrentError as problem:
            raise self._difference(f"{when}: the file cannot be opened: {problem}") from problem
        if kept != found:
            raise self._difference(f"{when}: the file holds something else", kept, found)
        if version != self.db.version:
            raise self._difference(
                f"{when}: the file is at version {version}, the database at {self.db.version}"
            )


def walk_commit(scenario: DurableScenario, second: int) -> None:
    """Raises at each line around the commit of SQLite, and again so many lines later; once only if that is 0."""
    for first in range(1, REACH):
        places = (first, second) if second else (first,)
        scenario.disturb(
            [("size", "d1", 10 + first)],
            bool(first % 2),
            lambda _, places=places: places,  # type: ignore[misc]
            since=scenario.aim,
        )
        scenario.tally.transactions += 1
        scenario.tally.views += len(scenario.db.views)


CAMPAIGN = DurableFaults()
