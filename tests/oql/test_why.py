"""What elements of views in OQL come from: rows of extents and collections, and the objects that they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

import evercurrent as ec
from tests.laws.chooser import Seeded
from tests.oql.events import event
from tests.oql.mirror import Mirror
from tests.oql.queries import query
from tests.oql.schemas import COMPANY, ZOO
from tests.oql.test_conformance import filled


def told(query: str, *element: Any) -> tuple[Any, set[str]]:
    """The lineage, and the names of the objects in it."""
    mirror, _ = filled("company")
    mirror.db.oql(f"define v as {query};")
    found = mirror.db.view("v").why(*element)
    return found, {o.name for o in found.objects}


def test_a_join_comes_from_both_objects() -> None:
    found, names = told(
        "select struct(E:e.name, D:d.name) from e in Employees, d in Departments where e.dept = d",
        {"E": "Cid", "D": "ops"},
    )
    assert set(found) == {"Departments", "Employees"}
    assert names == {"Cid", "ops"}


def test_a_path_comes_from_every_object_on_it() -> None:
    _, names = told("select e.manager.dept.name from e in Employees where e.age > 50", "ops")
    assert names == {"Pat", "Cid", "ops"}


def test_what_is_nested_belongs_to_its_element() -> None:
    found, names = told(
        "select struct(E:e.name, Dep:(select c.name from c in e.dependents)) from e in Employees",
        {"E": "Ben", "Dep": ec.Bag(["Bob"])},
    )
    assert names == {"Ben", "Bob"}
    assert len(found["Employees_dependents"]) == 1


def test_a_group_comes_from_its_members() -> None:
    _, names = told(
        "select struct(d: d.name, n: count(partition)) from e in Employees group by d: e.dept",
        {"d": "dev", "n": 2},
    )
    assert names == {"Ann", "Ben", "dev"}


def test_a_single_value_needs_no_element() -> None:
    _, names = told("sum(select e.salary from e in Employees where e.age < 40)")
    assert names == {"Ben", "Cid"}


def test_undefined_says_what_is_not_there() -> None:
    found, names = told("select e.manager.name from e in Employees", ec.UNDEFINED)
    assert names == {"Ann"}
    assert found.absent == ("no row of Employees with e.manager = manager.oid",)


def test_an_element_that_is_not_there() -> None:
    with pytest.raises(ec.QueryError, match="v has no element 'Zoe'"):
        told("select e.name from e in Employees", "Zoe")
    with pytest.raises(ec.QueryError, match="v is not 7"):
        told("count(Employees)", 7)


def test_a_view_of_rows_needs_a_row() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (a INT); CREATE VIEW v AS SELECT a FROM t")
    with pytest.raises(ec.QueryError, match="which row of v"):
        db.view("v").why()


def test_sql_over_an_extent_tells_objects() -> None:
    mirror, graph = filled("company")
    mirror.db.execute("CREATE VIEW v AS SELECT name FROM Employees WHERE age < 35")
    assert mirror.db.view("v").why(("Ben",)).objects == (mirror.handles[graph.ben],)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("schema", [COMPANY, ZOO], ids=["company", "zoo"])
def test_every_element_has_its_objects(schema: Any, seed: int) -> None:
    """What is told are rows that are there, and objects that are."""
    c = Seeded(3000 + seed)
    mirror = Mirror(schema)
    for _ in range(12):
        mirror.happen(event(c, mirror.model))
    text = query(c, mirror.model)
    mirror.db.oql(f"define v as {text};")
    value = mirror.db.view("v").value()
    single = not isinstance(value, Iterable) or isinstance(value, str | ec.Record)
    for element in [()] if single else [(e,) for e in list(value)[:3]]:
        found = mirror.db.view("v").why(*element)
        assert set(found.objects) <= set(mirror.handles.values()), text
        for name, rows in found.counted.items():
            there = mirror.db._session.table_rows(name)
            assert len(rows) <= len(there), text
        assert str(found).startswith("v ")
