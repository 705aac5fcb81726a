"""The clock in statements: queries and changes read it once, views and constraints do not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.session.plans import prepared

BEGIN = datetime(2024, 2, 28, 23, 59, 59, 500_000, tzinfo=UTC)


class Clock(datetime):
    """A clock that is a second later each time."""

    read = 0

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        cls.read += 1
        return BEGIN + timedelta(seconds=cls.read - 1)


@pytest.fixture
def db(monkeypatch: pytest.MonkeyPatch) -> ec.Database:
    monkeypatch.setattr("evercurrent.frontend.sql.scope.datetime", Clock)
    Clock.read = 0
    db = ec.connect()
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, at TIMESTAMP, day DATE)")
    return db


def test_a_statement_has_one_moment(db: ec.Database) -> None:
    db.execute("INSERT INTO t VALUES (1, now(), current_date()), (2, current_timestamp, CURRENT_DATE)")
    assert db.query("SELECT * FROM t").rows() == [
        (1, BEGIN, BEGIN.date()),
        (2, BEGIN, BEGIN.date()),
    ]
    db.execute("UPDATE t SET at = now() WHERE id = 1")
    found = db.query("SELECT id, at < now() FROM t ORDER BY id").rows()
    assert found == [(1, True), (2, True)]


def test_a_repeated_statement_reads_the_clock_each_time(db: ec.Database) -> None:
    days = [db.query("SELECT current_date(), unix_timestamp() - ?", [0]).rows()[0] for _ in range(4)]
    assert [day.day for day, _ in days] == [28, 29, 29, 29]
    assert len({seconds for _, seconds in days}) == 4
    for i in range(4):
        db.execute("INSERT INTO t VALUES (?, now(), current_date)", [i])
    assert len(set(db.query("SELECT at FROM t").rows())) == 4


def test_other_repeated_statements_keep_their_plans(db: ec.Database) -> None:
    for i in range(3):
        db.execute("INSERT INTO t VALUES (?, NULL, NULL)", [i])
    assert any(db._session.plans.found.values()), prepared.__doc__


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ("localtimestamp()", BEGIN.replace(tzinfo=None)),
        ("curdate()", BEGIN.date()),
        ("current_time()", BEGIN.time()),
        ("current_timezone()", "UTC"),
        ("date_add(current_date, 2)", BEGIN.date() + timedelta(days=2)),
    ],
)
def test_each_way_to_read_it(db: ec.Database, call: str, shown: object) -> None:
    assert db.query(f"SELECT {call}").rows() == [(shown,)]


def test_a_table_of_a_query(db: ec.Database) -> None:
    db.execute("CREATE TABLE u AS SELECT 1 AS id, now() AS at")
    assert db.query("SELECT at FROM u").rows() == [(BEGIN,)]


@pytest.mark.parametrize(
    "text",
    [
        "CREATE VIEW v AS SELECT id FROM t WHERE at < now()",
        "CREATE ASSERTION a CHECK (NOT EXISTS (SELECT 1 FROM t WHERE at > current_timestamp))",
        "CREATE TABLE w (at TIMESTAMP CHECK (at < now()))",
        "CREATE VIEW v AS SELECT current_date AS d FROM t",
    ],
)
def test_what_is_kept_has_no_moment(db: ec.Database, text: str) -> None:
    with pytest.raises(ec.UnsupportedError, match="whose value can change while the data does not"):
        db.execute(text)


def test_columns_come_first(db: ec.Database) -> None:
    db.execute("CREATE TABLE c (now INT)")
    db.execute("INSERT INTO c VALUES (7)")
    assert db.query("SELECT now FROM c").rows() == [(7,)]
