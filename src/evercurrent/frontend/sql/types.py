"""Type names to types.

>>> from evercurrent.frontend.sql.syntax import parse_tokens, tokenize
>>> cast = parse_tokens(tokenize("cast(x as array<struct<a: int, b: decimal(9,2)>>)"))
>>> print(type_of(cast.args["to"]))
ARRAY<STRUCT<a: INT, b: DECIMAL(9,2)>>
"""

from __future__ import annotations

from sqlglot import exp

from evercurrent.data.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DAYS,
    DOUBLE,
    FLOAT,
    INT,
    MICROS,
    MONTHS,
    NULL,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    Array,
    Decimal,
    Map,
    Member,
    String,
    Struct,
    Time,
    Type,
)
from evercurrent.limits import TYPE_DEPTH, check

D = exp.DType
SIMPLE: dict[exp.DType, Type] = {
    D.BOOLEAN: BOOLEAN,
    D.TINYINT: TINYINT,
    D.SMALLINT: SMALLINT,
    D.INT: INT,
    D.BIGINT: BIGINT,
    D.FLOAT: FLOAT,
    D.DOUBLE: DOUBLE,
    D.TEXT: STRING,
    D.BINARY: BINARY,
    D.VARBINARY: BINARY,
    D.DATE: DATE,
    D.DATE32: DATE,
    D.TIMESTAMPTZ: TIMESTAMP,
    D.TIMESTAMPLTZ: TIMESTAMP,
    D.TIMESTAMP: TIMESTAMP,
    D.TIMESTAMPNTZ: TIMESTAMP_NTZ,
    D.NULL: NULL,
}
MONTH_UNITS = ("YEAR", "MONTH")


class UnknownType(Exception):
    """A type name that means nothing here; `unsupported` if Spark knows it."""

    def __init__(self, message: str, unsupported: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.unsupported = unsupported


def type_of(node: exp.Expr | None, depth: int = 1) -> Type:
    check(depth, TYPE_DEPTH, "types in each other")
    if isinstance(node, exp.Interval):
        return _interval(node)
    if not isinstance(node, exp.DataType):
        raise UnknownType("a type is expected here")
    kind, parts = node.this, node.expressions
    if isinstance(kind, exp.Interval):
        return _interval(kind)
    if kind in SIMPLE:
        return SIMPLE[kind]
    match kind:
        case D.DECIMAL:
            return _decimal(parts)
        case D.TIME:
            return _time(parts)
        case D.TIMETZ:
            raise UnknownType("type TIME WITH TIME ZONE", unsupported=True)
        case D.VARCHAR | D.CHAR | D.NVARCHAR | D.NCHAR:
            return String(_number(parts[0])) if parts else STRING
        case D.ARRAY:
            return Array(type_of(_only(parts, 1)[0], depth + 1))
        case D.MAP:
            key, value = _only(parts, 2)
            return Map(type_of(key, depth + 1), type_of(value, depth + 1))
        case D.STRUCT:
            return Struct(tuple(_member(part, depth + 1) for part in parts))
        case D.INTERVAL:
            raise UnknownType(
                "an interval type needs its units, such as INTERVAL DAY TO SECOND or INTERVAL YEAR"
            )
        case D.USERDEFINED | D.UNKNOWN:
            raise UnknownType(f"there is no type {node.sql(dialect='spark')}")
        case _:
            raise UnknownType(f"type {node.sql(dialect='spark')}", unsupported=True)


def _only(parts: list[exp.Expr], count: int) -> list[exp.Expr]:
    if len(parts) != count:
        raise UnknownType(f"{count} element type{'s are' if count > 1 else ' is'} expected here")
    return parts


def _member(node: exp.Expr, depth: int) -> Member:
    if not isinstance(node, exp.ColumnDef) or node.args.get("kind") is None:
        raise UnknownType("a struct's members are written name: TYPE")
    required = any(
        isinstance(c.args.get("kind"), exp.NotNullColumnConstraint)
        for c in node.args.get("constraints") or ()
    )
    return Member(node.name, type_of(node.args["kind"], depth), not required)


def _decimal(parts: list[exp.Expr]) -> Decimal:
    precision = _number(parts[0]) if parts else 10
    scale = _number(parts[1]) if len(parts) > 1 else 0
    if not (1 <= precision <= 38 and 0 <= scale <= precision):
        raise UnknownType(
            f"DECIMAL({precision},{scale}): the precision is 1 to 38, the scale 0 to the precision"
        )
    return Decimal(precision, scale)


def _time(parts: list[exp.Expr]) -> Time:
    precision = _number(parts[0]) if parts else 6
    if precision > 6:
        raise UnknownType(
            f"type TIME({precision}), since a time of day is kept in microseconds: its precision is 0 to 6",
            unsupported=precision <= 9,
        )
    return Time(precision)


def _number(node: exp.Expr) -> int:
    text = (
        node.name
        if isinstance(node, exp.Literal)
        else node.this.name
        if isinstance(node.this, exp.Literal)
        else ""
    )
    if not text.isdigit() or len(text) > 9:
        raise UnknownType("a length or precision is a whole number")
    return int(text)


def _interval(node: exp.Interval) -> Type:
    unit = node.args.get("unit")
    units = [p.name.upper() for p in unit.find_all(exp.Var)] if unit is not None else []
    if not units:
        raise UnknownType("an interval type needs its units, such as INTERVAL DAY TO SECOND or INTERVAL YEAR")
    if all(u in MONTH_UNITS for u in units):
        return MONTHS
    return DAYS if units == ["DAY"] else MICROS
