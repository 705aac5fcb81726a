"""Data of other libraries as rows: the types of columns are read off the data.

    columns, rows = import_rows(frame)      a pandas or polars frame, an Arrow table, a list of dictionaries

Whatever speaks Arrow (the PyCapsule interface) is taken through Arrow; dictionaries and instances of dataclasses too. In a
pandas frame NaN and NaT stand for NULL.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from evercurrent.data.showing import show_value
from evercurrent.data.types import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    MICROS,
    NULL,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Array,
    Decimal,
    Integer,
    Map,
    Member,
    Struct,
    Type,
)
from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.rows.conversion import is_many

NOT_DATA = (
    "give a pandas or polars frame, an Arrow table, or a list of dictionaries, NamedTuples or dataclasses"
)


def arrow_of(data: Any) -> Any:
    """Returns the data as an Arrow table."""
    import pyarrow

    kind = type(data)
    try:
        if kind.__module__.startswith("pyarrow") and hasattr(data, "read_all"):
            return data.read_all()
        if isinstance(data, pyarrow.RecordBatch):
            return pyarrow.Table.from_batches([data])
        if isinstance(data, pyarrow.Table):
            return data
        if kind.__name__ == "DataFrame" and kind.__module__.startswith("pandas"):
            return pyarrow.Table.from_pandas(data, preserve_index=False)
        if kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark"):
            return data.toArrow()
        if hasattr(data, "__arrow_c_stream__"):
            return pyarrow.table(data)
        if isinstance(data, Mapping):
            return pyarrow.table({str(k): list(v) for k, v in data.items()})
        if is_many(data):
            return pyarrow.Table.from_pylist([_mapping(row) for row in data])
    except pyarrow.ArrowException as problem:
        raise QueryError(
            f"the types of the columns cannot be told from the data: {problem}", hint=NOT_DATA
        ) from None
    raise QueryError(f"{show_value(data)} holds no rows", hint=NOT_DATA)


def _mapping(row: Any) -> dict[str, Any]:
    if isinstance(row, Mapping):
        return {str(k): v for k, v in row.items()}
    if isinstance(row, tuple) and hasattr(row, "_asdict"):
        return dict(row._asdict())
    if dataclasses.is_dataclass(row) and not isinstance(row, type):
        return {f.name: getattr(row, f.name) for f in dataclasses.fields(row)}
    raise QueryError(f"the row {show_value(row)} does not name its columns", hint=NOT_DATA)


def columns_of(table: Any) -> tuple[Member, ...]:
    """Returns the columns of an Arrow table."""
    if not table.schema.names:
        raise QueryError("the data has no columns", hint=NOT_DATA)
    return tuple(Member(f.name, type_of(f.type, f.name), f.nullable) for f in table.schema)


def type_of(t: Any, column: str) -> Type:
    """Returns the type of an Arrow type. Unsigned integers get the next larger type that is signed."""
    from pyarrow import types as a

    if a.is_dictionary(t):
        return type_of(t.value_type, column)
    if a.is_signed_integer(t):
        return Integer(t.bit_width)
    if a.is_unsigned_integer(t):
        return Decimal(20, 0) if t.bit_width == 64 else Integer(t.bit_width * 2)
    if a.is_decimal(t) and 0 <= t.scale <= t.precision <= 38:
        return Decimal(t.precision, t.scale)
    if a.is_timestamp(t):
        return TIMESTAMP_NTZ if t.tz is None else TIMESTAMP
    if a.is_list(t) or a.is_large_list(t) or a.is_fixed_size_list(t):
        return Array(type_of(t.value_type, column))
    if a.is_map(t):
        return Map(type_of(t.key_type, column), type_of(t.item_type, column))
    if a.is_struct(t):
        return Struct(tuple(Member(f.name, type_of(f.type, column), f.nullable) for f in t))
    for is_it, found in (
        (a.is_boolean, BOOLEAN),
        (a.is_float32, FLOAT),
        (a.is_float64, DOUBLE),
        (a.is_string, STRING),
        (a.is_large_string, STRING),
        (a.is_string_view, STRING),
        (a.is_binary, BINARY),
        (a.is_large_binary, BINARY),
        (a.is_binary_view, BINARY),
        (a.is_fixed_size_binary, BINARY),
        (a.is_date, DATE),
        (a.is_time, TIME),
        (a.is_duration, MICROS),
        (a.is_null, NULL),
    ):
        if is_it(t):
            return found
    raise UnsupportedError(
        f"the column {column} is of Arrow's type {t}, which no type of a column holds", hint="cast it first"
    )
