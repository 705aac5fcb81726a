"""Literals for both sides, Spark's types as ours, and asking Spark many things in one query."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal as PythonDecimal
from typing import TYPE_CHECKING, Any

from evercurrent.data.types import (
    BINARY,
    BOOLEAN,
    DATE,
    DAYS,
    DOUBLE,
    MICROS,
    MONTHS,
    NULL,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Array,
    Decimal,
    Float,
    Integer,
    Interval,
    Map,
    Member,
    Struct,
    Time,
    Timestamp,
    Type,
)
from evercurrent.data.values import take_in
from evercurrent.term.build import call, cast, lit
from evercurrent.term.nodes import Term
from tests.unit.term.spark_cases import T

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SQL: dict[str, str] = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "idiv": "{0} DIV {1}",
    "mod": "{0} % {1}",
    "neg": "-({0})",
    "eq": "{0} = {1}",
    "ne": "{0} <> {1}",
    "lt": "{0} < {1}",
    "le": "{0} <= {1}",
    "gt": "{0} > {1}",
    "ge": "{0} >= {1}",
    "eqns": "{0} <=> {1}",
    "and": "{0} AND {1}",
    "or": "{0} OR {1}",
    "not": "NOT {0}",
    "is_null": "{0} IS NULL",
    "is_not_null": "{0} IS NOT NULL",
    "bitand": "{0} & {1}",
    "bitor": "{0} | {1}",
    "bitxor": "{0} ^ {1}",
    "bitnot": "~{0}",
    "subscript": "{0}[{1}]",
    "in_list": "{0} IN ({rest})",
}
"""How operators are written; functions are written as calls."""


def spark_type(t: Type) -> str:
    match t:
        case Array(element):
            return f"ARRAY<{spark_type(element)}>"
        case Map(k, v):
            return f"MAP<{spark_type(k)}, {spark_type(v)}>"
        case Struct(members):
            return f"STRUCT<{', '.join(f'{m.name}: {spark_type(m.type)}' for m in members)}>"
        case _:
            return str(t)


def sql(value: Any) -> str:
    """The literal in Spark's SQL."""
    match value:
        case T(None, t):
            return f"CAST(NULL AS {spark_type(t)})"
        case T(months, Interval("months")):
            sign, size = ("-", -months) if months < 0 else ("", months)
            return f"INTERVAL '{sign}{size // 12}-{size % 12}' YEAR TO MONTH"
        case T(micros, Interval("micros", days=True)):
            return f"INTERVAL '{micros // 86_400_000_000}' DAY"
        case T(micros, Interval()):
            sign, size = ("-", -micros) if micros < 0 else ("", micros)
            text = timedelta(microseconds=size)
            seconds = text.seconds
            clock = f"{seconds // 3600}:{seconds // 60 % 60}:{seconds % 60}.{text.microseconds:06d}"
            return f"INTERVAL '{sign}{text.days} {clock}' DAY TO SECOND"
        case T(number, Integer(bits)):
            return f"{number}{ {8: 'Y', 16: 'S', 32: '', 64: 'L'}[bits] }"
        case T(inner, t):
            return f"CAST('{inner}' AS {spark_type(t)})"
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return str(value)
        case float():
            return f"{value!r}D" if "e" in repr(value) or "." in repr(value) else f"{value}.0D"
        case PythonDecimal():
            return f"{value}BD"
        case str():
            return (
                "'"
                + value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
                + "'"
            )
        case bytes():
            return f"X'{value.hex()}'"
        case datetime():
            return f"TIMESTAMP'{value:%Y-%m-%d %H:%M:%S.%f}'".replace("P'1-", "P'0001-")
        case time():
            return f"TIME'{value.isoformat()}'"
        case date():
            return f"DATE'{value.isoformat()}'"
        case list():
            return f"array({', '.join(map(sql, value))})"
        case dict():
            return f"map({', '.join(f'{sql(k)}, {sql(v)}' for k, v in value.items())})"
        case tuple():
            return f"struct({', '.join(map(sql, value))})"
        case _:
            raise AssertionError(value)


def term(value: Any) -> Term:
    """The same literal as a term; nested ones are calls, folded."""
    match value:
        case T(None, t):
            return lit(None, t)
        case T(inner, Interval() as t):
            return lit(inner, t)
        case T(inner, t):
            return cast(lit(str(inner), STRING), t)
        case None:
            return lit(None, NULL)
        case PythonDecimal():
            digits, exponent = value.as_tuple().digits, value.as_tuple().exponent
            assert isinstance(exponent, int)
            t: Type = Decimal(max(len(digits), -exponent), -exponent)
            return lit(take_in(t, value), t)
        case bytes():
            return lit(value, BINARY)
        case datetime():
            return lit(value, TIMESTAMP)
        case time():
            return lit(value, TIME)
        case date():
            return lit(value, DATE)
        case list():
            return call("array", *map(term, value))
        case dict():
            return call("map", *(term(x) for pair in value.items() for x in pair))
        case tuple():
            return call("struct", *map(term, value))
        case _:
            return lit(value)


def written(name: str, args: Sequence[Any]) -> str:
    """The call in Spark's SQL."""
    texts = [sql(a) for a in args]
    if name in ("timestampadd", "timestampdiff"):
        texts[0] = args[0]
    return spelled(name, texts)


