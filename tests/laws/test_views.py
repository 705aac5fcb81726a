"""Laws of views: whatever the schema, the data, the query and the changes.

    L1  after every transaction the view is what its query returns (reference evaluator, DuckDB)
    L2  every change that is announced is minimal, and leads from the old rows to the new ones
    L3  rows that are inserted and deleted again leave no trace, neither in the view nor in its states
    L4  two transactions do what one transaction with both does
    L5  a view that is defined after the data is the view that was defined before it

EVERCURRENT_LAWS=long searches with many more examples and fresh seeds. What a search has found stands, made small, in
`conformance/cases/found.sql`.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evercurrent as ec
from tests.duck import canonical_rows
from tests.laws.chooser import Chooser, Drawn, Seeded
from tests.laws.schemas import Operation
from tests.laws.world import VIEW, Beside, Listener, World, perform, rows

SEEDS = range(int(os.environ.get("EVERCURRENT_SEEDS", "150")))


def verified(db: ec.Database, story: str) -> None:
    report = db.verify()
    assert report, f"{report}\n{story}"


def follow(c: Chooser, transactions: int = 4, depth: int = 2) -> None:
    """L1 and L2."""
    world = World(c, depth)
    db = world.database(view_first=c.chance(50))
    beside = Beside(world)
    try:
        beside.check(db, world.story())
        verified(db, world.story())
        listener = Listener(db)
        for i in range(transactions):
            operations = world.next()
            story = f"{world.story()}\ntransaction {i + 1}: {operations}"
            perform(db, operations)
            listener.check(story)
            verified(db, story)
            beside.check(db, story)
    finally:
        beside.duck.close()


@pytest.mark.parametrize("seed", SEEDS)
def test_view_equals_query_seeded(seed: int) -> None:
    follow(Seeded(seed))


def test_aggregates_are_reduced_in_one_round() -> None:
    """Found by chance: two aggregates in one tree of joins, each of which a filtered relation reduces."""
    follow(Seeded(401311), depth=3)


@given(st.data())
def test_view_equals_query(data: Any) -> None:
    follow(Drawn(data.draw))


def inverse(operations: list[Operation]) -> list[Operation]:
    return [(table, new, old) for table, old, new in reversed(operations)]


def sizes(db: ec.Database) -> dict[str, int]:
    return {size.name: size.entries for size in db.stats().sizes}


@given(st.data())
def test_insert_then_delete_is_nothing(data: Any) -> None:
    """L3."""
    world = World(Drawn(data.draw))
    db = world.database()
    before, kept = rows(db), sizes(db)
    operations = world.next(8)
    perform(db, operations)
    perform(db, inverse(operations))
    assert rows(db) == before, f"{world.story()}\n{operations}"
    assert sizes(db) == kept, f"{world.story()}\n{operations}"
    heard: list[Any] = []
    db.view(VIEW).subscribe(heard.append)
    perform(db, operations + inverse(operations))
    assert heard == [], f"{world.story()}\n{operations}"


@given(st.data())
def test_batches_compose(data: Any) -> None:
    """L4 and L5."""
    world = World(Drawn(data.draw))
    one, two = world.database(), world.database(view_first=False)
    assert rows(one) == rows(two), world.story()
    before = rows(one)
    heard: list[Any] = []
    one.view(VIEW).subscribe(heard.append)
    first, second = world.next(), world.next()
    perform(one, first + second)
    perform(two, first)
    perform(two, second)
    story = f"{world.story()}\n{first}\n{second}"
    assert rows(one) == rows(two), story
    net = Counter(before)
    for change in heard:
        net.update(canonical_rows(change.inserted))
        net.subtract(canonical_rows(change.deleted))
    assert +net == rows(two), story
