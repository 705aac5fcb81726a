"""Terms to columns of Spark.

Law. `column(t, scope)` evaluated by Spark on a row is the value of `t` on that row, or fails where `t` fails: Spark's
functions in ANSI mode are what the term language means by their names. `scope` maps names of columns to columns with
generated names; no name and no text of a user is ever parsed by Spark.

    mul(total, 2), a BIGINT, with scope {total: F.col("c2")}        CAST(c2 * CAST(2 AS BIGINT) AS BIGINT)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from pyspark.sql import Column as SparkColumn
from pyspark.sql import functions as F

from evercurrent.data.types import Binary, Integer, Null, String, Struct, Timestamp, Type
from evercurrent.engine.spark.translate.calls import higher_order, native
from evercurrent.engine.spark.translate.literals import literal
from evercurrent.engine.spark.translate.opaque_functions import apply_function
from evercurrent.engine.spark.translate.types import spark_type
from evercurrent.engine.spark.translate.zeros import one_zero
from evercurrent.errors import InternalError
from evercurrent.term.nodes import (
    Apply,
    Call,
    Case,
    Cast,
    Column,
    Field,
    Lambda,
    Literal,
    Nested,
    Record,
    Term,
    Variable,
)

Scope = Mapping[str, SparkColumn]


def column(t: Term, scope: Scope) -> SparkColumn:
    """The column that a term stands for."""
    match t:
        case Literal(value, type):
            return literal(value, type)
        case Column(name) | Variable(name):
            return scope[name]
        case Field(of, name):
            return column(of, scope).getField(_member(of.type, name))
        case Call(name, args) if any(isinstance(a, Lambda) for a in args):
            return higher_order(name, [_argument(a, scope) for a in args], t)
        case Call(name, args):
            return native(name, tuple(column(a, scope) for a in args), t)
        case Case(branches, otherwise, type):
            return _case(branches, otherwise, type, scope)
        case Cast(of, type, strict):
            return cast(column(of, scope), of.type, type, strict)
        case Record(members, type):
            parts = [column(m, scope).alias(name) for name, m in members]
            return F.struct(*parts).cast(spark_type(type))
        case Apply(args=args):
            return apply_function(t, [translate_typed(a, scope) for a in args])
        case Lambda() | Nested():
            raise InternalError(f"{t!r} cannot stand alone in a program")
        case _:
            assert_never(t)


def translate_typed(t: Term, scope: Scope) -> SparkColumn:
    """The column of a term, in exactly its type."""
    return column(t, scope).cast(spark_type(t.type))


def translate_into(t: Term, wanted: Type, scope: Scope) -> SparkColumn:
    """The column of a term that is added to a column of this type.

    By an equality, a wider integer may stand where a narrower one stood (`k = n`, INT and BIGINT): for rows that satisfy it, it fits.
    """
    value = translate_typed(t, scope)
    if t.type == wanted or not isinstance(wanted, Integer):
        return value
    return value.try_cast(spark_type(wanted))


def _member(of: Type, name: str) -> str:
    assert isinstance(of, Struct)
    position = of.position(name)
    assert position is not None
    return of.members[position].name


def _argument(a: Term, scope: Scope) -> object:
    """A column, or for a lambda the Python function that Spark's own functions take."""
    if not isinstance(a, Lambda):
        return column(a, scope)
    names = [p.name for p in a.parameters]

    def body(*values: SparkColumn) -> SparkColumn:
        return translate_typed(a.body, {**scope, **dict(zip(names, values, strict=True))})

    def one(x: SparkColumn) -> SparkColumn:
        return body(x)

    def two(x: SparkColumn, y: SparkColumn) -> SparkColumn:
        return body(x, y)

    def three(x: SparkColumn, y: SparkColumn, z: SparkColumn) -> SparkColumn:
        return body(x, y, z)

    # Spark looks at the signature to learn how many values to hand over.
    return {1: one, 2: two, 3: three}[len(names)]


def _case(branches: tuple[tuple[Term, Term], ...], otherwise: Term, type: Type, scope: Scope) -> SparkColumn:
    target = spark_type(type)
    result: SparkColumn | None = None
    for condition, value in branches:
        c, v = column(condition, scope), column(value, scope).cast(target)
        result = F.when(c, v) if result is None else result.when(c, v)
    last = column(otherwise, scope).cast(target)
    return last if result is None else result.otherwise(last)


def cast(c: SparkColumn, source: Type, target: Type, strict: bool = True) -> SparkColumn:
    match source, target:
        case (Null(), _):
            return F.lit(None).cast(spark_type(target))
        case String(), Binary():
            return F.encode(c, "UTF-8")
        case (Integer(), Timestamp()) if strict:
            return c.cast(spark_type(target))
        case _:
            made = c.cast(spark_type(target)) if strict else c.try_cast(spark_type(target))
            return made if source == target else one_zero(made, target)
