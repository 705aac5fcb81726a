"""An insertion into the open transaction does what a block inside the transaction does."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.errors import ConstraintError, QueryError, TransactionError
from evercurrent.session.plans import joined_calls
from tests.unit.test_interrupts import Interrupted, interrupt_at


def fresh() -> ec.Database:
    db = ec.connect()
    db.execute("""
        CREATE TABLE t (id INT PRIMARY KEY, n INT DEFAULT 7 NOT NULL);
        CREATE VIEW total AS SELECT count(*) AS c, sum(n) AS n FROM t
    """)
    return db


def count_calls(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """What the generated functions return from now on."""
    found: list[bool] = []
    generate = joined_calls._generate

    def counted(session: Any, table: str, write: Any) -> Any:
        made = generate(session, table, write)
        if write is not joined_calls._insert:
            return made
        return lambda value: found.append(made(value)) or found[-1]

    monkeypatch.setattr(joined_calls, "_generate", counted)
    return found


def test_rows_are_pending_until_the_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    used, db = count_calls(monkeypatch), fresh()
    table = db.table("t")
    with db.transaction() as transaction:
        assert table.insert((1, 2)) == table.insert({"id": 2}) == 1
        assert table.rows() == [] and sorted(table.rows(pending=True)) == [(1, 2), (2, 7)]
        assert transaction.inner == 0
    assert used == [True, True]
    assert db.view("total").rows() == [(2, 9)]


def test_what_is_unusual_goes_the_long_way(monkeypatch: pytest.MonkeyPatch) -> None:
    used, db = count_calls(monkeypatch), fresh()
    table = db.table("t")
    table.insert((1, 2))
    with db.transaction():
        table.delete(1)
        table.insert((1, 2))  # cancels
        table.insert((2, 3))
        assert table.get(2, pending=True) == (2, 3)
        table.insert((3, 3))  # the keys of inserted rows are known now
        with pytest.raises(QueryError):
            table.insert((4,))
        with pytest.raises(QueryError):
            table.insert(("x", 1))
    assert used == [False, True, False, False, False]
    assert sorted(table.rows()) == [(1, 2), (2, 3), (3, 3)]
    with pytest.raises(ConstraintError), db.transaction():
        table.insert((5, 1))
        table.insert((5, 2))
    assert len(table) == 3 and db.verify()


def test_a_transaction_that_has_ended_takes_no_rows() -> None:
    db = fresh()
    table = db.table("t")
    with db.transaction() as transaction:
        table.insert((1, 1))
        transaction.rollback()
        with pytest.raises(TransactionError):
            table.insert((2, 2))
    assert len(table) == 0


def test_another_definition_has_another_function() -> None:
    db = fresh()
    with db.transaction():
        db.table("t").insert((1, 1))
    db.execute("ALTER TABLE t ADD COLUMN s STRING")
    with db.transaction():
        db.table("t").insert((2, 2, "a"))
    assert sorted(db.table("t").rows()) == [(1, 1, None), (2, 2, "a")]


def test_another_thread_does_not_join() -> None:
    db = fresh()
    table = db.table("t")
    thread = threading.Thread(target=lambda: table.insert((2, 2)))
    with db.transaction() as transaction:
        table.insert((1, 1))
        thread.start()
        thread.join(0.3)
        transaction.rollback()
    thread.join()
    assert table.rows() == [(2, 2)]


def test_a_row_is_found_by_its_key() -> None:
    db = fresh()
    table = db.table("t")
    table.insert([(1, 2), (2, 3)])
    assert table.get(1) == table.get({"id": 1}) == table.get({"ID": 1}) == (1, 2)
    assert table.get(3) is None and table.get(3, "no") == "no"
    with pytest.raises(QueryError):
        table.get((1, 2))
    with db.transaction():
        table.update(1, n=5)
        assert table.get(1) == (1, 2) and table.get(1, pending=True) == (1, 5)
    assert table.get(1) == (1, 5)
    db.execute("ALTER TABLE t ADD COLUMN s STRING")
    assert table.get(1) == (1, 5, None)
    db.execute("DROP TABLE t CASCADE")
    with pytest.raises(QueryError):
        table.get(1)


def attempt(table: Any, db: ec.Database, line: int) -> tuple[int, list[Any]] | None:
    """Inserts a row and is interrupted; returns how many calls are counted then, and the pending rows."""
    with db.transaction() as transaction:
        try:
            with interrupt_at(line):
                table.insert((1, 1))
        except Interrupted:
            return transaction.inner, sorted(table.rows(pending=True))
    return None


def test_an_interrupt_in_the_middle_of_the_call_keeps_the_transaction_from_being_committed() -> None:
    db = fresh()
    table = db.table("t")
    with db.transaction():
        table.insert((0, 0))
    assert attempt(table, db, 10_000) is None  # the place of the `with` statement is known from now on
    line, refused, done = 0, 0, 0
    while True:
        line += 1
        table.delete(1) if len(table) > 1 else None
        try:
            found = attempt(table, db, line)
        except TransactionError:  # it is not known what the call has done
            refused += 1
            assert table.rows() == [(0, 0)], line
            continue
        if found is None:
            break
        assert found == (0, sorted(table.rows())), line
        done += len(table) == 2
    assert line > 30 and refused >= 3 and done >= 1
    assert db.verify()
