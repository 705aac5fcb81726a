"""Whatever is wrong with a query is said at its place, with what to do."""

from __future__ import annotations

from typing import Any

import pytest

import evercurrent as ec
from tests.unit.frontend.oql.company import company


@pytest.fixture(scope="module")
def db() -> Any:
    db = company().db
    db.oql("define older(long a) as select e from e in Employees where e.age > a")
    return db


@pytest.mark.parametrize(
    ("text", "message", "under", "hint"),
    [
        ("select e.nam from e in Employees", "employee has no member nam", "nam", "did you mean name?"),
        ("Employes", "there is no Employes here", "Employes", "did you mean Employees?"),
        ("employees", "there is no employees here", "employees", "did you mean Employees?"),
        ("cout(Employees)", "there is no function or definition cout", None, "did you mean count?"),
        (
            "select d.employees.name from d in Departments",
            "name cannot be taken of a set",
            "name",
            "select its elements: select x.name from x in ...",
        ),
        ("count(3)", "count needs a collection, not an int", None, "count(select ... from ...)"),
        ("select e from e in 3", "a collection is needed here, not an int", "e in 3", None),
        ("first(Employees)", "a set has no first element", None, "order by makes a list"),
        (
            "select x.name from x in Employees where x.age",
            "a condition is needed here, not an int",
            "age",
            None,
        ),
        ("older(1, 2)", "older takes (long a)", None, None),
        ("keys(Employees)", "a set<employee> has no keys", None, "a dictionary has"),
        ("nvl(1)", "nvl takes two arguments, not 1", None, None),
        ("nvl(Employees, 1)", "a set<employee> and an int do not go together", None, None),
        ("abs(distinct 3)", "abs does not take distinct", None, "count, sum, min, max and avg do"),
        (
            "select sum(e.age) from e in Employees limit 1",
            "limit is for collections, and this select is one value",
            None,
            None,
        ),
        (
            "select e.name, e.name from e in Employees",
            "two projections are called name",
            "e.name",
            "write name: expression",
        ),
        ("select sum(e.name) from e in Employees", "sum needs numbers, not strings", "sum(e.name)", None),
        (
            "select e from e in Employees group by d: e.dept",
            "e is not known above group by",
            "e",
            "there are the labels and partition",
        ),
        (
            "select (departmnt) e from e in Employees",
            "there is no class departmnt",
            None,
            "did you mean department?",
        ),
        (
            "select e.name from e in Employees, d in Departments where e = d",
            "an employee cannot be compared with a department",
            "=",
            None,
        ),
        ('1 + "a"', "an int and a string cannot be added", "+", None),
        ("date '2001-99-01'", "'2001-99-01' is not a date", None, None),
        ("count(*)", "count(*) belongs in a select", None, "count(collection) counts elements"),
        ("select (department) e from e in Employees", "no employee can be a department", None, None),
    ],
)
def test_mistakes(db: Any, text: str, message: str, under: str | None, hint: str | None) -> None:
    with pytest.raises(ec.QueryError) as caught:
        db.query(text, language="oql")
    assert caught.value.message == message
    assert caught.value.hint == hint
    place = caught.value.place
    assert place is not None
    if under is not None:
        assert place.text[place.start : place.end] == under


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("element(Employees)", "there is no element, or several"),
        ("list(1, 2)[5]", "the index is out of range"),
        ("select ((employee) p).salary from p in Persons", "the object is no employee"),
        ('select e.phones["home"] from e in Employees', "there is no such key"),
    ],
)
def test_asked_directly_they_are_errors_and_in_a_view_undefined(db: Any, text: str, message: str) -> None:
    with pytest.raises(ec.EvaluationError) as caught:
        db.query(text, language="oql")
    assert caught.value.message == message
    db.oql(f"define failing as {text}")
    found = db.view("failing").value()
    assert found is ec.UNDEFINED or ec.UNDEFINED in found
    assert "caution" in str(db.view("failing").explain())
    db.oql("undefine failing")


def test_a_guard_keeps_the_check_from_failing(db: Any) -> None:
    text = 'select e.name from e in Employees where count(e.titles) > 1 andthen e.titles[1] = "Prof"'
    assert db.query(text, language="oql") == ec.Bag(["Ann"])


def test_not_a_query(db: Any) -> None:
    with pytest.raises(ec.QueryError, match="not a query"):
        db.query("define x as 1", language="oql")
    with pytest.raises(ec.QueryError, match="there is no language"):
        db.query("1", language="basic")
    with pytest.raises(ec.QueryError, match="no statement"):
        db.oql(" // nothing")
