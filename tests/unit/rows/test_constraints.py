"""Constraints are judged on the net change, by what it touches."""

from __future__ import annotations

import pytest

from evercurrent.catalog.nodes import Check, ForeignKey, Table, TableColumn, Unique
from evercurrent.data.types import BIGINT, INT, STRING, String
from evercurrent.data.zset import Row, ZSet
from evercurrent.errors import ConstraintError
from evercurrent.rows.constraints import children_of, validate
from evercurrent.rows.row_rules import RowRules
from evercurrent.rows.store import Store
from evercurrent.term.build import call, lit
from evercurrent.term.nodes import Column

CUSTOMER = Table(
    "Customer",
    (
        TableColumn("id", BIGINT, nullable=False),
        TableColumn("mail", STRING),
        TableColumn("code", String(3)),
    ),
    primary_key=Unique("customer_key", ("id",)),
    unique=(Unique("one_mail", ("mail",)),),
)
ORDERS = Table(
    "orders",
    (TableColumn("id", BIGINT), TableColumn("customer", BIGINT), TableColumn("amount", INT)),
    primary_key=Unique("orders_key", ("id",)),
    foreign_keys=(ForeignKey("who", ("customer",), "customer", ("id",)),),
    checks=(Check("positive", call("gt", Column("amount", INT), lit(0, INT)), "amount > 0"),),
)
LOG = Table("log", (TableColumn("text", STRING),))


class Tables:
    """Stores that take net changes as a commit does."""

    def __init__(self, *tables: Table) -> None:
        by_name = {t.name.lower(): t for t in tables}
        self.stores = {k: Store(t, lambda n: by_name.get(n.lower())) for k, t in by_name.items()}
        self.rules = {k: RowRules(t) for k, t in by_name.items()}
        self.children = children_of(self.stores)

    def commit(self, **changes: list[tuple[Row, int]]) -> None:
        deltas = {name: ZSet(rows) for name, rows in changes.items()}
        for patch in validate(self.stores, self.rules, deltas, self.children):
            patch.apply()

    def rows(self, name: str) -> list[Row]:
        return sorted(self.stores[name], key=repr)


@pytest.fixture
def tables() -> Tables:
    result = Tables(CUSTOMER, ORDERS, LOG)
    result.commit(
        customer=[((1, "a@x", "abc"), 1), ((2, None, None), 1)], orders=[((10, 1, 5), 1), ((11, None, 6), 1)]
    )
    return result


def refused(tables: Tables, **changes: list[tuple[Row, int]]) -> ConstraintError:
    before = {name: list(store) for name, store in tables.stores.items()}
    with pytest.raises(ConstraintError) as caught:
        tables.commit(**changes)
    assert {name: list(store) for name, store in tables.stores.items()} == before
    return caught.value


def test_not_null_names_table_column_and_rows(tables: Tables) -> None:
    error = refused(tables, customer=[((None, "b@x", None), 1)])
    assert error.constraint == "id NOT NULL"
    assert error.rows == [(None, "b@x", None)]
    assert "Customer" in str(error)


def test_primary_key_is_not_null_though_the_column_says_nothing(tables: Tables) -> None:
    assert refused(tables, orders=[((None, 1, 5), 1)]).constraint == "id NOT NULL"


def test_length_of_varchar(tables: Tables) -> None:
    assert refused(tables, customer=[((3, None, "abcd"), 1)]).constraint == "code VARCHAR(3)"


def test_check_is_broken_by_false_alone(tables: Tables) -> None:
    tables.commit(orders=[((12, 1, None), 1)])
    error = refused(tables, orders=[((13, 1, 0), 1), ((14, 1, -1), 1), ((15, 1, 1), 1)])
    assert (error.constraint, error.count) == ("positive", 2)
    assert "amount > 0" in str(error)


def test_primary_key_twice_shows_both_rows(tables: Tables) -> None:
    error = refused(tables, customer=[((1, "b@x", None), 1)])
    assert error.constraint == "customer_key"
    assert error.rows == [(1, "a@x", "abc"), (1, "b@x", None)]


