"""Views in OQL when classes and operations change around them, and times of day."""

from __future__ import annotations

from datetime import time, timedelta
from typing import Any

import pytest

import evercurrent as ec
from evercurrent import Bag
from evercurrent.calculus.codec import decode, encode
from evercurrent.definitions.operations import keep_operation
from evercurrent.oql_views.stored_operations import KeptOperation
from evercurrent.term.handed_over import HandedOver

PERSON = "class person (extent Persons) { attribute string name; string hello(in string to); };"
SHIFT = "class shift (extent Shifts) { attribute string who; attribute time at; attribute interval length; };"


def test_a_class_that_defines_an_operation_anew_reaches_the_views_there_are() -> None:
    db = ec.connect()
    db.odl(PERSON, operations={"person.hello": lambda p, to: to + " " + p.name})
    db.oql('define hellos as select p.hello("hi") from p in Persons')
    db.execute("CREATE VIEW counted AS SELECT COUNT(*) AS n FROM hellos")
    db.new("person", name="Ann")
    db.odl(
        "class boss extends person { string hello(in string to); };",
        operations={"boss.hello": lambda p, to: "no"},
    )
    db.new("boss", name="Zed")
    assert (db.view("hellos").value(), db.view("counted").rows()) == (Bag(["hi Ann", "no"]), [(2,)])


def test_dropping_a_class_drops_the_names_of_its_objects() -> None:
    db = ec.connect()
    db.odl(PERSON)
    db.bind("Boss", db.new("person", name="Ann"))
    assert db.oql("Boss.name") == "Ann"
    db.drop_class("person")
    assert db.table("named_objects").rows() == []
    db.odl(PERSON)
    db.bind("Boss", db.new("person", name="Ben"))
    assert db.oql("Boss.name") == "Ben"


def test_a_macro_in_use_stays() -> None:
    db = ec.connect()
    db.odl(PERSON)
    db.oql(
        "define named(string n) as select p from p in Persons where p.name = n; define anns as count(named('Ann'))"
    )
    with pytest.raises(ec.QueryError, match="view anns depends on it"):
        db.oql("undefine named")
    db.oql("undefine anns; undefine named")
    with pytest.raises(ec.QueryError, match="named"):
        db.oql("count(named('Ann'))")


def test_times_of_day() -> None:
    db = ec.connect()
    db.odl(SHIFT)
    db.oql(
        """define early as select s.who from s in Shifts where s.at < time '12:00';
        define total as sum(select s.length from s in Shifts)"""
    )
    assert db.view("total").value() == timedelta(0)
    ann = db.new("shift", who="Ann", at=time(8, 30), length=timedelta(hours=8))
    db.new("shift", who="Ben", at=time(12), length=timedelta(hours=4))
    assert (db.view("early").value(), db.view("total").value()) == (Bag(["Ann"]), timedelta(hours=12))
    ann.at = time(23, 59, 59, 999_999)
    assert db.view("early").value() == Bag()
    assert db.oql("time '23:59:59.999999' = element(select s.at from s in Shifts where s.who = \"Ann\")")
    for wrong in ("25:00:00", "noon", "10:00:00+01:00"):
        with pytest.raises(ec.QueryError, match="time") as problem:
            db.oql(f"time '{wrong}'")
        assert problem.value.place is not None


# --- operations that are kept with the data ------------------------------------------------------------------


@ec.opaque
def found(self: Any, to: str) -> str:
    return to + self.name


def operation(function: Any) -> KeptOperation:
    db = ec.connect()
    db.odl(PERSON, operations={"person.hello": function})
    return keep_operation(db.schema, "person", db.schema.classes["person"].operations[0], HandedOver())


def test_what_is_looked_into_is_kept_as_its_term() -> None:
    made = operation(lambda p, to: to + p.name)
    assert (made.path, made.problem) == (None, "")
    assert encode(decode(made.body)) == made.body
    assert made.given is not None
    lost = KeptOperation(made.name, made.parameters, made.body)
    assert lost == made
    with pytest.raises(ec.QueryError, match="only what it means in views") as problem:
        lost(None, "hi")
    assert "bind_operations" in str(problem.value)


def test_what_resists_is_kept_by_its_name() -> None:
    made = operation(found)
    assert made.path == f"{__name__}:found"
    again = KeptOperation(made.name, made.parameters, made.body, made.path)
    with pytest.raises(ec.QueryError, match="has not been handed over"):
        again(None, "hi ")
    again = KeptOperation(made.name, made.parameters, made.body, made.path, known=HandedOver([found]))
    person = type("person", (), {"name": "Ann", "hello": again})()
    assert person.hello("hi ") == "hi Ann"


def test_what_cannot_be_found_is_not_kept() -> None:
    made = operation(ec.opaque(lambda p, to: to))
    assert made.body is None
    assert "cannot be found again by its name" in made.problem
