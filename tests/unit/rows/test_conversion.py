"""Rows as users write them."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import pytest

from evercurrent.catalog.nodes import Table, TableColumn, Unique
from evercurrent.data.types import INT, STRING, String
from evercurrent.data.types import Decimal as DecimalType
from evercurrent.errors import ConstraintError, QueryError
from evercurrent.rows.conversion import RowReader, give_row
from evercurrent.rows.locate import key_of, locate
from evercurrent.rows.pending import Pending
from evercurrent.rows.store import Store

TABLE = Table(
    "orders",
    (
        TableColumn("id", INT),
        TableColumn("Total", DecimalType(8, 2)),
        TableColumn("note", String(5)),
    ),
    primary_key=Unique("k", ("id",)),
    unique=(Unique("u", ("note",)),),
)
READER = RowReader(TABLE, (None, Decimal("1.50"), None))


class Named(NamedTuple):
    id: int
    note: str


@dataclass
class Shaped:
    note: str
    id: int
    total: str


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((1, "2.5", "x"), (1, 250, "x")),
        ({"id": 1, "Total": 2, "note": None}, (1, 200, None)),
        ({"ID": 1, "total": Decimal("0.01")}, (1, 1, None)),
        ({"id": 1}, (1, 150, None)),
        (Named(1, "n"), (1, 150, "n")),
        (Shaped("n", 1, "3"), (1, 300, "n")),
    ],
)
def test_shapes_of_a_row(given: Any, expected: tuple[Any, ...]) -> None:
    assert READER.one(given) == expected


def test_many_rows() -> None:
    assert READER.many(iter([(1, 1, "x"), {"id": 2}])) == [(1, 100, "x"), (2, 150, None)]
    assert READER.many((1, 1, "x")) == [(1, 100, "x")]
    assert READER.many([]) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((1, 2), "has 3 columns, not 2"),
        ({"id": 1, "totl": 3}, "did you mean 'Total'"),
        ({"id": "x"}, "orders.id: 'x' is not a value of type INT"),
        ({"id": 1, "Total": "many"}, "orders.Total"),
        (5, "is not a row of orders"),
        ("abc", "is not a row of orders"),
        ([1, 2, 3], "is not a row of orders"),
    ],
)
def test_what_is_no_row_is_said_by_name(given: Any, said: str) -> None:
    with pytest.raises(QueryError) as caught:
        READER.many(given)
    assert said in str(caught.value)


def test_a_text_that_is_too_long_breaks_a_constraint() -> None:
    with pytest.raises(ConstraintError) as caught:
        READER.one((1, 1, "abcdef"))
    assert caught.value.constraint == "orders.note VARCHAR(5)"
    assert READER.one((1, 1, "abc     ")) == (1, 100, "abc  ")


def test_rows_go_out_as_users_see_them() -> None:
    assert give_row(TABLE.fields, (1, 250, None)) == (1, Decimal("2.50"), None)


def test_a_row_is_meant_by_key_or_whole() -> None:
    store = Store(TABLE, lambda name: None)
    store.rows[1] = (1, 100, "x")
    store.keys[0].rows["x"] = (1, 100, "x")
    pending = Pending(store)
    for which in ({"id": 1}, 1, {"note": "x"}, (1, 1, "x"), {"id": 1, "total": 1, "note": "x"}):
        assert locate(pending, READER, which) == (1, 100, "x")
    assert key_of(store, READER, (1, 1, "x")) is None
    with pytest.raises(ConstraintError, match="no row with id = 9"):
        locate(pending, READER, 9)
    with pytest.raises(QueryError) as caught:
        locate(pending, READER, {"total": 3})
    assert "its keys are (id), (note)" in str(caught.value)


def test_a_bag_has_no_key() -> None:
    bag = Table("b", (TableColumn("x", INT), TableColumn("y", STRING)))
    reader = RowReader(bag, (None, None))
    with pytest.raises(QueryError, match="neither a key nor a row"):
        locate(Pending(Store(bag, lambda name: None)), reader, 1)
