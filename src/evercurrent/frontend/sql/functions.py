"""The names of functions.

A call is looked up under its lower-case Spark name. Most names are those of the term language, which has synonyms of its
own; here are the kinds that SQL treats in its own way: what is refused because its answer can change while the data does
not, what makes rows, what needs a window, and which calls are only another way to write something.
"""

from __future__ import annotations

from sqlglot import exp

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

# Nodes that sqlglot makes for such functions when they are written without parentheses.
UNSTABLE_NODES: dict[type[exp.Expr], str] = {
    exp.CurrentDate: "current_date",
    exp.CurrentTimestamp: "current_timestamp",
    exp.CurrentTime: "current_time",
    exp.CurrentUser: "current_user",
    exp.CurrentRole: "current_role",
    exp.SessionUser: "session_user",
    exp.Localtimestamp: "localtimestamp",
}

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
CASTS: dict[str, str] = {
    "boolean": "BOOLEAN",
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "int": "INT",
    "bigint": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "decimal": "DECIMAL(10,0)",
    "string": "STRING",
    "binary": "BINARY",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "timestamp_ntz": "TIMESTAMP_NTZ",
    "timestamp_ltz": "TIMESTAMP",
}

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
    **dict.fromkeys(("second", "s", "sec", "seconds", "secs"), "extract_second"),
    **dict.fromkeys(("yearofweek",), "extract_yearofweek"),
    **dict.fromkeys(("dayofweek_iso", "dow_iso"), "extract_dayofweek_iso"),
}


def name_of(node: exp.Expr) -> str | None:
    """The lower-case name of the function that a node calls, or None."""
    if isinstance(node, exp.Anonymous):
        return str(node.this.name if isinstance(node.this, exp.Expr) else node.this).lower()
    return None


def called(node: exp.Expr | None) -> exp.Expr | None:
    """The call inside FILTER, WITHIN GROUP and IGNORE NULLS."""
    while isinstance(node, exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
        node = node.this
    return node
