"""The oracle itself: every case on the hand-made graphs, and what the cases do not show."""

from __future__ import annotations

import pytest

from tests.oql import graphs
from tests.oql.cases import collections, expressions, selects
from tests.oql.cases.case import Case
from tests.oql.oracle.evaluate import Oracle
from tests.oql.oracle.model import Model
from tests.oql.oracle.scalars import OqlError
from tests.oql.oracle.values import UNDEFINED, Bag, key
from tests.oql.schemas import COMPANY, SHOP

CASES = (*selects.CASES, *expressions.CASES, *collections.CASES)


def world(schema: str) -> tuple[Model, object]:
    model = Model(list((COMPANY if schema == "company" else SHOP).classes))
    return model, (graphs.company if schema == "company" else graphs.shop)(model)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_case(case: Case) -> None:
    model, graph = world(case.schema)
    oracle = Oracle(model)
    if case.defines:
        oracle.value(case.defines)
    found, expected = oracle.value(case.query), case.value(graph)
    assert key(found) == key(expected), f"{found!r} is not {expected!r}"


def test_names_of_cases_are_unique() -> None:
    assert len({c.name for c in CASES}) == len(CASES)


def test_strict_errors_are_undefined_in_views() -> None:
    model, _ = world("company")
    for query in ("element(Employees)", "list(1)[3]", "select ((employee) p).salary from p in Persons"):
        with pytest.raises(OqlError):
            Oracle(model, strict=True).value(query)
    assert Oracle(model).value("element(Employees)") is UNDEFINED
    assert Oracle(model).value("list(1)[3]") is UNDEFINED


def test_undefine_and_import() -> None:
    model, _ = world("company")
    oracle = Oracle(model)
    assert oracle.value("define n as 1; n + 1") == 2
    with pytest.raises(OqlError):
        oracle.value("undefine query n; n + 1")
    assert oracle.value("import Firm::employee as E; count(select (E) p from p in Persons)") == 6


def test_relationships_are_kept_from_both_ends() -> None:
    model, g = world("company")
    model.set(g.ann, "dept", g.ops)
    assert g.ann not in g.dev.values["employees"]
    assert g.ann in g.ops.values["employees"]
    model.add(g.hr, "employees", g.ann)
    assert g.ann.values["dept"] is g.hr
    assert g.ann not in g.ops.values["employees"]
    model.delete(g.hr)
    assert g.ann.values["dept"] is None


def test_deleting_reads_as_nil_and_leaves_collections() -> None:
    model, g = world("company")
    oracle = Oracle(model)
    model.delete(g.bob)
    model.delete(g.ann)
    assert key(oracle.value("select e.manager.name from e in Employees")) == key(
        Bag([UNDEFINED, UNDEFINED, "Cid"])
    )
    assert key(oracle.value("select c.name from e in Employees, c in e.dependents")) == key(Bag([]))
