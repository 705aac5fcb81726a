"""The type TIME, from statements and rows to exports, parameters and classes."""

from __future__ import annotations

import datetime
from datetime import time

import pyarrow
import pytest

import evercurrent as ec


@pytest.fixture
def db() -> ec.Database:
    db = ec.connect()
    db.execute("CREATE TABLE shift (id INT PRIMARY KEY, begins TIME, ends TIME(3), rounded TIME(0))")
    db.execute("CREATE VIEW v AS SELECT id, begins, ends, rounded FROM shift")
    return db


def test_values_are_cut_to_the_precision_of_the_column(db: ec.Database) -> None:
    at = time(23, 59, 59, 999_999)
    db.table("shift").insert((1, at, at, at))
    db.execute("INSERT INTO shift VALUES (2, '1:02', TIME'00:00:00.0019', '12:00:59.9 PM')")
    assert list(db.view("v").rows()) == [
        (1, at, time(23, 59, 59, 999_000), time(23, 59, 59)),
        (2, time(1, 2), time(0, 0, 0, 1000), time(12, 0, 59)),
    ]


def test_exports(db: ec.Database) -> None:
    db.table("shift").insert([(1, time(1, 2, 3, 4), None, time(5)), (2, None, time(6), None)])
    table = db.view("v").arrow()
    assert table.schema.types[1:] == [pyarrow.time64("us")] * 3
    assert table.column("begins").to_pylist() == [time(1, 2, 3, 4), None]
    assert db.view("v").pandas()["rounded"].tolist() == [time(5), None]
    again = ec.connect()
    again.execute("CREATE TABLE shift (id INT, begins TIME, ends TIME(3), rounded TIME(0))")
    again.table("shift").insert(table)
    assert sorted(again.table("shift").rows()) == sorted(db.view("v").rows())


def test_parameters(db: ec.Database) -> None:
    db.table("shift").insert([(1, time(8), None, None), (2, time(9), None, None)])
    rows = db.query("SELECT id, ? - begins AS wait FROM shift WHERE begins < ?", [time(10), time(9)])
    assert list(rows.rows()) == [(1, datetime.timedelta(hours=2))]


def test_display_and_plans(db: ec.Database) -> None:
    db.execute("CREATE VIEW late AS SELECT id FROM shift WHERE begins > TIME'20:00:00.5'")
    assert "time '20:00:00.5'" in db.view("late").explain("algebra")
    db.table("shift").insert((1, time(8, 30), None, None))
    assert "08:30:00" in str(db.view("v"))


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("24:00", "is not a value of type TIME"),
        (time(1, tzinfo=datetime.UTC), "it has a zone"),
        (5, "is not a value of type TIME"),
        (datetime.datetime(2024, 1, 1), "is not a value of type TIME"),
    ],
)
def test_what_is_no_time_is_refused(db: ec.Database, value: object, reason: str) -> None:
    with pytest.raises(ec.EvercurrentError, match=reason):
        db.table("shift").insert((1, value, None, None))
    assert not list(db.view("v").rows())


@pytest.mark.parametrize(
    ("query", "error", "reason"),
    [
        ("SELECT CAST('1:00' AS TIME(7))", ec.UnsupportedError, r"TIME\(7\).*precision is 0 to 6"),
        ("SELECT CAST('1:00' AS TIME(10))", ec.QueryError, r"precision is 0 to 6"),
        ("SELECT CAST('1:00' AS TIME WITH TIME ZONE)", ec.UnsupportedError, "TIME WITH TIME ZONE"),
        ("SELECT TIME'24:00:00'", ec.QueryError, r"this is not a TIME\(6\)"),
        ("SELECT TIME'12:34:56.1234567'", ec.UnsupportedError, "more than six digits"),
        ("SELECT CAST(begins AS TIMESTAMP) FROM shift", ec.QueryError, "(?s)cannot be cast.*make_timestamp"),
        ("SELECT CAST(begins AS DATE) FROM shift", ec.QueryError, "cannot be cast to DATE"),
        ("SELECT begins + INTERVAL '1' MONTH FROM shift", ec.QueryError, "cannot be added to TIME"),
        ("SELECT begins = TIMESTAMP'2024-01-01' FROM shift", ec.QueryError, "no common type"),
        ("SELECT SUM(begins) FROM shift", ec.QueryError, "TIME"),
        ("CREATE VIEW v AS SELECT current_time() FROM shift", ec.EvercurrentError, "current_time"),
        ("SELECT time_diff('DAY', begins, ends) FROM shift", ec.QueryError, "no unit DAY, only HOUR"),
        ("SELECT date_format(begins, 'yyyy') FROM shift", ec.EvercurrentError, "TIME has no 'yyyy'"),
        (
            "SELECT COUNT(*) OVER (ORDER BY begins RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) FROM shift",
            ec.QueryError,
            "cannot be added to a sort key of type TIME",
        ),
    ],
)
def test_what_is_refused_says_why(db: ec.Database, query: str, error: type, reason: str) -> None:
    with pytest.raises(error, match=reason):
        db.query(query)


def test_midnight_is_not_passed(db: ec.Database) -> None:
    db.execute("CREATE VIEW later AS SELECT begins + INTERVAL '2' HOUR AS t FROM shift")
    db.table("shift").insert((1, time(21, 59, 59, 999_999), None, None))
    with pytest.raises(ec.EvaluationError, match="outside of 00:00:00 to 23:59:59"):
        db.table("shift").insert((2, time(22), None, None))
    assert list(db.view("later").rows()) == [(time(23, 59, 59, 999_999),)]


def test_classes() -> None:
    db = ec.connect()
    db.odl(
        "class shift (extent Shifts) { attribute string who; attribute time at; attribute list<time> breaks; };"
    )
    db.oql("define first as min(select s.at from s in Shifts)")
    db.oql("define hours as select struct(h: h, n: count(partition)) from s in Shifts group by h: s.at.hour")
    ann = db.new("shift", who="Ann", at=time(8, 30), breaks=[time(10), time(12)])
    db.new("shift", who="Ben", at=time(8, 45))
    assert (db.view("first").value(), list(ann.breaks)) == (time(8, 30), [time(10), time(12)])
    ann.at = time(9)
    assert db.view("first").value() == time(8, 45)
