"""The names of functions.

A call is looked up under its lower-case Spark name. Most names are those of the term language, which has synonyms of its
own; here are the kinds that SQL treats in its own way: what is refused because its answer can change while the data does
not, what makes rows, what needs a window, and which calls are only another way to write something.

    random()       refused: its value can change while the data does not
    explode(a)     makes rows
    rank()         needs OVER
    if(c, a, b)    is written as CASE
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time

from sqlglot import exp

from evercurrent.data.types import TIMESTAMP, TIMESTAMP_NTZ, Type

# Each with what to do instead.
PASS_IT_IN = "keep the value in a table, and change it there when it should change"
UNSTABLE: dict[str, str] = {
    **dict.fromkeys(("rand", "random", "randn", "randstr", "uniform", "uuid", "shuffle"), PASS_IT_IN),
    **dict.fromkeys(
        (
            "now",
            "current_timestamp",
            "current_date",
            "curdate",
            "current_time",
            "localtimestamp",
            "current_timezone",
            "current_user",
            "session_user",
            "user",
            "current_role",
            "current_database",
            "current_schema",
            "current_catalog",
            "version",
        ),
        PASS_IT_IN,
    ),
    **dict.fromkeys(
        ("monotonically_increasing_id", "spark_partition_id", "input_file_name", "input_file_block_start"),
        "use a key of the table, or row_number() OVER (ORDER BY ...)",
    ),
    **dict.fromkeys(("java_method", "reflect", "try_reflect"), "use a function that SQL has"),
}
# Without an argument these read the clock.
CLOCK_IF_BARE = ("unix_timestamp", "to_unix_timestamp")

CLOCK: dict[str, Callable[[datetime], datetime | date | time | str]] = {
    **dict.fromkeys(("now", "current_timestamp"), lambda at: at),
    "localtimestamp": lambda at: at.replace(tzinfo=None),
    **dict.fromkeys(("current_date", "curdate"), lambda at: at.date()),
    "current_time": lambda at: at.time(),
    "current_timezone": lambda _: "UTC",
}
"""What reads the clock, in queries and changes: the moment at which the statement began, in UTC. Views have no such moment."""

_READS_CLOCK = re.compile(rf"\b({'|'.join((*CLOCK, *CLOCK_IF_BARE))})\b", re.IGNORECASE)


def may_read_clock(text: str) -> bool:
    """Whether a name that reads the clock is anywhere in the text of a statement.

    >>> may_read_clock("INSERT INTO t VALUES (1, Current_Date())"), may_read_clock("SELECT known FROM t")
    (True, False)
    """
    return _READS_CLOCK.search(text) is not None


# Generators: name -> (with a position, of structs, keeps rows without elements)
GENERATORS: dict[str, tuple[bool, bool, bool]] = {
    "explode": (False, False, False),
    "explode_outer": (False, False, True),
    "posexplode": (True, False, False),
    "posexplode_outer": (True, False, True),
    "inline": (False, True, False),
    "inline_outer": (False, True, True),
    "unnest": (False, False, False),
}

# Functions that mean something only with OVER.
WINDOW_ONLY = frozenset(
    ("row_number", "rank", "dense_rank", "ntile", "percent_rank", "cume_dist", "lag", "lead", "nth_value")
)

# Casts that are written as calls.
CASTS: dict[str, Type] = {"timestamp_ntz": TIMESTAMP_NTZ, "timestamp_ltz": TIMESTAMP}

# Names of the term language that are not functions of SQL: operators, and what only the compiler writes.
INTERNAL = frozenset(
    [
        "add",
        "sub",
        "mul",
        "idiv",
        "neg",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "eqns",
        "is_null",
        "is_not_null",
        "in_list",
        "between",
        "and",
        "or",
        "not",
        "subscript",
        "bitand",
        "bitor",
        "bitxor",
        "bitnot",
        "average",
        "ring_add",
        "ring_sub",
        "ring_mul",
        "ring_check",
        "bounded",
        "scaled",
        "sum_above",
        "sum_below",
        "sum_within",
    ]
)
# Functions of SQL under another name there.
RENAMED: dict[str, str] = {"div": "idiv"}

# Functions of Spark that are not there yet.
MISSING = frozenset(
    [
        "aes_decrypt",
        "aes_encrypt",
        "approx_top_k",
        "array_agg_distinct",
        "assert_true",
        "bitmap_and_agg",
        "bitmap_bit_position",
        "bitmap_bucket_number",
        "bitmap_construct_agg",
        "bitmap_count",
        "bitmap_or_agg",
        "collate",
        "collation",
        "count_min_sketch",
        "from_avro",
        "from_csv",
        "from_protobuf",
        "from_xml",
        "hash",
        "histogram_numeric",
        "hll_sketch_agg",
        "hll_sketch_estimate",
        "hll_union",
        "hll_union_agg",
        "is_valid_utf8",
        "is_variant_null",
        "java_method",
        "json_tuple",
        "kll_sketch_agg",
        "luhn_check",
        "make_interval",
        "make_valid_utf8",
        "ngrams",
        "parse_json",
        "parse_url",
        "quote",
        "raise_error",
        "schema_of_avro",
        "schema_of_csv",
        "schema_of_variant",
        "schema_of_xml",
        "sentences",
        "session_window",
        "st_asbinary",
        "stack",
        "theta_sketch_agg",
        "to_avro",
        "to_binary",
        "to_char",
        "to_csv",
        "to_number",
        "to_protobuf",
        "to_varchar",
        "to_variant_object",
        "to_xml",
        "try_aes_decrypt",
        "try_parse_json",
        "try_parse_url",
        "try_to_binary",
        "try_to_number",
        "try_validate_utf8",
        "try_variant_get",
        "validate_utf8",
        "variant_get",
        "window_time",
        "xpath",
        "xpath_boolean",
        "xpath_double",
        "xpath_float",
        "xpath_int",
        "xpath_long",
        "xpath_number",
        "xpath_short",
        "xpath_string",
        "xxhash64",
    ]
)

# What EXTRACT(unit FROM x) and date_part('unit', x) are called.
PARTS: dict[str, str] = {
    **dict.fromkeys(("year", "y", "years", "yr", "yrs"), "year"),
    **dict.fromkeys(("quarter", "qtr"), "quarter"),
    **dict.fromkeys(("month", "mon", "mons", "months"), "month"),
    **dict.fromkeys(("week", "w", "weeks"), "weekofyear"),
    **dict.fromkeys(("day", "d", "days"), "day"),
    **dict.fromkeys(("dayofweek", "dow"), "dayofweek"),
    **dict.fromkeys(("doy",), "dayofyear"),
    **dict.fromkeys(("hour", "h", "hours", "hr", "hrs"), "hour"),
    **dict.fromkeys(("minute", "m", "min", "mins", "minutes"), "minute"),
    # the seconds of date_part have their fraction
    **dict.fromkeys(("second", "s", "sec", "seconds", "secs"), "date_part"),
    **dict.fromkeys(("yearofweek", "dayofweek_iso", "dow_iso"), "date_part"),
}


def name_of(node: exp.Expr) -> str | None:
    """The lower-case name of the function that a node calls, or None."""
    if isinstance(node, exp.Anonymous):
        return str(node.this.name if isinstance(node.this, exp.Expr) else node.this).lower()
    return None


def find_call(node: exp.Expr | None) -> exp.Expr | None:
    """The call inside FILTER, WITHIN GROUP and IGNORE NULLS."""
    while isinstance(node, exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
        node = node.this
    return node
