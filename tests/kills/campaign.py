"""Kills a writer at random instants, again and again, and looks at what it has left.

    python -m tests.kills --kills 300

The writer is a child of `fork`, so that a kill costs milliseconds. It acknowledges each step by a byte in a pipe, after the call has
returned. After the kill the file is opened: it holds every acknowledged step, at most one more, and each of them whole.
"""

from __future__ import annotations

import os
import random
import signal
import struct
import time
from dataclasses import dataclass
from pathlib import Path

import evercurrent as ec
from tests.kills import steps

MODES = ("full", "normal", "off")
CHECKPOINT = 8
"""Pages after which SQLite copies the log into the file, so that kills come in the middle of that too."""


@dataclass
class Tally:
    """What a campaign has seen."""

    kills: int = 0
    steps: int = 0
    unacknowledged: int = 0  # steps that were committed, and whose writer died before it could say so


def write(path: Path, durability: str, pipe: int) -> None:
    """The writer: goes on from the last step until it is killed."""
    db = ec.connect(path, durability=durability)  # type: ignore[call-overload]
    assert not db.read_only
    db._file.file.connection.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT}")
    step = steps.last_step(db)
    os.write(pipe, struct.pack("q", step))
    while True:
        step += 1
        steps.run(db, step)
        os.write(pipe, struct.pack("q", step))


def kill_once(path: Path, durability: str, draw: random.Random) -> int:
    """Starts a writer and kills it; returns the last step that it has acknowledged, -1 if there is none."""
    read, pipe = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(read)
            write(path, durability, pipe)
        finally:
            os._exit(1)
    os.close(pipe)
    acknowledged = -1
    try:
        if draw.random() < 0.1:  # while it opens the file
            time.sleep(draw.random() * 0.05)
        else:
            for _ in range(draw.randrange(1, 6)):
                found = os.read(read, 8)
                assert found, "the writer has failed"
                (acknowledged,) = struct.unpack("q", found)
            time.sleep(draw.random() * 0.02)
    finally:
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the writer has failed"
    while found := os.read(read, 8):
        (acknowledged,) = struct.unpack("q", found)
    os.close(read)
    return acknowledged


def run(folder: Path, kills: int, seed: int) -> Tally:
    """Kills so many writers of one file, and checks the file after each."""
    draw, tally, model = random.Random(seed), Tally(), steps.Model()
    path = folder / f"kills{seed}.db"
    steps.create(path, "full")
    for _ in range(kills):
        acknowledged = kill_once(path, draw.choice(MODES), draw)
        with ec.connect(path) as db:
            assert not db.read_only
            last = steps.last_step(db)
            assert max(acknowledged, model.step) <= last <= max(acknowledged, model.step) + 1
            tally.unacknowledged += acknowledged >= 0 and last > acknowledged
            tally.steps += last - model.step
            model.go_to(last)
            steps.check(db, model)
        tally.kills += 1
    return tally
