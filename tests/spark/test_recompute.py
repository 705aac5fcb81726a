"""Views that Spark's own SQL recomputes, among views that move: random batches, policies mixed, any way taken."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from evercurrent.calculus.nodes import Query
from evercurrent.data.zset import ZSet
from evercurrent.design.evaluation import reference
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.warehouse.database import Warehouse
from evercurrent.warehouse.history import change_segments
from evercurrent.warehouse.maintenance.catch_up import relation_rows
from evercurrent.warehouse.planning.estimates import SizeOf
from evercurrent.warehouse.planning.strategies import Around, Decision, Outlook

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TABLES = """
CREATE TABLE c (id INT PRIMARY KEY, nation STRING);
CREATE TABLE o (id INT PRIMARY KEY, cust INT, total DECIMAL(8,2), day DATE);
CREATE TABLE e (a INT, b INT);
"""
VIEWS = {
    "wide": "SELECT o.id, c.nation, o.total FROM o JOIN c ON o.cust = c.id",
    "spend": "SELECT nation, SUM(total) AS s, AVG(total) AS m, COUNT(*) AS n FROM wide GROUP BY nation",
    "best": "SELECT cust, total FROM o ORDER BY total DESC LIMIT 3",  # ties: settled by the columns
    "idle": "SELECT c.id, t.n FROM c LEFT JOIN (SELECT cust, COUNT(*) AS n FROM o GROUP BY cust) t ON t.cust = c.id",
    "ranked": "SELECT id, RANK() OVER (PARTITION BY cust ORDER BY total) AS r FROM o",
    "bag": "SELECT a, day FROM e LEFT JOIN o ON e.b = o.id",
}


class Chance(Outlook):
    """Decides at random where a policy leaves a choice; only rules are not there where states are cold."""

    dice = random.Random(0)

    def decide(
        self, stores: SizeOf, changed: Mapping[str, int], around: Around | None = None
    ) -> dict[str, Decision]:
        around = replace(around or Around(), driver=False)
        found = super().decide(stores, changed, around)
        for name, d in found.items():
            if d.code in ("cheaper", "recompute-cheaper", "cold", "fill-due"):
                there = [w for w in d.ways if w != "rules" or d.relation not in around.cold]
                way = self.dice.choices(there, [3 if w == "sql" else 1 for w in there])[0]
                found[name] = replace(d, strategy="keyed" if way == "rules" else "full", way=way)
        return found


def batch(dice: random.Random, held: dict[str, dict[int, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Changes of all tables; `held` are the rows that are there, by key."""
    result: dict[str, list[dict[str, Any]]] = {"c": [], "o": [], "e": []}
    makers = {
        "c": lambda i: {"id": i, "nation": dice.choice(["DE", "FR", None])},
        "o": lambda i: {
            "id": i,
            "cust": dice.choice([None, *range(5)]),
            "total": dice.choice(["1.50", "2.25", None]),
            "day": dice.choice(["2024-01-01", "2024-02-29", None]),
        },
    }
    for name, make in makers.items():
        for i in dice.sample(range(9), 4):
            if held[name].pop(i, None) is not None:
                result[name].append({"_change_type": "delete", "id": i})
            if dice.random() < 0.7:
                held[name][i] = row = make(i)
                result[name].append({"_change_type": "insert", **row})
    result["e"] = [
        {"_change_type": "insert", "a": dice.randrange(2), "b": dice.randrange(9)} for _ in range(2)
    ]
    return result


def test_any_way_gives_what_sparks_sql_says(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evercurrent.warehouse.version.Outlook", Chance)
    dice = Chance.dice = random.Random(5)
    db = Warehouse(spark, tmp_path / "w")
    db.execute(TABLES)
    held: dict[str, dict[int, Any]] = {"c": {}, "o": {}}
    db.apply(batch(dice, held))
    for name, query in VIEWS.items():
        policy = cast(
            Any, {"wide": "auto", "ranked": "full"}.get(name) or dice.choice(["auto", "auto", "full"])
        )
        db.execute(f"CREATE VIEW {name} AS {query}", policy=policy)
    db.execute("CREATE VIEW rich AS SELECT nation FROM spend WHERE n > 1")
    used: dict[str, set[str]] = {}
    for i in range(3):
        core, since = db._core, db.version
        before = {v.name: contents(db, v.name) for v in core.catalog.views.values()}
        run = db.apply(batch(dice, held), batch=str(i))
        assert db.apply({}, batch=str(i)).repeated
        for v in run.views:
            used.setdefault(v.way, set()).add(v.view)
        report = db.verify() if i else True
        assert report, report
        for view in core.catalog.views.values():
            after = contents(db, view.name)
            assert after == wanted(db, view.name), view.name
            types = [f.type for f in view.fields]
            segments = tuple(segment for _, segment in change_segments(db._core, view.name, since))
            told = ZSet(core.engine.rows(Store((), segments), types))
            assert told == after - before[view.name], view.name
        if i == 1:
            db = Warehouse(spark, tmp_path / "w")
    assert len(used["sql"]) >= 4 and used["rules"] and used["fill"]


def contents(db: Warehouse, name: str) -> ZSet:
    store, types = relation_rows(db._core, name)
    return ZSet(db._core.engine.rows(store, types))


def wanted(db: Warehouse, name: str) -> ZSet:
    """The rows of a view by the reference evaluator."""
    query = cast(Query, db._core.view(name).query)
    return reference(query, db._core.catalog, lambda table: contents(db, table))
