"""States that are cold: absent, never stale, whatever happens to the warehouse meanwhile. No Spark runs here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evercurrent.engine.spark import engine
from evercurrent.errors import ConstraintError
from evercurrent.warehouse.database import Warehouse
from evercurrent.warehouse.history import change_segments
from evercurrent.warehouse.planning.estimates import SizeOf
from evercurrent.warehouse.planning.strategies import Around, Decision, Outlook, Way
from tests.spark.unit.warehouse.by_evaluator import evaluated

SCHEMA = """
CREATE TABLE c (id INT PRIMARY KEY, nation STRING);
CREATE TABLE o (id INT PRIMARY KEY, cust INT, total INT);
"""
SPEND = "SELECT c.nation, SUM(o.total) AS n, MAX(o.total) AS most FROM o JOIN c ON o.cust = c.id GROUP BY c.nation"


class Told(Outlook):
    """Takes the way that it is told, where a policy leaves a choice."""

    way: Way = "rules"

    def decide(
        self, stores: SizeOf, changed: Mapping[str, int], around: Around | None = None
    ) -> dict[str, Decision]:
        found = super().decide(stores, changed, replace(around or Around(), sql=True, driver=False))
        for name, d in found.items():
            if d.code in ("cheaper", "recompute-cheaper", "cold", "fill-due"):
                strategy = "keyed" if self.way == "rules" else "full"
                found[name] = replace(d, strategy=strategy, way=self.way)
        return found


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Warehouse]:
    monkeypatch.setattr(engine, "private", lambda spark: None)
    monkeypatch.setattr("evercurrent.warehouse.version.Outlook", Told)
    monkeypatch.setattr("evercurrent.warehouse.maintenance.recompute.compute_by_sql", evaluated)
    monkeypatch.setattr("evercurrent.warehouse.maintenance.commit.publish", lambda core: None)
    monkeypatch.setattr("evercurrent.warehouse.definitions.drafts.publish", lambda core: None)
    monkeypatch.setattr("evercurrent.warehouse.definitions.opening.publish", lambda core: None)
    made = Warehouse(None, tmp_path / "w")
    made.execute(SCHEMA)
    made.table("c").insert([(1, "DE"), (2, "FR")])
    made.table("o").insert([(1, 1, 5), (2, 2, 7), (3, 2, 1)])
    made.execute(f"CREATE VIEW spend AS {SPEND}", policy="auto")
    yield made
    Told.way = "rules"


def states(db: Warehouse) -> set[str]:
    return {n for n in db._core.snapshot.stores if not n.startswith(("table\0", "rows\0", "view\0"))}


def rows(db: Warehouse, view: str = "spend") -> list[Any]:
    return sorted(db.view(view).rows())


def insert(db: Warehouse, way: Way, *row: int) -> Any:
    Told.way = way
    change = dict(zip(("id", "cust", "total"), row, strict=True))
    return db.apply({"o": [{"_change_type": "insert", **change}]})


def test_recomputing_drops_states_and_a_fill_brings_them_back(db: Warehouse) -> None:
    kept = states(db)
    assert kept and not db._core.snapshot.cold
    run = insert(db, "sql", 4, 1, 9)
    assert run.view("spend").way == "sql" and run.view("spend").rows_changed == 2
    assert not states(db) and len(db._core.snapshot.cold) == 1
    assert rows(db) == [("DE", 14, 9), ("FR", 8, 7)]
    assert "cold" in str(db.view("spend").explain(changes={"o": 1}))
    insert(db, "sql", 5, 1, 1)
    (cold,) = db._core.snapshot.cold.values()
    assert cold["sizes"] and set(cold["sizes"]) <= kept
    insert(db, "fill", 6, 2, 2)
    assert states(db) == kept and not db._core.snapshot.cold
    run = insert(db, "rules", 7, 2, 3)
    assert run.view("spend").way == "rules" and rows(db) == [("DE", 15, 9), ("FR", 13, 7)]


def test_a_version_before_and_after_reads_as_it_was(db: Warehouse) -> None:
    before = db.version
    insert(db, "sql", 4, 1, 9)
    db.table("o").delete(2)
    log = db._core.engine.log
    assert not log.snapshot(before).cold and log.snapshot(db.version).cold
    again = Warehouse(None, db._core.engine.folder.root)
    assert rows(again) == rows(db) == [("DE", 14, 9), ("FR", 1, 1)]
    assert again._core.snapshot.cold == db._core.snapshot.cold
    changes = [s for _, s in change_segments(again._core, "spend", before)]
    assert [s.rows for s in changes] == [2, 2]


def test_who_needs_the_states_of_a_cold_view_gets_them(db: Warehouse) -> None:
    insert(db, "sql", 4, 1, 9)
    db.execute(f"CREATE VIEW same AS {SPEND}")  # incremental, the same rows
    assert not db._core.snapshot.cold and states(db)
    insert(db, "rules", 5, 1, 1)
    assert rows(db, "same") == rows(db) == [("DE", 15, 9), ("FR", 8, 7)]
    db.execute("DROP VIEW same")
    insert(db, "sql", 6, 1, 1)
    db.execute("CREATE VIEW joined AS SELECT o.id, c.nation FROM o JOIN c ON o.cust = c.id")
    assert db._core.snapshot.cold, "what the new view keeps is not what the cold one needs"
    insert(db, "sql", 7, 2, 100)
    assert (7, "FR") in rows(db, "joined") and ("FR", 108, 100) in rows(db)


def test_a_cold_view_is_dropped_and_replaced_like_any_other(db: Warehouse) -> None:
    insert(db, "sql", 4, 1, 9)
    db.execute(f"CREATE OR REPLACE VIEW spend AS {SPEND} HAVING COUNT(*) > 1", policy="auto")
    assert not db._core.snapshot.cold and rows(db) == [("DE", 14, 9), ("FR", 8, 7)]
    insert(db, "sql", 5, 1, 1)
    db.execute("DROP VIEW spend")
    assert not db._core.snapshot.cold and not states(db)


def test_readers_and_assertions_over_a_cold_view_follow(db: Warehouse) -> None:
    db.execute("CREATE VIEW rich AS SELECT nation FROM spend WHERE n > 10")
    db.execute("CREATE ASSERTION modest CHECK (NOT EXISTS (SELECT 1 FROM spend WHERE n > 100))")
    insert(db, "sql", 4, 1, 9)
    assert rows(db, "rich") == [("DE",)]
    with pytest.raises(ConstraintError, match="modest"):
        insert(db, "sql", 5, 2, 1000)
    changes = [{"_change_type": "insert", "id": i, "cust": 2, "total": t} for i, t in ((6, 1000), (7, 4))]
    run = db.apply({"o": changes}, on_violation="quarantine")
    assert run.quarantined == {"o": 1} and rows(db, "rich") == [("DE",), ("FR",)]
    assert db._core.snapshot.cold


def test_a_crash_before_the_commit_leaves_states_as_they_were(
    db: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, root = states(db), db._core.engine.folder.root

    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    steps: list[tuple[Way, int, bool]] = [("sql", 4, False), ("fill", 5, True)]
    for way, i, cold in steps:
        changes = {"o": [{"_change_type": "insert", "id": i, "cust": 1, "total": 9}]}
        Told.way = way
        with monkeypatch.context() as context:
            context.setattr(os, "link", dies)
            with pytest.raises(KeyboardInterrupt):
                db.apply(changes, batch=way)
        db = Warehouse(None, root)
        assert states(db) == (set() if cold else kept) and bool(db._core.snapshot.cold) == cold
        assert rows(db) == ([("DE", 14, 9), ("FR", 8, 7)] if cold else [("DE", 5, 5), ("FR", 8, 7)])
        db.apply(changes, batch=way)
        assert db.apply(changes, batch=way).repeated
    assert states(db) == kept and rows(db) == [("DE", 23, 9), ("FR", 8, 7)]
