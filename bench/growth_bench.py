"""How the cost of a change grows with the data and with the change, and what an entry of a state weighs."""

from __future__ import annotations

import gc
import random
import tracemalloc
from typing import Any

import evercurrent as ec
from bench.measure import machine, per_event, quiet, seconds
from bench.report import Result, Table

ABOUT = (
    "A change is a deleted and an inserted payment: two events, through `db.feed`. *Grouped* keeps a sum and a count "
    "per account, *joined* finds the account's region first. The work per change is the same at every size; what grows "
    "is the price of memory that is not in the processor's cache."
)

GROUPED = "SELECT account, SUM(amount) AS total, COUNT(*) AS n FROM payment GROUP BY account"
JOINED = (
    "SELECT a.region, SUM(p.amount) AS total, COUNT(*) AS n "
    "FROM payment p JOIN account a ON p.account = a.id GROUP BY a.region"
)
REGIONS = 100


def database(view: str, *, stored: bool) -> ec.Database:
    db = ec.connect()
    options = "" if stored else " TBLPROPERTIES ('stored' = 'false')"
    db.execute(f"CREATE TABLE account (id BIGINT NOT NULL PRIMARY KEY, region INT NOT NULL){options}")
    db.execute(
        "CREATE TABLE payment (id BIGINT NOT NULL PRIMARY KEY, account BIGINT NOT NULL, amount BIGINT NOT NULL, "
        f"FOREIGN KEY (account) REFERENCES account (id)){options}"
    )
    db.execute(f"CREATE VIEW v AS {view}")
    return db


def amount(key: int) -> int:
    return key % 1000


def loaded(view: str, size: int) -> ec.Database:
    """A database with one account and one payment for each number below `size`."""
    db = database(view, stored=False)
    account, payment = db.feed("account").insert, db.feed("payment").insert
    for i in range(size):
        account((i, i % REGIONS))
        payment((i, i, amount(i)))
    return db


def per_change(view: str, size: int, order: str, changes: int) -> float:
    """Microseconds for one payment out and one in, on keys in sequence or at random."""
    db = loaded(view, size)
    chance = random.Random(5)
    keys = [i % size for i in range(changes)] if order == "sequential" else []
    keys = keys or [chance.randrange(size) for _ in range(changes)]
    feed = db.feed("payment")
    current = {k: amount(k) for k in set(keys)}
    calls: list[tuple[Any, Any]] = []
    for i, k in enumerate(keys):
        calls.append((feed.delete, (k, k, current[k])))
        current[k] = i % 777
        calls.append((feed.insert, (k, k, current[k])))
    time = per_event(calls) * 2
    require(db, view, size, current)
    return time


def require(db: ec.Database, view: str, size: int, current: dict[int, int]) -> None:
    """The view is what a loop over the payments finds."""
    totals: dict[int, list[int]] = {}
    for k in range(size):
        cell = totals.setdefault(k if view is GROUPED else k % REGIONS, [0, 0])
        cell[0] += current.get(k, amount(k))
        cell[1] += 1
    if sorted(db.view("v").rows()) != sorted((k, s, n) for k, (s, n) in totals.items()):
        raise SystemExit("the answer is wrong, so there is no figure for it")


def run(quick: bool) -> Result:
    sizes = (1_000, 10_000, 100_000) if quick else (1_000, 10_000, 100_000, 1_000_000)
    changes = 20_000 if quick else 100_000
    data = Table(
        "Ten times the data: microseconds per change",
        ["rows", "grouped, sequential", "grouped, random", "joined, sequential", "joined, random"],
    )
    for size in sizes:
        figures = [
            min(per_change(view, size, order, changes) for _ in range(2))
            for view in (GROUPED, JOINED)
            for order in ("sequential", "random")
        ]
        data.rows.append([size, *figures])
    data.notes.append(
        "Keys in sequence share cache lines; random ones do not: that, not work, is the growth."
    )
    return Result("growth", ABOUT, [data, change_sizes(quick), memory(quick)], machine(), quick)


def change_sizes(quick: bool) -> Table:
    """Ten times the change: transactions of growing size through the checked interface."""
    size = 10_000 if quick else 100_000
    table = Table(
        f"Ten times the change: transactions over {size:,} stored rows, checked interface, *joined*",
        ["rows in the transaction", "milliseconds per transaction", "microseconds per row"],
    )
    db = database(JOINED, stored=True)
    with db.transaction():
        db.table("account").insert([(i, i % REGIONS) for i in range(size)])
        db.table("payment").insert([(i, i, amount(i)) for i in range(size)])
    payment = db.table("payment")
    payment.insert([(size, 0, amount(0))])  # the first transaction of a kind compiles what it runs
    following = size + 1
    for rows in (1, 10, 100, 1_000, 10_000):
        batches = []
        for _ in range(max(5, 1_000 // rows)):
            batches.append([(following + i, i % size, amount(i)) for i in range(rows)])
            following += rows
        with quiet():
            time = seconds(lambda: [payment.insert(batch) for batch in batches]) / len(batches)  # noqa: B023
        table.rows.append([rows, time * 1e3, time / rows * 1e6])
    if not db.verify():
        raise SystemExit("the answer is wrong, so there is no figure for it")
    return table


def memory(quick: bool) -> Table:
    """Bytes per entry of a state, the key's own objects included, as tracemalloc counts them."""
    entries = 20_000 if quick else 200_000
    table = Table(
        f"Bytes per state entry ({entries:,} entries, keys included)",
        ["state", "bytes per entry", "aim at most"],
    )
    kinds = {
        "sum and count by an integer key": (
            "CREATE TABLE t (a BIGINT NOT NULL, b BIGINT NOT NULL, x BIGINT NOT NULL)",
            "SELECT a, SUM(x) AS s, COUNT(*) AS n FROM t GROUP BY a",
            lambda i: (i + 10**6, 1, 1),
            200,
        ),
        "sum and count by two integers": (
            "CREATE TABLE t (a BIGINT NOT NULL, b BIGINT NOT NULL, x BIGINT NOT NULL)",
            "SELECT a, b, SUM(x) AS s, COUNT(*) AS n FROM t GROUP BY a, b",
            lambda i: (i + 10**6, i + 10**7, 1),
            300,
        ),
        "sum and count by an integer and a string": (
            "CREATE TABLE t (a BIGINT NOT NULL, b STRING NOT NULL, x BIGINT NOT NULL)",
            "SELECT a, b, SUM(x) AS s, COUNT(*) AS n FROM t GROUP BY a, b",
            lambda i: (i + 10**6, "north", 1),
            300,
        ),
        "distinct integers": (
            "CREATE TABLE t (a BIGINT NOT NULL)",
            "SELECT DISTINCT a FROM t",
            lambda i: (i + 10**6,),
            200,
        ),
    }
    for name, (create, view, row, aim) in kinds.items():
        db = ec.connect()
        db.execute(f"{create} TBLPROPERTIES ('stored' = 'false')")
        db.execute(f"CREATE VIEW v AS {view}")
        insert = db.feed("t").insert
        insert(row(-1))
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for i in range(entries):
            insert(row(i))
        gc.collect()
        used = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        if len(db.view("v")) != entries + 1:
            raise SystemExit("the answer is wrong, so there is no figure for it")
        table.rows.append([name, used / entries, aim])
    return table
