"""The subtle points of OQL, one test each: what users of other languages would expect to be otherwise."""

from __future__ import annotations

from typing import Any

import pytest

import evercurrent as ec
from tests.oql.events import Event
from tests.oql.oracle.values import UNDEFINED, Bag, Set, Struct, key
from tests.oql.test_conformance import filled


class View:
    """A view on a hand-made graph: change something, then say what it is now."""

    def __init__(self, query: str, schema: str = "company") -> None:
        self.mirror, self.graph = filled(schema)
        self.query = query
        self.mirror.db.oql(f"define v as {query};")

    def set(self, name: str, prop: str, value: Any) -> View:
        return self.do(Event("set", self.at(name), prop, self.at(value)))

    def add(self, name: str, prop: str, value: Any) -> View:
        return self.do(Event("add", self.at(name), prop, self.at(value)))

    def remove(self, name: str, prop: str, value: Any) -> View:
        return self.do(Event("remove", self.at(name), prop, self.at(value)))

    def delete(self, name: str) -> View:
        return self.do(Event("delete", self.at(name)))

    def new(self, of: str, **values: Any) -> View:
        return self.do(Event("new", of, value={k: self.at(v) for k, v in values.items()}))

    def at(self, name: Any) -> Any:
        """`@ann` is the object, anything else itself."""
        return getattr(self.graph, name[1:]) if isinstance(name, str) and name.startswith("@") else name

    def do(self, event: Event) -> View:
        self.mirror.happen(event)
        return self

    def shows(self, *items: Any) -> View:
        return self.gives(Bag([self.at(i) for i in items]))

    def gives(self, expected: Any) -> View:
        found = self.mirror.shown("v")
        assert key(found) == key(expected), f"{found!r}"
        assert key(self.mirror.oracle.value(self.query)) == key(expected), "the oracle differs"
        return self


def test_a_step_from_nil_is_undefined_and_stays_an_element() -> None:
    v = View("select e.manager.name from e in Employees").shows(UNDEFINED, "Ann", "Ann", "Cid")
    v.set("@ann", "name", None).shows(UNDEFINED, None, None, "Cid")
    v.set("@ann", "manager", "@pat").shows("Pat", None, None, "Cid")


def test_undefined_elements_count() -> None:
    View("count(select e.manager.name from e in Employees)").gives(4).set("@ben", "manager", None).gives(4)


def test_an_undefined_condition_rejects_and_so_does_its_negation() -> None:
    v = View("select e.name from e in Employees where e.manager.age > 40").shows("Ben", "Cid")
    v.set("@ben", "manager", None).shows("Cid")
    v = View("select e.name from e in Employees where not (e.manager.age > 40)").shows("Pat")
    v.set("@cid", "age", 41).shows()


def test_nil_equals_nil() -> None:
    v = View(
        "select struct(a: e.name, b: f.name) from e in Employees, f in Employees where e.manager = f.manager and e != f"
    )
    v.shows(Struct.of(a="Ben", b="Cid"), Struct.of(a="Cid", b="Ben"))
    v.set("@pat", "manager", None).shows(
        Struct.of(a="Ben", b="Cid"),
        Struct.of(a="Cid", b="Ben"),
        Struct.of(a="Ann", b="Pat"),
        Struct.of(a="Pat", b="Ann"),
    )


def test_select_keeps_duplicates_and_distinct_does_not() -> None:
    View("select e.salary from e in Employees").shows(100, 50, 50, None)
    View("select distinct e.salary from e in Employees").gives(Set([100, 50, None]))
    View(
        "(select e.salary from e in Employees) union (select e.salary from e in Employees where e.age > 50)"
    ).shows(100, 50, 50, None, None)


def test_distinct_objects_are_told_apart_by_identity() -> None:
    v = View("select distinct c from e in Employees, c in e.dependents")
    v.gives(Set([v.graph.bob, v.graph.cat]))
    v.set("@cat", "name", "Bob").set("@cat", "age", 8).gives(Set([v.graph.bob, v.graph.cat]))
    w = View("select distinct struct(n: c.name) from e in Employees, c in e.dependents")
    w.set("@cat", "name", "Bob").gives(Set([Struct.of(n="Bob")]))


