"""An existence test and a scalar aggregate over the same table share a state on Spark, and each reads it in its own way."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from evercurrent.engine.spark import engine
from evercurrent.warehouse.database import Warehouse

VIEWS = {
    "some": "SELECT id FROM c WHERE EXISTS (SELECT 1 FROM d)",
    "many": "SELECT COUNT(*) AS n FROM d",
    "each": "SELECT c.id, (SELECT COUNT(*) FROM d) AS n FROM c",
}


@pytest.mark.parametrize("order", list(permutations(VIEWS)))
def test_each_reads_the_shared_count_in_its_own_way(
    order: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "private", lambda spark: None)
    monkeypatch.setattr("evercurrent.warehouse.maintenance.commit.publish", lambda core: None)
    monkeypatch.setattr("evercurrent.warehouse.definitions.drafts.publish", lambda core: None)
    db = Warehouse(None, tmp_path / "w")
    db.execute("CREATE TABLE c (id INT PRIMARY KEY); CREATE TABLE d (id INT PRIMARY KEY)")
    db.table("c").insert([(1,)])
    for name in order:
        db.execute(f"CREATE VIEW {name} AS {VIEWS[name]}")

    def found() -> dict[str, list[object]]:
        return {name: sorted(db.view(name).rows()) for name in VIEWS}

    assert found() == {"some": [], "many": [(0,)], "each": [(1, 0)]}
    db.table("d").insert([(1,), (2,)])
    assert found() == {"some": [(1,)], "many": [(2,)], "each": [(1, 2)]}
    db.table("c").insert([(2,)])
    db.table("d").delete([1, 2])
    assert found() == {"some": [], "many": [(0,)], "each": [(1, 0), (2, 0)]}
    db.execute(f"DROP VIEW {order[0]}")
    db.execute(f"CREATE VIEW {order[0]} AS {VIEWS[order[0]]}")
    db.table("d").insert([(3,)])
    assert found() == {"some": [(1,), (2,)], "many": [(1,)], "each": [(1, 1), (2, 1)]}
