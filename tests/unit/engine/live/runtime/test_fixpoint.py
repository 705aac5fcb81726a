"""Fixpoints under insertions and deletions, against reachability computed from scratch."""

from __future__ import annotations

import random

import pytest

from evercurrent.data.types import BIGINT, INT
from evercurrent.data.zset import ZSet
from evercurrent.delta.program import Fixpoint, Index, Input, Lookup, Loop, Program, Rule, State, Where
from evercurrent.engine.live.engine import LiveEngine
from evercurrent.engine.live.runtime import fixpoint
from evercurrent.errors import EvaluationError
from evercurrent.term.build import call, lit
from evercurrent.term.nodes import Column

Edge = tuple[int, int]


def column(name: str, nullable: bool = False) -> Column:
    return Column(name, INT, nullable)


A, B, X, Y = column("a"), column("b"), column("x"), column("y")
W, V = Column("w", BIGINT, False), Column("v", BIGINT, False)


def closure(distinct: bool = True, bounded: bool = False, limit: int | None = None) -> Program:
    """reach(a, b) = edge(a, b) + reach(a, x) * edge(x, b); bounded: only towards larger nodes."""
    up = (Where(call("lt", A, B)),) if bounded else ()
    weight = call("ring_mul", W, V)
    edges = State("edges", (A, B), indexes=(Index(("a",)),))
    reached = State("reached", (A, B), indexes=(Index(("b",)),))
    from_edge = Rule("edge", (A, B), W, up, "body", (A, B), W)
    met = Lookup("reached", (("b", A),), (("a", X), ("#", V)))
    joined = Rule("edge", (A, B), W, (*up, met), "body", (X, B), weight)
    kept = Rule("edge", (A, B), W, up, "edges", (A, B), W)
    onward = Lookup("edges", (("a", B),), (("b", Y), ("#", V)))
    inner = Rule("inner", (A, B), W, (onward,), "body", (A, Y), weight)
    grown = Rule("inner", (A, B), W, (), "reached", (A, B), W)
    loop = Loop("reach", (A, B), "body", "inner", distinct)
    return Program(
        (Input("edge", (A, B)), Fixpoint("fix", (loop,), limit)),
        (edges, reached),
        {"edge": (from_edge, joined, kept), "inner": (inner, grown)},
        {"reach": "reach"},
    )


def reachable(edges: set[Edge]) -> ZSet:
    found = set(edges)
    while more := {(a, c) for a, b in found for x, c in edges if x == b} - found:
        found |= more
    return ZSet.of(found)


def paths(edges: set[Edge]) -> ZSet:
    """How many ways lead from node to node (no cycles)."""
    total, last = ZSet.of(edges), ZSet.of(edges)
    while last:
        last = ZSet(((a, c), w) for (a, b), w in last.items() for x, c in edges if x == b)
        total = total + last
    return total


def installed(program: Program) -> LiveEngine:
    engine = LiveEngine()
    engine.install(program, lambda name: ())
    return engine


def change(edges: set[Edge], r: random.Random, nodes: int, size: int) -> ZSet:
    delta = ZSet()
    for _ in range(size):
        edge = (r.randrange(nodes), r.randrange(nodes))
        if edge in edges:
            edges.discard(edge)
            delta.add(edge, -1)
        else:
            edges.add(edge)
            delta.add(edge, 1)
    return delta


