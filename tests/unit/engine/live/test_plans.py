"""The live engine against evaluation of plans, on random plans, data and changes.

Laws: after every transaction the relation equals the plan on the present data, and the change that is told is the
difference; a transaction that is undone leaves no trace; a program installed over data equals one that has followed it;
the fast triggers do what transactions do.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.algebra.evaluate import evaluate
from evercurrent.algebra.nodes import Plan
from evercurrent.data.zset import Row, ZSet
from evercurrent.delta.compile import compile_views
from evercurrent.engine.live.engine import LiveEngine
from tests.unit.delta.test_derive import CATALOG, Data, Plans


def contents(data: Data) -> Callable[[str], Iterable[tuple[Row, int]]]:
    return lambda name: list(data.tables[name].items())


def rows(engine: LiveEngine, relation: str) -> ZSet:
    return ZSet(engine.rows(relation))


def meaning(plan: Plan, data: Data) -> ZSet:
    return evaluate(plan, lambda n: data.tables[n].items())


def content(engine: LiveEngine) -> dict[str, Any]:
    """Everything that the engine keeps, to be compared."""
    found: dict[str, Any] = {}
    for name, storage in engine.core.storages.items():
        entries = {}
        for columns, payload in storage.entries():
            members = payload if isinstance(payload, list) else [payload]
            entries[columns] = [dict(m.counts) if hasattr(m, "counts") else m for m in members]
        found[name] = entries
        for i, path in enumerate(storage.paths[1:]):
            found[f"{name}/{i}"] = {
                key: set(held) if isinstance(held, dict) else {held[0]} for key, held in path.items()
            }
    for name, groups in engine.core.groups.items():
        found[name] = {key: [row for _, row in group] for key, group in groups.groups.items()}
    return found


@pytest.mark.parametrize("assume", [True, False])
@pytest.mark.parametrize("seed", range(80))
def test_engine_equals_plan(seed: int, assume: bool) -> None:
    plan = Plans(seed).plan(1 + seed % 4)
    program = compile_views({"v": plan}, CATALOG, assume=assume)
    relation = program.views["v"]
    data = Data(seed)
    engine = LiveEngine()
    engine.install(program, contents(data))
    before = meaning(plan, data)
    assert rows(engine, relation) == before
    for i in range(8):
        watch = {relation} if i % 4 else set()
        deltas = data.step()
        changes = engine.apply(deltas, watch)
        after = meaning(plan, data)
        if watch:
            assert changes[relation] == after - before, engine.source()
        assert rows(engine, relation) == after, engine.source()
        kept = content(engine)
        engine.undo()
        assert rows(engine, relation) == before
        engine.apply(deltas, watch)
        assert content(engine) == kept
        before = after


@pytest.mark.parametrize("seed", range(200, 240))
def test_installing_late_equals_following(seed: int) -> None:
    first, second = Plans(seed).plan(1 + seed % 4), Plans(seed + 1).plan(1 + seed % 3)
    data = Data(seed)
    engine = LiveEngine()
    one = compile_views({"v": first}, CATALOG)
    both = compile_views({"v": first, "w": second}, CATALOG)
    engine.install(one, contents(data))
    for _ in range(4):
        engine.apply(data.step())
    engine.install(both, contents(data))
    for _ in range(4):
        assert rows(engine, both.views["v"]) == meaning(first, data)
        assert rows(engine, both.views["w"]) == meaning(second, data)
        engine.apply(data.step())
    other = compile_views({"w": second}, CATALOG)
    engine.install(other, contents(data))
    assert set(engine.core.storages) == {s.name for s in other.states}
    engine.apply(data.step())
    assert rows(engine, other.views["w"]) == meaning(second, data)


@pytest.mark.parametrize("seed", range(300, 340))
def test_triggers_equal_transactions(seed: int) -> None:
    plan = Plans(seed).plan(1 + seed % 4)
    program = compile_views({"v": plan}, CATALOG)
    data = Data(seed)
    engine, fast = LiveEngine(), LiveEngine()
    engine.install(program, contents(data))
    fast.install(program, contents(data))
    inputs = [r.name for r in program.relations if r.name in data.tables]
    for _ in range(8):
        deltas = data.step()
        engine.apply(deltas)
        for sign, names in ((-1, reversed(inputs)), (1, iter(inputs))):
            for name in names:
                for row, weight in deltas.get(name, ZSet()).items():
                    if (weight > 0) == (sign > 0):
                        for _ in range(abs(weight)):
                            fast.trigger(name, sign)(row)
        fast.flush()
        assert content(fast) == content(engine), fast.source()


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_padding_is_taken_away_no_earlier_than_it_was_given(order: tuple[int, ...]) -> None:
    """Law L11: sums of an entry must not be forgotten because its weight passes through zero on the way."""
    views = (
        "SELECT b.k, COUNT(*) AS n FROM t a LEFT JOIN t b ON a.id = b.id GROUP BY b.k",
        "SELECT b.k, COUNT(*) AS n, SUM(b.p) AS s FROM t a LEFT JOIN t b ON a.id = b.id GROUP BY b.k",
        "SELECT b.k, MAX(b.p) AS s FROM t a LEFT JOIN t b ON a.id = b.id GROUP BY b.k",
    )
    db = ec.connect()
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, k INT, p INT)")
    for i in order:
        db.execute(f"CREATE VIEW v{i} AS {views[i]}")
    for change in ("INSERT INTO t VALUES (1, NULL, 6)", "UPDATE t SET p = 7", "DELETE FROM t"):
        db.execute(change)
        assert db.verify(), change


def test_a_count_that_becomes_a_scalar_aggregate_and_back() -> None:
    """One state serves both: the entry of the aggregate must come with it, and go with it if it counts nothing."""
    db = ec.connect()
    db.execute("CREATE TABLE a (x INT); CREATE TABLE b (y INT); CREATE VIEW p AS SELECT x FROM a, b")
    for change in ("INSERT INTO a VALUES (1)", "INSERT INTO b VALUES (1)", "DELETE FROM b"):
        db.execute("CREATE VIEW n AS SELECT COUNT(*) AS n FROM b")
        assert db.verify(), change
        db.execute(change)
        assert db.verify(), change
        db.execute("DROP VIEW n")
        assert db.verify(), change
