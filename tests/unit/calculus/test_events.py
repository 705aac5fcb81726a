"""The events that change a view, against figures 8 to 11 of Ali, Fernandes, Paton (2000)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evercurrent.calculus.events import Event, events, plans, view_class
from evercurrent.calculus.nodes import Query
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.classes import Schema
from evercurrent.catalog.extents import tables_of
from evercurrent.frontend.odl.resolve import classes_of
from evercurrent.frontend.sql.parse import parse_statement
from evercurrent.frontend.sql.statements import Select

SCHEMA = """
class person (extent Persons) { attribute string name; attribute unsigned short age; attribute string address; };
class department (extent Departments) {
    attribute string name; attribute string address;
    relationship set<employee> employees inverse employee::dept; };
class employee extends person (extent Employees) {
    attribute unsigned long salary; attribute set<person> dependents;
    relationship department dept inverse department::employees; attribute employee manager; };
"""
WORKS_FOR = "SELECT e.name AS E, d.name AS D FROM Employees e, Departments d WHERE e.dept = d.oid"


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    schema = classes_of(SCHEMA, Schema())
    made = replace(Catalog(), schema=schema)
    for name in schema.classes:
        for table in tables_of(schema, name):
            made = made.with_table(table)
    return made


def query(catalog: Catalog, text: str) -> Query:
    statement = parse_statement(text, catalog)
    assert isinstance(statement, Select)
    return statement.ordered.query


def shown(catalog: Catalog, text: str) -> set[str]:
    return {f"{e}{' CA' if e.condition else ''}" for e in events(query(catalog, text), catalog)}


def test_the_events_of_figure_9(catalog: Catalog) -> None:
    assert shown(catalog, WORKS_FOR) == {
        "onInsertTo Employees",
        "onDeleteTo Employees",
        "onInsertTo Departments",
        "onDeleteTo Departments",
        "onModifyAttr person.name",
        "onModifyAttr department.name",
        "onModifyAttr employee.dept CA",
        "onInsertElementIn department.employees",
        "onDeleteElementIn department.employees",
    }


def test_a_path_follows_the_reference_and_what_it_reaches(catalog: Catalog) -> None:
    found = shown(catalog, "SELECT e.dept.name AS n FROM Employees e WHERE e.manager.age > 30")
    assert {
        "onModifyAttr employee.manager",
        "onModifyAttr person.age CA",
        "onModifyAttr department.name",
    } <= found
    assert "onInsertTo Departments" not in found, "a department that comes is referred to by nobody yet"
    assert "onModifyAttr person.name" not in found


def test_elements_of_a_collection(catalog: Catalog) -> None:
    text = "SELECT e.name, c.element.age AS a FROM Employees e, Employees_dependents c WHERE c.owner = e.oid"
    found = shown(catalog, text)
    assert {"onInsertElementIn employee.dependents", "onDeleteElementIn employee.dependents"} <= found
    assert {"onModifyAttrInElement person.age in employee.dependents", "onModifyAttr person.name"} <= found
    assert {"onInsertTo Persons", "onDeleteTo Persons"} <= found
    assert view_class(query(catalog, text), catalog) == "Unnest"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("SELECT e.name FROM Employees e", "ReduceGet"),
        ("SELECT e.dept.name AS n FROM Employees e", "ReduceGet"),
        (WORKS_FOR, "ReduceGetJoin"),
        ("SELECT a.name FROM Employees a, Employees b WHERE a.manager = b.oid", "ReduceGetJoin"),
        ("SELECT sum(e.salary) AS s FROM Employees e", "ReduceGet"),
        ("SELECT s FROM (SELECT dept, sum(salary) AS s FROM Employees GROUP BY dept) q", "ReduceGet"),
        ("SELECT e.name FROM Employees e WHERE e.dept IN (SELECT oid FROM Departments)", "ReduceGetJoin"),
        ("SELECT e.dept, collect_list(e.name) AS l FROM Employees e GROUP BY e.dept", "Nest"),
    ],
)
def test_the_classes_of_figure_10(catalog: Catalog, text: str, kind: str) -> None:
    assert view_class(query(catalog, text), catalog) == kind


def test_what_the_paper_leaves_out_has_events_too(catalog: Catalog) -> None:
    total = shown(
        catalog, "SELECT e.dept, sum(e.salary) AS s FROM Employees e WHERE e.age > 3 GROUP BY e.dept"
    )
    assert {
        "onModifyAttr employee.salary",
        "onModifyAttr person.age CA",
        "onModifyAttr employee.dept",
    } <= total
    missing = (
        "SELECT d.name FROM Departments d WHERE NOT EXISTS (SELECT * FROM Employees e WHERE e.dept = d.oid)"
    )
    assert {"onInsertTo Employees", "onModifyAttr employee.dept CA"} <= shown(catalog, missing)
    both = "SELECT name FROM Employees EXCEPT SELECT name FROM Departments"
    assert {"onModifyAttr person.name CA", "onModifyAttr department.name CA"} <= shown(catalog, both)


def test_the_plans_of_figure_11() -> None:
    def event(kind: str, condition: bool = False) -> Event:
        return Event(kind, "x", condition, "t")  # type: ignore[arg-type]

    assert plans(event("onInsertTo"), "ReduceGetJoin") == ("plant Δnew",)
    assert plans(event("onInsertElementIn"), "ReduceGetJoin") == ("OIDs_for_v ⋈ Δnew",)
    assert plans(event("onDeleteTo"), "ReduceGetJoin") == ("OIDs_for_v ⋈ Δold",)
    assert plans(event("onDeleteTo"), "ReduceGet") == ("plant Δold",)
    assert plans(event("onModifyAttr"), "ReduceGetJoin") == ("OIDs_for_v ⋈ Δnew",)
    assert plans(event("onModifyAttr", True), "ReduceGetJoin") == ("OIDs_for_v ⋈ Δold", "plant Δnew")
    assert plans(event("onModifyAttr", True), "Unnest") == ("plant Δold", "plant Δnew")
    assert plans(event("onModifyAttrInElement"), "Nest") == ("plant Δnew",)
