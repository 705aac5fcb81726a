"""Every way in, with values that are hard to handle: a value is accepted and can be read again, or it is refused.

A refusal is an EvercurrentError, never an InternalError, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import evercurrent as ec
from tests.limits.values import TYPES, VALUES


def accepted(attempt: Callable[[], Any]) -> bool:
    try:
        attempt()
    except ec.InternalError:
        raise
    except ec.EvercurrentError as refusal:
        assert str(refusal)
        return False
    return True


def read(db: ec.Database) -> None:
    """Everything there is can be shown and exported."""
    for shown in (*map(db.table, db.tables), *map(db.view, db.views)):
        assert repr(shown) and str(shown) and shown._repr_html_()
        assert shown.arrow().num_rows == len(shown.rows())
        shown.to_dicts()
    assert db.verify()


@pytest.mark.parametrize("kind", TYPES)
def test_rows(kind: str) -> None:
    db = ec.connect()
    db.execute(f"CREATE TABLE t (k INT, x {kind})")
    db.execute("CREATE VIEW v AS SELECT x, COUNT(*) AS n FROM t GROUP BY x")
    db.execute("INSERT INTO t VALUES (0, NULL)")
    t = db.table("t")
    before = (t.rows(), db.view("v").rows())
    for name, value in VALUES.items():
        change = [{"_change_type": "insert", "k": 1, "x": value}]
        for attempt in (
            lambda v=value: t.insert((1, v)),
            lambda v=value: t.insert([{"k": 1, "x": v}]),
            lambda v=value: t.update((0, None), x=v),
            lambda v=value: t.replace((0, None), (0, v)),
            lambda c=change: db.apply({"t": c}),
        ):
            if accepted(attempt):
                read(db)
                db.execute("DELETE FROM t")
                db.execute("INSERT INTO t VALUES (0, NULL)")
            assert (t.rows(), db.view("v").rows()) == before, name
        accepted(lambda v=value: t.delete((1, v)))


@pytest.mark.parametrize("name", VALUES)
def test_parameters(name: str) -> None:
    value = VALUES[name]
    db = ec.connect()
    db.execute("CREATE TABLE t (k INT, s STRING)")
    before = db.table("t").rows()

    def shown() -> None:
        result = db.query("SELECT ? AS x", [value])
        assert str(result) and repr(result.rows()) and result.arrow().num_rows == 1

    accepted(shown)
    accepted(lambda: db.query("SELECT k FROM t WHERE s = :s", {"s": value}))
    if not accepted(lambda: db.execute("INSERT INTO t VALUES (1, ?)", [value])):
        assert db.table("t").rows() == before
    read(db)


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("key", ["INT", "STRING", "DECIMAL(10,2)", "TIMESTAMP"])
def test_keys(name: str, key: str) -> None:
    value = VALUES[name]
    db = ec.connect()
    db.execute(f"CREATE TABLE t (k {key} PRIMARY KEY, s STRING)")
    t = db.table("t")
    for attempt in (
        lambda: t.get(value),
        lambda: t.get({"k": value}),
        lambda: t.update(value, s="x"),
        lambda: t.update({"k": value}, s="x"),
        lambda: t.delete(value),
        lambda: t.delete([value]),
    ):
        accepted(attempt)
        assert t.rows() == []


LITERALS = (
    "9" * 5000,
    "9" * 5000 + ".5",
    "1e999999",
    "INTERVAL '1" + "0" * 60 + "' DAY",
    "'\ud800'",
    "DATE '0000'",
)


@pytest.mark.parametrize(
    "literal", LITERALS, ids=[t[:12].encode("ascii", "replace").decode() for t in LITERALS]
)
def test_literals(literal: str) -> None:
    db = ec.connect()
    accepted(lambda: str(db.query(f"SELECT {literal} AS x")))
    accepted(lambda: db.execute(f"CREATE TABLE t (x STRING DEFAULT {literal})"))
    accepted(lambda: db.oql(literal))
    accepted(lambda: db.odl(f"const long n = {literal};"))
    read(db)


ATTRIBUTES = (
    "long",
    "double",
    "string",
    "boolean",
    "date",
    "timestamp",
    "interval",
    "struct<a: long>",
    "set<long>",
)


@pytest.mark.parametrize("kind", ATTRIBUTES)
def test_attributes_of_objects(kind: str) -> None:
    db = ec.connect()
    written = kind.replace("struct<a: long>", "pair")
    db.odl(f"struct pair {{ long a; }}; class c (extent cs) {{ attribute {written} x; attribute long n; }};")
    db.oql("define v as select x.n from x in cs")
    thing = db.new("c", n=1)
    before = (db.view("v").value(), thing.x if kind != "set<long>" else list(thing.x))
    for name, value in VALUES.items():
        if accepted(lambda v=value: db.new("c", n=1, x=v)):
            read(db)
            for other in list(db.extent("cs")):
                if other is not thing:
                    db.delete(other)
        if accepted(lambda v=value: setattr(thing, "x", v)):
            read(db)
            thing.x = [] if kind == "set<long>" else None
        assert (db.view("v").value(), thing.x if kind != "set<long>" else list(thing.x)) == before, name
