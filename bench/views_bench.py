"""All 22 TPC-H queries as views: what a change costs, what is kept, what a recomputation would cost."""

from __future__ import annotations

import re
import time
from pathlib import Path

import sqlglot
from sqlglot import expressions as exp

import evercurrent as ec
from bench import queries, tpch
from bench.duck import Recompute
from bench.measure import machine, quiet
from bench.report import Result, Table
from bench.streams import events, of_tables

ABOUT = (
    "Each of the 22 queries, whole (with ORDER BY and LIMIT), as a view of its own under the single-row stream, keys and "
    "references declared, through `db.feed`; beside it the time that DuckDB takes to compute the same query once."
)
FOLDER = Path(__file__).parent.parent / "tests" / "tpch" / "queries"
LIMIT = 40.0
"""Seconds after which a stream is cut, and the figure is of what was done until then."""


def texts() -> dict[str, str]:
    found = {int(re.findall(r"[0-9]+", p.stem)[0]): p.read_text() for p in FOLDER.glob("*.sql")}
    return {f"Q{n}": text.strip().removesuffix(";") for n, text in sorted(found.items())}


def tables_of(text: str) -> set[str]:
    return {t.name for t in sqlglot.parse_one(text, read="spark").find_all(exp.Table)} & set(tpch.NAMES)


def run(quick: bool) -> Result:
    sf = 0.01  # below that scale factor TPC-H repeats keys of partsupp
    data = tpch.internal(sf)
    stream = events(data)
    recompute = Recompute(sf)
    recompute.after(stream)
    table = Table(
        f"22 views, SF {sf:g}",
        [
            "query",
            "events",
            "microseconds per change",
            "state entries",
            "DuckDB recompute, microseconds",
            "ratio",
        ],
    )
    for name, text in texts().items():
        names = tables_of(text)
        mine = of_tables(stream, names)
        db = ec.connect()
        for each in tpch.NAMES:
            if each in names:
                db.execute(queries.table(each, known=True, stored=False, only=frozenset(names)))
        db.execute(f"CREATE VIEW v AS {text}")
        feeds = {each: db.feed(each) for each in names}
        calls = [(feeds[t].insert if sign > 0 else feeds[t].delete, row) for t, sign, row in mine]
        done = 0
        with quiet():
            start = time.perf_counter()
            for first in range(0, len(calls), 1000):
                for handler, row in calls[first : first + 1000]:
                    handler(row)
                done = min(first + 1000, len(calls))
                if time.perf_counter() - start > (LIMIT / 8 if quick else LIMIT):
                    break
            cost = (time.perf_counter() - start) / done * 1e6
        if done == len(calls):
            recompute.require(text, db.view("v").rows(), name)
        else:
            table.notes.append(f"{name}: cut after {done:,} events; its answer was not compared.")
        slow = recompute.microseconds(text, 3)
        table.rows.append([name, done, cost, db.stats().entries, slow, slow / cost])
    return Result("views", ABOUT, [table], machine(), quick)
