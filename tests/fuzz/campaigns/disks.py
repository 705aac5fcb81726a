"""Failing disks: a batch at whose n-th call of the file system an error is raised, for every n.

The warehouse is opened, changed and read on a disk that fails once, or that is full from some call on. Then it is opened on a
whole disk: it must hold exactly the version before the batch or the one after it, the former if the batch was refused and the latter
if it was not, and the same driver must be able to go on.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from evercurrent.engine.spark.disk import Disk
from evercurrent.engine.spark.disk import Path as Name
from evercurrent.engine.spark.files import Folder
from evercurrent.errors import StorageError
from evercurrent.warehouse.database import Warehouse
from tests.fuzz.campaign import Difference, Tally
from tests.fuzz.warehouses import Observations, build, change, driver_alone, read_all

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


@dataclass(frozen=True)
class Disks:
    name: str = "disks"
    needs_spark: bool = False
    faults: int = 4

    def run(self, seed: int, tally: Tally) -> None:
        with tempfile.TemporaryDirectory() as folder, driver_alone():
            place = Path(folder, "whole")
            build(place, 0)
            before = contents(place)
            whole = FailingDisk()
            hurt = Path(folder, "hurt")
            shutil.copytree(place, hurt)
            with mock.patch.object(Folder, "disk", whole):
                db = Warehouse(None, hurt, progress=False)
                change(db)
                read_all(db, {}, "")
            after = contents(hurt)
            tally.transactions += 5
            for i in range(self.faults):
                at = 1 + (seed * self.faults + i) % whole.calls
                disk = FailingDisk(at, ERRORS[seed % 2], lasting=seed % 3 == 2)
                shutil.rmtree(hurt)
                shutil.copytree(place, hurt)
                self.compare(hurt, disk, before, after)
                tally.faults += 1
                tally.transactions += 2

    def compare(self, place: Path, disk: FailingDisk, before: Observations, after: Observations) -> None:
        case = (
            f"from tests.fuzz.campaigns.disks import show\n\nshow({disk.at}, {disk.error}, {disk.lasting})\n"
        )
        try:
            wrong = try_disk(place, disk, before, after)
        except Exception as problem:
            raise Difference(f"{disk}: {type(problem).__name__}: {problem}", case) from problem
        if wrong:
            raise Difference(f"{disk}: {wrong}", case)


def show(at: int, error: int, lasting: bool) -> None:
    """One failing disk again; raises AssertionError if something is wrong."""
    with tempfile.TemporaryDirectory() as folder, driver_alone():
        place, other = Path(folder, "w"), Path(folder, "x")
        build(place, 0)
        shutil.copytree(place, other)
        before = contents(place)
        change(Warehouse(None, other, progress=False))
        wrong = try_disk(place, FailingDisk(at, error, lasting), before, contents(other))
        assert not wrong, wrong


CAMPAIGN = Disks()
