"""Constants that settings, quoting or time zones could change, as SQL writes them, with the values that they stand for."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

STRINGS: dict[str, str] = {
    "'a''b'": "a'b",
    r"'a\'b'": "a'b",
    '"it\'s"': "it's",
    '"a""b"': 'a"b',
    "'a\"\"b'": 'a""b',
    "'a' 'b'": "ab",
    "'${env:HOME}'": "${env:HOME}",
    "'${spark:spark.app.name} $x'": "${spark:spark.app.name} $x",
    r"r'\d+\\${env:PATH}'": r"\d+\\${env:PATH}",
    r"'C:\\dir\\'": "C:\\dir\\",
    r"'\n\t\r\b\0\Z'": "\n\t\r\b\0\x1a",
    "'two\nlines'": "two\nlines",
    r"'\u0041\101\q'": "AAq",
    r"'\U0001F600 é 😀'": "😀 é 😀",
    r"'100\%'": r"100\%",
    "'-- no comment'": "-- no comment",
    "'/* none */'": "/* none */",
    "'; DROP TABLE t'": "; DROP TABLE t",
    "'?'": "?",
    "':name'": ":name",
    "'\x7f\u2028'": "\x7f\u2028",
}
OTHERS: dict[str, Any] = {
    "X'00ff27'": b"\x00\xff'",
    "1.50": Decimal("1.50"),
    "-0.5BD": Decimal("-0.5"),
    "12345678901234567890.123456789": Decimal("12345678901234567890.123456789"),
    "1e3": 1000.0,
    "1.1F": 1.100000023841858,
    "-0.0D": -0.0,
    "CAST('NaN' AS DOUBLE)": math.nan,
    "CAST('-Infinity' AS DOUBLE)": -math.inf,
    "4.9e-324": 5e-324,
    "9223372036854775807": 2**63 - 1,
    "-128Y": -128,
    "DATE '0001-01-01'": date(1, 1, 1),
    "DATE '9999-12-31'": date(9999, 12, 31),
    "TIMESTAMP '2024-03-31 01:30:00'": datetime(2024, 3, 31, 1, 30, tzinfo=UTC),
    "TIMESTAMP '1900-01-01 00:00:00.000001+05:30'": datetime(1899, 12, 31, 18, 30, 0, 1, tzinfo=UTC),
    "TIMESTAMP_NTZ '2024-03-31 02:30:00'": datetime(2024, 3, 31, 2, 30),
    "INTERVAL '1 02:03:04.5' DAY TO SECOND": timedelta(days=1, hours=2, minutes=3, seconds=4.5),
    "INTERVAL '-90' MINUTE": -timedelta(minutes=90),
}
