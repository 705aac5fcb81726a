"""Recursion: cycles, retraction, mutual recursion, limits, the work budget."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import pytest

import evercurrent as ec


class Edge(NamedTuple):
    src: int
    dst: int


class Node(NamedTuple):
    id: int
    red: bool


def closure(edges: Any) -> Any:
    return ec.recursive(
        lambda reach: edges.union_all(
            reach.join(edges, lambda r, e: r.dst == e.src).select(lambda r, e: Edge(r.src, e.dst))
        )
    )


def reachable(edges: list[Edge]) -> set[Edge]:
    found = set(edges)
    while True:
        more = {Edge(a.src, b.dst) for a in found for b in edges if a.dst == b.src} - found
        if not more:
            return found
        found |= more


def test_closure_of_cycles_under_random_changes() -> None:
    db = ec.connect()
    edges = db.table_of(Edge)
    view = db.view("reach", closure(edges))
    chosen = random.Random(3)
    present: list[Edge] = []
    for step in range(60):
        if present and chosen.random() < 0.45:
            gone = chosen.choice(present)
            present.remove(gone)
            edges.delete(gone)
        else:
            new = Edge(chosen.randrange(7), chosen.randrange(7))
            present.append(new)
            edges.insert(new)
        assert set(view.objects()) == reachable(present)
        assert len(view) == len(set(view.rows()))
        if step % 20 == 0:
            assert db.verify()


def test_linear_and_quadratic_recursion_agree() -> None:
    db = ec.connect()
    edges = db.table_of(Edge)
    one = db.view("linear", closure(edges))
    two = db.view(
        "quadratic",
        ec.recursive(
            lambda reach: (
                edges | reach.join(reach, lambda a, b: a.dst == b.src).select(lambda a, b: Edge(a.src, b.dst))
            )
        ),
    )
    edges.insert([Edge(1, 2), Edge(2, 3), Edge(3, 1), Edge(3, 4)])
    edges.delete(Edge(3, 1))
    assert sorted(one.rows()) == sorted(two.rows()) == [(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)]


def test_a_comprehension_recurses() -> None:
    db = ec.connect()
    edges = db.table_of(Edge)

    def step(reach: Any) -> Any:
        return edges.union_all(
            edges.join(reach, lambda e, r: e.dst == r.src).select(lambda e, r: Edge(e.src, r.dst))
        )

    view = db.view("reach", ec.recursive(step))
    edges.insert([Edge(1, 2), Edge(2, 3)])
    assert sorted(view.rows()) == [(1, 2), (1, 3), (2, 3)]


def test_mutual_recursion() -> None:
    """Nodes reached by an even and an odd number of steps."""
    db = ec.connect()
    edges = db.table_of(Edge)
    starts = db.table_of(Node)
    even, odd = ec.recursive(
        lambda even, odd: (
            starts.where(lambda n: n.red)
            .select(lambda n: n.id)
            .union_all(odd.join(edges, lambda o, e: o == e.src).select(lambda o, e: e.dst)),
            even.join(edges, lambda v, e: v == e.src).select(lambda v, e: e.dst),
        )
    )
    evens, odds = db.view("evens", even), db.view("odds", odd)
    starts.insert([Node(0, True), Node(9, False)])

    def expected(present: list[Edge]) -> tuple[set[int], set[int]]:
        a, b = {0}, set[int]()
        while True:
            c = {0} | {e.dst for e in present if e.src in b}
            d = {e.dst for e in present if e.src in a}
            if (c | a, d | b) == (a, b):
                return a, b
            a, b = a | c, b | d

    chosen, present = random.Random(5), list[Edge]()
    for _ in range(50):
        if present and chosen.random() < 0.4:
            gone = chosen.choice(present)
            present.remove(gone)
            edges.delete(gone)
        else:
            new = Edge(chosen.randrange(6), chosen.randrange(6))
            present.append(new)
            edges.insert(new)
        assert ({r[0] for r in evens.rows()}, {r[0] for r in odds.rows()}) == expected(present)
    assert db.verify()
    program = db._session.maintenance.design.program
    assert program.views["evens"].rsplit("~", 1)[-1] == program.views["odds"].rsplit("~", 1)[-1], (
        "one fixpoint"
    )


def test_a_limit_of_rounds() -> None:
    db = ec.connect()
    edges = db.table_of(Edge)
    bags = ec.recursive(
        lambda path: edges.union_all(
            path.join(edges, lambda p, e: p.dst == e.src).select(lambda p, e: Edge(p.src, e.dst))
        ),
        distinct=False,
        limit=20,
    )
    view = db.view("paths", bags)
    edges.insert([Edge(1, 2), Edge(1, 3), Edge(2, 4), Edge(3, 4)])
    assert view.rows().count((1, 4)) == 2, "two paths, two rows"
    with pytest.raises(ec.EvaluationError, match="not come to an end after 20 rounds"):
        edges.insert(Edge(4, 1))
    assert len(edges) == 4 and len(view) == 6


def test_deleting_much_starts_anew() -> None:
    """A deletion that would take out most of a large closure is worked off from the beginning: same answer."""
    db = ec.connect()
    edges = db.table_of(Edge)
    view = db.view("reach", closure(edges))
    ring = [Edge(i, (i + 1) % 60) for i in range(60)]
    edges.insert(ring)
    assert len(view) == 3600
    edges.delete(ring[0])
    assert set(view.objects()) == reachable(ring[1:])


def test_what_cannot_recurse() -> None:
    db = ec.connect()
    edges = db.table_of(Edge)
    with pytest.raises(ec.QueryError, match="reach is defined by itself alone"):
        ec.recursive(lambda reach: reach.where(lambda r: r.src > 1))
    with pytest.raises(ec.UnsupportedError, match="reading reach under EXCEPT"):
        ec.recursive(lambda reach: edges.union_all(edges.difference(reach)))
    with pytest.raises(ec.UnsupportedError, match="reading reach under an aggregate"):
        ec.recursive(
            lambda reach: edges.union_all(
                reach.group_by(lambda r: r.src).select(lambda k, g: Edge(k, g.max(lambda r: r.dst)))
            )
        )
    with pytest.raises(ec.QueryError, match="takes 1 relations and returns 2"):
        ec.recursive(lambda a: (edges, edges))  # type: ignore[arg-type, return-value]


def test_types_widen() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE small (n INT NOT NULL)")
    small = db.relation("small")
    numbers = ec.recursive(
        lambda up: small.select(lambda s: s.n).union_all(
            up.where(lambda n: n < 5).select(lambda n: ec.call("bigint", n) + 1)
        )
    )
    view = db.view("numbers", numbers)
    db.execute("INSERT INTO small VALUES (3)")
    assert sorted(view.rows()) == [(3,), (4,), (5,)]
    assert str(view.schema[0].type) == "BIGINT" and not view.schema[0].nullable
