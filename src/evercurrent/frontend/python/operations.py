"""Python's operators over symbols, with Python's meaning.

    x == y        equal, None equal to None: null-safe equality, which is plain equality where one side is never None
    x < y, x + y  where one is None, Python raises; here the value is None, and a condition that is None keeps no row
    x // y, x % y floor, the sign of the divisor (of decimals: towards zero, as decimal.Decimal does)
    x / y         true division; by zero is an error
    a & b, ~a     of booleans: and, not; of integers: bits

A comparison of things that are never equal in Python (a text and a number) is refused: it is a mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evercurrent.calculus.nodes import Exists
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
    Timestamp,
    Type,
    is_numeric,
)
from evercurrent.errors import QueryError
from evercurrent.frontend.python.symbols import Symbol, attribute
from evercurrent.frontend.python.terms import Resists, mapping, members_of, term_of
from evercurrent.term import build
from evercurrent.term.nodes import Call, Literal, Term
from evercurrent.term.nullable import nullable

COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
ARITHMETIC = {"+": "add", "-": "sub", "*": "mul"}
BITS = {"&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor"}
LOGIC = frozenset(("and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "eqns", "in_list"))


def binary(operator: str, left: Any, right: Any) -> Any:
    """`left operator right`, one of them symbolic."""
    if operator in ("==", "!="):
        return Symbol(equality(left, right, operator == "!="))
    a, b = term_of(left), term_of(right)
    if operator in COMPARISONS:
        _require_comparable(operator, a.type, b.type)
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
    ours, theirs = _parts(left), _parts(right)
    if ours is not None and theirs is not None:
        if len(ours) != len(theirs):
            return build.lit(negated)
        same = build.conjunction(equality(a, b) for a, b in zip(ours, theirs, strict=True))
        return build.negation(same) if negated else same
    a, b = term_of(left), term_of(right)
    _require_comparable("!=" if negated else "==", a.type, b.type)
    if not nullable(a) and not nullable(b):
        return build.call("ne" if negated else "eq", a, b)
    same = build.call("eqns", a, b)
    return build.negation(same) if negated else same


def _parts(value: Any) -> list[Any] | None:
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


def _require_comparable(operator: str, a: Type, b: Type) -> None:
    kinds = _kind(a), _kind(b)
    if kinds[0] != kinds[1] and "null" not in kinds:
        raise QueryError(
            f"{a} {operator} {b}: in Python these are never equal and have no order",
            hint="convert one side: str(x), int(x), float(x)",
        )
    if operator not in ("==", "!=") and kinds[0] in ("map",):
        raise QueryError(f"{a} has no order")


def _kind(t: Type) -> str:
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


# --- truth -------------------------------------------------------------------------------------------------


def truth(value: Any) -> Term:
    """Whether Python takes a value for true, as a condition."""
    if hasattr(value, "_as_truth_"):
        found: Term = value._as_truth_()
        return found
    if not isinstance(value, Symbol):
        members = members_of(value)
        return build.lit(bool(value)) if members is None else build.lit(bool(members))
    term = value._term
    if value._missing is not None:
        return build.negation(value._missing)
    if value._truth is not None:
        return value._truth
    match term.type:
        case Boolean():
            if _is_logic(term):
                return term
            return build.call("coalesce", term, build.lit(False)) if nullable(term) else term
        case Null():
            return build.lit(False)
        case Integer() | Float() | Decimal():
            return _known(term, build.call("ne", term, build.lit(0)))
        case String():
            return _known(term, build.call("ne", term, build.lit("")))
        case Array() | Map():
            return _known(term, build.call("gt", build.call("size", term), build.lit(0)))
        case Interval():
            return _known(term, build.call("ne", term, Literal(0, term.type)))
        case Binary():
            return _known(term, build.call("gt", build.call("length", term), build.lit(0)))
        case _:
            return build.call("is_not_null", term)


def _is_logic(term: Term) -> bool:
    """Whether a term is NULL only where Python would have raised."""
    return isinstance(term, Exists) or (isinstance(term, Call) and term.function in LOGIC)


def _known(term: Term, condition: Term) -> Term:
    return build.conjunction([build.call("is_not_null", term), condition]) if nullable(term) else condition


def condition(value: Any) -> Term:
    """A condition of `where`: only TRUE counts, so null-safe equality is plain wherever one side is never NULL."""
    return build.conjunction(_plain(c) for c in build.conjuncts(truth(value)))


def _plain(term: Term) -> Term:
    match term:
        case Call("eqns", (a, b)) if not nullable(a) or not nullable(b):
            return build.call("eq", a, b)
        case _:
            return term


def both(values: list[Any]) -> Any:
    """`a and b` as a value: the first that is not true, else the last."""
    return _chosen(
        values, build.conjunction(map(truth, values)), lambda first, rest: (first, both(rest), first)
    )


def either(values: list[Any]) -> Any:
    """`a or b` as a value: the first that is true, else the last."""
    return _chosen(
        values, build.disjunction(map(truth, values)), lambda first, rest: (first, first, either(rest))
    )


def _chosen(
    values: list[Any], decision: Term, choice: Callable[[Any, list[Any]], tuple[Any, Any, Any]]
) -> Any:
    first, *rest = values
    if not rest:
        return first
    if all(_is_boolean(v) for v in values):
        return Symbol(decision)
    try:
        value = conditional(*choice(first, rest))
    except Resists:
        return Condition(decision)
    if isinstance(value, Symbol):
        object.__setattr__(value, "_truth", decision)
    return value


@dataclass(frozen=True)
class Condition:
    """`a and b` of values that have no type in common: it can be asked, not computed with."""

    decision: Term
    _symbolic_ = True

    def _as_truth_(self) -> Term:
        return self.decision

    def _as_term_(self) -> Term:
        raise Resists("`and` or `or` between values of different types is used as a value")


def _is_boolean(value: Any) -> bool:
    if isinstance(value, Symbol):
        term = value._term
        return isinstance(term.type, Boolean) and (not nullable(term) or _is_logic(term))
    return isinstance(value, bool) or hasattr(value, "_as_truth_")


def negated(value: Any) -> Symbol:
    """`not value`."""
    return Symbol(build.negation(truth(value)))


def conditional(test: Any, value: Any, otherwise: Any) -> Any:
    """`value if test else otherwise`; rows are chosen member by member."""
    decision = truth(test)
    if isinstance(decision, Literal):
        return value if decision.value else otherwise
    ours, theirs = members_of(value), members_of(otherwise)
    if ours is not None and theirs is not None and len(ours) == len(theirs):
        parts = [conditional(Symbol(decision), a, b) for (_, a), (_, b) in zip(ours, theirs, strict=True)]
        if type(value) is type(otherwise):
            return _remade(value, [n for n, _ in ours], parts)
    shape = value._shape if isinstance(value, Symbol) else None
    kinds = {_kind(term_of(v).type) for v in (value, otherwise)} - {"null"}
    if len(kinds) > 1:
        raise Resists("a choice between values of different types")
    return Symbol(build.case([(decision, term_of(value))], term_of(otherwise)), shape)


def _remade(value: Any, names: list[str], parts: list[Any]) -> Any:
    if isinstance(value, dict):
        return dict(zip(names, parts, strict=True))
    if type(value) is tuple:
        return tuple(parts)
    return type(value)(**dict(zip(names, parts, strict=True)))


# --- membership and items ----------------------------------------------------------------------------------


def contains(container: Any, value: Any) -> Term:
    """`value in container`."""
    if hasattr(container, "_contains_"):
        found: Term = container._contains_(value)
        return found
    if isinstance(container, Symbol):
        return _contains_symbol(container._term, value)
    if isinstance(container, str):
        return build.call("contains", term_of(container), term_of(value))
    members = [*container]
    if _parts(value) is not None:
        return build.disjunction(equality(value, m) for m in members)
    term = term_of(value)
    known = [m for m in members if m is not None]
    options = [term_of(m) for m in known]
    for option in options:
        _require_comparable("==", term.type, option.type)
    if not options:
        found = build.lit(False)
    elif all(isinstance(o, Literal) for o in options):
        found = build.call("in_list", term, *options)
    else:
        found = build.disjunction(equality(value, m) for m in known)
    if len(known) < len(members):
        return build.disjunction([build.call("is_null", term), found])
    return _known(term, found) if options else found


def _contains_symbol(container: Term, value: Any) -> Term:
    match container.type:
        case String():
            return build.call("contains", container, term_of(value))
        case Array():
            found = build.call("array_contains", container, term_of(value))
            return build.call("coalesce", found, build.lit(False)) if nullable(found) else found
        case Map():
            return build.call("map_contains_key", container, term_of(value))
        case other:
            raise QueryError(f"nothing is in {other}", hint="`in` needs a list, a text, an ARRAY or a query")


def item(container: Any, key: Any) -> Any:
    """`container[key]`."""
    if isinstance(container, dict):
        known = mapping(container)
        assert isinstance(known.type, Map)
        return Symbol(build.call("element_at", known, build.cast(term_of(key), known.type.key)))
    if not isinstance(container, Symbol):
        raise Resists("an index that depends on the row")
    term = container._term
    match term.type:
        case Struct(members):
            if isinstance(key, str):
                return attribute(container, key)
            if isinstance(key, int) and -len(members) <= key < len(members):
                return attribute(container, members[key].name)
            raise QueryError(f"a row of {len(members)} fields has no field {key!r}")
        case String():
            return Symbol(_characters(term, key))
        case Map():
            return Symbol(build.call("element_at", term, term_of(key)))
        case Array():
            if isinstance(key, int) and not isinstance(key, bool):
                return Symbol(build.call("element_at", term, build.lit(key + 1 if key >= 0 else key)))
            if isinstance(key, Symbol):
                index = build.cast(key._term, INT)
                zero = build.lit(0)
                at = build.case(
                    [(build.call("lt", index, zero), index)], build.call("add", index, build.lit(1))
                )
                return Symbol(build.call("element_at", term, at))
            return Symbol(_stretch(term, key))
        case other:
            raise QueryError(f"{other} has no items")


def _stretch(term: Term, key: Any) -> Term:
    """`items[i:j]` of an array, with constants from the front; anything else is left to Python."""
    if isinstance(key, slice) and key.step in (None, 1):
        start, stop = key.start or 0, key.stop
        if isinstance(start, int) and start >= 0:
            if stop is None:
                return build.call("slice", term, build.lit(start + 1), build.call("size", term))
            if isinstance(stop, int) and stop >= 0:
                return build.call("slice", term, build.lit(start + 1), build.lit(max(0, stop - start)))
    raise Resists("a slice of an array")


def _characters(term: Term, key: Any) -> Term:
    """`text[i:j]` with constants from the front; anything else is left to Python."""
    if isinstance(key, slice) and key.step in (None, 1):
        start, stop = key.start or 0, key.stop
        if isinstance(start, int) and start >= 0 and (stop is None or (isinstance(stop, int) and stop >= 0)):
            if stop is None:
                return build.call("substring", term, build.lit(start + 1))
            return build.call("substring", term, build.lit(start + 1), build.lit(max(0, stop - start)))
    raise Resists("characters of a text by their positions")
