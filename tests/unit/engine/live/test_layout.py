"""How states of joins are laid out, and that their entries are put back when a transaction is given up."""

from __future__ import annotations

import random

import pytest

import evercurrent as ec
from evercurrent.engine.live.layout import Layout

TABLES = """
CREATE TABLE a (k INT, j INT);
CREATE TABLE b (k INT, x INT, y DECIMAL(9,2));
CREATE TABLE c (j INT, name STRING)
"""
VIEW = """
SELECT name, SUM(x * y) AS total, SUM(y) AS plain, COUNT(*) AS n
FROM a, b, c WHERE a.k = b.k AND a.j = c.j GROUP BY name"""


def connect() -> ec.Database:
    db = ec.connect()
    db.execute(TABLES)
    db.execute(f"CREATE VIEW v AS {VIEW}")
    return db


def layouts(db: ec.Database) -> dict[str, Layout]:
    storages = db._session.maintenance.engine.core.storages.values()
    return {s.layout.state.why: s.layout for s in storages}


def test_sums_that_joins_look_up_are_tuples_and_weights_stand_in_every_index() -> None:
    db = connect()
    found = layouts(db)
    sums = found["sums of b that a join looks up"]
    assert (sums.payload, sums.home.kind, sums.others) == ("sums", "flat", ())
    weights = found["the part of a that a join looks up"]
    assert weights.payload == "count"
    assert [p.kind for p in weights.paths] == ["bucket", "bucket"]  # no dictionary of whole entries
    assert found["groups"].payload == "cell"


def draw(chance: random.Random) -> tuple[str, tuple[object, ...]]:
    match chance.choice("abc"):
        case "a":
            return "a", (chance.choice([1, 2, None]), chance.choice([1, 2]))
        case "b":
            return "b", (chance.choice([1, 2, None]), chance.choice([3, 4, None]), chance.choice([5, None]))
        case _:
            return "c", (chance.choice([1, 2]), chance.choice(["p", "q"]))


@pytest.mark.parametrize("seed", range(3))
def test_a_transaction_that_is_given_up_leaves_the_entries_as_they_were(seed: int) -> None:
    chance = random.Random(seed)
    db = connect()
    for _ in range(60):
        with db.transaction():
            for table, row in (draw(chance) for _ in range(4)):
                db.table(table).insert([row])
        before = content(db)
        with pytest.raises(ZeroDivisionError), db.transaction():
            change(db, chance)
            _ = 1 / 0
        assert content(db) == before
        try:
            db._session.maintenance.engine.apply(
                {"a": [((1, 1), 1)], "b": [((1, 3, 500), -1)], "c": [((1, "p"), 1)]}
            )
        finally:
            db._session.maintenance.engine.undo()
        assert content(db) == before
        change(db, chance)
        assert sorted(map(repr, db.view("v").rows())) == sorted(map(repr, db.query(VIEW).rows()))


def change(db: ec.Database, chance: random.Random) -> None:
    for table, row in (draw(chance) for _ in range(3)):
        db.table(table).insert([row])
    db.execute(f"DELETE FROM {chance.choice('ab')} WHERE k = {chance.choice([1, 2])}")


def content(db: ec.Database) -> dict[str, object]:
    """The entries of every state, in every path."""
    storages = db._session.maintenance.engine.core.storages
    return {name: [repr(sorted(path.items(), key=repr)) for path in s.paths] for name, s in storages.items()}


def test_rows_of_a_feed_may_come_in_any_order_and_any_number_of_times() -> None:
    chance = random.Random(9)
    rows = [draw(chance) for _ in range(40)]
    events = [(table, row, sign) for table, row in rows for sign in (1, 1, -1, -1)]
    chance.shuffle(events)
    db = connect()
    for table, row, sign in events:
        feed = db.feed(table)
        (feed.insert if sign > 0 else feed.delete)(row)
    storages = db._session.maintenance.engine.core.storages.values()
    assert not any(len(s) for s in storages), "what came and went leaves no trace (law L3)"
