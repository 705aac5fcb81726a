"""Window functions with random frames over partitions that change a little at a time, compared with the reference evaluator.

Other campaigns have partitions of a few rows, which are evaluated as a whole. Here chunks are small and only what a change reaches
is evaluated (`small_partitions`), so that a reach that is too short shows.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import Any, cast

import evercurrent as ec
from evercurrent.calculus.nodes import Query
from evercurrent.design.evaluation import reference
from evercurrent.rows.conversion import give_rows
from tests.fuzz.campaign import Difference, Tally
from tests.fuzz.histories import Wrong
from tests.fuzz.shortening import fails_like, shortened
from tests.fuzz.small_partitions import small_partitions

TABLE = "CREATE TABLE t (id BIGINT PRIMARY KEY, g INT, k INT, v INT, x DOUBLE)"
RANKS = ("row_number()", "rank()", "dense_rank()", "percent_rank()", "cume_dist()", "ntile(3)", "ntile(1)")
NEIGHBOURS = ("lag(v)", "lead(v)", "lag(v, 2, -1)", "lead(x, 3)", "lag(v) IGNORE NULLS", "lead(v, 0)")
AGGREGATES = ("sum(v)", "sum(x)", "avg(v)", "count(*)", "count(v)", "min(v)", "max(x)", "min(x)", "stddev(x)")
AGGREGATES += ("collect_list(v)", "first_value(v)", "last_value(x)", "nth_value(v, 2)", "bool_or(v > 1)")
AGGREGATES += ("sum(v) FILTER (WHERE v > 1)", "first_value(v) IGNORE NULLS", "max(v)", "sum(v * k)")

Step = tuple[Any, ...]
"""("change", "commit", [("insert", row) | ("update", id, values) | ("delete", id), ...])"""


def draw_bound(random: Random, least: int) -> tuple[int, str]:
    """Draws a bound of a frame that is not before `least`."""
    ordinary = random.random() < 0.7 and least <= 4
    place = random.randint(max(least, -4), 4) if ordinary else random.choice((least, 9))
    if place <= -9 or place >= 9:
        return place, "UNBOUNDED PRECEDING" if place < 0 else "UNBOUNDED FOLLOWING"
    if place == 0:
        return 0, "CURRENT ROW"
    return place, f"{abs(place)} {'PRECEDING' if place < 0 else 'FOLLOWING'}"


def draw_function(random: Random) -> str:
    """Draws a window function."""
    order = random.choice(("k", "k DESC", "k NULLS LAST", "k DESC NULLS FIRST", "x", "v, k", "k, id"))
    partition = random.choice(("PARTITION BY g ", "PARTITION BY g ", ""))
    kind = random.choice(("rank", "neighbour", "aggregate", "aggregate"))
    if kind == "rank":
        return f"{random.choice(RANKS)} OVER ({partition}ORDER BY {order})"
    if kind == "neighbour":
        return f"{random.choice(NEIGHBOURS)} OVER ({partition}ORDER BY {order})"
    written = random.choice(("ROWS", "ROWS", "RANGE", ""))
    frame = ""
    if written == "ROWS" or (written == "RANGE" and "," not in order):
        least, start = draw_bound(random, -9)
        _, end = draw_bound(random, least)
        if start != "UNBOUNDED FOLLOWING" and end != "UNBOUNDED PRECEDING":
            frame = f" {written} BETWEEN {start} AND {end}"
    return f"{random.choice(AGGREGATES)} OVER ({partition}ORDER BY {order}{frame})"


def draw_first(random: Random, shown: str) -> str:
    """Draws a query that reads only the first ranks, by a condition or by a limit."""
    rank = random.choice(("row_number()", "rank()", "dense_rank()"))
    order = random.choice(("k", "k DESC", "k NULLS LAST", "v, k", "v DESC"))
    partition = random.choice(("PARTITION BY g ", ""))
    own = f"SELECT {shown}, {rank} OVER ({partition}ORDER BY {order}) AS f0 FROM t"
    if random.random() < 0.3:
        return f"{own} ORDER BY f0, {shown} LIMIT {random.randint(1, 5)}"
    condition = random.choice(("f0 <= 3", "f0 < 3", "f0 = 2", "f0 = 1", "f0 <= 4 AND f0 > 1"))
    return f"SELECT {random.choice((shown, shown + ', f0'))} FROM ({own}) AS q WHERE {condition}"


def draw_views(seed: int) -> dict[str, str]:
    random = Random(seed)
    texts = {}
    for i in range(4):
        functions = ", ".join(f"{draw_function(random)} AS f{j}" for j in range(random.choice((1, 1, 2))))
        # Without the key some rows are equal, and have weights.
        shown = random.choice(("id, g, k", "g, k", "v"))
        texts[f"v{i}"] = f"SELECT {shown}, {functions} FROM t"
        if random.random() < 0.3:  # of a rank, only the first are read
            texts[f"v{i}"] = draw_first(random, shown)
    return texts


def draw_steps(seed: int, transactions: int) -> list[Step]:
    random = Random(seed)
    there: list[int] = []
    following = 1
    steps: list[Step] = []
    for _ in range(transactions):
        changes: list[tuple[Any, ...]] = []
        for _ in range(random.choice((1, 1, 1, 2, 3))):
            kind = random.choice(("insert", "insert", "update", "update", "delete")) if there else "insert"
            values = {
                "g": random.choice((1, 1, 1, 2)),
                "k": random.choice((None, *range(8))),
                "v": random.choice((None, 0, 1, 2, 3)),
                "x": random.choice((None, 0.1, 0.2, 1e16, -1e16, float("inf"))),
            }
            if kind == "insert":
                changes.append(("insert", {"id": following, **values}))
                there.append(following)
                following += 1
            elif kind == "update":
                some = random.sample(sorted(values), random.randint(1, 3))
                changes.append(("update", random.choice(there), {name: values[name] for name in some}))
            else:
                changes.append(("delete", there.pop(random.randrange(len(there)))))
        steps.append(("change", "commit", changes))
    return steps


def follow(seed: int, steps: list[Step], tally: Tally | None = None) -> None:
    """Follows changes; raises Wrong at the first difference."""
    with small_partitions():
        follow_views(draw_views(seed), steps, tally or Tally())


def follow_views(texts: dict[str, str], steps: list[Step], tally: Tally) -> None:
    db = ec.connect()
    db.execute(TABLE)
    sums: dict[str, Counter[str]] = {}
    for name, text in texts.items():
        db.execute(f"CREATE VIEW {name} AS {text}")
        sums[name] = Counter()

        def add(change: ec.Change, total: Counter[str] = sums[name]) -> None:
            total.update(map(repr, change.inserted))
            total.subtract(map(repr, change.deleted))

        db.view(name).subscribe(add)
        tally.views += 1
    table = db.table("t")
    for _, _, changes in steps:
        with db.transaction():
            for change in changes:
                match change:
                    case ("insert", row):
                        table.insert(row)
                    case ("update", key, values):
                        table.update({"id": key}, **values)
                    case ("delete", key):
                        table.delete({"id": key})
        tally.transactions += 1
        for name, text in texts.items():
            compare(db, name, text, sums[name])


def compare(db: ec.Database, name: str, text: str, summed: Counter[str]) -> None:
    view = db._session.view(name)
    rows = reference(cast(Query, view.query), db._session.catalog, db._session.table_rows).insertions()
    expected = Counter(map(repr, give_rows(view.fields, rows)))
    found = Counter(map(repr, db.view(name).rows()))
    if found != expected or +summed != expected:
        raise Wrong(
            f"{text}\nfound    {found - expected}\nexpected {expected - found}\nsummed {summed - expected}"
        )


@dataclass(frozen=True)
class Windows:
    name: str = "windows"
    needs_spark: bool = False
    transactions: int = 60

    def run(self, seed: int, tally: Tally) -> None:
        steps = draw_steps(seed, self.transactions)
        try:
            follow(seed, steps, tally)
        except Exception as error:
            short = shortened(steps, fails_like(error, lambda some: follow(seed, some)))
            lines = [f"# {line}" for line in str(error).splitlines()]
            case = ["from tests.fuzz.campaigns.windows import follow", "", "inf = float('inf')", *lines]
            raise Difference(str(error), "\n".join([*case, f"follow({seed}, {short!r})", ""])) from error


CAMPAIGN = Windows()
