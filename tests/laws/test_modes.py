"""Law L14, update modes: a lazy or hybrid view, whenever it is read, equals the strict view.

Transactions that are undone, reads in the middle of a transaction, subscriptions that come late and views defined over the
view come at random between the changes.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest

import evercurrent as ec
from tests.duck import canonical_rows
from tests.laws.chooser import Seeded
from tests.laws.world import VIEW, Listener, World, perform

SEEDS = range(int(os.environ.get("EVERCURRENT_SEEDS", "60")))


class Stop(Exception):
    """Undoes a transaction."""


def database(world: World, mode: str) -> ec.Database:
    db = ec.connect()
    for table in world.tables:
        db.execute(table.create())
    for name, text in (*world.views, (VIEW, world.query)):
        db.execute(f"CREATE VIEW {name} AS {text}", mode=mode)  # type: ignore[arg-type]
    perform(db, world.first)
    return db


def rows(db: ec.Database, pending: bool = False) -> Counter[Any]:
    return Counter(canonical_rows(db.view(VIEW).rows(pending=pending)))


@pytest.mark.parametrize("mode", ["lazy", "hybrid"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_view_is_the_same_in_every_mode(seed: int, mode: str) -> None:
    c = Seeded(seed + 50_000)
    world = World(c)
    strict, other = database(world, "strict"), database(world, mode)
    listener = None
    for i in range(8):
        operations = world.next()
        story = f"{world.story()}\nafter transaction {i + 1}"
        if c.chance(20):
            with pytest.raises(Stop), other.transaction():
                perform(other, operations)
                if c.chance(50):
                    rows(other, pending=True)
                raise Stop
        for db in (strict, other):
            perform(db, operations)
        if listener is not None:
            listener.check(story)
        if c.chance(40):
            assert rows(other) == rows(strict), story
        if listener is None and c.chance(15):
            listener = Listener(other)
        if i == 4 and c.chance(30):
            for db in (strict, other):
                db.execute(f"CREATE VIEW above AS SELECT count(*) AS n FROM {VIEW}")
            assert other.view("above").rows() == strict.view("above").rows()
    assert rows(other) == rows(strict), world.story()
    assert other.verify(), world.story()