def test_the_same_row_twice_breaks_a_key(tables: Tables) -> None:
    assert refused(tables, customer=[((3, None, None), 2)]).constraint == "customer_key"


def test_a_key_may_pass_from_one_row_to_another(tables: Tables) -> None:
    tables.commit(customer=[((1, "b@x", None), 1), ((1, "a@x", "abc"), -1)])
    assert tables.stores["customer"].rows[1] == (1, "b@x", None)


def test_unique_holds_for_values_and_not_for_nulls(tables: Tables) -> None:
    tables.commit(customer=[((3, None, None), 1)])
    assert refused(tables, customer=[((4, "a@x", None), 1)]).constraint == "one_mail"
    tables.commit(customer=[((4, "a@x", None), 1), ((1, "a@x", "abc"), -1), ((1, "c@x", "abc"), 1)])
    assert tables.stores["customer"].keys[0].rows == {"a@x": (4, "a@x", None), "c@x": (1, "c@x", "abc")}


def test_a_child_needs_its_parent_and_null_refers_to_nothing(tables: Tables) -> None:
    error = refused(tables, orders=[((12, 9, 1), 1)])
    assert (error.constraint, error.rows) == ("who", [(12, 9, 1)])
    tables.commit(orders=[((12, None, 1), 1)])


def test_parents_and_children_may_come_and_go_in_one_transaction(tables: Tables) -> None:
    tables.commit(orders=[((12, 9, 1), 1)], customer=[((9, None, None), 1)])
    tables.commit(customer=[((9, None, None), -1)], orders=[((12, 9, 1), -1)])
    assert (9, None, None) not in tables.rows("customer")


def test_a_parent_with_children_stays(tables: Tables) -> None:
    error = refused(tables, customer=[((1, "a@x", "abc"), -1)])
    assert (error.constraint, error.rows) == ("who", [(1, "a@x", "abc")])
    assert "orders" in str(error)
    tables.commit(customer=[((1, "a@x", "abc"), -1)], orders=[((10, 1, 5), -1), ((10, 2, 5), 1)])


def test_a_parent_may_change_while_its_key_stays(tables: Tables) -> None:
    tables.commit(customer=[((1, "a@x", "abc"), -1), ((1, "z@x", "abc"), 1)])
    assert tables.stores["orders"].references[0].counts == {1: 1}


def test_a_table_that_refers_to_itself() -> None:
    employees = Table(
        "employees",
        (TableColumn("id", INT), TableColumn("boss", INT)),
        primary_key=Unique("k", ("id",)),
        foreign_keys=(ForeignKey("boss", ("boss",), "employees", ("id",)),),
    )
    tables = Tables(employees)
    tables.commit(employees=[((1, 2), 1), ((2, 1), 1)])
    refused(tables, employees=[((1, 2), -1)])
    tables.commit(employees=[((1, 2), -1), ((2, 1), -1)])
    assert tables.rows("employees") == []


def test_composite_keys_in_another_order_and_case() -> None:
    parent = Table("p", (TableColumn("A", INT), TableColumn("b", INT)), primary_key=Unique("k", ("A", "b")))
    child = Table(
        "c",
        (TableColumn("x", INT), TableColumn("y", INT)),
        foreign_keys=(ForeignKey("f", ("x", "y"), "P", ("B", "a")),),
    )
    tables = Tables(parent, child)
    tables.commit(p=[((1, 2), 1)], c=[((2, 1), 1), ((None, 7), 1)])
    refused(tables, c=[((1, 2), 1)])
    refused(tables, p=[((1, 2), -1)])


def test_bags_count_rows(tables: Tables) -> None:
    tables.commit(log=[(("x",), 2), (("y",), 1)])
    tables.commit(log=[(("x",), -1), (("y",), -1)])
    assert tables.rows("log") == [("x",)]
    assert len(tables.stores["log"]) == 1
