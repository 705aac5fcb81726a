"""Whatever is decided for each batch, views are what their queries return, and their feeds add up. No Spark runs here."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from evercurrent.calculus.nodes import Query
from evercurrent.data.zset import ZSet
from evercurrent.design.evaluation import reference
from evercurrent.engine.spark import engine
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.warehouse.database import Warehouse
from evercurrent.warehouse.maintenance.catch_up import view_rows
from evercurrent.warehouse.planning.estimates import SizeOf
from evercurrent.warehouse.planning.strategies import Around, Decision, Outlook, Way
from evercurrent.warehouse.program_parts import select_stored_part, stores_of
from tests.spark.unit.warehouse.by_evaluator import evaluated

SCHEMA = """
CREATE TABLE c (id INT PRIMARY KEY, nation STRING);
CREATE TABLE o (id INT PRIMARY KEY, cust INT, total INT);
CREATE TABLE e (a INT, b INT);
CREATE ASSERTION cheap CHECK (NOT EXISTS (SELECT 1 FROM spend WHERE n > 1000));
"""
VIEWS = {
    "wide": "SELECT o.id, c.nation, o.total FROM o JOIN c ON o.cust = c.id",
    "spend": "SELECT nation, SUM(total) AS n, MAX(total) AS most, COUNT(DISTINCT total) AS k FROM wide GROUP BY nation",
    "best": "SELECT nation, n FROM spend ORDER BY n DESC, nation LIMIT 2",
    "ranked": "SELECT id, RANK() OVER (PARTITION BY cust ORDER BY total DESC) AS r FROM o",
    "idle": "SELECT id FROM c WHERE NOT EXISTS (SELECT 1 FROM o WHERE o.cust = c.id)",
    "padded": "SELECT c.id, t.n FROM c LEFT JOIN (SELECT cust, SUM(total) AS n FROM o GROUP BY cust) t ON t.cust = c.id",
    "kinds": "SELECT nation FROM c UNION SELECT CAST(total AS STRING) FROM o",
    "reach": """WITH RECURSIVE r (a, b) AS (SELECT a, b FROM e UNION SELECT r.a, e.b FROM r JOIN e ON r.b = e.a)
        SELECT a, b FROM r""",
    "far": "SELECT a, COUNT(*) AS n FROM reach GROUP BY a",
    "all_spend": "SELECT nation, SUM(total) AS n, MAX(total) AS most, COUNT(DISTINCT total) AS k FROM wide GROUP BY nation",
    "overall": "SELECT COUNT(*) AS n, SUM(n) AS s FROM spend",
    "odd": "SELECT id, transform(array(id, cust), x -> (SELECT COUNT(*) FROM e WHERE e.a = x)) AS ns FROM o",
}


class Chance(Outlook):
    """Decides at random where a policy leaves a choice; only rules are not there where states are cold."""

    dice = random.Random(0)

    def decide(
        self, stores: SizeOf, changed: Mapping[str, int], around: Around | None = None
    ) -> dict[str, Decision]:
        around = replace(around or Around(), sql=True, driver=False)
        found = super().decide(stores, changed, around)
        chosen: dict[str | None, Way] = {}
        for name, d in found.items():
            if d.code in ("cheaper", "recompute-cheaper", "cold", "fill-due"):
                there = [w for w in d.ways if w != "rules" or d.relation not in around.cold]
                way = chosen.setdefault(d.relation, self.dice.choice(there))
                found[name] = replace(d, strategy="keyed" if way == "rules" else "full", way=way)
        return found


def contents(db: Warehouse, name: str) -> ZSet:
    core = db._core
    return ZSet(core.engine.rows(core.table_segments(name), core.table_types(name)))


def check(db: Warehouse, before: dict[str, ZSet], since: int) -> None:
    core = db._core
    for view in core.catalog.views.values():
        types = [f.type for f in view.fields]
        rows = ZSet(core.engine.rows(view_rows(core, view.name), types))
        wanted = reference(cast(Query, view.query), core.catalog, lambda name: contents(db, name))
        assert rows == wanted, view.name
        change = ZSet()
        for version in range(since + 1, db.version + 1):
            segment = core.engine.log.entry(version).changes.get(view.name)
            if segment is not None:
                change = change + ZSet(core.engine.rows(Store((segment,)), types))
        assert change == rows - before.get(view.name, ZSet()) or view.name not in before, view.name
        before[view.name] = rows
    # No store is left behind that no one keeps.
    known = stores_of(select_stored_part(core.present.program, core.catalog, core.snapshot.cold))
    stray = [
        n
        for n in core.snapshot.stores
        if not n.startswith(("table\0", "rows\0", "view\0")) and n not in known
    ]
    rows_only = {r.state for r in core.present.program.relations if getattr(r, "state", None)}
    assert [n for n in stray if n not in rows_only] == []


def batch(dice: random.Random, db: Warehouse) -> dict[str, list[dict[str, Any]]]:
    result: dict[str, list[dict[str, Any]]] = {}
    makers = {
        "c": lambda i: {"id": i, "nation": dice.choice("abc")},
        "o": lambda i: {"id": i, "cust": dice.choice([None, *range(6)]), "total": dice.randrange(5)},
    }
    for name, make in makers.items():
        if dice.random() < 0.7:
            there = {row[0] for row, _ in contents(db, name).items()}
            for i in dice.sample(range(8), dice.randrange(1, 4)):
                feed = result.setdefault(name, [])
                if i in there:
                    feed.append({"_change_type": "delete", "id": i})
                if i not in there or dice.random() < 0.5:
                    feed.append({"_change_type": "insert", **make(i)})
    edges = Counter(row for row, w in contents(db, "e").items() for _ in range(w))
    if dice.random() < 0.5:
        for row in [r for r in edges if dice.random() < 0.3]:
            result.setdefault("e", []).append({"_change_type": "delete", "a": row[0], "b": row[1]})
        new = {"_change_type": "insert", "a": dice.randrange(4), "b": dice.randrange(4)}
        result.setdefault("e", []).append(new)
    return result


@pytest.mark.parametrize("seed", range(4))
def test_any_choice_gives_the_same_views(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "private", lambda spark: None)
    monkeypatch.setattr("evercurrent.warehouse.version.Outlook", Chance)
    monkeypatch.setattr("evercurrent.warehouse.maintenance.recompute.compute_by_sql", evaluated)
    monkeypatch.setattr("evercurrent.warehouse.maintenance.commit.publish", lambda core: None)
    monkeypatch.setattr("evercurrent.warehouse.definitions.opening.publish", lambda core: None)
    dice = Chance.dice = random.Random(seed)
    db = Warehouse(None, tmp_path / "w")
    tables, assertion = SCHEMA.strip().rsplit("CREATE ASSERTION", 1)
    db.execute(tables)
    for name, query in VIEWS.items():
        policy = "auto" if name == "odd" else dice.choice(["auto", "auto", "incremental", "full"])
        db.execute(f"CREATE VIEW {name} AS {query}", policy=cast(Any, policy))
    db.execute("CREATE ASSERTION" + assertion)
    before: dict[str, ZSet] = {}
    check(db, before, db.version)
    used, colds = set(), set()
    for _ in range(6):
        changes, since = batch(dice, db), db.version
        if changes:
            used |= {v.way for v in db.apply(changes).views}
            check(db, before, since)
            colds |= db._core.snapshot.cold.keys()
    assert {"rules", "sql", "fill"} <= used and colds
    name = dice.choice(["spend", "reach", "padded"])
    db.execute(f"CREATE OR REPLACE VIEW {name} AS {VIEWS[name]}", policy="incremental")
    cold = db._core.snapshot.cold
    db = Warehouse(None, tmp_path / "w")
    assert db._core.snapshot.cold == cold and db._core.present.program.views[name] not in cold
    before = {}
    check(db, before, db.version)
    for _ in range(2):
        changes, since = batch(dice, db), db.version
        if changes:
            db.apply(changes)
            check(db, before, since)
