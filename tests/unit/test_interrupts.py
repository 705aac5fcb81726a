"""An interrupt at any moment of a transaction leaves the database as it was, or as it was to be.

The interrupt is raised at the k-th line that runs inside the package, generated code included, for many k.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

import evercurrent as ec
from tests.fuzz.injection import Faults, is_traced


class Interrupted(BaseException):
    """Like KeyboardInterrupt, but ours."""


@contextmanager
def interrupt_at(line: int) -> Iterator[None]:
    """Raise at the given line event in code of the package, but not where Python ignores all errors."""
    left = line

    def local(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal left
        if event == "line":
            left -= 1
            if left == 0:
                raise Interrupted
        return local

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        return local if is_traced(frame) else None

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(None)


def database() -> ec.Database:
    db = ec.connect()
    db.execute("""
        CREATE TABLE customers (id BIGINT PRIMARY KEY, name STRING UNIQUE);
        CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT REFERENCES customers (id), total DECIMAL(12,2));
        CREATE TABLE log (text STRING);
        CREATE VIEW spend AS SELECT customer, SUM(total) AS total, MIN(total) AS least FROM orders GROUP BY customer;
        CREATE VIEW best AS SELECT customer, total FROM spend ORDER BY total DESC LIMIT 1;
        CREATE VIEW named AS SELECT c.name, o.total FROM orders o LEFT JOIN customers c ON c.id = o.customer;
    """)
    db.table("customers").insert([(1, "Ann"), (2, "Bob")])
    db.table("orders").insert([(i, 1 + i % 2, i) for i in range(6)])
    db.table("log").insert([("x",), ("x",)])
    return db


def contents(db: ec.Database) -> dict[str, list[Any]]:
    return {
        **{n: sorted(db.table(n).rows(), key=repr) for n in db.tables},
        **{n: sorted(db.view(n).rows(), key=repr) for n in db.views},
    }


def change(db: ec.Database) -> None:
    with db.transaction():
        db.table("orders").insert((10, 3, 50))
        db.table("customers").insert((3, "Cid"))
        db.table("orders").delete(5)
        db.table("orders").update(0, total=7)
        db.table("log").delete(("x",))


@pytest.mark.parametrize("phase", (0, 5, 11))
def test_all_or_nothing_wherever_it_stops(phase: int) -> None:
    after_db = database()
    change(after_db)
    after = contents(after_db)
    db = database()
    before = contents(db)
    change(db)  # once undisturbed, so that everything is compiled
    with db.transaction():
        db.table("orders").delete(10)
        db.table("customers").delete(3)
        db.table("orders").insert((5, 2, 5))
        db.table("orders").update(0, total=0)
        db.table("log").insert(("x",))
    assert contents(db) == before
    stopped = 0
    for line in range(1 + phase, 10_000, 17):
        try:
            with interrupt_at(line):
                change(db)
        except Interrupted:
            stopped += 1
            found = contents(db)
            if found == before:
                assert db.verify(), str(db.verify())
                continue
            assert found == after, f"stopped at line {line}"
            db = database()
            change(db)
            with db.transaction():
                db.table("orders").delete(10)
                db.table("customers").delete(3)
                db.table("orders").insert((5, 2, 5))
                db.table("orders").update(0, total=0)
                db.table("log").insert(("x",))
            continue
        break
    assert stopped > 20
    change(db) if contents(db) == before else None
    assert contents(db) == after
    assert db.verify()


# --- two faults --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", (Interrupted, KeyboardInterrupt, MemoryError))
@pytest.mark.parametrize("later", (1, 2, 5, 12, 30, 75))
def test_two_faults_leave_every_view_right(error: type[BaseException], later: int) -> None:
    """The second one comes while the first is undone."""
    db = database()
    db.execute("CREATE VIEW top AS SELECT id, total FROM orders ORDER BY total DESC, id LIMIT 2")
    before = contents(db)
    stopped = 0
    for line in range(300 + later, 3_000, 97):
        faults = Faults((line, later), error)
        try:
            with faults, db.transaction():
                db.table("orders").delete(4)
                db.table("orders").insert((40, 1, 90))
                db.table("orders").update(3, total=7)
        except error:
            stopped += faults.raised == 2
        assert db.verify(), f"{line}, {later}: {faults.trail}\n{db.verify()}"
        if contents(db) != before:
            with db.transaction():
                db.table("orders").insert((4, 1, 4))
                db.table("orders").delete(40)
                db.table("orders").update(3, total=3)
        assert contents(db) == before
    assert stopped > 5


def test_what_cannot_be_put_right_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    db = database()
    session = db._session

    def fail(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(type(session.maintenance), "undo", fail)
    monkeypatch.setattr(type(session.maintenance), "rebuild", fail)
    db.view("best").subscribe(lambda change: 1 / 0, when="before")
    with pytest.raises((ZeroDivisionError, MemoryError)):
        db.table("orders").insert((10, 1, 500))
    for read in (db.view("best").rows, db.table("orders").rows, lambda: db.query("SELECT 1")):
        with pytest.raises(ec.InternalError, match="could not be restored after an interrupt"):
            read()
    monkeypatch.undo()
    assert db.verify()
    assert (10, 1, 500) not in db.table("orders").rows()
