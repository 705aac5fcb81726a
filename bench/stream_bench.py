"""Single-row streams over TPC-H: generated triggers beside what a programmer writes by hand."""

from __future__ import annotations

import importlib.util
from typing import Any

import evercurrent as ec
from bench import handwritten, handwritten_any_order, queries, sqlite_triggers, tpch
from bench.duck import Recompute
from bench.measure import best, machine, per_event, quiet, seconds
from bench.report import Result, Table
from bench.streams import Event, events, of_tables

ABOUT = (
    "Four TPC-H queries under a stream of single-row events: order after order arrives with its lines, and a third of "
    "the orders of the second half replaces older orders, which are deleted. Microseconds per event, best of the repeats, all "
    "programs in turn within one run. ORDER BY and LIMIT are left out, as is usual for such streams."
)


def database(query: str, *, known: bool, stored: bool) -> ec.Database:
    db = ec.connect()
    names = queries.TABLES[query]
    for name in names:
        db.execute(queries.table(name, known=known, stored=stored, only=frozenset(names)))
    db.execute(f"CREATE VIEW v AS {queries.QUERIES[query]}")
    return db


def generated_calls(db: ec.Database, stream: list[Event]) -> list[tuple[Any, Any]]:
    feeds = {name: db.feed(name) for name in db.tables}
    slow = [name for name, feed in feeds.items() if not feed.fast]
    assert not slow, f"these feeds are not the compiled functions: {slow}"
    return [(feeds[t].insert if sign > 0 else feeds[t].delete, row) for t, sign, row in stream]


def run(quick: bool) -> Result:
    sf = 0.01 if quick else 0.1
    repeats = 2 if quick else 3
    stream = events(tpch.internal(sf))
    recompute = Recompute(sf)
    at_full_size = {name: recompute.microseconds(text) for name, text in queries.QUERIES.items()}
    lines = len(tpch.internal(sf)["lineitem"])
    recompute.after(stream)
    main = Table(
        f"Microseconds per event, SF {sf:g}",
        [
            "query",
            "events",
            "by hand",
            "keys and references declared",
            "nothing declared",
            "declared / by hand",
            "nothing / by hand",
            f"DuckDB recompute ({lines:,} lines)",
            "recompute / declared",
            "state entries, declared",
            "state entries, nothing",
            "by hand, in any order",
            "nothing / by hand, in any order",
        ],
    )
    declared: dict[str, float] = {}
    for name, text in queries.QUERIES.items():
        mine = of_tables(stream, set(queries.TABLES[name]))
        times: dict[str, list[float]] = {"hand": [], "any order": [], "known": [], "unknown": []}
        entries: dict[str, int] = {}
        for _ in range(repeats):
            for kind, programs in (
                ("hand", handwritten.PROGRAMS),
                ("any order", handwritten_any_order.PROGRAMS),
            ):
                if name in programs:
                    program = programs[name]()
                    times[kind].append(per_event([(program.handler(t, sign), row) for t, sign, row in mine]))
                    recompute.require(text, program.answer(), f"{name} by hand, {kind}")
            for kind in ("known", "unknown"):
                db = database(name, known=kind == "known", stored=False)
                times[kind].append(per_event(generated_calls(db, mine)))
                recompute.require(text, db.view("v").rows(), f"{name} {kind}")
                entries[kind] = db.stats().entries
        hand, known, unknown = (min(times[k]) for k in ("hand", "known", "unknown"))
        declared[name] = known
        slow = at_full_size[name]
        main.rows.append(
            [
                *(name, len(mine), hand, known, unknown, known / hand, unknown / hand, slow, slow / known),
                *(entries["known"], entries["unknown"]),
                *(
                    [least, unknown / least]
                    if (least := min(times["any order"], default=None))
                    else [None, None]
                ),
            ]
        )
    missed = [str(row[0]) for row in main.rows if row[6] > 3]
    if missed:
        main.notes.append(
            f"Above 3 times by hand with nothing declared: {' and '.join(missed)}. Without keys every row may come in any "
            "order and any number of times, so every line is stored before its order or its part is known. *By hand, in any order* is a "
            "program that trusts neither keys nor the order of arrival."
        )
    main.notes.append(
        "Aims: at most 1.5 times by hand with keys and references declared, at most 3 times without, and a change at "
        "least 3,000 times cheaper than recomputing in DuckDB."
    )
    others = Table(
        f"Others on Q3, SF {sf:g}", ["engine", "microseconds per event", "times generated (declared)"]
    )
    mine = of_tables(stream, set(queries.TABLES["Q3"]))
    others.rows.append(["evercurrent, generated triggers, declared", declared["Q3"], 1.0])
    sqlite = best(lambda: sqlite_microseconds(mine, recompute), repeats)
    others.rows.append(["SQLite triggers (in memory, one transaction)", sqlite, sqlite / declared["Q3"]])
    if importlib.util.find_spec("pathway") is None:
        others.notes.append("Pathway: not installed here, so not measured.")
    return Result("streams", ABOUT, [main, others, *api(quick)], machine(), quick)


