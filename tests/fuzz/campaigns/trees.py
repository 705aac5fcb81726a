"""Forests that are reorganised at random under recursive views with UNION ALL, compared with a walk over the rows.

A row names the one above it, so what hangs below a root is a tree, whatever the rest is: rows may name each other in a circle, and a
transaction may put a root below its own descendants and make another row the root. Then what is lost and what is gained lie on one
cycle. Roots are listed, some of them twice, so that rows have weights.

    (1, None), (2, 1), (3, 2)   and 1 goes below 3:   the view is empty
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import evercurrent as ec
from tests.fuzz.campaign import Difference, Tally
from tests.fuzz.histories import Wrong
from tests.fuzz.shortening import fails_like, shortened

TABLES = "CREATE TABLE e (id INT PRIMARY KEY, boss INT, x INT); CREATE TABLE r (id INT)"
TREES = {
    "below": """WITH RECURSIVE t (id, top) AS (
        SELECT e.id, e.id FROM e JOIN r ON r.id = e.id WHERE e.boss IS NULL
        UNION ALL SELECT e.id, t.top FROM t JOIN e ON e.boss = t.id) SELECT top, id FROM t""",
    "deep": """WITH RECURSIVE t (id, depth, x) AS (
        SELECT e.id, 0, e.x FROM r JOIN e ON r.id = e.id WHERE e.boss IS NULL
        UNION ALL SELECT e.id, t.depth + 1, t.x + e.x FROM e JOIN t ON e.boss = t.id) SELECT id, depth, x FROM t""",
    "sums": "SELECT top, COUNT(*) AS n, SUM(e.x) AS s FROM below JOIN e ON e.id = below.id GROUP BY top",
}
NUMBERS = range(1, 8)

Step = tuple[Any, ...]
"""("change", "commit", [statement in SQL, ...])"""


def draw_boss(random: Random) -> int | str:
    return random.choice((*NUMBERS, "NULL", "NULL"))


def draw_statement(random: Random) -> str:
    i, j = random.choice(NUMBERS), random.choice(NUMBERS)
    match random.choice(("move", "move", "swap", "insert", "delete", "root", "no root", "value")):
        case "move":
            return f"UPDATE e SET boss = {draw_boss(random)} WHERE id IN ({i}, {j})"
        case "swap":  # one goes below the other, which takes its place
            return f"UPDATE e SET boss = CASE WHEN id = {i} THEN {j} ELSE NULL END WHERE id IN ({i}, {j})"
        case "insert":
            row = f"({i}, {draw_boss(random)}, {random.randint(0, 3)})"
            return f"INSERT INTO e VALUES {row} ON CONFLICT (id) DO UPDATE SET boss = excluded.boss"
        case "delete":
            return f"DELETE FROM e WHERE id = {i}"
        case "root":
            return f"INSERT INTO r VALUES ({i})"
        case "no root":
            return f"DELETE FROM r WHERE id = {i}"
        case _:
            return f"UPDATE e SET x = {random.randint(0, 3)} WHERE id = {i}"


def draw_steps(seed: int, transactions: int) -> list[Step]:
    random = Random(seed)
    first = [f"INSERT INTO e VALUES ({i}, {draw_boss(random)}, {i % 3})" for i in NUMBERS]
    first += [f"INSERT INTO r VALUES ({i})" for i in NUMBERS]
    steps: list[Step] = [("change", "commit", first)]
    for _ in range(transactions):
        some = [draw_statement(random) for _ in range(random.choice((1, 1, 2, 4)))]
        steps.append(("change", "commit", some))
    return steps


def walk(db: ec.Database) -> Iterator[tuple[int, int, int, int]]:
    """Lists (top, id, depth, sum) of everything below a root."""
    rows = db.table("e").rows()
    values = {i: x for i, _, x in rows}

    def go_down(top: int, i: int, depth: int, total: int) -> Iterator[tuple[int, int, int, int]]:
        yield top, i, depth, total
        for child, boss, x in rows:
            if boss == i:
                yield from go_down(top, child, depth + 1, total + x)

    for (root,) in db.table("r").rows():
        if (root, None, values.get(root)) in rows:
            yield from go_down(root, root, 0, values[root])


def expect(db: ec.Database) -> dict[str, Counter[Any]]:
    found = list(walk(db))
    values = {i: x for i, _, x in db.table("e").rows()}
    counts, sums = Counter(top for top, *_ in found), Counter[int]()
    for top, i, *_ in found:
        sums[top] += values[i]
    return {
        "below": Counter((top, i) for top, i, *_ in found),
        "deep": Counter((i, depth, total) for _, i, depth, total in found),
        "sums": Counter((top, n, sums[top]) for top, n in counts.items()),
    }


def follow(steps: list[Step], tally: Tally | None = None) -> None:
    """Follows changes; raises Wrong at the first difference."""
    tally = tally or Tally()
    db = ec.connect()
    db.execute(TABLES)
    summed: dict[str, Counter[Any]] = {}
    for name, text in TREES.items():
        db.execute(f"CREATE VIEW {name} AS {text}")
        total = summed[name] = Counter()

        def add(change: ec.Change, total: Counter[Any] = total) -> None:
            total.update(change.inserted)
            total.subtract(change.deleted)

        db.view(name).subscribe(add)
        tally.views += 1
    for _, _, statements in steps:
        with db.transaction():
            for statement in statements:
                db.execute(statement)
        tally.transactions += 1
        for name, expected in expect(db).items():
            found = Counter(db.view(name).rows())
            if found != expected or +summed[name] != expected:
                raise Wrong(f"{name}\nfound    {found}\nexpected {expected}\nsummed   {summed[name]}")


@dataclass(frozen=True)
class Trees:
    name: str = "trees"
    needs_spark: bool = False
    transactions: int = 40

    def run(self, seed: int, tally: Tally) -> None:
        steps = draw_steps(seed, self.transactions)
        try:
            follow(steps, tally)
        except Exception as error:
            short = shortened(steps, fails_like(error, follow))
            lines = [f"# {line}" for line in str(error).splitlines()]
            case = ["from tests.fuzz.campaigns.trees import follow", "", *lines, f"follow({short!r})", ""]
            raise Difference(str(error), "\n".join(case)) from error


CAMPAIGN = Trees()
