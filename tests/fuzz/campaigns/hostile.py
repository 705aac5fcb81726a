"""Statements that are wide, deep or odd, and values that are hard to handle: only EvercurrentErrors come out.

A scenario is a database with a view and a dozen attempts. One that is refused has changed nothing; after one that is
accepted, everything can be read, and every view equals its query.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import evercurrent as ec
from tests.fuzz.campaign import Difference, Tally
from tests.limits.values import TYPES, VALUES

SCALARS = ("a + b", "a * 2", "coalesce(a, b)", "nullif(a, b)", "CASE WHEN a > b THEN a ELSE b END", "-a")


def nested(r: random.Random) -> str:
    """One expression in another, some times."""
    term = "a"
    for _ in range(r.choice((1, 3, 10, 40, 150))):
        term = r.choice(SCALARS).replace("a", f"({term})", 1)
        if len(term) > 20_000:
            break
    return f"SELECT {term} AS x FROM r"


def wide(r: random.Random) -> str:
    count = r.choice((2, 20, 120))
    conditions = f" {r.choice(('AND', 'OR'))} ".join(f"a + b <> {r.randrange(1000)}" for _ in range(count))
    return f"SELECT a FROM r WHERE {conditions}"


def joined(r: random.Random) -> str:
    count, how = r.choice((2, 6, 10)), r.choice(("JOIN", "LEFT JOIN", "CROSS JOIN"))
    on = "" if how == "CROSS JOIN" else " ON t{0}.a = t{1}.b"
    count = min(count, 4) if how == "CROSS JOIN" else count
    return "SELECT t0.a FROM r t0 " + " ".join(f"{how} r t{i}{on.format(i, i - 1)}" for i in range(1, count))


def doubled(r: random.Random) -> str:
    query = "SELECT a AS x FROM r"
    for i in range(r.choice((1, 5, 12))):
        query = f"SELECT x + x AS x FROM ({query}) q{i}"
    return query


def shared(r: random.Random) -> str:
    parts = ["c0 AS (SELECT a AS x FROM r)"]
    for i in range(1, r.choice((2, 4, 30))):
        parts.append(f"c{i} AS (SELECT x FROM c{i - 1} UNION ALL SELECT x FROM c{i - 1})")
    return f"WITH {', '.join(parts)} SELECT x FROM c{len(parts) - 1}"


def brackets(r: random.Random) -> str:
    count = r.choice((1, 50, 190, 500))
    return f"SELECT {'(' * count}a{')' * count} AS x FROM r"


QUERIES = (nested, wide, joined, doubled, shared, brackets)


@dataclass(frozen=True)
class Hostile:
    name: str = "hostile"
    needs_spark: bool = False

    def run(self, seed: int, tally: Tally) -> None:
        r = random.Random(seed)
        kind = r.choice(TYPES)
        db = ec.connect()
        db.execute("CREATE TABLE r (a BIGINT, b BIGINT)")
        db.execute(f"CREATE TABLE t (k INT PRIMARY KEY, x {kind})")
        db.execute("CREATE VIEW v AS SELECT x, COUNT(*) AS n FROM t GROUP BY x")
        db.execute("INSERT INTO r VALUES (1, 1), (2, NULL)")
        for step in range(12):
            what, attempt = self.draw(r, db, step)
            case = f"seed {seed}, step {step}, x {kind}: {what}"
            before = contents(db)
            try:
                attempt()
            except ec.InternalError as bug:
                raise Difference(f"an internal error: {bug}", case) from bug
            except ec.EvercurrentError as refusal:
                if contents(db) != before or not str(refusal):
                    raise Difference(f"a refusal has changed something: {refusal}", case) from refusal
            except Exception as leak:
                raise Difference(f"{type(leak).__name__} came out: {leak}", case) from leak
            try:
                read(db)
            except Exception as problem:
                raise Difference(f"{type(problem).__name__} while reading: {problem}", case) from problem
            tally.transactions += 1
        tally.views += len(db.views)

    def draw(self, r: random.Random, db: ec.Database, step: int) -> tuple[str, Callable[[], Any]]:
        """An attempt, and what it is."""
        if r.random() < 0.4:
            query = r.choice(QUERIES)(r)
            name = f"w{step}" if r.random() < 0.8 else "v"
            return query[:2000], lambda: db.execute(f"CREATE OR REPLACE VIEW {name} AS {query}")
        called, value = r.choice(list(VALUES.items()))
        t, k = db.table("t"), r.randrange(4)
        ways: dict[str, Callable[[], Any]] = {
            "insert": lambda: t.insert((k, value)),
            "insert a mapping": lambda: t.insert([{"k": k, "x": value}]),
            "update": lambda: t.update(k, x=value),
            "delete": lambda: t.delete(value),
            "get": lambda: t.get(value),
            "apply": lambda: db.apply({"t": [{"_change_type": "insert", "k": k, "x": value}]}),
            "parameter": lambda: db.execute("INSERT INTO t VALUES (?, ?)", [k, value]),
            "query": lambda: str(db.query("SELECT ? AS x", [value])),
            "a row of r": lambda: db.table("r").insert((k, k)),
        }
        way = r.choice(list(ways))
        return f"{way} of {called}", ways[way]


def contents(db: ec.Database) -> Any:
    return db.tables, db.views, db.table("t").rows(), db.table("r").rows(), db.view("v").rows()


def read(db: ec.Database) -> None:
    for shown in (*map(db.table, db.tables), *map(db.view, db.views)):
        str(shown)
        shown.arrow()
    report = db.verify()
    assert report, str(report)


CAMPAIGN = Hostile()
