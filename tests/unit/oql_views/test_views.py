"""Definitions, values, parts and feeds of views in OQL."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import evercurrent as ec
from evercurrent import UNDEFINED, Bag, Record, Set
from tests.unit.frontend.oql.company import company

NEST = "select struct(d: d.name, staff: (select struct(n: e.name, kids: (select c.name from c in e.dependents)) from e in d.employees)) from d in Departments"


@pytest.fixture
def c() -> SimpleNamespace:
    return company()


def record(**members: Any) -> Record:
    return Record(tuple(members), tuple(members.values()))


# --- values of every type ------------------------------------------------------------------------------------


def test_a_view_may_be_anything(c: Any) -> None:
    texts = {
        "n": "count(Employees)",
        "s": "struct(n: count(Employees), names: (select distinct e.dept.name from e in Employees))",
        "o": 'element(select e from e in Employees where e.name = "Ann")',
        "l": "select e.name from e in Employees order by e.salary desc, e.name",
        "x": "max(select e.salary from e in Employees where e.age > 99)",
        "t": "Departments",
    }
    for name, text in texts.items():
        c.db.oql(f"define {name} as {text}")
    values = {name: c.db.view(name).value() for name in texts}
    assert values["n"] == 3
    assert values["s"] == record(n=3, names=Set(["dev", "ops"]))
    assert values["o"] is c.ann
    assert values["l"] == ["Ann", "Ben", "Cid"]
    assert values["x"] is UNDEFINED
    assert values["t"] == Set([c.dev, c.ops, c.hr])
    with c.db.transaction():
        c.cid.salary = 200
        c.cid.age = 100
        c.db.delete(c.dev)
    assert c.db.view("s").value() == record(n=3, names=Set([UNDEFINED, "ops"]))
    assert c.db.view("l").value() == ["Cid", "Ann", "Ben"]
    assert c.db.view("x").value() == 200
    assert c.db.view("t").value() == Set([c.ops, c.hr])
    assert c.db.verify()


def test_nested_collections_are_kept_in_parts(c: Any) -> None:
    c.db.oql(f"define staff as {NEST}")
    assert c.db.views == ["staff"]
    c.bob.name = "Rob"
    c.ben.dept = c.hr
    c.ann.dependents.remove(c.cat)
    expected = Bag(
        [
            record(d="dev", staff=Bag([record(n="Ann", kids=Bag(["Rob"]))])),
            record(d="ops", staff=Bag([record(n="Cid", kids=Bag())])),
            record(d="hr", staff=Bag([record(n="Ben", kids=Bag(["Rob"]))])),
        ]
    )
    assert c.db.view("staff").value() == expected
    assert c.db.verify()
    text = str(c.db.view("staff").explain())
    assert text.startswith("staff: bag<struct(d: string, staff: bag<struct(n: string, kids: bag<string>)>)>")
    assert "kept in staff.rows, staff.staff, staff.staff.kids" in text
    for stage in ("calculus", "normal", "algebra", "optimised", "program", "source", "events"):
        assert "staff.staff.kids:\n" in str(c.db.view("staff").explain(stage))


def test_the_feed_says_what_changed_inside(c: Any) -> None:
    c.db.oql(f"define staff as {NEST}")
    heard: list[Any] = []
    c.db.view("staff").subscribe(heard.append)
    c.bob.name = "Rob"
    (change,) = heard
    assert (change.inserted, change.deleted) == ([], [])
    assert {(i.path, i.key) for i in change.inside} == {
        (("staff", "kids"), (c.ann,)),
        (("staff", "kids"), (c.ben,)),
    }
    assert all((i.inserted, i.deleted) == (["Rob"], ["Bob"]) for i in change.inside)
    heard.clear()
    c.dev.name = "research"
    (change,) = heard
    assert (change.inserted, change.deleted, change.inside) == ([record(d="research")], [record(d="dev")], [])


def test_the_feed_of_a_scalar_and_of_a_bag(c: Any) -> None:
    c.db.oql(
        "define n as sum(select e.salary from e in Employees); define names as select e.name from e in Employees"
    )
    heard: list[Any] = []
    c.db.view("n").subscribe(heard.append)
    c.db.view("names").subscribe(heard.append)
    with c.db.transaction():
        c.ann.salary = 101
        c.ann.name = "Anne"
    assert [(h.name, h.inserted, h.deleted) for h in heard] == [
        ("n", [201], [200]),
        ("names", ["Anne"], ["Ann"]),
    ]


# --- definitions ---------------------------------------------------------------------------------------------


def test_definitions_use_definitions_and_follow_them(c: Any) -> None:
    c.db.oql(
        "define older(long a) as select e from e in Employees where e.age > a;"
        "define old as older(38); define names as select o.name from o in old()"
    )
    assert c.db.view("names").value() == Bag(["Ann", "Cid"])
    c.db.oql("define older(long a) as select e from e in Employees where e.age < a")
    assert c.db.view("names").value() == Bag(["Ben"])
    c.db.oql("define old as Employees")
    assert c.db.view("names").value() == Bag(["Ann", "Ben", "Cid"])
    with pytest.raises(ec.QueryError, match="old cannot be undefined: view names depends on it"):
        c.db.oql("undefine old")
    with pytest.raises(ec.QueryError, match="view names depends on it and would be wrong"):
        c.db.oql("define old as 3")
    assert c.db.view("names").value() == Bag(["Ann", "Ben", "Cid"])
    c.db.oql("undefine names; undefine query old; undefine older")
    assert c.db.views == []
    with pytest.raises(ec.QueryError, match="there is no definition older"):
        c.db.oql("undefine older")


def test_a_family_is_replaced_and_dropped_as_one(c: Any) -> None:
    c.db.oql(f"define v as {NEST}")
    c.db.oql("define v as select e.name from e in Employees")
    assert list(c.db._session.catalog.views) == ["v"]
    c.db.oql(f"define v as {NEST}")
    c.db.execute("DROP VIEW v")
    assert list(c.db._session.catalog.views) == []


def test_imports_and_parameters(c: Any) -> None:
    c.db.oql("import Firm::employee as Worker; define paid(Worker w) as w.salary * 12")
    assert c.db.oql("select paid((Worker) p) from p in Persons where p in Employees") == Bag([1200, 600, 600])


# --- with SQL ------------------------------------------------------------------------------------------------


def test_sql_and_oql_read_each_other(c: Any) -> None:
    c.db.execute("CREATE TABLE bonus (name STRING, amount BIGINT)")
    c.db.execute("INSERT INTO bonus VALUES ('Ann', 5), ('Ben', NULL)")
    c.db.oql(
        "define paid as select struct(n: e.name, b: b.amount, t: e.titles) from e in Employees, b in bonus where b.name = e.name"
    )
    assert c.db.view("paid").value() == Bag(
        [record(n="Ann", b=5, t=["Dr", "Prof"]), record(n="Ben", b=None, t=[])]
    )
    c.db.execute(
        "CREATE VIEW counted AS SELECT n, size(t) AS titles, e.dept.name AS dept FROM paid JOIN Employees e ON e.name = n"
    )
    c.db.oql("define all as sum(select x.titles from x in counted)")
    assert sorted(c.db.view("counted").rows()) == [("Ann", 2, "dev"), ("Ben", 0, "dev")]
    assert c.db.view("all").value() == 2
    with c.db.transaction():
        c.ben.titles.append("Mr")
        c.dev.name = "D"
    assert sorted(c.db.view("counted").rows()) == [("Ann", 2, "D"), ("Ben", 1, "D")]
    assert c.db.view("all").value() == 3
    assert sorted(c.db.view("paid").rows()) == [("Ann", 5, ["Dr", "Prof"]), ("Ben", None, ["Mr"])]
    assert c.db.view("paid").arrow().column_names == ["n", "b", "t"]
    with pytest.raises(ec.QueryError, match="counted"):
        c.db.execute("DROP VIEW paid")
    assert c.db.verify()


# --- the less usual ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select e.titles[0] from e in Employees where exists(e.titles)", lambda c: Bag(["Dr"])),
        ("select e.titles from e in Employees where e.age > 40", lambda c: Bag([["Dr", "Prof"]])),
        ("select last(e.titles) from e in Employees", lambda c: Bag(["Prof", UNDEFINED, UNDEFINED])),
        ("select e.phones from e in Employees where e.age > 40", lambda c: Bag([{"home": 12}])),
        ("select e.home.street from e in Employees", lambda c: Bag(["Hill", UNDEFINED, UNDEFINED])),
        (
            "select distinct e.dependents from e in Employees",
            lambda c: Set([Set([c.bob, c.cat]), Set([c.bob]), Set()]),
        ),
        (
            "select p.describe() from p in Persons where p.age > 18",
            lambda c: Bag(["person Cat", "employee Ann", "employee Ben", "employee Cid"]),
        ),
        ("select w.salary from w as employee in Persons", lambda c: Bag([100, 50, 50])),
        (
            "select struct(d: d.name, first: first(select e.name from e in d.employees order by e.name)) from d in Departments",
            lambda c: Bag(
                [record(d="dev", first="Ann"), record(d="ops", first="Cid"), record(d="hr", first=UNDEFINED)]
            ),
        ),
        (
            "select e.manager.dependents from e in Employees",
            lambda c: Bag([UNDEFINED, Set([c.bob, c.cat]), Set([c.bob, c.cat])]),
        ),
        (
            "struct(a: nil, b: undefined, c: set(nil, 1))",
            lambda c: record(a=None, b=UNDEFINED, c=Set([None, 1])),
        ),
        ("select distinct e.salary from e in Employees order by e.salary desc", lambda c: [100, 50]),
        ("list(1..3) + list(1)", lambda c: [1, 2, 3, 1]),
        (
            "select struct(s: s, names: (select distinct p.e.name from p in partition where p.e.age > 35)) from e in Employees group by s: e.salary",
            lambda c: Bag([record(s=100, names=Set(["Ann"])), record(s=50, names=Set(["Cid"]))]),
        ),
    ],
    ids=range(14),
)
def test_other_constructs(c: Any, text: str, expected: Any) -> None:
    assert c.db.query(text, language="oql") == expected(c)
    c.db.oql(f"define v as {text}")
    assert c.db.view("v").value() == expected(c)
    with c.db.transaction():
        c.ben.titles.extend(["Mr"])
        c.ann.titles.pop(0)
        c.cid.dependents.add(c.cat)
        c.ben.manager = None
        c.cid.name = "Al"
        c.db.delete(c.ops)
        c.ben.phones["work"] = 3
        c.cid.home = {"street": None, "number": 1}
    assert c.db.view("v").value() == c.db.query(text, language="oql")
    assert c.db.verify()


def test_constructed_objects_are_equal_where_their_values_are(c: Any) -> None:
    c.db.oql("define made as select distinct person(name: e.dept.name) from e in Employees")
    made = c.db.view("made").value()
    assert len(made) == 2 and {m.name for m in made} == {"dev", "ops"}
    assert {repr(m) for m in made} == {"person(name='dev')", "person(name='ops')"}


def test_modes_give_the_same(c: Any) -> None:
    for mode in ("lazy", "hybrid"):
        c.db.oql(f"define {mode}_view as {NEST}", mode=mode)
    c.db.oql(f"define strict_view as {NEST}")
    c.bob.name = "Rob"
    values = [c.db.view(f"{mode}_view").value() for mode in ("strict", "lazy", "hybrid")]
    assert values[0] == values[1] == values[2]


def test_the_cost_of_a_change_does_not_grow_with_the_collection(c: Any) -> None:
    """The parts keep one entry for each element; a change of one element moves one of them."""
    c.db.oql(f"define staff as {NEST}")
    with c.db.transaction():
        many = [c.db.new("employee", name=f"e{i}", dept=c.hr) for i in range(300)]
    moved: list[Any] = []
    c.db.view("staff").subscribe(moved.append)
    many[7].name = "x"
    (inside,) = moved[0].inside
    assert (len(inside.inserted), len(inside.deleted)) == (1, 1)


def test_pending_values(c: Any) -> None:
    c.db.oql("define n as count(Employees)")
    with c.db.transaction():
        c.db.new("employee", name="New")
        assert c.db.view("n").value() == 3
        assert c.db.view("n").value(pending=True) == 4
        assert c.db.query("count(Employees)", language="oql", pending=True) == 4


def test_a_row_that_is_looked_up_again_by_what_follows_from_its_change(c: Any) -> None:
    c.ann.friends["best"] = c.ben
    c.db.oql('define v as select e.friends["best"].name from e in Employees where exists(e.friends)')
    c.ann.name = "Anne"
    c.ben.name = "Benno"
    assert c.db.view("v").value() == Bag(["Benno"])
    assert c.db.verify()


def test_named_objects(c: Any) -> None:
    c.db.bind("Boss", c.ann)
    c.db.oql(
        "define under as select e.name from e in Employees where e.manager = Boss; define who as Boss.name"
    )
    assert c.db.view("under").value() == Bag(["Ben", "Cid"])
    c.db.bind("Boss", c.ben)
    assert (c.db.view("under").value(), c.db.view("who").value()) == (Bag(), "Ben")
    c.db.delete(c.ben)
    assert c.db.view("who").value() is UNDEFINED
    assert c.db.oql("Boss = nil")
    c.db.bind("Boss", None)
    assert c.db.oql("Boss") is None
    for name, thing in (("Boss", c.dev), ("no name", c.ann), ("Other", None), ("Employees", c.ann), ("X", 3)):
        with pytest.raises(ec.QueryError):
            c.db.bind(name, thing)
    assert c.db.verify()
