"""Whether a term can be NULL.

Law. If `nullable(t)` is false, `t` has no NULL for any row whose non-nullable columns have none.

>>> from evercurrent.data.types import INT
>>> from evercurrent.term.build import call, lit
>>> a, b = Column("a", INT, nullable=False), Column("b", INT)
>>> nullable(call("add", a, b)), nullable(call("coalesce", b, a)), nullable(call("is_null", b))
(True, False, False)
"""

from __future__ import annotations

from typing import assert_never

from evercurrent.term.function_table import FUNCTIONS
from evercurrent.term.functions.values.casts import cast_nulls
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


def nullable(t: Term) -> bool:
    match t:
        case Literal(value):
            return value is None
        case Column(nullable=may) | Variable(nullable=may):
            return may
        case Field(of=of, nullable=may):
            return may or nullable(of)
        case Call():
            return _call(t)
        case Apply(nullable=may):
            return may
        case Case(branches, otherwise):
            return nullable(otherwise) or any(nullable(value) for _, value in branches)
        case Cast(of, target, strict):
            return not strict or cast_nulls(of.type, target) or nullable(of)
        case Record() | Lambda():
            return False
        case Nested():
            return True
        case _:
            assert_never(t)


def _call(t: Call) -> bool:
    function = FUNCTIONS[t.function]
    match t.function:
        case "is_null" | "is_not_null" | "eqns":
            return False
        case "coalesce":
            return all(map(nullable, t.args))
        case "greatest" | "least":
            return all(map(nullable, t.args))
    if function.nullable:
        return True
    return any(nullable(a) for i, a in enumerate(t.args) if i not in function.lambdas)
