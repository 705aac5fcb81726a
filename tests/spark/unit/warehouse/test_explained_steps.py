"""`explain(changes=...)` says of each step of an update where it would run, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from evercurrent.engine.spark import engine
from evercurrent.warehouse import explain
from evercurrent.warehouse.database import Warehouse
from evercurrent.warehouse.planning.strategies import Around


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Warehouse:
    monkeypatch.setattr(engine, "private", lambda spark: None)
    db = Warehouse(cast(Any, None), tmp_path / "w", strategy="driver")
    db.execute(
        "CREATE TABLE d (id INT PRIMARY KEY, k INT); CREATE TABLE f (id INT PRIMARY KEY, d INT, x INT)"
    )
    db.execute("CREATE VIEW v AS SELECT d.k, sum(f.x) AS s FROM f JOIN d ON f.d = d.id GROUP BY d.k")
    db.execute("INSERT INTO d VALUES (1, 1), (2, 1); INSERT INTO f VALUES (1, 1, 5), (2, 2, 6)")
    return db


def steps(db: Warehouse, **changes: int) -> list[str]:
    lines = str(db.view("v").explain(changes=changes)).splitlines()
    begin = lines.index("    steps")
    return [line.strip() for line in lines[begin + 1 :] if line.startswith("      ")]


def test_a_small_batch_is_the_drivers(db: Warehouse) -> None:
    found = [s for s in steps(db, f=100) if "rows;" in s]
    assert found and all("by the driver" in s for s in found)
    assert any(s.startswith("from f to") and "about 100 rows" in s for s in found)


def test_a_large_batch_is_left_to_tasks(db: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explain, "circumstances", lambda *_: Around(tasks=True))
    found = steps(db, f=2_000_000)
    rules = [s for s in found if s.startswith("from f to")]
    assert rules and all("by tasks: 2,000,000 changed rows are more than 500,000" in s for s in rules)
    assert any(s.startswith("the groups of") and "in the driver's process" in s for s in found)


def test_without_tasks_whole_states_are_joined(db: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explain, "circumstances", lambda *_: Around(tasks=False))
    rules = [s for s in steps(db, f=2_000_000) if s.startswith("from f to")]
    assert rules and all("by jobs over whole states" in s for s in rules)
