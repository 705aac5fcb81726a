"""Parameters are values: they stand in the tree, never in a text."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pytest

import evercurrent as ec


@pytest.fixture(scope="module")
def db() -> ec.Database:
    db = ec.connect()
    db.execute("CREATE TABLE t (id INT, s STRING, a ARRAY<INT>)")
    db.table("t").insert([(1, "x", [10, 20]), (2, "?", [30]), (3, ":s", None)])
    return db


@pytest.mark.parametrize(
    ("value", "type"),
    [
        (1, "INT"),
        (1 << 40, "BIGINT"),
        (2.5, "DOUBLE"),
        (True, "BOOLEAN"),
        ("'; DROP TABLE t; --", "STRING"),
        (b"\x00", "BINARY"),
        (Decimal("-12.50"), "DECIMAL(4,2)"),
        (Decimal("0.001"), "DECIMAL(3,3)"),
        (datetime.date(2025, 1, 2), "DATE"),
        (datetime.datetime(2025, 1, 2, 3), "TIMESTAMP_NTZ"),
        (datetime.datetime(2025, 1, 2, 3, tzinfo=datetime.UTC), "TIMESTAMP"),
        (datetime.timedelta(days=1, microseconds=1), "INTERVAL DAY TO SECOND"),
        ([1, None, 1 << 40], "ARRAY<BIGINT>"),
        ({"k": 1.5}, "MAP<STRING, DOUBLE>"),
        (None, "VOID"),
    ],
)
def test_every_kind_of_value_has_its_type(db: ec.Database, value: Any, type: str) -> None:
    result = db.query("SELECT ? AS v", [value])
    assert result.rows() == [(value,)]
    assert str(result.schema[0].type) == type


def test_placeholders_are_numbered_as_they_are_written(db: ec.Database) -> None:
    text = "SELECT ? AS a, (SELECT MAX(id) FROM t WHERE id < ?) AS b FROM t WHERE id = ? ORDER BY ? LIMIT ?"
    assert db.query(text, ["first", 3, 1, 0, 1]).rows() == [("first", 2)]


def test_names_may_come_more_than_once(db: ec.Database) -> None:
    assert db.query("SELECT :a + :a AS x, :b AS y", {"a": 2, "b": "?"}).rows() == [(4, "?")]


def test_texts_and_subscripts_are_left_alone(db: ec.Database) -> None:
    assert db.query("SELECT id FROM t WHERE s = '?' OR s = ':s' ORDER BY id").rows() == [(2,), (3,)]
    assert db.query(
        "SELECT a[?] AS e FROM t WHERE id = :id".replace("?", ":i"), {"i": 1, "id": 1}
    ).rows() == [(20,)]
    assert db.query("SELECT a[?] AS e FROM t WHERE id = 1", [0]).rows() == [(10,)]


@pytest.mark.parametrize(
    ("text", "given", "said"),
    [
        ("SELECT ? AS a", None, "no value for the parameter ?1"),
        ("SELECT ?, ? AS a", [1], "no value for the parameter ?2"),
        ("SELECT :a AS a", [1], "no value for the parameter :a"),
        ("SELECT 1 AS a", [1], "no place for the parameter ?1"),
        ("SELECT :a AS a", {"a": 1, "b": 2}, "no place for the parameter :b"),
        ("SELECT ? AS a", "x", "a sequence of values"),
        ("SELECT ? AS a", [object()], "no type in SQL"),
        ("CREATE VIEW v AS SELECT ? AS a", [1], "not in definitions"),
    ],
)
def test_what_does_not_fit_is_said(db: ec.Database, text: str, given: Any, said: str) -> None:
    with pytest.raises(ec.QueryError) as caught:
        db.execute(text, given)
    assert said in str(caught.value)
    assert "v" not in db.views


def test_parameters_belong_to_one_statement(db: ec.Database) -> None:
    with pytest.raises(ec.QueryError, match="single statement"):
        db.execute("SELECT ? AS a; SELECT 2 AS b", [1])