def sqlite_microseconds(stream: list[Event], recompute: Recompute) -> float:
    program = sqlite_triggers.Q3()
    statements = program.statements(stream)
    execute = program.connection.execute

    def run_all() -> None:
        for text, values in statements:
            execute(text, values)

    with quiet():
        time = seconds(run_all)
    answer = [(k, handwritten.money(v, 4), d, p) for k, v, d, p in program.answer()]
    theirs = recompute.rows(queries.QUERIES["Q3"])
    recompute.require(
        queries.QUERIES["Q3"], [(k, v, real, p) for k, v, real, p in dated(answer, theirs)], "SQLite"
    )
    program.connection.close()
    return time / len(statements) * 1e6


def dated(answer: list[tuple[Any, ...]], theirs: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """SQLite has no dates, only texts."""
    by_text = {str(row[2]): row[2] for row in theirs}
    return [(k, v, by_text.get(d, d), p) for k, v, d, p in answer]


def api(quick: bool) -> list[Table]:
    """Q3 through the checked interface: values converted, constraints kept, transactions that can be undone."""
    sf = 0.01
    stream = of_tables(events(tpch.tables(sf)), set(queries.TABLES["Q3"]))
    recompute = Recompute(sf)
    recompute.after(stream)
    table = Table(
        f"Q3 through the checked interface (stored tables, keys and references enforced), SF {sf:g}",
        ["rows in a transaction", "microseconds per row", "rows"],
    )
    for size in (1, 100, 10_000):
        part = stream
        times = []
        for _ in range(1 if quick else 2):
            db = database("Q3", known=True, stored=True)
            handles = {name: db.table(name) for name in db.tables}
            with quiet():
                times.append(seconds(lambda: in_transactions(db, handles, part, size)) / len(part) * 1e6)  # noqa: B023
            recompute.require(queries.QUERIES["Q3"], db.view("v").rows(), f"Q3, transactions of {size}")
        table.rows.append([size, min(times), len(part)])
    return [table]


def in_transactions(db: ec.Database, handles: dict[str, Any], stream: list[Event], size: int) -> None:
    if size == 1:
        for table, sign, row in stream:
            if sign > 0:
                handles[table].insert(row)
            else:
                handles[table].delete(row)
        return
    for start in range(0, len(stream), size):
        with db.transaction():
            for (table, sign), rows in runs(stream[start : start + size]):
                if sign > 0:
                    handles[table].insert(rows)
                else:
                    handles[table].delete(rows)


def runs(part: list[Event]) -> list[tuple[tuple[str, int], list[Any]]]:
    """Neighbouring events of one table and sign, together."""
    found: list[tuple[tuple[str, int], list[Any]]] = []
    for table, sign, row in part:
        if found and found[-1][0] == (table, sign):
            found[-1][1].append(row)
        else:
            found.append(((table, sign), [row]))
    return found
