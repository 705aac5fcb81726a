"""Annotations as types of columns."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, NewType

import pytest

import evercurrent as ec
from evercurrent.frontend.python.annotations import columns_of, read

Name = NewType("Name", str)


class Inner(NamedTuple):
    x: int


@dataclass
class Everything:
    a: int
    b: float | None
    c: Name
    d: Literal["x", "y"]
    e: Annotated[Decimal, "DECIMAL(12,2)"]
    f: Annotated[int, "int"] | None
    g: list[str | None]
    h: dict[str, float]
    i: Inner
    j: tuple[int, str]
    k: datetime.datetime
    l: datetime.timedelta  # noqa: E741
    o: datetime.time
    m: bytes = b"x"
    n: Annotated[str, "VARCHAR(3)"] = "abc"


def test_types() -> None:
    found = columns_of(Everything)
    assert [f"{m.type}{'' if m.nullable else ' NOT NULL'}" for m in found.members] == [
        "BIGINT NOT NULL",
        "DOUBLE",
        "STRING NOT NULL",
        "STRING NOT NULL",
        "DECIMAL(12,2) NOT NULL",
        "INT",
        "ARRAY<STRING> NOT NULL",
        "MAP<STRING, DOUBLE> NOT NULL",
        "STRUCT<x: BIGINT> NOT NULL",
        "STRUCT<_1: BIGINT, _2: STRING> NOT NULL",
        "TIMESTAMP NOT NULL",
        "INTERVAL DAY TO SECOND NOT NULL",
        "TIME(6) NOT NULL",
        "BINARY NOT NULL",
        "VARCHAR(3) NOT NULL",
    ]
    assert dict(found.defaults) == {"m": b"x", "n": "abc"}


def test_rows_go_in_and_come_out() -> None:
    db = ec.connect()
    table = db.table_of(Everything)
    moment = datetime.datetime(2020, 1, 2, 3, tzinfo=datetime.UTC)
    row = Everything(
        1, None, Name("n"), "x", Decimal("1.50"), None, ["p", None], {"q": 1.5}, Inner(3), (4, "r"), moment,
        datetime.timedelta(seconds=5), datetime.time(6, 7), b"y",
    )  # fmt: skip
    table.insert(row)
    assert table.objects() == [row]
    assert table.where(
        lambda t: (
            t.h["q"] > 1 and t.j[0] == 4 and t.k.year == 2020 and t.o.hour == 6 and t.o < datetime.time(7)
        )
    ).select(lambda t: t.i).objects() == [Inner(3)]


@pytest.mark.parametrize("annotation", [object, int | str, complex, set, Annotated[int, "WIDE"], Any])
def test_what_is_no_type(annotation: Any) -> None:
    with pytest.raises((ec.UnsupportedError, ec.QueryError), match="this"):
        read(annotation, "this")
