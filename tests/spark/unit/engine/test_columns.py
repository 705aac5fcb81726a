"""Columns between Arrow and Python: the same as value by value."""

from __future__ import annotations

import datetime
from typing import Any

import pyarrow
import pytest

from evercurrent.data.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    STRING,
    Array,
    Decimal,
    Timestamp,
    Type,
)
from evercurrent.engine.spark.translate.arrow_columns import arrow_to_values, values_to_arrow
from evercurrent.engine.spark.translate.types import arrow_type, internal, plain, spark_type

DAY = datetime.datetime(2024, 2, 29, 12, 30, 1, 5)
CASES: list[tuple[Type, list[Any]]] = [
    (BIGINT, [1, None, -(2**63)]),
    (BOOLEAN, [True, None, False]),
    (STRING, ["", None, "ü"]),
    (BINARY, [b"", None, b"\0"]),
    (DATE, [DAY.date(), None]),
    (DATE, [datetime.date.min, datetime.date(1969, 12, 31), datetime.date.max]),
    (DOUBLE, [0.5, None, float("inf")]),
    (Timestamp(True), [DAY, None]),
    (Timestamp(False), [DAY, None]),
    (Timestamp(False), [datetime.datetime.min, DAY.replace(year=1960), datetime.datetime.max]),
    (Timestamp(True), [datetime.datetime.min, DAY.replace(year=1960), datetime.datetime.max]),
    (Decimal(12, 2), [0, None, -12345]),
    (Decimal(38, 10), [10**37, None, -(10**37) - 1]),
    (Array(BIGINT), [(1, None), None, ()]),
]


@pytest.mark.parametrize(("t", "values"), CASES, ids=str)
def test_columns_are_as_value_by_value(t: Type, values: list[Any]) -> None:
    column = values_to_arrow(t, values)
    assert column == pyarrow.array([plain(t, v) for v in values], arrow_type(spark_type(t)))
    assert arrow_to_values(t, column) == values == [internal(t, v) for v in column.to_pylist()]
    assert arrow_to_values(t, pyarrow.chunked_array([column, column.slice(1)])) == values + values[1:]
