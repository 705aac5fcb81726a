"""Random schemas, views, policies and batches on a warehouse, compared with DuckDB and with Spark's own SQL after every batch.

Views are recomputed (`full`), moved (`incremental`) or either (`auto`), by the driver and by Spark in turn; some hold constants that
quoting and settings could change, written in a random spelling. Some warehouses are opened again on the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.fuzz.campaign import Difference, Tally
from tests.fuzz.shortening import fails_like, shortened
from tests.fuzz.warehouse_histories import Step, follow, script
from tests.hostile_constants import OTHERS, STRINGS
from tests.laws.chooser import Seeded
from tests.laws.queries import query
from tests.laws.world import World

POLICIES = ("full", "incremental", "auto")
STRATEGIES = ("driver", "auto", "driver", "driver", "spark", "driver", "auto", "driver", "driver")
LETTERS = ("'", '"', "\\", "$", "{", "}", "%", "_", "\n", "é", "😀", "a", "-", ";", "`", "0", "${env:HOME}")
KNOWN = {text: value for text, value in {**STRINGS, **OTHERS}.items() if "INTERVAL" not in text}


def spelled(c: Seeded) -> tuple[str, str]:
    """Draws a string, and one of the ways to write it."""
    value = "".join(c.pick(LETTERS) for _ in range(c.number(0, 6)))
    match c.pick(("doubled", "escaped", "quoted", "unicode", "raw")):
        case "doubled":
            return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'", value
        case "quoted":
            return '"' + value.replace("\\", "\\\\").replace('"', '""') + '"', value
        case "unicode":
            return "'" + "".join(f"\\U{ord(x):08x}" for x in value) + "'", value
        case "raw" if "'" not in value:
            return f"r'{value}'", value
        case _:
            return "'" + "".join("\\" + x if x in "'\"\\" else x for x in value) + "'", value


def constants_view(c: Seeded, table: Any) -> tuple[str, dict[int, Any]]:
    """Draws a view that shows constants beside a column, and compares with one."""
    drawn = [spelled(c) for _ in range(c.number(1, 4))]
    drawn += [c.pick(tuple(KNOWN.items())) for _ in range(c.number(1, 3))]
    column = table.columns[0][0]
    shown = ", ".join(f"{text} AS c{i}" for i, (text, _) in enumerate(drawn))
    text, value = spelled(c)
    other, same = spelled(c)
    condition = f"{text} = {other}" if value == same else f"{text} <> {other} OR {column} IS NULL"
    ending = f" ORDER BY {column} LIMIT 7" if c.chance(40) else ""
    query = f"SELECT {column} AS k, {shown} FROM {table.name} WHERE {condition}{ending}"
    return query, {i + 1: value for i, (_, value) in enumerate(drawn)}


def history(seed: int, transactions: int) -> list[Step]:
    c = Seeded(90_000 + seed)
    world = World(c)
    steps: list[Step] = [("table", t.name, t.create()) for t in world.tables]
    texts = [*world.views, ("v0", world.query), ("v1", query(c, world.tables, 1))]
    for i, (name, text) in enumerate(texts):
        steps.append(("view", name, text, POLICIES[(seed + i) % 3], {}))
    text, constants = constants_view(c, c.pick(world.tables))
    steps.append(("view", "constants", text, POLICIES[(seed + 1) % 3], constants))
    steps.append(("change", "driver", world.first))
    for i in range(transactions - 1):
        if c.chance(10):
            steps.append(("reopen",))
        steps.append(("change", STRATEGIES[(seed + i) % len(STRATEGIES)], world.next(8)))
    return steps


@dataclass(frozen=True)
class OnWarehouse:
    name: str = "warehouse"
    needs_spark: bool = True
    transactions: int = 24

    def run(self, seed: int, tally: Tally) -> None:
        steps = history(seed, self.transactions)
        try:
            follow(steps, tally)
        except Exception as error:
            short = shortened(steps, fails_like(error, follow), fixed=("table",))
            raise Difference(str(error), script(short, str(error))) from error


CAMPAIGN = OnWarehouse()
