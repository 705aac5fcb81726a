"""Changes that come as columns, beside the same changes row by row: equal rows, views, counts and errors."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow
import pytest

import evercurrent as ec
from evercurrent.engine.live import columns
from evercurrent.errors import EvercurrentError
from tests.unit.test_interrupts import Interrupted, interrupt_at

SCHEMA = """
    CREATE TABLE p (code VARCHAR(8) PRIMARY KEY, region STRING, rank INT UNIQUE);
    CREATE TABLE c (
        id BIGINT PRIMARY KEY, p VARCHAR(8) REFERENCES p (code), amount DECIMAL(8,2) NOT NULL CHECK (amount <> 7.00),
        day DATE, at TIMESTAMP, ok BOOLEAN, x DOUBLE);
    CREATE VIEW by_region AS
        SELECT p.region, sum(c.amount) AS total, count(*) AS n FROM c JOIN p ON c.p = p.code GROUP BY p.region;
    CREATE VIEW days AS SELECT day, count(x) AS n, max(amount) AS most FROM c WHERE ok GROUP BY day;
    CREATE VIEW alone AS SELECT id, amount * 2 AS twice FROM c WHERE p IS NULL OR x > 1.5;
"""
TYPES = {
    "p": {"code": pyarrow.string(), "region": pyarrow.string(), "rank": pyarrow.int32()},
    "c": {
        "id": pyarrow.int64(),
        "p": pyarrow.string(),
        "amount": pyarrow.decimal128(8, 2),
        "day": pyarrow.date32(),
        "at": pyarrow.timestamp("us", "UTC"),
        "ok": pyarrow.bool_(),
        "x": pyarrow.float64(),
    },
}
Row = dict[str, Any]


@pytest.fixture(autouse=True)
def least() -> Iterator[None]:
    before = columns.LEAST_ROWS
    yield
    columns.LEAST_ROWS = before


class Pair:
    """One database over columns, one over rows."""

    def __init__(self, *, bags: bool = False) -> None:
        self.databases = [ec.connect(), ec.connect()]
        for db in self.databases:
            # With a maximum the views are kept over rows, and only the tables are columns.
            db.execute(SCHEMA if bags else SCHEMA.replace("max(amount)", "sum(amount)"))

    def each(self, work: Any) -> list[Any]:
        """What happens in each: the result, or the error as text."""
        found = []
        for db, size in zip(self.databases, (1, 1 << 60), strict=True):
            columns.LEAST_ROWS = size
            try:
                found.append(work(db))
            except EvercurrentError as error:
                found.append(f"{type(error).__name__}: {error}")
        return found

    def check(self) -> None:
        for name in ("p", "c", "by_region", "days", "alone"):
            left, right = (
                sorted(map(repr, (db.table(name) if name in db.tables else db.view(name)).rows()))
                for db in self.databases
            )
            assert left == right, name


def feed(table: str, changes: list[tuple[str, Row]]) -> pyarrow.Table:
    kinds = pyarrow.array([kind for kind, _ in changes], pyarrow.string())
    lists = {n: pyarrow.array([row[n] for _, row in changes], t) for n, t in TYPES[table].items()}
    return pyarrow.table({**lists, "_change_type": kinds})


class Draw:
    """Changes of both tables, now and then wrong."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.present: dict[str, dict[Any, Row]] = {"p": {}, "c": {}}

    def row(self, table: str) -> Row:
        r = self.random
        if table == "p":
            return {
                "code": f"k{r.randrange(12)}",
                "region": r.choice(["n", "s", None]),
                "rank": r.choice([None, r.randrange(40)]),
            }
        return {
            "id": r.randrange(60),
            "p": f"k{r.randrange(12)}" if r.random() < 0.02 else r.choice([None, *self.present["p"]]),
            "amount": Decimal(700 if r.random() < 0.02 else r.randrange(-500, 500)) / 100,
            "day": r.choice([None, datetime.date(2024, 1, r.randrange(1, 5))]),
            "at": r.choice([None, datetime.datetime(2024, 1, 1, r.randrange(24), tzinfo=datetime.UTC)]),
            "ok": r.choice([None, True, False]),
            "x": r.choice([None, 0.0, -0.0, 2.5, float("nan")]),
        }

    def changes(self) -> dict[str, list[tuple[str, Row]]]:
        result: dict[str, list[tuple[str, Row]]] = {}
        for table, key in (("p", "code"), ("c", "id")):
            found: dict[Any, list[tuple[str, Row]]] = {}
            for _ in range(self.random.randrange(6 if table == "c" else 3)):
                row = self.row(table)
                old = self.present[table].get(row[key])
                if old is not None and self.random.random() < 0.97:
                    found.setdefault(row[key], [("delete", old)])
                    if self.random.random() < 0.5:
                        found[row[key]].append(("insert", self.random.choice([row, old])))
                elif self.random.random() < 0.98 or old is not None:
                    found.setdefault(row[key], []).append(("insert", row))
                else:
                    found.setdefault(row[key], []).append(("delete", row))
            if found:
                result[table] = [c for cs in found.values() for c in cs]
        return result

    def keep(self, changes: dict[str, list[tuple[str, Row]]]) -> None:
        for table, key in (("p", "code"), ("c", "id")):
            for kind, row in sorted(changes.get(table, []), key=lambda c: c[0]):
                if kind == "delete":
                    self.present[table].pop(row[key], None)
                else:
                    self.present[table][row[key]] = row


