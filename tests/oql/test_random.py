"""Random queries over random graphs under random streams, as views and asked once, against the oracle.

EVERCURRENT_SEEDS=n tries more. What a search has found stands, made small, in `test_found.py`.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

import evercurrent as ec
from tests.laws.chooser import Seeded
from tests.oql.events import event
from tests.oql.mirror import Mirror
from tests.oql.oracle.scalars import OqlError
from tests.oql.oracle.values import key
from tests.oql.queries import query
from tests.oql.schemas import COMPANY, SHOP, ZOO, ZOO_OF_ARRAYS

SEEDS = range(int(os.environ.get("EVERCURRENT_SEEDS", "12")))
MODES = ("strict", "lazy", "hybrid")


def follow(schema: Any, seed: int, transactions: int = 6) -> None:
    c = Seeded(seed)
    mirror = Mirror(schema)
    for _ in range(c.number(5, 20)):
        mirror.happen(event(c, mirror.model))
    text = query(c, mirror.model)
    mirror.db.oql(f"define v as {text};", mode=c.pick(MODES))
    check(mirror, text)
    for _ in range(transactions):
        if c.chance(50):
            mirror.happen(event(c, mirror.model))
        else:
            with mirror.db.transaction():
                for _ in range(c.number(2, 5)):
                    mirror.happen(event(c, mirror.model))
        if c.chance(80):  # a lazy view may wait
            check(mirror, text)
    check(mirror, text)
    ask(mirror, text)


def follow_together(schema: Any, seed: int, views: int = 4, transactions: int = 6) -> None:
    """Several views share what they keep."""
    c = Seeded(seed)
    mirror = Mirror(schema)
    for _ in range(c.number(5, 20)):
        mirror.happen(event(c, mirror.model))
    texts = {f"v{i}": query(c, mirror.model, 1) for i in range(views)}
    for name, text in texts.items():
        mirror.db.oql(f"define {name} as {text};", mode=c.pick(MODES))
    for _ in range(transactions):
        with mirror.db.transaction():
            for _ in range(c.number(1, 4)):
                mirror.happen(event(c, mirror.model))
        mirror.happen(event(c, mirror.model))
        for name, text in texts.items():
            check(mirror, text, name)


def check(mirror: Mirror, text: str, view: str = "v") -> None:
    expected, found = mirror.oracle.value(text), mirror.shown(view)
    assert key(found) == key(expected), story(mirror, text, found, expected)


def ask(mirror: Mirror, text: str) -> None:
    try:
        expected = mirror.strict.value(text)
    except OqlError:
        with pytest.raises(ec.EvercurrentError):
            mirror.asked(text)
        return
    found = mirror.asked(text)
    assert key(found) == key(expected), story(mirror, text, found, expected)


def story(mirror: Mirror, text: str, found: Any, expected: Any) -> str:
    return "\n".join([*mirror.story, text, f"found    {found!r}", f"expected {expected!r}"])


@pytest.mark.parametrize("seed", SEEDS)
def test_company(seed: int) -> None:
    follow(COMPANY, seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_shop(seed: int) -> None:
    follow(SHOP, seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_zoo(seed: int) -> None:
    follow(ZOO, seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_zoo_of_arrays(seed: int) -> None:
    """Collections that are kept in the rows of their owners."""
    follow(ZOO_OF_ARRAYS, 5000 + seed)


@pytest.mark.parametrize("seed", SEEDS[::2])
@pytest.mark.parametrize("schema", [COMPANY, SHOP], ids=["company", "shop"])
def test_views_together(schema: Any, seed: int) -> None:
    follow_together(schema, 8000 + seed)
