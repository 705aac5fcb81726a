"""Corners of the public face: tables that are not stored, policies, hostile names, what is released."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.design import compile as compiling
from evercurrent.errors import UnsupportedError

# --- tables that are not stored ----------------------------------------------------------------------------


@pytest.fixture
def stream() -> ec.Database:
    db = ec.connect()
    db.execute("""
        CREATE TABLE sensor (id INT PRIMARY KEY, place STRING);
        CREATE TABLE reading (sensor INT NOT NULL REFERENCES sensor, value INT CHECK (value >= 0)) WITH (stored = false);
        CREATE VIEW totals AS SELECT sensor, SUM(value) AS total, COUNT(*) AS n FROM reading GROUP BY sensor;
    """)
    return db


def test_a_table_that_is_not_stored_forwards_and_keeps_nothing(stream: ec.Database) -> None:
    stream.table("reading").insert([(1, 5), (1, 6), (2, 7)])
    stream.table("reading").delete((1, 5))
    assert sorted(stream.view("totals").rows()) == [(1, 6, 1), (2, 7, 1)]
    for read in (
        lambda: stream.table("reading").rows(),
        lambda: len(stream.table("reading")),
        lambda: stream.query("SELECT * FROM reading"),
        lambda: stream.execute("DELETE FROM reading WHERE value = 6"),
        lambda: stream.execute("TRUNCATE TABLE reading"),
    ):
        with pytest.raises(ec.UnsupportedError, match="not stored"):
            read()
    assert sorted(stream.view("totals").rows()) == [(1, 6, 1), (2, 7, 1)]
    assert stream.query("SELECT SUM(total) AS s FROM totals").rows() == [(13,)]
    assert "not stored" in repr(stream.table("reading"))


def test_what_a_row_must_satisfy_by_itself_is_checked_all_the_same(stream: ec.Database) -> None:
    with pytest.raises(ec.ConstraintError):
        stream.table("reading").insert((None, 1))
    with pytest.raises(ec.ConstraintError):
        stream.table("reading").insert((1, -1))
    assert stream.view("totals").rows() == []


def test_views_over_it_are_created_before_its_first_change(stream: ec.Database) -> None:
    stream.table("reading").insert((1, 5))
    with pytest.raises(ec.UnsupportedError, match="reading is not stored"):
        stream.execute("CREATE VIEW late AS SELECT MAX(value) AS m FROM reading")
    assert stream.views == ["totals"]
    # Others come and go, and what is kept stays.
    stream.execute(
        "CREATE VIEW places AS SELECT s.place, t.total FROM totals t JOIN sensor s ON s.id = t.sensor"
    )
    stream.table("sensor").insert((1, "roof"))
    stream.table("reading").insert((1, 2))
    assert stream.view("places").rows() == [("roof", 7)]
    stream.execute("DROP VIEW places")
    assert stream.view("totals").rows() == [(1, 7, 2)]
    assert str(stream.verify()).startswith("totals: not verified")


def test_its_feed_is_the_compiled_function_itself(stream: ec.Database) -> None:
    feed = stream.feed("reading")
    assert feed.insert is stream._session.maintenance.engine.trigger("reading", 1)
    feed.insert((3, 4))
    feed.insert((3, 5))
    feed.delete((3, 4))
    assert stream.view("totals").rows() == [(3, 5, 1)]


def test_a_parent_of_rows_that_are_not_stored_must_not_change(stream: ec.Database) -> None:
    stream.execute("CREATE VIEW v AS SELECT s.place, r.value FROM reading r JOIN sensor s ON s.id = r.sensor")
    stream.table("sensor").insert([(1, "roof"), (2, "hall")])
    stream.table("reading").insert((1, 5))
    with pytest.raises(ec.UnsupportedError, match="not stored"):
        stream.table("sensor").update(1, place="cellar")
    assert stream.table("sensor").get(1) == (1, "roof")
    assert stream.view("v").rows() == [("roof", 5)]


# --- policies ----------------------------------------------------------------------------------------------


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that cannot do views of a column called odd."""
    original = compiling.stages

    def stages(query: Any, *args: Any) -> Any:
        if any(f.name == "odd" for f in query.fields):
            raise UnsupportedError("odd columns are not supported")
        return original(query, *args)

    monkeypatch.setattr(compiling, "stages", stages)