@pytest.mark.parametrize("seed", range(12))
def test_feeds_over_columns_do_what_rows_do(seed: int) -> None:
    pair, draw = Pair(bags=seed % 3 == 0), Draw(seed)
    committed = 0
    for _ in range(25):
        changes = draw.changes()
        feeds = {table: feed(table, rows) for table, rows in changes.items()}
        found = pair.each(lambda db, f=feeds: db.apply(f).rows_in)
        assert found[0] == found[1]
        if not isinstance(found[0], str):
            draw.keep(changes)
            committed += 1
        pair.check()
        if draw.random.random() < 0.1:  # a single change: rows from here on, or columns still
            row = {**draw.row("c"), "id": 1000 + draw.random.randrange(9), "p": None, "amount": Decimal(1)}
            assert len(set(map(str, pair.each(lambda db, r=row: db.table("c").insert(r))))) == 1
    assert committed > 3
    for db in pair.databases:
        assert db.verify()


def test_tables_and_views_stay_columns_until_rows_are_asked_for() -> None:
    columns.LEAST_ROWS = 1
    db = ec.connect()
    db.execute(SCHEMA)
    rows = [{"code": f"k{i}", "region": "n", "rank": i} for i in range(50)]
    db.apply({"p": feed("p", [("insert", row) for row in rows])})
    store = db._session.stores["p"]
    assert store.columns is not None
    assert len(db.table("p")) == 50
    assert db.table("p").get("k7") == ("k7", "n", 7)
    assert store.columns is None
    assert len(store.rows) == 50


def test_bad_values_are_reported_as_for_rows() -> None:
    pair = Pair()
    late = pyarrow.table({"code": ["a"], "region": ["n"], "rank": pyarrow.array([1 << 40])})
    found = pair.each(lambda db: db.table("p").insert(late))
    assert found[0] == found[1]
    assert "rank" in found[0]
    long = pyarrow.table({"code": ["a" * 9], "region": ["n"], "rank": pyarrow.array([1])})
    found = pair.each(lambda db: db.table("p").insert(long))
    assert found[0] == found[1]
    pair.check()


def test_pandas_frames_are_columns_too() -> None:
    pair = Pair()
    frame = pyarrow.table({"code": ["a", "b"], "region": ["n", None], "rank": [1, 2]}).to_pandas()
    assert pair.each(lambda db: db.table("p").insert(frame)) == [2, 2]
    assert pair.databases[0]._session.stores["p"].columns is not None
    pair.check()


