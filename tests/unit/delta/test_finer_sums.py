"""A state of sums that a finer state says as well is left out, and nothing else is."""

from __future__ import annotations

import random

import pytest

import evercurrent as ec

TABLES = """
CREATE TABLE part (p INT, brand STRING);
CREATE TABLE line (p INT, quantity DECIMAL(9,2), price DECIMAL(9,2))
"""

SMALL = """
SELECT SUM(price) AS total FROM line, part WHERE part.p = line.p AND brand = 'a'
AND quantity < (SELECT 0.5 * AVG(quantity) FROM line AS l WHERE l.p = part.p)"""

WEIGHED = """
SELECT brand, SUM(price) AS total, COUNT(*) AS n FROM line, part WHERE part.p = line.p
AND quantity < (SELECT 0.5 * AVG(quantity) FROM line AS l WHERE l.p = part.p) GROUP BY brand"""


def states_of_lines(view: str) -> list[str]:
    db = ec.connect()
    db.execute(TABLES)
    db.execute(f"CREATE VIEW v AS {view}")
    text = str(db.view("v").explain("program"))
    return [line for line in text.splitlines() if line.startswith("state line by")]


def test_a_state_by_part_is_read_from_the_state_by_part_and_quantity() -> None:
    (state,) = states_of_lines(SMALL)
    assert "(p, quantity; sum(line.price)" in state


def test_a_state_that_changes_of_the_same_table_look_up_stays() -> None:
    """Every line would visit all lines of its part."""
    assert len(states_of_lines("SELECT a.p, b.quantity FROM line a JOIN line b ON a.p = b.p")) >= 1
    two = """SELECT SUM(line.price) AS s FROM line, part WHERE part.p = line.p AND brand = 'a'"""
    (state,) = states_of_lines(two)
    assert "(p; sum(line.price)" in state


@pytest.mark.parametrize("view", [SMALL, WEIGHED])
def test_the_answer_is_that_of_the_query(view: str) -> None:
    chance = random.Random(5)
    db, plain = ec.connect(), ec.connect()
    db.execute(TABLES)
    plain.execute(TABLES)
    db.execute(f"CREATE VIEW v AS {view}")
    present: list[tuple[str, tuple[object, ...]]] = []
    feeds = {name: db.feed(name) for name in ("part", "line")}
    for step in range(300):
        if present and chance.random() < 0.4:
            name, row = present.pop(chance.randrange(len(present)))
            sign = -1
        else:
            key = chance.choice([1, 2, None])
            name = chance.choice(["part", "line", "line"])
            quantity, price = (chance.choice([100, 300, 900, None]) for _ in range(2))
            row = (key, chance.choice("ab")) if name == "part" else (key, quantity, price)
            present.append((name, row))
            sign = 1
        for d in (db, plain):
            feed = feeds[name] if d is db else d.feed(name)
            (feed.insert if sign > 0 else feed.delete)(row)
        if step % 20 == 0:
            assert sorted(map(repr, db.view("v").rows())) == sorted(map(repr, plain.query(view).rows()))


def test_large_deltas_read_the_finer_state_over_columns() -> None:
    chance = random.Random(6)
    lines = [(chance.randrange(300), chance.choice([100, 300, None]), i % 7) for i in range(5000)]
    parts = [(i % 400, chance.choice("ab")) for i in range(2500)]
    db = ec.connect()
    db.execute(TABLES)
    db.execute(f"CREATE VIEW v AS {SMALL}")
    for name, rows in (("line", lines), ("part", parts), ("line", lines[:4500])):
        db.table(name).insert(rows)
        assert db._session.maintenance.engine.core.columns is not None
        assert list(db.view("v").rows()) == list(db.query(SMALL).rows())


def test_views_that_are_defined_and_dropped_later_bring_the_coarse_state_and_take_it_away() -> None:
    chance = random.Random(7)
    db = ec.connect()
    db.execute(TABLES)
    db.execute("CREATE TABLE other (p INT, name STRING)")

    def change() -> None:
        for name in ("part", "line", "other"):
            key = chance.choice([1, 2, None])
            amounts = [chance.choice([1, 3, None]) for _ in range(2)]
            rows = [(key, *amounts)] if name == "line" else [(key, chance.choice("ab"))]
            db.table(name).insert(rows)
        db.execute(f"DELETE FROM {chance.choice(['part', 'line'])} WHERE p = {chance.choice([1, 2])}")
        assert db.verify()

    def coarse() -> bool:
        states = db._session.maintenance.engine.program.states
        return ["p"] in [
            [c.name for c in s.columns] for s in states if s.why == "sums of line that a join looks up"
        ]

    for _ in range(5):
        change()
    db.execute(f"CREATE VIEW v AS {SMALL}")
    assert not coarse()
    for _ in range(5):
        change()
    db.execute(
        "CREATE VIEW w AS SELECT name, SUM(quantity) AS q FROM other, line WHERE other.p = line.p GROUP BY name"
    )
    assert coarse()
    for _ in range(5):
        change()
    db.execute("DROP VIEW w")
    assert not coarse()
    for _ in range(5):
        change()
