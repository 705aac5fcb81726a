"""Sums over joins by inequalities, and sums of products of both sides, compared with the reference evaluator.

Some join a table with itself. Others show the rows of a range: above a threshold that moves, or pairs of an inequality
(`random_ranges`); half of all views have a subscriber, whose deltas must add up to the rows.

Such sums are read from ordered states and taken apart into sums of each side, where no product overflows or is rounded
(`delta.ranges`, `delta.bounds`). Most values are small; a few are so large that a product overflows, or are floats whose products are
rounded, so that what was taken apart must be computed row by row from then on. Where the evaluator fails, the database must refuse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, cast

import evercurrent as ec
from evercurrent.calculus.nodes import Query
from evercurrent.catalog.nodes import View
from evercurrent.data.zset import ZSet
from evercurrent.design.evaluation import reference
from evercurrent.rows.conversion import give_rows
from tests.fuzz.campaign import Difference, Tally
from tests.fuzz.histories import NAN, Wrong
from tests.fuzz.random_ranges import draw_rows
from tests.fuzz.shortening import fails_like, shortened
from tests.fuzz.small_partitions import short_lists

TABLES = {
    "r": "CREATE TABLE r (id INT PRIMARY KEY, k INT, a INT, x DOUBLE, d DECIMAL(6,2))",
    "s": "CREATE TABLE s (id INT PRIMARY KEY, k INT, b INT, y DOUBLE, e DECIMAL(6,2))",
}
COLUMNS = {"r": ("k", "a", "x", "d"), "s": ("k", "b", "y", "e")}
BETWEEN = (
    "s.b > r.a", "s.b >= r.a", "s.b < r.a", "s.b <= r.a", "r.a < s.b + 2", "s.b - 1 <= r.a",
    "s.b > r.a AND s.b <= r.a + 3", "s.b BETWEEN r.a - 1 AND r.a + 1", "s.y < r.x", "s.y >= r.x",
    "s.y > r.x AND s.y < r.x + 2", "s.e <= r.d", "s.e > r.d - 1",
    "s.b <> r.a", "r.a <> s.b - 1", "s.y <> r.x", "s.e <> r.d", "s.b <> r.a AND s.b < r.a + 3", "s.id <> r.id",
)  # fmt: skip
AMOUNTS = (
    "count(*)", "sum(s.b)", "sum(r.a)", "sum(r.a * s.b)", "sum(r.x * s.y)", "sum(s.y)", "sum(r.d * s.e)", "avg(s.b)",
    "sum(r.a * s.b + r.a)", "sum((r.a + 1) * s.b)", "sum(r.x)", "avg(r.x * s.y)", "count(s.b)", "sum(r.a * r.a)",
)  # fmt: skip
INTEGERS = (None, 0, 1, 2, 3, 4, 5, -1, -2)
LARGE = (46341, -46341, 2**31 - 1, -(2**31), 65536)
FLOATS = (None, 0.0, 0.5, 1.0, 2.0, -1.25, 3.0)
ODD = (0.1, 1e16, -1e16, 1e300, float("inf"), float("-inf"), NAN, NAN, NAN, -0.0)
THIRDS = (0.1, 0.7, 1 / 3, -0.9, 1.1, 2 / 7)
"""Their products are rounded, so a sum of products must be one of rounded products."""
CENTS = (None, "0.00", "1.50", "-2.25", "9.99", "3.00")

Step = tuple[Any, ...]
"""("change", "commit", [("insert", table, row) | ("update", table, id, values) | ("delete", table, id), ...])"""


def draw_view(random: Random) -> str:
    """Draws a query over both tables, or over one of them twice."""
    shows_rows = random.random() < 0.4
    query = draw_rows(random) if shows_rows else draw_query(random)
    if random.random() < 0.25 and (not shows_rows or "JOIN s" in query):
        for mine, its in zip(COLUMNS["s"], COLUMNS["r"], strict=True):
            query = query.replace(f"s.{mine}", f"s.{its}")
        query = query.replace("JOIN s ", "JOIN r AS s ").replace("FROM s", "FROM r AS s")
    return query


def draw_query(random: Random) -> str:
    conditions = [random.choice(BETWEEN)] if random.random() < 0.75 else []
    if not conditions or random.random() < 0.4:
        conditions.append("r.k = s.k")
    fallible = any(
        " + " in c or " - " in c for c in conditions
    )  # which condition is computed first is not defined
    if random.random() < 0.2 and not fallible:
        conditions.append(random.choice(("s.k > 0", "r.a > 0", "r.x IS NOT NULL")))
    where = " AND ".join(conditions)
    amounts = [random.choice(AMOUNTS) for _ in range(random.choice((1, 2, 3)))]
    if random.random() < 0.2 and all("r." not in a for a in amounts[:1]):
        return f"SELECT r.id, (SELECT {amounts[0]} FROM s WHERE {where}) AS f0 FROM r"
    items = [f"{amount} AS f{i}" for i, amount in enumerate(amounts)]
    key = random.choice(("", "r.k", "s.k", "r.id", "r.k % 2"))
    if key:
        items.insert(0, f"{key} AS g")
    group = f" GROUP BY {key}" if key else ""
    return f"SELECT {', '.join(items)} FROM r JOIN s ON {where}{group}"


def draw_values(random: Random, table: str, odd: float, thirds: float) -> dict[str, Any]:
    k, n, x, d = COLUMNS[table]
    floats = THIRDS if random.random() < thirds else ODD if random.random() < odd else FLOATS
    return {
        k: random.choice((None, 0, 1, 1, 2)),
        n: random.choice(LARGE) if random.random() < odd else random.choice(INTEGERS),
        x: random.choice(floats),
        d: random.choice(CENTS),
    }


def draw_steps(seed: int, transactions: int) -> list[Step]:
    random = Random(f"sums {seed}")
    there: dict[str, list[int]] = {"r": [], "s": []}
    odd, thirds = random.choice((0.0, 0.02, 0.1, 0.3)), random.choice((0.0, 0.1, 0.9))
    steps: list[Step] = []
    numbers = iter(range(1, 10**6))
    for i in range(transactions):
        changes: list[tuple[Any, ...]] = []
        for _ in range(random.choice((1, 1, 1, 2, 3, 8 if i < 4 else 4))):
            table = random.choice("rs")
            kinds = ("insert", "insert", "update", "update", "delete") if there[table] else ("insert",)
            values = draw_values(random, table, odd, thirds)
            match random.choice(kinds):
                case "insert":
                    number = next(numbers)
                    there[table].append(number)
                    changes.append(("insert", table, {"id": number, **values}))
                case "update":
                    some = random.sample(sorted(values), random.randint(1, 3))
                    changes.append(
                        ("update", table, random.choice(there[table]), {n: values[n] for n in some})
                    )
                case _:
                    gone = there[table].pop(random.randrange(len(there[table])))
                    changes.append(("delete", table, gone))
        if random.random() < 0.03:
            changes += [("delete", table, key) for key in there[table]]
            there[table] = []
        steps.append(("change", random.choice(("commit",) * 9 + ("undo",)), changes))
    return steps


class GivenUp(Exception):
    """Ends a transaction that is to be undone."""


def transact(db: ec.Database, ending: str, changes: list[tuple[Any, ...]]) -> bool:
    """Makes a transaction; returns whether it was refused. Rows that an earlier refusal left out are passed over."""
    try:
        with db.transaction():
            for change in changes:
                table: Any = db.table(change[1])
                match change:
                    case ("insert", _, row):
                        table.insert(row)
                    case ("update", _, key, values) if table.get(key) is not None:
                        table.update({"id": key}, **values)
                    case ("delete", _, key) if table.get(key) is not None:
                        table.delete({"id": key})
            if ending == "undo":
                raise GivenUp
    except GivenUp:
        return False
    except ec.EvaluationError:
        return True
    return False


def follow(views: list[str], steps: list[Step], tally: Tally | None = None) -> None:
    """Follows changes; raises Wrong at the first difference."""
    tally = tally or Tally()
    db, plain = ec.connect(), ec.connect()
    for text in TABLES.values():
        db.execute(text)
        plain.execute(text)
    received: dict[int, Counter[str]] = {}
    for i, text in enumerate(views):
        db.execute(f"CREATE VIEW v{i} {text if text.startswith('WITH') else f'AS {text}'}")
        tally.views += 1
        if i % 2:
            received[i] = Counter(map(repr, db.view(f"v{i}").rows()))
            db.view(f"v{i}").subscribe(partial(add_up, received[i]))
    defined = [db._session.view(f"v{i}") for i in range(len(views))]
    for _, ending, changes in steps:
        transact(plain, ending, changes)
        refused = transact(db, ending, changes)
        expected, problem = compute(defined, plain, plain._session.table_rows)
        if problem is not None and not refused:
            _, clear = compute(defined, plain, without_nulls(plain))
            if clear is not None:
                raise Wrong(f"not refused although {clear}")
            continue  # only beside a NULL factor something fails, and who is computed first is not defined
        if refused and problem is None and not any(map(may_fail, views)):
            raise Wrong(f"refused, though the evaluator computes every view: {changes}")
        if refused:
            copy_tables(db, plain)
            continue
        assert expected is not None
        for i, text in enumerate(views):
            found = Counter(map(repr, db.view(f"v{i}").rows()))
            if found != expected[i]:
                raise Wrong(f"{text}\nfound    {found - expected[i]}\nexpected {expected[i] - found}")
            if i in received and +received[i] != found:
                raise Wrong(f"{text}\nreceived {received[i]}\nfound    {found}")
        tally.transactions += 1


def add_up(rows: Counter[str], change: Any) -> None:
    """Adds a delta to the rows that a subscriber has."""
    rows.update(map(repr, change.inserted))
    rows.subtract(map(repr, change.deleted))


def compute(
    views: list[View], plain: ec.Database, tables: Callable[[str], ZSet]
) -> tuple[list[Counter[str]] | None, ec.EvaluationError | None]:
    """Returns the rows of the views by the evaluator, or the error of the first that fails."""
    expected = []
    try:
        for view in views:
            rows = reference(cast(Query, view.query), plain._session.catalog, tables).insertions()
            expected.append(Counter(map(repr, give_rows(view.fields, rows))))
    except ec.EvaluationError as error:
        return None, error
    return expected, None


def without_nulls(plain: ec.Database) -> Callable[[str], ZSet]:
    """The tables without the rows that have a NULL."""

    def rows(name: str) -> ZSet:
        weights = plain._session.table_rows(name).weights
        return ZSet({row: weight for row, weight in weights.items() if None not in row})

    return rows


def may_fail(view: str) -> bool:
    """Whether a condition computes something: which conditions of a row are computed after one is false, nobody promises."""
    return any(
        arithmetic in view
        for arithmetic in ("r.a + ", "r.a - ", "r.d - ", "s.b + ", "s.b - ", " * (", ") / ")
    )


def copy_tables(db: ec.Database, plain: ec.Database) -> None:
    """Leaves out of the plain tables what was refused."""
    with plain.transaction():
        for name in TABLES:
            plain.execute(f"DELETE FROM {name}")
            for row in db.table(name).rows():
                plain.table(name).insert(tuple(row))


@dataclass(frozen=True)
class Sums:
    name: str = "sums"
    needs_spark: bool = False
    transactions: int = 40

    def run(self, seed: int, tally: Tally) -> None:
        random = Random(seed)
        views = [draw_view(random) for _ in range(3)]
        steps = draw_steps(seed, self.transactions)
        try:
            with short_lists():
                follow(views, steps, tally)
        except Exception as error:
            short = shortened(steps, fails_like(error, lambda some: follow(views, some)))
            said = [f"# {line}" for line in str(error).splitlines()]
            case = [
                "from tests.fuzz.campaigns.sums import follow",
                "",
                "inf, nan = float('inf'), float('nan')",
            ]
            raise Difference(
                str(error), "\n".join([*case, *said, f"follow({views!r}, {short!r})", ""])
            ) from error


CAMPAIGN = Sums()
