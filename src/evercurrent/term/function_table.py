"""All functions by name.

A family is a module with a tuple `FUNCTIONS`. `ALIASES` are other names for the same function, resolved when a call is
built, so that terms only ever hold the one name. `NAMES` is what Python source of functions may mention besides its
arguments: whoever executes such source provides them.

>>> find("Upper").name, find("ucase").name, find("nonsense")
('upper', 'upper', None)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from evercurrent.data.types import Integer, Type
from evercurrent.data.values import NAN, float32
from evercurrent.term.functions.collections import arrays, lambdas, maps, sequences
from evercurrent.term.functions.failures import division_by_zero, overflow
from evercurrent.term.functions.function import Function, Types
from evercurrent.term.functions.numbers import (
    arithmetic,
    bits,
    bounds,
    numeric,
    ordered_reads,
    ring,
    rounding,
)
from evercurrent.term.functions.temporal import date_parts, date_texts, datetimes, times
from evercurrent.term.functions.text import codes, formats, json_texts, json_values, matching, strings
from evercurrent.term.functions.values import comparison, logic

FAMILIES = (
    arithmetic.FUNCTIONS,
    comparison.FUNCTIONS,
    logic.FUNCTIONS,
    numeric.FUNCTIONS,
    bits.FUNCTIONS,
    rounding.FUNCTIONS,
    strings.FUNCTIONS,
    codes.FUNCTIONS,
    formats.FUNCTIONS,
    json_texts.FUNCTIONS,
    json_values.FUNCTIONS,
    matching.FUNCTIONS,
    date_parts.FUNCTIONS,
    datetimes.FUNCTIONS,
    date_texts.FUNCTIONS,
    times.FUNCTIONS,
    arrays.FUNCTIONS,
    sequences.FUNCTIONS,
    maps.FUNCTIONS,
    lambdas.FUNCTIONS,
    ring.RING,
    bounds.BOUNDS,
    ordered_reads.READS,
)

FUNCTIONS: dict[str, Function] = {f.name: f for family in FAMILIES for f in family}

ALIASES: dict[str, str] = {
    alias: name
    for name, aliases in {
        "array_size": "",
        "bitand": "bitwise_and",
        "bitor": "bitwise_or",
        "bitxor": "bitwise_xor",
        "bitnot": "bitwise_not",
        "ceil": "ceiling",
        "chr": "char",
        "concat": "",
        "date_add": "dateadd",
        "date_part": "datepart extract",
        "datediff": "date_diff",
        "day": "dayofmonth",
        "eqns": "equal_null",
        "format_string": "printf",
        "is_not_null": "isnotnull",
        "is_null": "isnull",
        "length": "char_length character_length len",
        "locate": "position charindex",
        "lower": "lcase",
        "mod": "modulo",
        "neg": "negative",
        "power": "pow",
        "aggregate": "reduce",
        "replace": "",
        "rlike": "regexp_like regexp",
        "sha1": "sha",
        "sign": "signum",
        "size": "cardinality",
        "substring": "substr",
        "timestampadd": "",
        "trim": "btrim",
        "unix_timestamp": "to_unix_timestamp",
        "upper": "ucase",
    }.items()
    for alias in aliases.split()
}


def _overflow(bits: int) -> Callable[[], Any]:
    t = Integer(bits)  # type: ignore[arg-type]
    return lambda: overflow(t)


NAMES: dict[str, Any] = {
    "NAN": NAN,
    "float32": float32,
    "division_by_zero": division_by_zero,
    **{f"overflow{bits}": _overflow(bits) for bits in (8, 16, 32, 64)},
}


def find(name: str) -> Function | None:
    """The function of a name, whatever its case, or None."""
    name = name.lower()
    return FUNCTIONS.get(ALIASES.get(name, name))


@lru_cache(maxsize=65536)
def implementation(name: str, types: Types, result: Type) -> Callable[..., Any]:
    """The Python function that a call stands for; of a strict function, it must not be given None."""
    return FUNCTIONS[name].implement(types, result)