def test_what_cannot_be_maintained_is_refused_or_recomputed_and_said(refusing: None) -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (a INT)")
    db.table("t").insert([(1,), (1,)])
    with pytest.raises(ec.UnsupportedError, match="odd"):
        db.execute("CREATE VIEW v AS SELECT a AS odd FROM t")
    assert db.views == []
    db.execute("CREATE VIEW v AS SELECT a AS odd FROM t", policy="auto")
    db.execute("CREATE VIEW w AS SELECT odd + 1 AS b FROM v", policy="auto")
    heard: list[Any] = []
    db.view("w").subscribe(lambda c: heard.append((c.inserted, c.deleted)))
    db.table("t").insert((5,))
    assert db.view("v").rows() == [(1,), (1,), (5,)]
    assert heard == [([(6,)], [])]
    assert "unsupported" in db.view("v").explain()
    assert "recomputed" not in db.view("w").explain().replace("nothing is recomputed", "")
    db.table("t").delete((1,))
    assert sorted(db.view("w").rows()) == [(2,), (6,)]
    assert db.verify()


def test_a_full_view_is_undone_with_the_rest() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (a INT PRIMARY KEY, b INT)")
    db.execute("CREATE VIEW f AS SELECT SUM(b) AS s FROM t", policy="full")
    db.execute("CREATE ASSERTION small CHECK (NOT EXISTS (SELECT s FROM f WHERE s > 10))")
    db.table("t").insert((1, 5))
    with pytest.raises(ec.ConstraintError):
        db.table("t").insert((2, 6))
    with db.transaction():
        db.table("t").insert((2, 4))
        assert db.view("f").rows(pending=True) == [(9,)]
        assert db.view("f").rows() == [(5,)]
    assert db.view("f").rows() == [(9,)]
    assert db.verify()


# --- names and values are data -----------------------------------------------------------------------------