def test_a_change_reaches_every_path_to_a_shared_object() -> None:
    v = View("sum(select i.product.cost * i.quantity from s in sales, i in s.saleLineItems)", "shop").gives(
        15
    )
    v.set("@pen", "cost", 10).gives(55)
    w = View("select e.dept.name from e in Employees").shows("dev", "dev", "ops", UNDEFINED)
    w.set("@dev", "name", "new").shows("new", "new", "ops", UNDEFINED)
    x = View("select struct(e: e.name, c: c.name) from e in Employees, c in e.dependents")
    x.set("@bob", "name", "Rob").shows(
        Struct.of(e="Ann", c="Rob"), Struct.of(e="Ben", c="Rob"), Struct.of(e="Ann", c="Cat")
    )


def test_both_ends_of_a_relationship_move_together() -> None:
    v = View("select struct(d: d.name, n: count(d.employees)) from d in Departments")
    v.set("@ann", "dept", "@hr").shows(
        Struct.of(d="dev", n=1), Struct.of(d="ops", n=1), Struct.of(d="hr", n=1)
    )
    v.add("@ops", "employees", "@ann").shows(
        Struct.of(d="dev", n=1), Struct.of(d="ops", n=2), Struct.of(d="hr", n=0)
    )
    w = View("select e.dept.name from e in Employees")
    w.add("@hr", "employees", "@ann").shows("hr", "dev", "ops", UNDEFINED)
    w.delete("@hr").shows(UNDEFINED, "dev", "ops", UNDEFINED)


def test_one_object_in_several_collections() -> None:
    v = View("select c.name from e in Employees, c in e.dependents").shows("Bob", "Cat", "Bob")
    v.add("@cid", "dependents", "@bob").shows("Bob", "Cat", "Bob", "Bob")
    v.remove("@ann", "dependents", "@bob").shows("Cat", "Bob", "Bob")


def test_a_partition_holds_structs_of_iterators() -> None:
    v = View(
        "select struct(p: p.name, n: count(partition), q: sum(select x.i.quantity from x in partition), "
        "s: (select x.s.no from x in partition)) from s in sales, i in s.saleLineItems group by p: i.product",
        "shop",
    )
    v.shows(Struct.of(p="pen", n=2, q=5, s=Bag([1, 7])), Struct.of(p="ink", n=1, q=1, s=Bag([1])))
    v.add("@sale9", "saleLineItems", "@item1").shows(
        Struct.of(p="pen", n=3, q=8, s=Bag([1, 7, 9])), Struct.of(p="ink", n=1, q=1, s=Bag([1]))
    )


def test_a_group_goes_with_its_last_element_and_stays_with_its_identity() -> None:
    v = View(
        "select struct(d: d.name, n: count(partition)) from e in Employees where e.dept != nil group by d: e.dept"
    )
    v.shows(Struct.of(d="dev", n=2), Struct.of(d="ops", n=1))
    v.set("@ops", "name", None).set("@dev", "name", None).shows(
        Struct.of(d=None, n=2), Struct.of(d=None, n=1)
    )
    v.set("@cid", "dept", "@dev").shows(Struct.of(d=None, n=3))


def test_a_dangling_reference_reads_as_nil() -> None:
    v = View("select struct(m: e.manager, n: e.manager.name) from e in Employees where e.age < 40")
    v.shows(Struct.of(m=v.graph.ann, n="Ann"), Struct.of(m=v.graph.ann, n="Ann"))
    v.delete("@ann").shows(Struct.of(m=None, n=UNDEFINED), Struct.of(m=None, n=UNDEFINED))


def test_a_change_deep_inside_replaces_the_outer_struct() -> None:
    v = View(
        "select struct(d: d.name, kids: (select (select c.name from c in e.dependents) from e in d.employees)) "
        'from d in Departments where d.name = "dev"'
    )
    v.shows(Struct.of(d="dev", kids=Bag([Bag(["Bob", "Cat"]), Bag(["Bob"])])))
    v.set("@bob", "name", "Rob").shows(Struct.of(d="dev", kids=Bag([Bag(["Rob", "Cat"]), Bag(["Rob"])])))
    v.remove("@ben", "dependents", "@bob").shows(Struct.of(d="dev", kids=Bag([Bag(["Rob", "Cat"]), Bag([])])))


def test_moving_an_element_of_a_list_is_a_change() -> None:
    v = View("select e.name from e in Employees order by e.age").gives(["Ben", "Cid", "Ann", "Pat"])
    v.set("@ben", "age", 99).gives(["Cid", "Ann", "Pat", "Ben"])


def test_short_circuit_does_not_ask_the_right_side() -> None:
    v = View("select e.name from e in Employees where e.manager != nil andthen e.manager.age > 40")
    v.shows("Ben", "Cid").delete("@ann").shows()


