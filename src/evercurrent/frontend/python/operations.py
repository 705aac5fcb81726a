"""Python's operators over symbols, with Python's meaning.

    x == y        equal, None equal to None: null-safe equality, which is plain equality where one side is never None
    x < y, x + y  where one is None, Python raises; here the value is None, and a condition that is None keeps no row
    x // y, x % y floor, the sign of the divisor (of decimals: towards zero, as decimal.Decimal does)
    x / y         true division; by zero is an error
    a & b, ~a     of booleans: and, not; of integers: bits

A comparison of things that are never equal in Python (a text and a number) is refused: it is a mistake.
"""

from __future__ import annotations

from typing import Any

from evercurrent.data.types import (
    INT,
    Array,
    Binary,
    Boolean,
    Date,
    Decimal,
    Float,
    Integer,
    Interval,
    Map,
    Null,
    Reference,
    String,
    Struct,
    Time,
    Timestamp,
    Type,
    is_numeric,
)
from evercurrent.errors import QueryError
from evercurrent.frontend.python.symbols import Symbol, attribute
from evercurrent.frontend.python.terms import Resists, members_of, term_of
from evercurrent.term import build
from evercurrent.term.nodes import Literal, Term
from evercurrent.term.nullable import nullable

COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
ARITHMETIC = {"+": "add", "-": "sub", "*": "mul"}
BITS = {"&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor"}


def binary(operator: str, left: Any, right: Any) -> Any:
    """`left operator right`, one of them symbolic."""
    if operator in ("==", "!="):
        return Symbol(equality(left, right, operator == "!="))
    a, b = term_of(left), term_of(right)
    if operator in COMPARISONS:
        require_comparable(operator, a.type, b.type)
        return Symbol(build.call(COMPARISONS[operator], a, b))
    if operator in BITS:
        return Symbol(_bits(operator, a, b))
    return Symbol(_arithmetic(operator, a, b))


def unary(operator: str, operand: Any) -> Any:
    term = term_of(operand)
    match operator:
        case "-":
            return Symbol(build.call("neg", _number(term)))
        case "abs":
            return Symbol(build.call("abs", _number(term)))
        case "~":
            name = "not" if isinstance(term.type, Boolean) else "bitwise_not"
            return Symbol(build.call(name, term))
        case _:
            return Symbol(_number(term))


# --- equality ----------------------------------------------------------------------------------------------


def equality(left: Any, right: Any, negated: bool = False) -> Term:
    """Equality in which None equals None; rows and tuples are compared member by member."""
    ours, theirs = parts_of(left), parts_of(right)
    if ours is not None and theirs is not None:
        if len(ours) != len(theirs):
            return build.lit(negated)
        same = build.conjunction(equality(a, b) for a, b in zip(ours, theirs, strict=True))
        return build.negation(same) if negated else same
    a, b = term_of(left), term_of(right)
    require_comparable("!=" if negated else "==", a.type, b.type)
    if not nullable(a) and not nullable(b):
        return build.call("ne" if negated else "eq", a, b)
    same = build.call("eqns", a, b)
    return build.negation(same) if negated else same


def parts_of(value: Any) -> list[Any] | None:
    if isinstance(value, Symbol):
        term = value._term
        if isinstance(term.type, Struct) and not nullable(term):
            return [attribute(value, m.name) for m in term.type.members]
        return None
    members = members_of(value)
    return None if members is None else [part for _, part in members]


def is_none(value: Any) -> Term:
    """`value is None`."""
    if isinstance(value, Symbol) and value._missing is not None:
        return value._missing
    return build.call("is_null", value._term if isinstance(value, Symbol) else term_of(value))


def require_comparable(operator: str, a: Type, b: Type) -> None:
    kinds = kind_of(a), kind_of(b)
    if kinds[0] != kinds[1] and "null" not in kinds:
        raise QueryError(
            f"{a} {operator} {b}: in Python these are never equal and have no order",
            hint="convert one side: str(x), int(x), float(x)",
        )
    if operator not in ("==", "!=") and kinds[0] in ("map",):
        raise QueryError(f"{a} has no order")


def kind_of(t: Type) -> str:
    match t:
        case Boolean() | Integer() | Float() | Decimal():
            return "number"
        case Null():
            return "null"
        case String():
            return "text"
        case Binary():
            return "bytes"
        case Date():
            return "date"
        case Time():
            return "time"
        case Timestamp():
            return "timestamp"
        case Interval():
            return "interval"
        case Map():
            return "map"
        case Struct():
            return "struct"
        case Reference():
            return "reference"
        case _:
            return "array"


# --- arithmetic --------------------------------------------------------------------------------------------


def _number(term: Term) -> Term:
    return build.cast(term, INT) if isinstance(term.type, Boolean) else term


def _arithmetic(operator: str, a: Term, b: Term) -> Term:
    a, b = _number(a), _number(b)
    if operator == "+" and isinstance(a.type, String | Array) and type(a.type) is type(b.type):
        return build.call("concat", a, b)
    if operator == "*" and isinstance(a.type, String | Array):
        raise Resists("repetition with *")
    if operator in ARITHMETIC:
        return build.call(ARITHMETIC[operator], a, b)
    match operator:
        case "/":
            return build.call("div", a, b)
        case "%":
            return modulo(a, b)
        case "//":
            return floor_division(a, b)
        case "**":
            return _power(a, b)
        case "<<":
            return build.call("shiftleft", a, build.cast(b, INT))
        case ">>":
            return build.call("shiftright", a, build.cast(b, INT))
        case _:
            raise Resists(f"the operator {operator}")


def modulo(a: Term, b: Term) -> Term:
    """The remainder with the sign of the divisor; of decimals with that of the dividend."""
    if isinstance(a.type, String):
        raise Resists("formatting with %")
    rest = build.call("mod", a, b)
    if isinstance(rest.type, Decimal):
        return rest
    if isinstance(b, Literal) and b.value is not None and b.value > 0 and isinstance(rest.type, Integer):
        return build.call("pmod", a, b)
    return build.case([(_crosses(rest, b), build.call("add", rest, b))], rest)


def _crosses(rest: Term, b: Term) -> Term:
    """Whether the remainder and the divisor have different signs."""
    zero = build.lit(0)
    negative = build.call("lt", rest, zero)
    return build.conjunction(
        [build.call("ne", rest, zero), build.call("ne", negative, build.call("lt", b, zero))]
    )


def floor_division(a: Term, b: Term) -> Term:
    if not all(isinstance(t.type, Integer) for t in (a, b)):
        raise Resists("floor division of numbers that are not integers")
    quotient = build.call("idiv", a, b)
    return build.case(
        [(_crosses(build.call("mod", a, b), b), build.call("sub", quotient, build.lit(1)))], quotient
    )


def _power(a: Term, b: Term) -> Term:
    if isinstance(b, Literal) and b.value in (1, 2, 3) and is_numeric(a.type):
        result = a
        for _ in range(int(b.value) - 1):
            result = build.call("mul", result, a)
        return result
    raise Resists("a power other than a square or a cube")


def _bits(operator: str, a: Term, b: Term) -> Term:
    if isinstance(a.type, Boolean | Null) and isinstance(b.type, Boolean | Null):
        match operator:
            case "&":
                return build.conjunction([a, b])
            case "|":
                return build.disjunction([a, b])
            case _:
                return build.call("ne", a, b)
    if all(isinstance(t.type, Integer) for t in (a, b)):
        return build.call(BITS[operator], a, b)
    raise QueryError(
        f"{a.type} {operator} {b.type}",
        hint="& and | bind more tightly than comparisons: write (a == 1) & (b == 2)",
    )