def test_an_interrupt_at_any_line_leaves_all_or_nothing() -> None:
    columns.LEAST_ROWS = 1
    db = ec.connect()
    db.execute(SCHEMA.replace("max(amount)", "sum(amount)"))
    draw = Draw(5)
    db.apply({"p": feed("p", [("insert", {"code": f"k{i}", "region": "n", "rank": i}) for i in range(12)])})
    draw.present["p"] = {f"k{i}": {} for i in range(12)}
    rows = [{**draw.row("c"), "id": i, "amount": Decimal(i)} for i in range(20)]
    db.apply({"c": feed("c", [("insert", row) for row in rows if row["amount"] != 7])})
    forth = [("delete", rows[i]) for i in (1, 2)] + [("insert", {**rows[3], "id": 100 + i}) for i in range(3)]
    back = [("insert" if kind == "delete" else "delete", row) for kind, row in forth]

    def state() -> list[list[str]]:
        names = ("c", "by_region", "days", "alone")
        found = [db.table(n) if n in db.tables else db.view(n) for n in names]
        return [sorted(map(repr, rows.rows())) for rows in found]

    before = state()
    db.apply({"c": feed("c", forth)})
    after = state()
    db.apply({"c": feed("c", back)})
    assert state() == before
    there, again = feed("c", forth), feed("c", back)
    undone = done = 0
    for line in range(1, 100_000, 11):
        try:
            with interrupt_at(line):
                db.apply({"c": there})
        except Interrupted:
            found = state()
            assert found in (before, after), line
            undone += found == before
            done += found == after
            if found == after:
                db.apply({"c": again})
                assert state() == before, line
            continue
        break
    assert undone > 20 and done > 1
    assert state() == after
    assert db._session.stores["c"].columns is not None
    assert db.verify()


def test_small_changes_go_over_to_rows_when_they_have_taken_an_eighth_as_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A clock that counts calls: each small change over columns takes one second."""
    columns.LEAST_ROWS = 100
    clock = iter(range(10**6))
    monkeypatch.setattr("evercurrent.engine.live.engine.thread_time", lambda: next(clock))
    monkeypatch.setattr(columns.conversion, "seconds_per_entry", 0.01 * columns.SHARE)
    db = ec.connect()
    db.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, k BIGINT)")
    db.execute("CREATE VIEW v AS SELECT k, COUNT(*) AS n FROM t GROUP BY k")
    ids = pyarrow.array(range(1000))
    db.table("t").insert(pyarrow.table({"id": ids, "k": ids}))
    core = db._session.maintenance.engine.core
    over_columns = []
    for i in range(15):
        db.table("t").insert((2000 + i, 5000 + i))
        over_columns.append(core.columns is not None)
    assert over_columns == [True] * 11 + [False] * 4  # 1,000 entries and a few more: ten seconds
    assert db.query("SELECT count(*) AS n FROM v").rows() == [(1015,)]
    assert db.verify()


def test_where_all_are_columns_fewer_rows_are_a_large_change() -> None:
    def connect() -> ec.Database:
        db = ec.connect()
        db.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, k BIGINT)")
        db.execute("CREATE VIEW v AS SELECT k, COUNT(*) AS n FROM t GROUP BY k")
        return db

    def insert(db: ec.Database, start: int, size: int) -> tuple[bool, bool]:
        ids = pyarrow.array(range(start, start + size))
        db.table("t").insert(pyarrow.table({"id": ids, "k": ids}))
        session = db._session
        return session.stores["t"].columns is not None, session.maintenance.engine.core.columns is not None

    assert insert(connect(), 0, columns.LEAST_CHANGE) == (False, False)
    db = connect()
    assert insert(db, 0, columns.LEAST_ROWS) == (True, True)
    assert insert(db, columns.LEAST_ROWS, columns.LEAST_CHANGE) == (True, True)
    assert not insert(db, 10_000, columns.LEAST_CHANGE - 1)[0]
    assert db.verify()
