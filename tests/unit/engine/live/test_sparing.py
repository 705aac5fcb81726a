"""The cyclic collector is kept away from many rows, and gets them back when their database is dropped."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

import evercurrent as ec
from evercurrent.engine.live import memory


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A thousand rows are many here; databases that other tests have left alive hold none."""
    monkeypatch.setattr(memory, "MANY", 1000)
    monkeypatch.setattr("evercurrent.session.transactions.MANY", 1000)
    counts = memory.sparing.counts
    others = dict(counts)
    counts.update(dict.fromkeys(others, lambda: 0))
    gc.unfreeze()
    yield
    gc.unfreeze()
    counts.update({database: count for database, count in others.items() if database in counts})


def load(rows: int) -> ec.Database:
    db = ec.connect()
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, k INT)")
    db.execute("CREATE VIEW v AS SELECT k, COUNT(*) AS n FROM t GROUP BY k")
    db.table("t").insert([(i, i % 10) for i in range(rows)])
    return db


def test_many_rows_are_set_aside_and_returned() -> None:
    db = load(1500)
    assert gc.get_freeze_count()
    session = weakref.ref(db._session)
    rows = db._session.stores["t"].held
    assert not any(o is rows for o in gc.get_objects())
    del db, rows
    assert not gc.get_freeze_count()
    gc.collect()
    assert session() is None


def test_few_rows_are_left_to_the_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "LONG", 0.0)
    db = load(500)
    gc.collect()
    assert not gc.get_freeze_count()
    db.table("t").insert([(1000 + i, 1) for i in range(700)])
    assert not gc.get_freeze_count()  # many rows by now, but few at once
    gc.collect()  # took long enough
    assert gc.get_freeze_count()


def test_a_program_without_the_collector_is_left_alone() -> None:
    gc.disable()
    try:
        db = load(1500)
        assert not gc.get_freeze_count()
        assert len(db.table("t")) == 1500
    finally:
        gc.enable()


def test_states_of_tables_that_are_not_stored_are_set_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "LONG", 0.0)
    db = ec.connect()
    db.execute("CREATE TABLE t (id INT, k INT) TBLPROPERTIES ('stored' = 'false')")
    db.execute("CREATE VIEW v AS SELECT id, SUM(k) AS n FROM t GROUP BY id")
    insert = db.feed("t").insert
    for i in range(900):
        insert((i, 1))
    gc.collect()
    assert not gc.get_freeze_count()
    for i in range(900, 1800):
        insert((i, 1))
    gc.collect()
    assert gc.get_freeze_count()
    del db, insert
    assert not gc.get_freeze_count()
