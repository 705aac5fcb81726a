"""A statement that is run again does what it did when its text was new, whatever the parameters are."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.errors import EvercurrentError
from evercurrent.session import target

SCHEMA = """
    CREATE TABLE items (id BIGINT PRIMARY KEY, code INT UNIQUE, name VARCHAR(5), price DECIMAL(8,2), day DATE DEFAULT DATE '2020-01-01');
    CREATE TABLE notes (item BIGINT REFERENCES items (id), size DOUBLE);
    CREATE VIEW total AS SELECT name, sum(price) AS price, count(*) AS n FROM items GROUP BY name;
    CREATE INDEX by_name ON items (name, price);
    CREATE INDEX by_item ON notes (item)
"""
VALUES = (
    1,
    3,
    None,
    2**40,
    "x",
    "long text",
    2.5,
    float("nan"),
    Decimal("9.50"),
    Decimal("3"),
    True,
    datetime.date(2024, 2, 29),
    "7",
    b"y",
    [1],
)
PREPARED = (
    "SELECT * FROM items WHERE id = ?",
    "SELECT name, price + ? FROM items WHERE id = 1",
    "SELECT id FROM items WHERE name = ? AND price > 2 ORDER BY price DESC, id",
    "SELECT id FROM items WHERE name = 'a' AND price BETWEEN ? AND 100",
    "SELECT i.id, n.size FROM items i JOIN notes n ON n.item = i.id WHERE i.id = ?",
    "UPDATE items SET price = price + 1 WHERE id = ?",
    "UPDATE items SET name = ? WHERE id = 2",
    "DELETE FROM notes WHERE item = ?",
    "INSERT INTO notes VALUES (1, ?)",
    "INSERT INTO notes (size, item) VALUES (1.5, ?), (2, 1)",
)
OTHERS = (
    "SELECT id FROM items ORDER BY id LIMIT ?",
    "SELECT round(price, ?) FROM items WHERE id = 1",
    "SELECT count(*) FROM items WHERE id IN (?, 2)",
    "SELECT coalesce(?, 3) FROM items WHERE id = 1",
    "SELECT price * ? FROM items WHERE id = 1",
    "SELECT name FROM items WHERE id = 1 AND ? > 1",
)


def fresh() -> ec.Database:
    db = ec.connect()
    db.execute(SCHEMA)
    db.table("items").insert([(i, i, "abc"[i % 3], i, None) for i in range(12)])
    db.table("notes").insert([(i % 4, i / 2) for i in range(9)])
    return db


def outcome(db: ec.Database, text: str, parameters: Any) -> Any:
    try:
        result = db.execute(text, parameters)
        return repr(result.rows()) if result.schema else result.count, [
            (f.name, str(f.type)) for f in result.schema
        ]
    except EvercurrentError as error:
        return type(error), str(error)


def contents(db: ec.Database) -> Any:
    return {name: sorted(map(repr, db.table(name).rows())) for name in db.tables} | {
        "total": sorted(map(repr, db.view("total")))
    }


@pytest.mark.parametrize("text", PREPARED + OTHERS)
def test_a_plan_does_what_the_statement_does(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    db, slow = fresh(), fresh()
    for value in (*VALUES, *VALUES, *VALUES):
        found = outcome(db, text, [value])
        with monkeypatch.context() as patched:
            patched.setattr(target, "prepare", lambda *_: None)
            assert found == outcome(slow, text, [value]), value
        assert contents(db) == contents(slow)
    plans = [plan for plan in db._session.plans.found.values() if plan is not None]
    if text in PREPARED:
        assert plans
    assert not slow._session.plans.found


def test_names_and_transactions() -> None:
    db = fresh()
    update = "UPDATE items SET price = price + :more WHERE id = :id"
    for more, key in ((1, 1), (2, 2), (3, 3), (4, 1)):
        db.execute(update, {"more": more, "id": key})
    db.execute(update, {"id": 1, "more": 5})
    assert db.query("SELECT price FROM items WHERE id <= 3 ORDER BY id").rows() == [
        (Decimal("0.00"),), (Decimal("11.00"),), (Decimal("4.00"),), (Decimal("6.00"),),
    ]  # fmt: skip
    insert, read = "INSERT INTO items (id, name) VALUES (?, ?)", "SELECT id FROM items WHERE name = ?"
    for i in range(3):
        db.execute(insert, [100 + i, "z"])
        db.query(read, ["z"])
    with pytest.raises(EvercurrentError), db.transaction():
        db.execute(insert, [200, "z"])
        assert len(db.query(read, ["z"], pending=True)) == 4
        assert len(db.query(read, ["z"])) == 3
        assert db.execute("DELETE FROM items WHERE id = 200").count == 1
        db.execute(insert, [100, "z"])
    assert len(db.query(read, ["z"])) == 3
    assert db.view("total").rows()[-1][2] == 3


def test_a_plan_ends_with_its_catalog() -> None:
    db = fresh()
    read = "SELECT * FROM items WHERE name = ?"
    for _ in range(3):
        assert len(db.query(read, ["a"])) == 4
    db.execute("DROP INDEX by_name")
    assert len(db.query(read, ["a"])) == 4
    db.execute("DELETE FROM notes")
    db.execute("CREATE OR REPLACE TABLE notes (item STRING)")
    for _ in range(3):
        db.execute("INSERT INTO notes VALUES (?)", ["x"])
    db.execute("DROP TABLE notes")
    with pytest.raises(EvercurrentError, match="notes"):
        db.execute("INSERT INTO notes VALUES (?)", ["x"])
    with pytest.raises(EvercurrentError):
        db.query("UPDATE items SET price = 1 WHERE id = ?", [1])


def test_statements_that_are_no_queries_are_still_refused() -> None:
    db = fresh()
    text = "UPDATE items SET price = 1 WHERE id = ?"
    for _ in range(3):
        db.execute(text, [1])
    with pytest.raises(EvercurrentError, match="not a query"):
        db.query(text, [1])
    for wrong in ([], [1, 2], {"a": 1}, "1"):
        with pytest.raises(EvercurrentError):
            db.execute(text, wrong)