@pytest.mark.parametrize(
    ("query", "broken", "mended"),
    [
        ('element(select d.name from d in Departments where d.address = "North 1")', UNDEFINED, "dev"),
        (
            '(select d.name from d in Departments where d.address = "North 1" order by d.name)[0]',
            UNDEFINED,
            "dev",
        ),
    ],
)
def test_an_error_does_not_poison_later_states(query: str, broken: Any, mended: Any) -> None:
    v = View(query).gives("dev")
    v.set("@dev", "address", "gone").gives(broken)
    with pytest.raises(ec.EvercurrentError):
        v.mirror.asked(query)
    v.set("@dev", "address", "North 1").gives(mended)


def test_a_failing_cast_is_undefined_in_a_view() -> None:
    v = View("select ((employee) p).salary from p in Persons").shows(UNDEFINED, UNDEFINED, 100, 50, 50, None)
    with pytest.raises(ec.EvercurrentError):
        v.mirror.asked(v.query)
    v.new("person", name="Dan").shows(UNDEFINED, UNDEFINED, UNDEFINED, 100, 50, 50, None)


def test_self_joins_and_aggregates() -> None:
    v = View(
        "select struct(m: m.name, pay: sum(select e.salary from e in Employees where e.manager = m)) from m in Employees"
    )
    v.shows(
        Struct.of(m="Ann", pay=100),
        Struct.of(m="Ben", pay=0),
        Struct.of(m="Cid", pay=0),
        Struct.of(m="Pat", pay=0),
    )
    v.set("@ben", "salary", 70).set("@pat", "manager", "@ann").set("@pat", "salary", 1)
    v.shows(
        Struct.of(m="Ann", pay=121),
        Struct.of(m="Ben", pay=0),
        Struct.of(m="Cid", pay=0),
        Struct.of(m="Pat", pay=0),
    )


def test_aggregates_of_nothing() -> None:
    v = View(
        "struct(n: count(Departments), s: sum(select e.salary from e in Employees), "
        "t: max(select e.salary from e in Employees), u: exists(Employees))"
    )
    v.gives(Struct.of(n=3, s=200, t=100, u=True))
    for name in ("@ann", "@ben", "@cid"):
        v.delete(name)
    v.gives(Struct.of(n=3, s=0, t=UNDEFINED, u=True))
    v.delete("@pat").gives(Struct.of(n=3, s=0, t=UNDEFINED, u=False))


def test_an_iterator_over_nothing_ranges_over_nothing() -> None:
    v = View("select c.name from e in Employees, c in e.manager.dependents").shows("Bob", "Cat", "Bob", "Cat")
    v.set("@ben", "manager", None).shows("Bob", "Cat")


def test_constructed_objects_are_the_same_for_the_same_inputs() -> None:
    v = View("select person(name: c.name, age: 1) from e in Employees, c in e.dependents")
    first = {o.name: o for o in v.mirror.db.view("v").value()}
    v.set("@ann", "age", 1)
    again = {o.name: o for o in v.mirror.db.view("v").value()}
    assert sorted(first) == ["Bob", "Cat"]
    assert first == again
    assert v.mirror.db.query("count(Persons)", language="oql") == 6


def test_keys_of_dictionaries() -> None:
    db = ec.connect()
    db.odl(
        """class box (extent Boxes) { attribute string name; attribute dictionary<string, long> notes; };
        class kept (extent Kepts) { attribute dictionary<long, string> notes kept as array; };"""
    )
    db.oql(
        """define words as select struct(n: b.name, k: k) from b in Boxes, k in keys(b.notes);
        define held as select keys(b.notes) from b in Boxes;
        define numbers as select k from x in Kepts, k in keys(x.notes)"""
    )
    a = db.new("box", name="a", notes={"x": 1, "y": 2})
    db.new("kept", notes={1: "p", 2: "q"})
    assert {(r.n, r.k) for r in db.view("words").value()} == {("a", "x"), ("a", "y")}
    assert db.view("numbers").value() == ec.Bag([1, 2])
    a.notes["z"] = 3
    del a.notes["x"]
    assert db.view("held").value() == ec.Bag([ec.Set(["y", "z"])])
    assert {r.k for r in db.view("words").value()} == {"y", "z"}
    assert db.oql('element(select count(keys(b.notes)) from b in Boxes where "z" in keys(b.notes))') == 2


def test_limit_is_a_name_where_no_number_follows() -> None:
    db = ec.connect()
    db.odl("class t (extent Ts) { attribute long limit; attribute long offset; };")
    db.new("t", limit=3, offset=4)
    assert db.oql("select limit.limit + limit.offset from limit in Ts order by limit.offset limit 1") == [7]
