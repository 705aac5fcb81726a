"""Values and rows as JSON and CSV.

JSON has no decimals, dates or infinities. They are written as text, so that nothing is lost:

    Decimal('15.00')               "15.00"
    datetime.date(2026, 5, 1)      "2026-05-01"
    float('nan')                   "NaN"
    b'\\x01\\x02'                  "AQI="          (base 64)
    Record(dept='toys', pay=15)    {"dept": "toys", "pay": 15}
"""

from __future__ import annotations

import base64
import csv
import datetime
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from evercurrent.data.collections import Bag, Set
from evercurrent.data.representation import Record


def json_value(value: Any) -> Any:
    """The value as something that JSON has."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            if math.isfinite(value):
                return value
            return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
        case Decimal():
            return format(value, "f")
        case datetime.datetime() | datetime.date() | datetime.time():
            return value.isoformat()
        case datetime.timedelta():
            return value.total_seconds()
        case bytes():
            return base64.b64encode(value).decode("ascii")
        case Record():
            return {name: json_value(v) for name, v in value.items()}
        case Mapping():
            return [[json_value(k), json_value(v)] for k, v in value.items()]
        case Bag() | Set() | list() | tuple() | set() | frozenset():
            return [json_value(v) for v in value]
        case _:
            return str(value)


def json_row(columns: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    return {name: json_value(v) for name, v in zip(columns, row, strict=True)}


def json_text(content: Any) -> str:
    """Compact JSON; what is not ASCII stays readable."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows with a header line. NULL is an empty field; nested values are JSON."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_csv_field(v) for v in row])
    return out.getvalue()


def _csv_field(value: Any) -> Any:
    plain = json_value(value)
    if plain is None:
        return ""
    return json_text(plain) if isinstance(plain, list | dict | bool) else plain
