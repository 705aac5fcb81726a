"""Failing disks: a batch at whose n-th call of the file system an error is raised, for every n.

The warehouse is opened, changed and read on a disk that fails once, or that is full from some call on. Then it is opened on a
whole disk: it must hold exactly the version before the batch or the one after it, the former if the batch was refused and the latter
if it was not, and the same driver must be able to go on.
"""

from __future__ import annotations

import errno
import os
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from unittest import mock

from evercurrent.engine.spark.storage.disk import Disk
from evercurrent.engine.spark.storage.disk import Path as Name
from evercurrent.engine.spark.storage.files import Folder
from evercurrent.errors import StorageError
from evercurrent.warehouse.database import Warehouse
from tests.fuzz.campaign import Difference, Tally
from tests.fuzz.warehouses import Observations, built, change, copied, driver_alone, read_all

ERRORS = (errno.ENOSPC, errno.EIO)
WRITING = ("written", "made")


@dataclass
class FailingDisk(Disk):
    """Raises an error at one call, or at every call from there on that would take space."""

    at: int = 0
    error: int = errno.EIO
    lasting: bool = False
    calls: int = field(default=0, init=False)

    def call(self, operation: str, path: Name) -> None:
        self.calls += 1
        fails = self.calls == self.at
        if self.lasting:
            fails = 0 < self.at <= self.calls and operation in WRITING
        if fails:
            raise OSError(self.error, os.strerror(self.error), os.fspath(path))


def contents(place: Path) -> Observations:
    """All rows of the newest version, by a new driver."""
    found: Observations = {}
    read_all(Warehouse(None, place, progress=False), found, "")
    return found


def try_disk(place: Path, disk: FailingDisk, before: Observations, after: Observations) -> str:
    """What is wrong after a batch on a failing disk; empty if nothing is."""
    db, committed = None, False
    start = Warehouse(None, place, progress=False).version
    with mock.patch.object(Folder, "disk", disk):
        try:
            db = Warehouse(None, place, progress=False)
            change(db)
            committed = True
            read_all(db, {}, "")
        except StorageError:
            pass
    found = contents(place)
    if committed and found != after:
        return "a committed batch is not there"
    if not committed and found != before:
        return "a refused batch has changed rows"
    if db is not None and not committed:
        if db.version != start:
            return f"a refused batch left its driver at version {db.version}"
        change(db)  # on a whole disk
        if contents(place) != after:
            return "the batch could not be repeated"
    return ""


@cache
def measured() -> tuple[Observations, Observations, int]:
    """The rows before and after the batch, and the number of calls that all of it takes."""
    whole, disk = built(0), FailingDisk()
    place = copied(whole, whole.place.with_name("measured"))
    before = contents(place)
    place = copied(whole, place)
    with mock.patch.object(Folder, "disk", disk):
        db = Warehouse(None, place, progress=False)
        change(db)
        read_all(db, {}, "")
    return before, contents(place), disk.calls


def try_call(folder: Path, at: int, error: int, lasting: bool) -> str:
    """What is wrong with a batch at whose call number `at` the disk fails; empty if nothing is."""
    before, after, calls = measured()
    disk = FailingDisk(1 + (at - 1) % calls, error, lasting)
    try:
        wrong = try_disk(copied(built(0), folder / "hurt"), disk, before, after)
    except Exception as problem:
        wrong = f"{type(problem).__name__}: {problem}"
    return f"{disk}: {wrong}" if wrong else ""


@dataclass(frozen=True)
class Disks:
    name: str = "disks"
    needs_spark: bool = False
    faults: int = 2

    def run(self, seed: int, tally: Tally) -> None:
        error, lasting = ERRORS[seed % 2], seed % 3 == 2
        with tempfile.TemporaryDirectory() as folder, driver_alone():
            for at in range(seed * self.faults + 1, (seed + 1) * self.faults + 1):
                wrong = try_call(Path(folder), at, error, lasting)
                tally.faults += 1
                tally.transactions += 2
                if wrong:
                    call = f"show({at}, {error}, {lasting})"
                    raise Difference(wrong, f"from tests.fuzz.campaigns.disks import show\n\n{call}\n")


def show(at: int, error: int, lasting: bool) -> None:
    """One failing disk again; raises AssertionError if something is wrong."""
    with tempfile.TemporaryDirectory() as folder, driver_alone():
        wrong = try_call(Path(folder), at, error, lasting)
        assert not wrong, wrong


CAMPAIGN = Disks()
