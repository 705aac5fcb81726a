"""Query objects over extents: paths through references, views in three languages over the same objects."""

from __future__ import annotations

from typing import Any

import pytest

import evercurrent as ec

SCHEMA = """
class department (extent Departments) {
    attribute string name; relationship set<employee> employees inverse employee::dept; attribute employee head;
};
class employee (extent Employees) {
    attribute string name; attribute long salary; relationship department dept inverse department::employees;
};
"""


@pytest.fixture
def db() -> Any:
    made = ec.connect()
    made.odl(SCHEMA)
    return made


def test_paths_follow_references(db: Any) -> None:
    employees = db.relation("Employees")
    view = db.view("where", employees.select(lambda e: (e.name, e.dept.name, e.dept.head.name)))
    rich = db.view(
        "rich", employees.where(lambda e: e.dept.name == "Lab" and e.salary > 100).select(lambda e: e.name)
    )
    total = db.view(
        "total",
        employees.group_by(lambda e: e.dept.name).select(
            lambda d, g: (d, g.sum(lambda e: e.salary), g.max(lambda e: e.dept.head.name))
        ),
    )
    lab, sales = db.new("department", name="Lab"), db.new("department", name="Sales")
    ann = db.new("employee", name="Ann", salary=120, dept=lab)
    bob = db.new("employee", name="Bob", salary=80, dept=lab)
    lab.head = ann
    assert sorted(view.rows()) == [("Ann", "Lab", "Ann"), ("Bob", "Lab", "Ann")]
    assert rich.rows() == [("Ann",)] and total.rows() == [("Lab", 200, "Ann")]
    bob.dept = None
    lab.name = "Works"
    ann.dept = sales
    assert sorted(view.rows(), key=str) == [("Ann", "Sales", None), ("Bob", None, None)]
    assert rich.rows() == [] and sorted(total.rows(), key=str) == [("Sales", 120, None), (None, 80, None)]
    assert db.verify()


def test_joins_by_identity_and_mistakes(db: Any) -> None:
    employees, departments = db.relation("Employees"), db.relation("Departments")
    pairs = db.view(
        "pairs",
        employees.join(departments, lambda e, d: e.dept == d.oid).select(lambda e, d: (e.name, d.name)),
    )
    lab = db.new("department", name="Lab")
    db.new("employee", name="Ann", salary=1, dept=lab)
    assert pairs.rows() == [("Ann", "Lab")]
    with pytest.raises(ec.QueryError, match="department has no property nmae") as caught:
        employees.where(lambda e: e.dept.nmae == "Lab")
    assert "did you mean name?" in str(caught.value)


def test_three_languages_one_program(db: Any) -> None:
    employees = db.relation("Employees")
    db.view(
        "python", employees.where(lambda e: e.salary > 10 and e.dept.name == "Lab").select(lambda e: e.name)
    )
    db.execute(
        "CREATE VIEW sql AS SELECT e.name FROM Employees e WHERE e.salary > 10 AND e.dept.name = 'Lab'"
    )
    db.oql("define oql() as select e.name from e in Employees where e.salary > 10 and e.dept.name = 'Lab'")
    views = db._session.maintenance.design.program.views
    assert views["python"] == views["sql"] == views["oql"], "one relation of the program, kept once"


def test_python_over_oql_and_sql_over_python(db: Any) -> None:
    db.oql("define paid() as select struct(n: e.name, s: e.salary) from e in Employees")
    named = db.view("named", db.relation("paid").where(lambda p: p.s > 10).select(lambda p: ec.row(who=p.n)))
    db.execute("CREATE VIEW counted AS SELECT count(*) AS n FROM named")
    ann = db.new("employee", name="Ann", salary=20)
    db.new("employee", name="Bob", salary=5)
    assert named.rows() == [("Ann",)] and db.view("counted").rows() == [(1,)]
    ann.salary = 1
    assert named.rows() == [] and db.view("counted").rows() == [(0,)]