HOSTILE = [
    '"; import os; "',
    "'); DROP TABLE t; --",
    "select",
    "Grüße\u2028x",
    "a b",
    "__class__",
    "\\",
    "x\ny",
    "{r}",
    "#",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(name: str) -> None:
    quoted = "`" + name.replace("`", "``") + "`"
    db = ec.connect()
    db.execute(f"CREATE TABLE {quoted} ({quoted} STRING, n INT, CONSTRAINT {quoted} CHECK (n > 0))")
    view = quoted[:-1] + "v`"
    db.execute(f"CREATE VIEW {view} AS SELECT {quoted}, SUM(n) AS {view} FROM {quoted} GROUP BY {quoted}")
    db.table(name).insert([{name: text, "n": 1} for text in HOSTILE])
    db.table(name).update((name, 1), {"n": 7})
    db.execute(f"DELETE FROM {quoted} WHERE {quoted} = ?", ["select"])
    rows = dict(db.view(name + "v").rows())
    assert (
        rows == {text: 7 if text == name else 1 for text in HOSTILE if text != "select"} or name == "select"
    )
    assert db.verify()
    with pytest.raises(ec.ConstraintError) as caught:
        db.table(name).insert((name, 0))
    assert caught.value.constraint == name
    assert db.view(name + "v").source()
    assert db.view(name + "v").explain()


# --- what is released --------------------------------------------------------------------------------------


def test_a_dropped_view_takes_its_subscriptions_and_states_along() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (a INT, b INT); CREATE VIEW v AS SELECT a, MAX(b) AS m FROM t GROUP BY a")
    heard: list[Any] = []
    subscription = db.view("v").subscribe(lambda c: heard.append(c.inserted))
    handle = db.view("v")
    db.execute("CREATE OR REPLACE VIEW v AS SELECT a, MIN(b) AS m FROM t GROUP BY a")
    db.table("t").insert((1, 2))
    assert heard == [[(1, 2)]]
    db.execute("DROP VIEW v")
    assert not subscription.active
    assert [s for s in db.stats().sizes if s.kind == "state"] == []
    with pytest.raises(ec.QueryError, match="no view 'v'"):
        handle.rows()


def test_memory_comes_back() -> None:
    db = ec.connect()
    db.execute("""
        CREATE TABLE t (id INT PRIMARY KEY, g INT, x DOUBLE);
        CREATE VIEW v AS SELECT g, SUM(x) AS s, MIN(x) AS m, COUNT(DISTINCT id % 7) AS d FROM t GROUP BY g;
    """)
    table = db.table("t")

    def round_trip(base: int) -> None:
        table.insert([(i, i % 100, i / 3) for i in range(base, base + 2000)])
        table.delete([{"id": i} for i in range(base, base + 2000)])

    round_trip(0)
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for k in range(1, 5):
        round_trip(k * 10_000)
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 200_000
    assert db.view("v").rows() == [] and len(table) == 0
    assert sum(s.entries for s in db.stats().sizes) == 0


# --- odds --------------------------------------------------------------------------------------------------


def test_nan_and_zero_are_found_again() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (x DOUBLE); CREATE VIEW v AS SELECT x, COUNT(*) AS n FROM t GROUP BY x")
    db.table("t").insert([(float("nan"),), (float("nan"),), (-0.0,)])
    db.table("t").delete([(float("nan"),), (0.0,)])
    assert len(db.table("t")) == 1
    ((value, count),) = db.view("v").rows()
    assert value != value and count == 1


def test_structs_arrays_and_maps_go_in_and_out() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (s STRUCT<a: INT, b: ARRAY<STRING>>, m MAP<STRING, INT>)")
    db.execute("CREATE VIEW v AS SELECT s.a, s, m FROM t")
    db.table("t").insert({"s": {"a": 1, "b": ["x", None]}, "m": {"k": 2}})
    ((a, s, m),) = db.view("v").rows()
    assert (a, s, m) == (1, {"a": 1, "b": ["x", None]}, {"k": 2})
    assert s.b == ["x", None]
    db.table("t").delete({"s": {"a": 1, "b": ["x", None]}, "m": {"k": 2}})
    assert len(db.view("v")) == 0


def test_equal_views_share_what_is_kept() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (a INT, b INT); CREATE VIEW v AS SELECT a, SUM(b) AS s FROM t GROUP BY a")
    states = len([s for s in db.stats().sizes if s.kind == "state"])
    db.table("t").insert((1, 2))
    db.execute("CREATE VIEW w AS SELECT a, SUM(b) AS s FROM t GROUP BY a")
    assert len([s for s in db.stats().sizes if s.kind == "state"]) == states
    heard: list[str] = []
    for name in ("v", "w"):
        db.view(name).subscribe(lambda c: heard.append(c.name))
    db.table("t").insert((1, 3))
    assert heard == ["v", "w"]
    assert db.view("w").rows() == db.view("v").rows() == [(1, 5)]


def test_a_diamond_moves_once() -> None:
    db = ec.connect()
    db.execute("""
        CREATE TABLE t (a INT);
        CREATE VIEW plus AS SELECT SUM(a) AS p FROM t;
        CREATE VIEW less AS SELECT -SUM(a) AS m FROM t;
        CREATE VIEW zero AS SELECT p + m AS z FROM plus CROSS JOIN less;
        CREATE ASSERTION always CHECK (NOT EXISTS (SELECT z FROM zero WHERE z <> 0));
    """)
    heard: list[Any] = []
    db.view("zero").subscribe(lambda c: heard.append((c.deleted, c.inserted)))
    db.table("t").insert([(1,), (2,)])
    db.table("t").insert((3,))
    assert heard == [([(None,)], [(0,)])]


def test_a_new_table_leaves_what_reads_the_others_as_it_is() -> None:
    """Otherwise the n-th table costs as much as all before it."""
    db = ec.connect()
    db.execute("CREATE TABLE a (id INT PRIMARY KEY)")
    reader, rules = db._session.readers["a"], db._session.rules["a"]
    db.execute("CREATE TABLE b (id INT PRIMARY KEY)")
    assert db._session.readers["a"] is reader and db._session.rules["a"] is rules
    db.execute("CREATE OR REPLACE TABLE a (id INT PRIMARY KEY, n INT NOT NULL)")
    assert db._session.readers["a"] is not reader and db._session.rules["a"] is not rules
