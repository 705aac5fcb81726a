"""What users type first: odd and wrong arguments of every public method. Only EvercurrentErrors come out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

import evercurrent as ec
from tests.limits.test_hostile_values import accepted
from tests.limits.values import VALUES


@dataclass
class A:
    k: int
    n: int


def database() -> ec.Database:
    db = ec.connect()
    db.execute("CREATE TABLE t (k INT PRIMARY KEY, n INT)")
    db.execute("CREATE VIEW v AS SELECT n, COUNT(*) AS c FROM t GROUP BY n")
    db.execute("INSERT INTO t VALUES (1, 1)")
    return db


CALLS = (
    "db.execute(x)",
    "db.execute('SELECT 1', x)",
    "db.execute('SELECT 1', policy=x)",
    "db.execute('SELECT 1', mode=x)",
    "db.query(x)",
    "db.query('SELECT 1', language=x)",
    "db.oql(x)",
    "db.oql('1', policy=x)",
    "db.oql('1', mode=x)",
    "db.odl(x)",
    "db.bind(x, None)",
    "db.bind('name', x)",
    "db.table(x)",
    "db.view(x)",
    "db.view('w', x)",
    "db.relation(x)",
    "db.table_of(x)",
    "db.declare(x)",
    "db.drop_class(x)",
    "db.new(x)",
    "db.delete(x)",
    "db.extent(x)",
    "db.object(x)",
    "db.apply(x)",
    "db.apply({'t': x})",
    "db.apply({'t': [x]})",
    "db.apply({'t': [{'_change_type': x, 'k': 1, 'n': 1}]})",
    "db.verify(x)",
    "db.verify([x])",
    "db.feed(x)",
    "t.insert(x)",
    "t.insert([x])",
    "t.insert({'k': x})",
    "t.delete(x)",
    "t.delete([x])",
    "t.update(x, n=1)",
    "t.update(1, x)",
    "t.update(1, n=x)",
    "t.replace(x, x)",
    "t.replace(1, x)",
    "t.get(x)",
    "t.subscribe(print, when=x)",
    "v.subscribe(print, when=x)",
    "v.why(x)",
    "v.explain(x)",
    "s.add(x)",
    "s.discard(x)",
    "s.update([x])",
    "o.n.__class__ and setattr(o, 'n', x)",
    "setattr(o, 's', [x])",
)


@pytest.mark.parametrize("call", CALLS)
def test_odd_arguments(call: str) -> None:
    db = database()
    db.odl("class c (extent cs) { attribute long n; attribute set<struct p { long a; }> s; };")
    o = db.new("c", n=1)
    t, v = db.table("t"), db.view("v")
    before = (t.rows(), v.rows(), db.views)
    code = compile(call, call, "eval")
    for name, value in VALUES.items():
        scope: dict[str, Any] = {"db": db, "t": t, "v": v, "o": o, "s": o.s, "x": value}
        if not accepted(lambda scope=scope: eval(code, scope)):
            assert (t.rows(), v.rows(), db.views) == before, name
        assert db.verify()
        if (t.rows(), v.rows(), db.views) != before:
            db = database()
            db.odl("class c (extent cs) { attribute long n; attribute set<struct p { long a; }> s; };")
            o, t, v = db.new("c", n=1), db.table("t"), db.view("v")


def test_a_row_in_the_place_of_changes() -> None:
    db = database()
    t = db.table("t")
    with pytest.raises(ec.QueryError, match="replace"):
        t.update(A(1, 1), A(2, 2))  # type: ignore[arg-type]
    assert t.rows() == [(1, 1)]


def test_structs_in_sets_are_given_as_mappings() -> None:
    db = ec.connect()
    db.odl(
        "class c (extent cs) { attribute set<struct p { long a; }> s; attribute bag<struct q { long a; }> b; };"
    )
    db.oql("define v as select x.a from c in cs, x in c.s")
    thing = db.new("c")
    thing.s.add({"a": 1})
    thing.s.add({"a": 2})
    thing.s.remove({"a": 1})
    thing.s.discard({"a": 3})
    assert list(db.view("v").value()) == [2]
    with db.transaction():
        thing.s.add({"a": 4})
        thing.s.remove({"a": 2})
    assert list(db.view("v").value()) == [4]
    with pytest.raises(KeyError):
        thing.s.remove({"a": 9})
    thing.s.difference_update([{"a": 4}])
    assert not thing.s and not list(db.view("v").value())
    thing.b.add({"a": 1})
    assert thing.b.count({"a": 1}) == 1
    thing.b.discard({"a": 1})
    assert not len(thing.b)
