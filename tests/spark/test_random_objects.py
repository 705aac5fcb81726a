"""Random queries over random graphs under random streams on Spark, in every mode, against the oracle.

EVERCURRENT_SEEDS=n tries more. Several views share a warehouse and what they keep; it is opened again at the end.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.warehouse.database import Warehouse
from tests.laws.chooser import Seeded
from tests.oql.events import event
from tests.oql.mirror import Mirror
from tests.oql.oracle.values import key
from tests.oql.queries import query
from tests.oql.schemas import COMPANY, SHOP, ZOO, ZOO_OF_ARRAYS

pytestmark = pytest.mark.spark

SCHEMAS = {"company": COMPANY, "shop": SHOP, "zoo": ZOO, "arrays": ZOO_OF_ARRAYS}
SEEDS = range(int(os.environ.get("EVERCURRENT_SEEDS", "3")))
MODES: tuple[Any, ...] = ("strict", "lazy", "hybrid")
VIEWS, TRANSACTIONS = 12, 4


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("schema", SCHEMAS)
def test_random(spark: Any, tmp_path: Path, schema: str, seed: int) -> None:
    follow(spark, tmp_path, schema, 9000 + seed)


def follow(spark: Any, path: Path, schema: str, seed: int, strategy: Any = "auto") -> None:
    c = Seeded(seed)
    db = Warehouse(spark, path / "w", strategy=strategy)
    mirror = Mirror(SCHEMAS[schema], db)
    with db.transaction():
        for _ in range(c.number(10, 20)):
            mirror.happen(event(c, mirror.model))
    texts = {f"v{i}": query(c, mirror.model, i % 3) for i in range(VIEWS)}
    for i, mode in enumerate(MODES):
        names = list(texts)[i :: len(MODES)]
        db.oql(" ".join(f"define {name} as {texts[name]};" for name in names), mode=mode)
    check(mirror, texts, db)
    for _ in range(TRANSACTIONS):
        with db.transaction():
            for _ in range(c.number(1, 8)):
                mirror.happen(event(c, mirror.model))
        if c.chance(70):  # a lazy view may wait
            check(mirror, texts, db)
    assert not mirror.state()
    check(mirror, texts, db)
    check(mirror, texts, ec.connect(spark=spark, path=path / "w"))


def check(mirror: Mirror, texts: dict[str, str], db: Any) -> None:
    for name, text in texts.items():
        found, expected = mirror.outside(db.view(name).value()), mirror.oracle.value(text)
        assert key(found) == key(expected), "\n".join(
            [*mirror.story, text, f"found    {found!r}", f"expected {expected!r}"]
        )
