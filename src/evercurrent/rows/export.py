"""Rows as Arrow tables, pandas and polars frames, typed as the columns are.

arrow_table(fields, rows).schema      id: int64, total: decimal128(12, 2)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from evercurrent.data.arrow_types import arrow_type, arrow_value
from evercurrent.data.types import (
    Boolean,
    Float,
    Integer,
    Interval,
    Timestamp,
    Type,
)
from evercurrent.data.values import give_out
from evercurrent.data.zset import Row
from evercurrent.errors import UnsupportedError
from evercurrent.rows.conversion import Fields

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


def arrow_table(fields: Fields, rows: Iterable[Row]) -> pyarrow.Table:
    """The rows as an Arrow table."""
    import pyarrow

    lists = list(zip(*rows, strict=True)) or [()] * len(fields)
    schema = pyarrow.schema([pyarrow.field(f.name, arrow_type(f.type), f.nullable) for f in fields])
    arrays = [
        pyarrow.array([arrow_value(f.type, v) for v in values], arrow_type(f.type))
        for f, values in zip(fields, lists, strict=True)
    ]
    return pyarrow.Table.from_arrays(arrays, schema=schema)


def pandas_frame(fields: Fields, rows: Iterable[Row]) -> pandas.DataFrame:
    """The rows as a pandas frame; integers and booleans with NULLs get pandas' nullable types, nothing becomes a float."""
    import pandas

    lists = list(zip(*rows, strict=True)) or [()] * len(fields)
    series = [
        pandas.Series([give_out(f.type, v) for v in values], dtype=_dtype(f.type, values))
        for f, values in zip(fields, lists, strict=True)
    ]
    frame = pandas.concat(series, axis=1) if series else pandas.DataFrame()
    frame.columns = [f.name for f in fields]
    return frame


def polars_frame(fields: Fields, rows: Iterable[Row]) -> polars.DataFrame:
    """The rows as a polars frame, through Arrow."""
    try:
        import polars
    except ImportError:
        raise UnsupportedError(
            "to_polars() needs polars, which is not installed", hint="pip install polars"
        ) from None
    frame = polars.from_arrow(arrow_table(fields, rows))
    assert isinstance(frame, polars.DataFrame)
    return frame


def _dtype(t: Type, values: tuple[Any, ...]) -> str:
    missing = any(v is None for v in values)
    match t:
        case Boolean():
            return "boolean" if missing else "bool"
        case Integer(bits):
            return f"Int{bits}" if missing else f"int{bits}"
        case Float(bits):
            return f"float{bits}"
        case Timestamp(zone):
            return "datetime64[us, UTC]" if zone else "datetime64[us]"
        case Interval("micros"):
            return "timedelta64[us]"
        case _:
            return "object"
