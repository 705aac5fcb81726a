"""Laws of the compiler: every stage means the same, and the derived program does what the naive one does.

L6  evaluate(normalize(q)) = evaluate(q)
L7  evaluate(lower(q)) = evaluate(q), evaluate(optimise(p)) = evaluate(p)
L8  the program's deltas are the naive ones: evaluate before, evaluate after, subtract
"""

from __future__ import annotations

from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from evercurrent.algebra.evaluate import evaluate as evaluate_plan
from evercurrent.algebra.lower import lower
from evercurrent.algebra.optimise import optimise
from evercurrent.calculus.evaluate import evaluate
from evercurrent.calculus.nodes import Query
from evercurrent.calculus.normalize import normalize
from evercurrent.data.zset import ZSet
from evercurrent.delta.naive import Naive
from tests.laws.chooser import Drawn
from tests.laws.world import VIEW, World, perform


@given(st.data())
def test_every_stage_means_the_same(data: Any) -> None:
    world = World(Drawn(data.draw))
    session = world.database()._session
    query = cast(Query, session.view(VIEW).query)

    def relation(name: str) -> Any:
        view = session.catalog.view(name)
        return (session.table_rows(name) if view is None else session.view_rows(name)).items()

    expected = evaluate(query, relation)
    normal = normalize(query)
    assert evaluate(normal, relation) == expected, f"normalize\n{world.story()}"
    assert normalize(normal) == normal, f"normalize is idempotent\n{world.story()}"
    plan = lower(normal, session.catalog)
    assert evaluate_plan(plan, relation) == expected, f"lower\n{world.story()}"
    assert evaluate_plan(lower(query, session.catalog), relation) == expected, (
        f"lower, not normal\n{world.story()}"
    )
    better = optimise(plan, session.catalog)
    assert evaluate_plan(better, relation) == expected, f"optimise\n{world.story()}"


@given(st.data())
def test_derived_program_is_the_naive_one(data: Any) -> None:
    world = World(Drawn(data.draw))
    db = world.database()
    session = db._session

    def present() -> dict[str, ZSet]:
        views = {name: ZSet(session.view_rows(name).items()) for name, _ in world.views}
        return views | {t.name: ZSet(session.table_rows(t.name).items()) for t in world.tables}

    naive = Naive(cast(Query, session.view(VIEW).query), present())
    for _ in range(3):
        operations = world.next()
        before = ZSet(session.view_rows(VIEW).items())
        perform(db, operations)
        after = present()
        change = {name: after[name] - naive.relations.get(name, ZSet()) for name in after}
        delta = naive.apply({name: z for name, z in change.items() if name in naive.relations})
        now = ZSet(session.view_rows(VIEW).items())
        assert now - before == delta, f"{world.story()}\n{operations}"
        assert now == naive.rows, world.story()
