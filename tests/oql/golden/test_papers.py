"""The queries that the papers print, as they print them, and what becomes of each.

One file for each query: the query, its comprehension, its algebra, the events that can change it with the plan for each and the
views derived from it, and the program. `pytest tests/oql/golden --update-golden` writes them anew; lay them beside the papers:

    Nakamura, Incremental Computation of Complex Object Queries (2001): the example of section 2 and figure 7
    Ali, Fernandes, Paton, Incremental Maintenance of Materialized OQL Views (2000): figures 2, 4 and 13
"""

from __future__ import annotations

from pathlib import Path

import pytest

import evercurrent as ec
from tests.oql.cases.selects import LEDGER, STATISTICS, UNPAID
from tests.oql.schemas import COMPANY, SHOP

FILES = Path(__file__).parent / "files"

FAMILY = """
class member (extent Members) { attribute long salary; };
class employee (extent Employees) { attribute long salary; attribute set<member> family; };
"""
PAPERS = {
    "family_income": (
        FAMILY,
        "define family_income as\n"
        "select e\nfrom e in Employees\nwhere sum(select m.salary\nfrom m in e.family) + e.salary > 50000",
    ),
    "general_ledger": (SHOP.odl, f"define general_ledger as\n{LEDGER}"),
    "order_statistics": (SHOP.odl, f"define order_statistics as\n{STATISTICS}"),
    "unpaid_sales": (SHOP.odl, f"define unpaid_sales as\n{UNPAID}"),
    "works_for": (
        COMPANY.odl,
        "define worksFor() as\n  select struct(E:e.name, D:d.name)\n  from e in Employees, d in Departments\n"
        "  where e.dept = d;",
    ),
    "dependents": (
        COMPANY.odl,
        "define dependents as\nselect struct(E:e.name, Dep:(\n  select c.name\n  from c in e.dependents\n"
        ")) from e in Employees",
    ),
    "older": (
        COMPANY.odl,
        "define olderEmpThatWorksFor() as\nselect struct(E:e.name, D:d.name)\n"
        "from e in Employees, d in Departments\nwhere e.dept = d and e.age >= 39;",
    ),
}
STAGES = ("calculus", "optimised", "events", "program")


def told(schema: str, definition: str) -> str:
    db = ec.connect()
    db.odl(schema, operations=COMPANY.operations if schema is COMPANY.odl else None)
    db.oql(definition)
    name = definition.removeprefix("define ").split("\n")[0].removesuffix(" as").removesuffix("()")
    parts = [definition]
    for stage in STAGES:
        parts += ["", f"--- {stage} ---", str(db.view(name).explain(stage)).rstrip()]
    return "\n".join(parts) + "\n"


@pytest.mark.parametrize("name", PAPERS)
def test_paper(name: str, request: pytest.FixtureRequest) -> None:
    text = told(*PAPERS[name])
    path = FILES / f"{name}.txt"
    if request.config.getoption("--update-golden"):
        FILES.mkdir(exist_ok=True)
        path.write_text(text)
    assert path.exists(), f"no golden file: run pytest tests/oql/golden --update-golden and read {path.name}"
    assert text == path.read_text(), f"{path.name} differs: judge the change, then --update-golden"


def test_no_file_is_left_over() -> None:
    assert {p.stem for p in FILES.glob("*.txt")} == set(PAPERS)
