"""Damaged files: whatever is read is what was written, or a StorageError.

A fault flips a bit, overwrites a few bytes, truncates, deletes or swaps files of a small warehouse: segments, sums of blocks,
mapped copies, entries of the log, snapshots (which hold the definitions) and heads. Then everything is read: at the newest version,
at an earlier one, and after one more batch, by two openings. The oracle is the same warehouse without the fault.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from random import Random

from evercurrent.errors import StorageError
from tests.fuzz.campaign import Difference, Tally
from tests.fuzz.warehouses import Observations, build, driver_alone, observe

KINDS = {
    "segment": "data/*/*.parquet",
    "sums": "data/*/*.sums",
    "copy": "data/*/*.map",
    "entry": "_log/*.json",
    "snapshot": "_log/snapshots/*.json",
    "head": "_log/heads/*.json",
}
WAYS = ("flip", "flip", "flip", "flip", "flip", "overwrite", "truncate", "delete", "swap")


def damage(place: Path, seed: int) -> str:
    """Do one fault to a warehouse; returns what was done."""
    chance = Random(seed)
    kind = chance.choice(sorted(KINDS))
    files = sorted(place.glob(KINDS[kind]), key=lambda p: (p.parent.name, p.stat().st_size, p.name))
    file = chance.choice(files)
    way = chance.choice(WAYS)
    content = bytearray(file.read_bytes())
    at = chance.randrange(max(1, len(content)))
    if way == "delete":
        file.unlink()
    elif way == "swap":
        other = chance.choice(files)
        mine, theirs = file.read_bytes(), other.read_bytes()
        file.write_bytes(theirs)
        other.write_bytes(mine)
    elif way == "truncate":
        file.write_bytes(bytes(content[:at]))
    elif way == "overwrite":
        content[at : at + 8] = chance.randbytes(len(content[at : at + 8]))
        file.write_bytes(bytes(content))
    else:
        content[at] ^= 1 << chance.randrange(8)
        file.write_bytes(bytes(content))
    return f"{way} {kind} at {at} of {len(content)}"


def compare(found: Observations, expected: Observations) -> tuple[str, int]:
    """What differs, if anything does, and how much was refused."""
    refused = 0
    for what, wanted in expected.items():
        if what not in found:  # it could not be opened
            continue
        if isinstance(found[what], StorageError):
            refused += 1
            text = str(found[what])
            if "hint:" not in text:
                return f"{what}: the error does not say what to do: {text}", refused
            if what == "next":
                return differences_after_a_refusal(found, expected), refused
        elif what == "again" and refused:  # who could not read did not commit what had waited
            continue
        elif found[what] != wanted:
            return f"{what}: found {found[what]}, expected {wanted}", refused
    return "", refused


def differences_after_a_refusal(found: Observations, expected: Observations) -> str:
    """A batch that was refused has changed nothing."""
    if isinstance(found.get("again"), int) and found["again"] not in (expected["open"], expected["open"] + 1):
        return f"a refused batch left version {found['again']}"
    return ""


@dataclass(frozen=True)
class Damage:
    name: str = "damage"
    needs_spark: bool = False
    faults: int = 6

    def run(self, seed: int, tally: Tally) -> None:
        with tempfile.TemporaryDirectory() as folder, driver_alone():
            whole, hurt = Path(folder, "whole"), Path(folder, "hurt")
            build(whole, seed % 50)
            shutil.copytree(whole, hurt)
            expected = observe(hurt)
            tally.transactions += 5
            tally.views += 5
            for fault in range(self.faults):
                shutil.rmtree(hurt)
                shutil.copytree(whole, hurt)
                self.try_fault(hurt, seed * 1000 + fault, seed, expected)
                tally.faults += 1

    def try_fault(self, place: Path, fault: int, seed: int, expected: Observations) -> None:
        done = damage(place, fault)
        case = f"# {done}\nfrom tests.fuzz.campaigns.damage import show\n\nshow({seed % 50}, {fault})\n"
        try:
            wrong, _ = compare(observe(place), expected)
        except Exception as problem:
            raise Difference(f"{done}: {type(problem).__name__}: {problem}", case) from problem
        if wrong:
            raise Difference(f"{done}: {wrong}", case)


def show(warehouse: int, fault: int) -> None:
    """Do one fault again; raises AssertionError if it goes unnoticed."""
    with tempfile.TemporaryDirectory() as folder, driver_alone():
        whole, hurt = Path(folder, "whole"), Path(folder, "hurt")
        build(whole, warehouse)
        shutil.copytree(whole, hurt)
        expected = observe(hurt)
        shutil.rmtree(hurt)
        shutil.copytree(whole, hurt)
        done = damage(hurt, fault)
        wrong, _ = compare(observe(hurt), expected)
        assert not wrong, f"{done}: {wrong}"


CAMPAIGN = Damage()
