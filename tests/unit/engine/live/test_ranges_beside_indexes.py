"""States that several joins look up by index and others by range: all paths stay alike, also where a transaction is given up."""

from __future__ import annotations

import random
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.engine.live.runtime.ordered_entries import Ordered

SCHEMA = """
CREATE TABLE a (k INT, n INT);
CREATE TABLE b (k INT, j INT, v INT);
CREATE TABLE c (j INT, n INT);
CREATE TABLE l (low INT, high INT);
CREATE VIEW by_k AS SELECT b.k, b.j, b.v FROM a JOIN b ON a.k = b.k;
CREATE VIEW by_j AS SELECT b.k, b.j, b.v FROM c JOIN b ON c.j = b.j;
CREATE VIEW beyond AS SELECT k, j, v FROM b WHERE v > 0.5 * (SELECT avg(v) FROM b);
CREATE VIEW between_bounds AS SELECT b.k, b.j, b.v, l.low FROM b JOIN l ON b.v BETWEEN l.low AND l.high;
CREATE VIEW totals AS SELECT c.n, sum(b.v) AS s FROM c JOIN b ON c.j = b.j GROUP BY c.n
"""
STATEMENTS = (
    "DELETE FROM a WHERE n = 1",
    "DELETE FROM b WHERE v = 2",
    "DELETE FROM b WHERE k = 1 AND j = 1",
    "DELETE FROM c WHERE n = 1",
    "DELETE FROM l WHERE high = 4",
    "UPDATE l SET low = 2",
    "UPDATE b SET v = 5 WHERE v = 9",
    "UPDATE b SET k = 2 WHERE j = 1",
)


def change(db: ec.Database, chance: random.Random) -> None:
    table = chance.choice("abbbcl.")
    keys = (1, 2, None)
    match table:
        case ".":
            db.execute(chance.choice(STATEMENTS))
        case "b":
            values = (1, 2, 5, 9, None)
            row = (chance.choice(keys), chance.choice(keys), chance.choice(values))
            db.table("b").insert([row] * chance.choice((1, 2)))
        case "l":
            db.table("l").insert([(chance.choice(keys), chance.choice((4, 5)))])
        case _:
            db.table(table).insert([(chance.choice(keys), chance.choice((1, 2)))])


def normal(held: Any) -> Any:
    """What a dictionary holds, in whatever order."""
    if isinstance(held, Ordered):
        assert list(held.values) == sorted(held.held)
        return normal(held.held)
    if isinstance(held, dict):
        return sorted((repr(key), normal(value)) for key, value in held.items())
    return repr(held)


def content(db: ec.Database) -> dict[str, object]:
    """The entries of every state, in every path."""
    storages = db._session.maintenance.engine.core.storages
    return {name: [normal(path) for path in s.paths] for name, s in storages.items()}


@pytest.mark.parametrize("seed", range(3))
def test_indexes_and_orders_of_one_state_are_kept_alike(seed: int) -> None:
    chance = random.Random(seed)
    db = ec.connect()
    db.execute(SCHEMA)
    kinds = [
        (s.layout.payload, [p.kind for p in s.layout.paths])
        for s in db._session.maintenance.engine.core.storages.values()
    ]
    assert ("cell", ["bucket", "bucket", "ordered", "ordered"]) in kinds
    for step in range(120):
        change(db, chance)
        if step % 3 == 0:
            before = content(db)
            with pytest.raises(ZeroDivisionError), db.transaction():
                for _ in range(4):
                    change(db, chance)
                db.view("beyond").rows(pending=True)
                _ = 1 / 0
            assert content(db) == before
        if step % 10 == 0:
            assert db.verify(), db.verify()
    db.execute("DELETE FROM a; DELETE FROM b; DELETE FROM c; DELETE FROM l")
    assert db.verify()
