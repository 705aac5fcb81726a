"""dbt's own tests of the macros that every dialect has: dates, texts, arrays."""

from __future__ import annotations

from importlib import import_module

import pytest
from dbt.tests.adapter.utils import fixture_get_intervals_between as intervals
from dbt.tests.adapter.utils.test_get_intervals_between import BaseGetIntervalsBetween

MACROS = {
    "any_value": "AnyValue", "array_append": "ArrayAppend", "array_concat": "ArrayConcat", "array_construct": "ArrayConstruct",
    "bool_or": "BoolOr", "cast": "Cast", "cast_bool_to_text": "CastBoolToText", "concat": "Concat",
    "current_timestamp": "CurrentTimestampNaive", "date": "Date", "date_spine": "DateSpine", "date_trunc": "DateTrunc",
    "dateadd": "DateAdd", "datediff": "DateDiff", "equals": "Equals", "escape_single_quotes": "EscapeSingleQuotesQuote",
    "except": "Except", "generate_series": "GenerateSeries",
    "get_powers_of_two": "GetPowersOfTwo", "hash": "Hash", "intersect": "Intersect", "last_day": "LastDay", "length": "Length",
    "listagg": "Listagg", "null_compare": "NullCompare", "position": "Position", "replace": "Replace", "right": "Right",
    "safe_cast": "SafeCast", "split_part": "SplitPart", "string_literal": "StringLiteral", "validate_sql": "ValidateSqlMethod",
}  # fmt: skip

for _file, _class in MACROS.items():
    _base = getattr(import_module(f"dbt.tests.adapter.utils.test_{_file}"), f"Base{_class}")
    globals()[f"Test{_class}"] = type(f"Test{_class}", (_base,), {"__module__": __name__})
del _base


class TestGetIntervalsBetween(BaseGetIntervalsBetween):
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        # dbt writes dates as 09/01/2023, which no cast of Spark reads.
        text = intervals.models__test_get_intervals_between_sql
        text = text.replace("'09/01/2023'", "'2023-09-01'").replace("'09/12/2023'", "'2023-09-12'")
        return {
            "test_get_intervals_between.yml": intervals.models__test_get_intervals_between_yml,
            "test_get_intervals_between.sql": self.interpolate_macro_namespace(text, "get_intervals_between"),
        }


del BaseGetIntervalsBetween
