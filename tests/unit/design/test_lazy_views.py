"""Strict, lazy and hybrid views: what waits, and until when."""

from __future__ import annotations

import pytest

import evercurrent as ec
from evercurrent.errors import EvaluationError, QueryError

UNPAID = (
    "SELECT s.name FROM sale s WHERE (SELECT coalesce(sum(amount), 0) FROM item i WHERE i.sale = s.id) > 10"
)


def shop(mode: str) -> ec.Database:
    db = ec.connect()
    db.execute(
        "CREATE TABLE sale (id BIGINT PRIMARY KEY, name STRING); CREATE TABLE item (sale BIGINT, amount BIGINT)"
    )
    db.execute(f"CREATE VIEW unpaid AS {UNPAID}", mode=mode)  # type: ignore[arg-type]
    db.table("sale").insert([(1, "a"), (2, "b")])
    return db


def test_what_comes_and_goes_before_a_read_is_never_worked_off() -> None:
    db = shop("lazy")
    assert db.view("unpaid").rows() == []
    for _ in range(300):
        db.table("item").insert((1, 50))
        db.table("item").delete((1, 50))
    lazy = db._session.maintenance.lazy
    assert len(lazy) < 600, "what waits is netted from time to time"
    moved = []
    real = lazy.engine.apply
    lazy.engine.apply = lambda deltas, watch=(): moved.append(dict(deltas)) or real(deltas, watch)  # type: ignore
    assert db.view("unpaid").rows() == []
    assert moved == [{}] or not moved


def test_explain_says_how_much_waits() -> None:
    db = shop("lazy")
    db.view("unpaid").rows()
    db.table("item").insert([(1, 5), (1, 6), (2, 4)])
    assert (
        "lazy: everything is deferred until it is read; 3 changed rows wait now"
        in db.view("unpaid").explain()
    )
    assert db.view("unpaid").rows() == [("a",)]
    assert "0 changed rows wait now" in db.view("unpaid").explain()


def test_hybrid_defers_what_follows_from_the_sums() -> None:
    db = shop("hybrid")
    assert "hybrid: deferred until it is read: what follows from" in db.view("unpaid").explain()
    engine = db._session.maintenance.engine
    db.table("item").insert([(1, 5), (1, 6), (2, 4)])
    assert any(engine.core.waiting), "the touched sums wait"
    assert db.view("unpaid").rows() == [("a",)]
    assert not any(engine.core.waiting)


def test_a_subscription_makes_a_view_move_at_the_commit() -> None:
    for mode in ("lazy", "hybrid"):
        db = shop(mode)
        db.table("item").insert((1, 50))
        heard: list[object] = []
        db.view("unpaid").subscribe(
            lambda change, heard=heard: heard.append((change.inserted, change.deleted))
        )  # type: ignore
        db.table("item").insert((2, 11))
        db.table("item").delete((2, 11))
        assert heard == [([("b",)], []), ([], [("b",)])], mode


def test_an_assertion_over_a_lazy_view_holds_at_every_commit() -> None:
    db = shop("lazy")
    db.execute("CREATE ASSERTION paid CHECK (NOT EXISTS (SELECT * FROM unpaid))")
    with pytest.raises(ec.ConstraintError):
        db.table("item").insert((1, 50))
    assert db.view("unpaid").rows() == []
    assert "lazy, but updated at each commit" in db.view("unpaid").explain()


def test_the_fast_path_reaches_lazy_views() -> None:
    db = shop("lazy")
    feed = db.feed("item")
    assert feed.fast
    for _ in range(1000):
        feed.insert((2, 1))
    assert db.view("unpaid").rows() == [("b",)]
    assert db.verify()


def test_a_failure_is_met_by_the_reader_and_wedges_nothing() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (a BIGINT, b BIGINT)")
    db.execute("CREATE VIEW v WITH (mode = 'lazy') AS SELECT a DIV b AS c FROM t")
    db.table("t").insert([(6, 3), (1, 0)])
    with pytest.raises(EvaluationError):
        db.view("v").rows()
    db.table("t").delete((1, 0))
    assert db.view("v").rows() == [(2,)]


def test_an_unknown_mode_is_refused() -> None:
    db = shop("strict")
    with pytest.raises(QueryError, match="no mode"):
        db.execute("CREATE VIEW w AS SELECT 1 AS a", mode="eager")  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="no mode"):
        db.execute("CREATE VIEW w WITH (mode = 'eager') AS SELECT 1 AS a")


def test_what_waits_on_the_fast_path_outlives_a_trigger_that_fails() -> None:
    """A trigger that is taken back takes nothing back of those before it, whose one row still waits for a reader."""
    db = ec.connect()
    db.execute("CREATE TABLE t (a BIGINT)")
    db.execute(
        "CREATE VIEW v AS SELECT x.n + y.n AS n FROM (SELECT sum(a) AS n FROM t) x, (SELECT count(*) AS n FROM t) y"
    )
    db.feed("t").insert((5,))
    engine = db._session.maintenance.engine
    assert any(engine.core.lone), "the totals wait"
    engine.core.trigger("t", 1, True)((7,))
    engine.undo()
    assert db.view("v").rows() == [(6,)]


def test_a_lazy_view_whose_values_cannot_be_found_can_be_dropped() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, k INT, x BIGINT)")
    db.execute("CREATE VIEW bad AS SELECT k, sum(x) AS s FROM t GROUP BY k", mode="lazy")
    db.execute("CREATE VIEW good AS SELECT k, count(*) AS n FROM t GROUP BY k", mode="lazy")
    db.table("t").insert([(1, 1, 2**63 - 1), (2, 1, 2**63 - 1)])
    with pytest.raises(EvaluationError):
        db.view("bad").rows()
    db.execute("CREATE VIEW more AS SELECT max(x) AS x FROM t", mode="lazy")
    assert db.view("more").rows() == [(2**63 - 1,)]
    db.table("t").delete({"id": 2})
    assert db.view("bad").rows() == [(1, 2**63 - 1)]
    db.table("t").insert((2, 1, 2**63 - 1))
    db.execute("DROP VIEW bad")
    assert db.view("good").rows() == [(1, 2)]