@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_reachability_follows_changes(seed: int, anew: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if anew:
        monkeypatch.setattr(fixpoint, "SMALL", 2)  # so that starting anew is chosen here too
    r = random.Random(seed)
    engine, edges = installed(closure()), set[Edge]()
    before = ZSet()
    for _ in range(30):
        delta = change(edges, r, 3 + seed, 1 + seed % 3)
        told = engine.apply({"edge": delta}, {"reach"})["reach"]
        after = reachable(edges)
        assert told == after - before
        assert ZSet(engine.rows("reach")) == after
        engine.undo()
        assert ZSet(engine.rows("reach")) == before
        assert engine.apply({"edge": delta}, {"reach"})["reach"] == told
        before = after


@pytest.mark.parametrize("seed", range(6))
def test_bag_counts_paths(seed: int) -> None:
    r = random.Random(seed)
    engine, edges = installed(closure(distinct=False, bounded=True)), set[Edge]()
    for _ in range(20):
        delta = change(edges, r, 7, 2)
        engine.apply({"edge": delta})
        up = {(a, b) for a, b in edges if a < b}
        assert ZSet(engine.rows("reach")) == paths(up)


def test_bag_on_a_cycle_is_stopped_and_undone() -> None:
    engine = installed(closure(distinct=False))
    engine.apply({"edge": [((1, 2), 1)]})
    with pytest.raises(EvaluationError, match="rounds"):
        engine.apply({"edge": [((2, 1), 1)]}, {"reach"})
    assert ZSet(engine.rows("reach")) == ZSet.of([(1, 2)])
    engine.apply({"edge": [((2, 3), 1)]})
    assert ZSet(engine.rows("reach")) == ZSet.of([(1, 2), (2, 3), (1, 3)])


def test_the_limit_counts_rounds() -> None:
    chain = [((i, i + 1), 1) for i in range(20)]
    engine = installed(closure(limit=5))
    with pytest.raises(EvaluationError, match="5 rounds"):
        engine.apply({"edge": chain})
    assert list(engine.rows("reach")) == []
    installed(closure(limit=25)).apply({"edge": chain})


def test_what_is_derived_outside_is_not_taken_out() -> None:
    # 1 -> 2 -> 1, and 1 -> 2 is also an edge of its own: it stays when the way round goes.
    engine = installed(closure())
    engine.apply({"edge": [((1, 2), 1), ((2, 1), 1)]})
    told = engine.apply({"edge": [((2, 1), -1)]}, {"reach"})["reach"]
    assert told == ZSet([((1, 1), -1), ((2, 2), -1), ((2, 1), -1)])


def test_mutual_recursion() -> None:
    """even(n) from odd(n - 1), odd(n) from even(n - 1), along the steps that are there."""
    n, m = column("n"), column("m")
    start, step = Input("start", (n,)), Input("step", (n, m))
    states = (
        State("steps", (n, m), indexes=(Index(("n",)),)),
        State("evens", (n,), indexes=(Index(("n",)),)),
        State("odds", (n,), indexes=(Index(("n",)),)),
    )
    weight = call("ring_mul", W, V)
    to_next = Lookup("steps", (("n", n),), (("m", m), ("#", V)))

    def crossing(state: str, body: str) -> Rule:
        return Rule("step", (n, m), W, (Lookup(state, (("n", n),), (("#", V),)),), body, (m,), weight)

    program = Program(
        (
            start,
            step,
            Fixpoint(
                "both",
                (
                    Loop("even", (n,), "even body", "even inner", True),
                    Loop("odd", (n,), "odd body", "odd inner", True),
                ),
            ),
        ),
        states,
        {
            "start": (Rule("start", (n,), W, (), "even body", (n,), W),),
            "step": (
                crossing("evens", "odd body"),
                crossing("odds", "even body"),
                Rule("step", (n, m), W, (), "steps", (n, m), W),
            ),
            "even inner": (
                Rule("even inner", (n,), W, (to_next,), "odd body", (m,), weight),
                Rule("even inner", (n,), W, (), "evens", (n,), W),
            ),
            "odd inner": (
                Rule("odd inner", (n,), W, (to_next,), "even body", (m,), weight),
                Rule("odd inner", (n,), W, (), "odds", (n,), W),
            ),
        },
    )
    engine = installed(program)
    engine.apply({"step": [((i, i + 1), 1) for i in range(5)]})
    told = engine.apply({"start": [((0,), 1)]}, {"even", "odd"})
    assert told["even"] == ZSet.of([(0,), (2,), (4,)])
    assert told["odd"] == ZSet.of([(1,), (3,), (5,)])
    told = engine.apply({"step": [((5, 0), 1)]}, {"even", "odd"})
    assert told["odd"] == ZSet() and told["even"] == ZSet()
    told = engine.apply({"step": [((4, 0), 1)]}, {"even", "odd"})
    assert told["even"] == ZSet.of([(1,), (3,), (5,)])
    told = engine.apply({"step": [((4, 0), -1), ((1, 2), -1)]}, {"even", "odd"})
    assert ZSet(engine.rows("even")) == ZSet.of([(0,)])
    assert ZSet(engine.rows("odd")) == ZSet.of([(1,)])


def test_a_rule_behind_the_fixpoint_moves_once() -> None:
    program = closure()
    count = State("count", (A,))
    behind = Rule("reach", (A, B), W, (Where(call("ne", A, lit(9, INT))),), "count", (A,), W)
    program = Program(
        program.relations, (*program.states, count), {**program.triggers, "reach": (behind,)}, program.views
    )
    engine = installed(program)
    engine.apply({"edge": [((1, 2), 1), ((2, 3), 1), ((9, 1), 1)]})
    assert dict(engine.core.storages["count"].entries()) == {(1,): 2, (2,): 1}
    engine.trigger("edge", -1)((2, 3))
    assert dict(engine.core.storages["count"].entries()) == {(1,): 1}