def spelled(name: str, texts: Sequence[str]) -> str:
    """The call in Spark's SQL, over arguments that are written already."""
    if name in SQL:
        return SQL[name].format(*(f"({t})" for t in texts), rest=", ".join(texts[1:]))
    if name in ("trim", "ltrim", "rtrim") and len(texts) == 2:
        where = {"trim": "BOTH", "ltrim": "LEADING", "rtrim": "TRAILING"}[name]
        return f"trim({where} {texts[1]} FROM {texts[0]})"
    if name in ("like", "ilike"):
        escape = f" ESCAPE {texts[2]}" if len(texts) > 2 else ""
        return f"{texts[0]} {name} {texts[1]}{escape}"
    if name == "overlay":
        tail = f" FOR {texts[3]}" if len(texts) > 3 else ""
        return f"overlay({texts[0]} PLACING {texts[1]} FROM {texts[2]}{tail})"
    return f"{name}({', '.join(texts)})"


@dataclass(frozen=True)
class Answer:
    """A value in internal representation and its type, or the beginning of an error's message."""

    value: Any = None
    type: Type | None = None
    error: str | None = None

    def agrees(self, other: Answer) -> bool:
        if self.error is not None or other.error is not None:
            return (self.error is None) == (other.error is None)
        return same_type(self.type, other.type) and same(self.value, other.value)


def same_type(a: Type | None, b: Type | None) -> bool:
    """Types without lengths and nullability; an interval's fields are not told apart."""

    def plain(t: Type | None) -> str:
        return re.sub(r"INTERVAL DAY TO SECOND", "INTERVAL DAY", re.sub(r"VARCHAR\(\d+\)", "STRING", str(t)))

    return plain(a) == plain(b)


def same(a: Any, b: Any) -> bool:
    """Equal; floats up to the last few bits, since libraries of mathematics differ there."""
    if isinstance(a, float) and isinstance(b, float):
        return a is b or a == b or (a != a and b != b) or abs(a - b) <= 1e-12 * max(abs(a), abs(b))
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b) and (a is None) == (b is None)


def ask(
    spark: SparkSession, queries: Sequence[str], failing: Sequence[bool] = (), source: str = ""
) -> list[Answer]:
    """Spark's answers: in one query if none of them fails; those that are expected to fail one by one."""
    if any(failing):
        calm = iter(ask(spark, [q for q, f in zip(queries, failing, strict=True) if not f], (), source))
        each = zip(queries, failing, strict=True)
        return [ask(spark, [q], (), source)[0] if f else next(calm) for q, f in each]
    if not queries:
        return []
    try:
        return _ask_all(spark, queries, source)
    except Exception as error:
        if len(queries) == 1:
            return [Answer(error=str(error).split("\n")[0][:150])]
        middle = len(queries) // 2
        return ask(spark, queries[:middle], (), source) + ask(spark, queries[middle:], (), source)


def _ask_all(spark: SparkSession, queries: Sequence[str], source: str) -> list[Answer]:
    frame = spark.sql("SELECT " + ", ".join(f"{q} AS c{i}" for i, q in enumerate(queries)) + source)
    types = [ours(f.dataType) for f in frame.schema.fields]
    # Python has no values for intervals of months: they come as text.
    months = [i for i, t in enumerate(types) if t == MONTHS]
    if months:
        frame = frame.selectExpr(
            *(f"CAST(c{i} AS STRING) c{i}" if i in months else f"c{i}" for i in range(len(types)))
        )
    row = frame.collect()[0]
    return [
        Answer(_months(v) if i in months else take_in(t, _plain(v, t)), t)
        for i, (v, t) in enumerate(zip(row, types, strict=True))
    ]


def _months(text: str | None) -> int | None:
    if text is None:
        return None
    found = re.search(r"'(-?)(\d+)-(\d+)'", text)
    assert found, text
    return (int(found[2]) * 12 + int(found[3])) * (-1 if found[1] else 1)


def _plain(value: Any, t: Type) -> Any:
    """What the session hands over, with timestamps in UTC instead of the local zone."""
    if value is None:
        return None
    match t:
        case Timestamp(zone=True):
            return value.astimezone(UTC)
        case Array(element):
            return [_plain(v, element) for v in value]
        case Map(k, v):
            return {_plain(a, k): _plain(b, v) for a, b in value.items()}
        case Struct(members):
            return tuple(_plain(v, m.type) for v, m in zip(value, members, strict=True))
        case _:
            return bytes(value) if isinstance(value, bytearray) else value


def ours(t: Any) -> Type:
    """Spark's type as ours."""
    match t.typeName():
        case "void":
            return NULL
        case "boolean":
            return BOOLEAN
        case "byte" | "short" | "integer" | "long" as name:
            bits = {"byte": 8, "short": 16, "integer": 32, "long": 64}[name]
            return Integer(bits)  # type: ignore[arg-type]
        case "float":
            return Float(32)
        case "double":
            return DOUBLE
        case "string":
            return STRING
        case "binary":
            return BINARY
        case "date":
            return DATE
        case "time":
            return Time(t.precision)
        case "timestamp":
            return TIMESTAMP
        case "timestamp_ntz":
            return TIMESTAMP_NTZ
        case "decimal":
            return Decimal(t.precision, t.scale)
        case "array":
            return Array(ours(t.elementType))
        case "map":
            return Map(ours(t.keyType), ours(t.valueType))
        case "struct":
            return Struct(tuple(Member(f.name, ours(f.dataType)) for f in t.fields))
        case name if "month" in name or "year" in name:
            return MONTHS
        case name if name.startswith(("interval", "daytime")):
            return DAYS if name == "interval day" else MICROS
        case name:
            raise AssertionError(name)
