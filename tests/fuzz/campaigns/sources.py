"""Delta tables that a warehouse follows: what differs between two versions, found from their files.

    follow({"mapping": "name", "store": "u", "key": ("id",), "reader": "driver"}, [
        ("append", 20), ("refresh",), ("delete", 3, 1), ("optimize",), ("refresh",), ("restore",), ("refresh",),
    ])

Between two refreshes files are added, rewritten with and without changes, and rows are marked as deleted and taken back. The writer
(`tests.spark.delta_writer`) knows the rows of every version, and shares no code with the reader.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow

from evercurrent.warehouse.database import Warehouse
from tests.fuzz.campaign import Difference, Tally
from tests.fuzz.histories import Wrong
from tests.fuzz.shortening import fails_like, shortened
from tests.laws.chooser import Seeded
from tests.spark.delta_writer import DeltaWriter, Row
from tests.spark_session import small_session

Step = tuple[Any, ...]
Options = dict[str, Any]

SCHEMA = pyarrow.schema([("id", pyarrow.int64()), ("g", pyarrow.string()), ("x", pyarrow.int32())])
VIEW = "CREATE VIEW per AS SELECT g, count(*) AS n, sum(x) AS s FROM t GROUP BY g"
BY_SPARK = (
    "evercurrent.engine.spark.sources.reading.DRIVER_BYTES",
    "evercurrent.engine.spark.sources.references.HELD_BYTES",
)
"""How large a file may be for the driver to read it; below zero, Spark reads all of them."""


def draw(seed: int) -> tuple[Options, list[Step]]:
    c = Seeded(50_000 + seed)
    options = {
        "mapping": c.pick(("none", "name", "id")),
        "store": c.pick(("i", "u", "p")),
        "key": c.pick(((), ("id",))),
        "partition_by": c.pick(((), ("g",))),
        "reader": c.pick(("driver", "driver", "spark")),
    }
    steps: list[Step] = [("append", c.number(5, 30)), ("refresh",)]
    for _ in range(6):
        for _ in range(c.number(1, 3)):
            match c.pick(("append", "delete", "delete", "update", "optimize", "restore")):
                case "append":
                    steps.append(("append", c.number(1, 12)))
                case "delete" | "update" as what:
                    divisor = c.pick((2, 3, 5, 7))
                    steps.append((what, divisor, c.number(0, divisor - 1)))
                case what:
                    steps.append((what,))
        steps.append(("refresh",))
    return options, steps


class Following:
    """One Delta table and a warehouse that follows it."""

    def __init__(self, folder: Path, options: Options, tally: Tally) -> None:
        self.tally = tally
        self.next = 0
        self.lake = DeltaWriter(
            folder / "lake",
            SCHEMA,
            mapping=options["mapping"],
            store=options["store"],
            partition_by=options["partition_by"],
        )
        self.lake.append(self.rows(3))
        self.db = Warehouse(small_session("evercurrent-fuzz"), folder / "w", progress=False)
        self.db.source("t", format="delta", path=self.lake.root, key=options["key"])
        self.db.execute(VIEW)
        tally.views += 1

    def rows(self, count: int) -> list[Row]:
        begin, self.next = self.next, self.next + count
        return [(i, "abc"[i % 3] if i % 7 else None, i % 11) for i in range(begin, begin + count)]

    def step(self, step: Step) -> None:
        match step:
            case ("append", count):
                self.lake.append(self.rows(count))
            case ("delete", divisor, rest):
                self.lake.delete(lambda row: row[0] % divisor == rest)
            case ("update", divisor, rest):
                self.lake.update(lambda row: row[0] % divisor == rest, lambda row: (*row[:2], row[2] + 100))
            case ("optimize",):
                self.lake.optimize()
            case ("restore",):
                self.lake.restore()
            case ("refresh",):
                self.db.refresh()
                self.compare()
            case _:
                raise AssertionError(step)

    def compare(self) -> None:
        present = self.lake.rows
        groups: dict[Any, tuple[int, int]] = {}
        for _, g, x in present:
            n, s = groups.get(g, (0, 0))
            groups[g] = n + 1, s + x
        for name, ours, theirs in (
            ("t", self.db.table("t").rows(), present),
            ("per", self.db.view("per").rows(), [(g, *v) for g, v in groups.items()]),
        ):
            found, wanted = Counter(ours), Counter(theirs)
            if found != wanted:
                raise Wrong(f"{name}: only ours {found - wanted}, only the writer's {wanted - found}")
        self.tally.transactions += 1


def follow(options: Options, steps: Sequence[Step], tally: Tally | None = None) -> None:
    """Follows a history; raises Wrong at the first difference."""
    folder = Path(tempfile.mkdtemp(prefix="evercurrent-fuzz-"))
    try:
        with ExitStack() as stack:
            for name in BY_SPARK if options["reader"] == "spark" else ():
                stack.enter_context(mock.patch(name, -1))
            following = Following(folder, options, tally or Tally())
            for step in steps:
                following.step(step)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class Sources:
    name: str = "sources"
    needs_spark: bool = True

    def run(self, seed: int, tally: Tally) -> None:
        options, steps = draw(seed)
        try:
            follow(options, steps, tally)
        except Exception as error:
            fails = fails_like(error, lambda short: follow(options, short))
            short = shortened(steps, fails)
            said = "".join(f"# {line}\n" for line in str(error).splitlines())
            case = f"from tests.fuzz.campaigns.sources import follow\n\n{said}follow(\n    {options!r},\n    {short!r},\n)\n"
            raise Difference(str(error), case) from error


CAMPAIGN = Sources()
