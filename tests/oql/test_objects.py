"""The objects of a database beside plain ones, under every kind of event: the same values everywhere, also after undoing."""

from __future__ import annotations

import os

import pytest

from tests.laws.chooser import Seeded
from tests.oql.events import event
from tests.oql.mirror import Mirror
from tests.oql.oracle.values import key
from tests.oql.schemas import COMPANY, SHOP, ZOO, ZOO_OF_ARRAYS

SEEDS = range(int(os.environ.get("EVERCURRENT_SEEDS", "5")))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "schema", [COMPANY, SHOP, ZOO, ZOO_OF_ARRAYS], ids=["company", "shop", "zoo", "arrays"]
)
def test_objects_follow(schema, seed: int) -> None:
    c = Seeded(seed)
    mirror = Mirror(schema)
    for _ in range(25):
        if c.chance(50):
            mirror.happen(event(c, mirror.model))
        else:
            with mirror.db.transaction():
                for _ in range(c.number(1, 5)):
                    mirror.happen(event(c, mirror.model))
        wrong = mirror.state()
        assert not wrong, "\n".join([*mirror.story, str(wrong)])


def snapshot(mirror: Mirror) -> dict[str, object]:
    return {
        f"{o!r}.{p}": key(mirror.outside(h[p]))
        for o, h in mirror.handles.items()
        for p in mirror.model.properties(o.of.name)
    }


class Refused(Exception):
    pass


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("schema", [COMPANY, ZOO], ids=["company", "zoo"])
def test_undoing_leaves_no_trace(schema, seed: int) -> None:
    c = Seeded(1000 + seed)
    mirror = Mirror(schema)
    for _ in range(20):
        mirror.happen(event(c, mirror.model))
    before = snapshot(mirror)
    objects = dict(mirror.handles)
    with pytest.raises(Refused), mirror.db.transaction():
        for _ in range(8):
            mirror.happen(event(c, mirror.model))
        raise Refused
    mirror.handles = objects
    assert snapshot(mirror) == before, "\n".join(mirror.story)
