"""The 22 TPC-H queries as 22 live views at once, under changes of all eight tables, against DuckDB."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

import evercurrent as ec
from bench import tpch
from tests.duck import Duck, difference, statements
from tests.tpch.changes import KEYS, Business, Change

HERE = Path(__file__).parent
QUERIES = {
    f"q{int(re.findall(r'[0-9]+', path.stem)[0]):02}": path.read_text().strip().removesuffix(";")
    for path in (HERE / "queries").glob("*.sql")
}
SIZES = (1, 5, 1, 40, 200, 3, 80, 1, 300, 20, 120, 60)


def columns(duck: Duck) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    text = (
        "SELECT table_name, column_name FROM information_schema.columns ORDER BY table_name, ordinal_position"
    )
    for table, column in duck.query(text, translated=True):
        found.setdefault(table, []).append(column)
    return found


def apply_to_duck(duck: Duck, names: dict[str, list[str]], changes: list[Change]) -> None:
    for table, old, new in changes:
        if old is not None:
            where = " AND ".join(f"{names[table][i]} = ?" for i in KEYS[table])
            duck.connection.execute(f"DELETE FROM {table} WHERE {where}", [old[i] for i in KEYS[table]])
        if new is not None:
            duck.insert(table, [new])


def apply_to_database(db: ec.Database, changes: list[Change]) -> None:
    with db.transaction():
        for table, old, new in changes:
            match old, new:
                case None, row:
                    db.table(table).insert(row)
                case row, None:
                    db.table(table).delete(row)
                case before, after:
                    db.table(table).replace(before, after)


def load_duck(duck: Duck, changes: list[Change]) -> None:
    import pyarrow as pa

    by_table: dict[str, list[Any]] = {}
    for table, _, new in changes:
        by_table.setdefault(table, []).append(new)
    for table, rows in by_table.items():
        arrow = pa.table({f"c{i}": list(column) for i, column in enumerate(zip(*rows, strict=True))})
        duck.connection.register("incoming", arrow)
        duck.connection.execute(f"INSERT INTO {table} SELECT * FROM incoming")
        duck.connection.unregister("incoming")


def compare(db: ec.Database, duck: Duck, when: str) -> dict[str, int]:
    """All views agree with DuckDB; gives the number of rows of each."""
    sizes, wrong = {}, []
    for name, text in sorted(QUERIES.items()):
        ours = db.view(name).rows()
        found = difference(ours, duck.query(text))
        if found:
            wrong.append(f"{name} {when}\n{found}")
        sizes[name] = len(ours)
    assert not wrong, "\n".join(wrong)
    return sizes


def test_all_22_queries_are_there() -> None:
    assert sorted(QUERIES) == [f"q{i:02}" for i in range(1, 23)]


@pytest.mark.slow
def test_22_views_follow_a_stream_of_changes(duck: Duck) -> None:
    db = ec.connect()
    for statement in statements((HERE / "schema.sql").read_text()):
        db.execute(statement)
        duck.execute(statement)
    early = sorted(QUERIES)[::2]
    for name in early:
        db.execute(f"CREATE VIEW {name} AS {QUERIES[name]}")
    business = Business(random.Random(22))
    first = business.start(tpch.tables(0.001), share=0.93)
    with db.transaction():
        for table in tpch.NAMES:
            db.table(table).insert([new for name, _, new in first if name == table])
    load_duck(duck, first)
    for name in sorted(set(QUERIES) - set(early)):
        db.execute(f"CREATE VIEW {name} AS {QUERIES[name]}")
    most = compare(db, duck, "after the load")
    names = columns(duck)
    for i, size in enumerate(SIZES):
        changes = business.transaction(size)
        apply_to_database(db, changes)
        apply_to_duck(duck, names, changes)
        sizes = compare(db, duck, f"after transaction {i + 1} of {len(changes)} changes")
        most = {name: max(n, most[name]) for name, n in sizes.items()}
    silent = sorted(name for name, n in most.items() if n == 0)
    assert not silent, f"views that never showed a row prove nothing: {silent}"
    report = db.verify()
    assert report, str(report)
    assert {db.view(name).policy for name in QUERIES} == {"incremental"}
    assert not db._session.maintenance.design.recomputed, "none is recomputed in full"
