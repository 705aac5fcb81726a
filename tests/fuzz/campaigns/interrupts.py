"""Interrupts line by line: some fixed transactions, interrupted at every n-th line of their commit and of their undo.

A seed stands for one pair of transactions, of which the second takes back the first, and for one offset: its lines are `offset`,
`offset + STRIDE`, and so on. So STRIDE * len(PAIRS) seeds in turn visit every line. A second interrupt comes in the undo of the first, at
the lines that are counted in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.fuzz.campaign import Tally
from tests.fuzz.campaigns.faults import Scenario
from tests.fuzz.faulty_worlds import Step, Tables
from tests.laws.chooser import Seeded

STRIDE = 41
"""Lines between two interrupts of one scenario."""
UNDO = 60
"""The first lines after an interrupt, which undo the transaction."""

Pair = tuple[list[Step], list[Step], tuple[str, ...]]

PAIRS: tuple[Pair, ...] = (
    (
        [("insert", "orders", (900, 1, 9, 4)), ("delete", "orders", 3), ("update", "orders", 2, 8)],
        [("update", "orders", 2, 2), ("insert", "orders", (3, 2, 3, 0)), ("delete", "orders", 900)],
        ("products", "best", "ranked", "above"),
    ),
    (
        [("insert", "orders", (901, 2, 5, 4))],
        [("delete", "orders", 901)],
        ("products", "best", "totals"),
    ),
    (
        [("insert", "edges", (3, 4)), ("delete", "edges", (1, 2)), ("insert", "log", ("z",))],
        [("delete", "log", ("z",)), ("insert", "edges", (1, 2)), ("delete", "edges", (3, 4))],
        ("reach", "texts", "days"),
    ),
    (
        [
            ("rename", "customers", 2, "Dan"),
            ("insert", "customers", (902, "Eve")),
            ("update", "orders", 1, 7),
        ],
        [("update", "orders", 1, 1), ("delete", "customers", 902), ("rename", "customers", 2, "Bob")],
        ("named", "both", "lonely", "best_of_spend", "spend"),
    ),
)


@dataclass(frozen=True)
class Interrupts:
    name: str = "interrupts"
    needs_spark: bool = False

    def run(self, seed: int, tally: Tally) -> None:
        forth, back, views = PAIRS[seed % len(PAIRS)]
        offset = seed // len(PAIRS) % STRIDE
        world = Tables(Seeded(seed))
        world.chosen, world.full = dict.fromkeys(views, "strict"), False
        walk(Scenario(seed, tally, world), forth, back, offset)


def walk(scenario: Scenario, forth: list[Step], back: list[Step], offset: int) -> None:
    """Interrupts both transactions at the lines of an offset: once each, and then a second time in the undo."""
    line, seconds = 1 + offset, 0
    lines = [line, line]
    while line <= max(lines):
        for i, steps in enumerate((forth, back)):
            alone = len(steps) == 1 and bool(seconds % 2)
            places = (line,) if seconds % 2 else (line, 1 + (offset + seconds * 7) % UNDO)
            lines[i] = scenario.disturb(steps, alone, lambda _, places=places: places)  # type: ignore[misc]
            scenario.tally.transactions += 1
            scenario.tally.views += len(scenario.db.views)
            seconds += 1
        line += STRIDE
        seconds += 1


CAMPAIGN = Interrupts()
