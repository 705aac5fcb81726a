"""Damaged files: whatever is read is what was written, or a StorageError.

A fault flips a bit, overwrites a few bytes, truncates, deletes or swaps files of a small warehouse: segments, sums of blocks,
mapped copies, entries of the log, snapshots (which hold the definitions) and heads. Then everything is read: at the newest version,
at an earlier one, and after one more batch, by two openings. The oracle is the same warehouse without the fault.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from random import Random

from evercurrent.errors import StorageError
from tests.fuzz.campaign import Difference, Tally
from tests.fuzz.warehouses import Observations, built, copied, driver_alone, observe

KINDS = {
    "segment": "data/*/*.parquet",
    "sums": "data/*/*.sums",
    "copy": "data/*/*.map",
    "entry": "_log/*.json",
    "snapshot": "_log/snapshots/*.json",
    "head": "_log/heads/*.json",
}
WAREHOUSES = 8
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
    faults: int = 3

    def run(self, seed: int, tally: Tally) -> None:
        with tempfile.TemporaryDirectory() as folder, driver_alone():
            for fault in range(seed * 1000, seed * 1000 + self.faults):
                wrong = try_fault(Path(folder), seed % WAREHOUSES, fault)
                tally.faults += 1
                tally.transactions += 1
                if wrong:
                    case = f"from tests.fuzz.campaigns.damage import show\n\nshow({seed % WAREHOUSES}, {fault})\n"
                    raise Difference(wrong, case)


def try_fault(folder: Path, warehouse: int, fault: int) -> str:
    """What is wrong after one fault; empty if it was noticed, or did no harm."""
    whole = built(warehouse)
    place = copied(whole, folder / "hurt")
    done = damage(place, fault)
    try:
        wrong, _ = compare(observe(place), whole.expected)
    except Exception as problem:
        return f"{done}: {type(problem).__name__}: {problem}"
    return f"{done}: {wrong}" if wrong else ""


def show(warehouse: int, fault: int) -> None:
    """One fault again; raises AssertionError if something is wrong."""
    with tempfile.TemporaryDirectory() as folder, driver_alone():
        wrong = try_fault(Path(folder), warehouse, fault)
        assert not wrong, wrong


CAMPAIGN = Damage()
