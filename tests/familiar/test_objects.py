"""The names of ODMG: collections, and interfaces, exceptions and forward declarations in ODL."""

from __future__ import annotations

import pytest

import evercurrent as ec
from evercurrent.statements.protocol import AnyDatabase

ODL = """
class part;
interface HasName { attribute string name; string shout(in long times) raises (Loud); };
interface Priced : HasName { attribute long price; };
exception Loud { string why; };
class car : Priced (extent Cars key name) {
    attribute list<string> tags;
    attribute set<long> years;
    attribute bag<long> visits;
    attribute dictionary<string, long> sizes;
    relationship set<part> parts inverse part::car;
};
class part : HasName (extent Parts) { relationship car car inverse car::parts; };
"""


def test_interfaces_exceptions_and_forward_declarations() -> None:
    db = ec.connect()
    db.odl(ODL, operations={"car.shout": lambda self, times: self.name.upper() * times})
    beetle = db.new("car", name="beetle", price=3)
    wheel = db.new("part", name="wheel", car=beetle)
    assert beetle.parts == {wheel} and beetle.shout(2) == "BEETLEBEETLE"
    assert sorted(db.schema.properties("part")) == ["car", "name"]
    assert db.query("select c.price from c in Cars", language="oql") == ec.Bag([3])
    again = ec.connect()
    again.odl(db.schema_odl())  # interfaces are written out in the classes
    assert again.schema_odl() == db.schema_odl()
    with pytest.raises(ec.QueryError, match="there is no interface Nope"):
        ec.connect().odl("class a : Nope { attribute long n; };")


def test_collections_under_the_names_of_odmg(db: AnyDatabase) -> None:
    db.odl(ODL.replace("string shout(in long times) raises (Loud);", ""))
    car = db.new("car", name="c", tags=["b"], years=[1, 2], visits=[5, 5])
    tags = car.tags
    tags.insert_element_first("a")
    tags.insert_element_last("d")
    tags.insert_element_after("c", 1)
    tags.insert_element_before("x", 0)
    tags.replace_element_at("y", 0)
    assert list(tags) == ["y", "a", "b", "c", "d"]
    assert (tags.retrieve_first_element(), tags.retrieve_last_element(), tags.retrieve_element_at(2)) == (
        "y",
        "d",
        "b",
    )
    assert (tags.remove_first_element(), tags.remove_last_element(), tags.remove_element_at(1)) == (
        "y",
        "d",
        "b",
    )
    assert list(tags) == ["a", "c"] and tags.cardinality() == 2 and tags.contains_element("c")
    for wrong in (2, -1, "a"):
        with pytest.raises(ec.QueryError, match=r"car\.tags has no element at"):
            tags.retrieve_element_at(wrong)
    assert tags.is_ordered() and tags.allows_duplicates() and not tags.is_empty()
    assert (car.years.cardinality(), car.years.is_ordered(), car.years.allows_duplicates()) == (
        2,
        False,
        False,
    )
    assert (car.visits.cardinality(), car.visits.allows_duplicates()) == (2, True)
    car.sizes.bind("wide", 7)
    assert car.sizes.lookup("wide") == 7 and car.sizes.contains_key("wide") and car.sizes.contains_element(7)
    with pytest.raises(ec.QueryError, match=r"car\.sizes has no key 'high'"):
        car.sizes.lookup("high")
    assert car.parts.is_empty()
    found = db.query("select t from c in Cars, t in c.tags", language="oql")
    assert found == ec.Bag(["a", "c"])
