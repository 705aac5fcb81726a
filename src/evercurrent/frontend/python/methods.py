"""Methods, attributes and built-in functions of values, over symbols.

A method that the term language has with exactly Python's meaning is a term. Any other (`strip` without arguments strips more
than blanks) is Python's own function, opaque and with a known type: correct, and called once for each row.

    s.name.upper()      upper(s.name)
    s.name.strip()      an opaque column of its own: str.strip applied to s.name
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from evercurrent.data.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    STRING,
    TIME,
    Array,
    Boolean,
    Date,
    Decimal,
    Float,
    Integer,
    Map,
    String,
    Time,
    Timestamp,
    Type,
    is_numeric,
)
from evercurrent.errors import QueryError
from evercurrent.frontend.python import logic, operations
from evercurrent.frontend.python.opaque import name_of, number_of
from evercurrent.frontend.python.symbols import Symbol
from evercurrent.frontend.python.terms import Resists, is_symbolic, term_of
from evercurrent.term import build
from evercurrent.term.nodes import Apply, Opaque, Term
from evercurrent.term.nullable import nullable
from evercurrent.term.opaque import Strict

# --- texts -------------------------------------------------------------------------------------------------

AS_THEY_ARE = {"lower": "lower", "upper": "upper", "startswith": "startswith", "endswith": "endswith"}
"""Methods of texts that are functions of the term language, argument for argument."""

TRIMS = {"strip": "trim", "lstrip": "ltrim", "rstrip": "rtrim"}

OF_TEXTS: dict[str, Type] = {
    **dict.fromkeys(
        [
            "capitalize",
            "casefold",
            "center",
            "expandtabs",
            "ljust",
            "lstrip",
            "removeprefix",
            "removesuffix",
            "rjust",
            "rstrip",
            "strip",
            "swapcase",
            "title",
            "zfill",
            "translate",
            "join",
            "format",
        ],
        STRING,
    ),
    **dict.fromkeys(("count", "find", "index", "rfind", "rindex"), BIGINT),
    **dict.fromkeys(
        [
            "isalnum",
            "isalpha",
            "isascii",
            "isdecimal",
            "isdigit",
            "isidentifier",
            "islower",
            "isnumeric",
            "isprintable",
            "isspace",
            "istitle",
            "isupper",
            "startswith",
            "endswith",
        ],
        BOOLEAN,
    ),
    **dict.fromkeys(("split", "rsplit", "splitlines"), Array(STRING)),
}

DATE_PARTS = {"year": "year", "month": "month", "day": "day", "hour": "hour", "minute": "minute"}


def method(symbol: Symbol, name: str) -> Any:
    """`symbol.name` of a value that is no struct."""
    term = symbol._term
    match term.type:
        case String() if name in OF_TEXTS or name in AS_THEY_ARE or name in ("replace",):
            return lambda *args: _text(symbol, name, args)
        case Date() | Timestamp() if name in DATE_PARTS:
            if isinstance(term.type, Timestamp) or name in ("year", "month", "day"):
                return Symbol(build.call(DATE_PARTS[name], term))
        case Time() if name in ("hour", "minute", "second"):
            return Symbol(build.call(name, term))
        case Timestamp() if name == "time":
            return lambda: Symbol(build.cast(term, TIME))
        case Timestamp() if name == "date":
            return lambda: Symbol(build.cast(term, DATE))
        case Date() | Timestamp() if name in ("weekday", "isoweekday"):
            shift = 0 if name == "weekday" else 1
            return lambda: Symbol(build.call("add", build.call("weekday", term), build.lit(shift)))
        case Map() if name == "get":
            return lambda key, default=None: Symbol(_get(term, key, default))
        case Map() if name in ("keys", "values"):
            return lambda: Symbol(build.call(f"map_{name}", term))
    raise QueryError(f"{term.type} has no {name}", hint=_instead(term.type))


def _instead(t: Type) -> str | None:
    return f"texts have {', '.join(sorted({*OF_TEXTS, *AS_THEY_ARE}))}" if isinstance(t, String) else None


def _text(symbol: Symbol, name: str, args: tuple[Any, ...]) -> Symbol:
    term = symbol._term
    if name in ("startswith", "endswith") and len(args) == 1 and isinstance(args[0], tuple):
        return Symbol(build.disjunction(build.call(name, term, term_of(a)) for a in args[0]))
    if name in AS_THEY_ARE and len(args) == (1 if name.endswith("with") else 0):
        return Symbol(build.call(AS_THEY_ARE[name], term, *map(term_of, args)))
    if name in TRIMS and len(args) == 1 and isinstance(args[0], str):
        return Symbol(build.call(TRIMS[name], term, term_of(args[0])))
    if name == "replace" and len(args) == 2 and not (isinstance(args[0], str) and not args[0]):
        return Symbol(build.call("replace", term, *map(term_of, args)))
    if name == "replace":
        return builtin(str.replace, STRING, symbol, *args)
    return builtin(getattr(str, name), OF_TEXTS[name], symbol, *args)


def _get(term: Term, key: Any, default: Any) -> Term:
    found = build.call("try_element_at", term, term_of(key))
    if default is None:
        return found
    has = build.call("map_contains_key", term, term_of(key))
    return build.case([(has, found)], term_of(default))


def builtin(function: Callable[..., Any], result: Type, *args: Any) -> Symbol:
    """A function of Python, of which it is known that it depends on its arguments alone and what it returns."""
    terms = tuple(map(term_of, args))
    reason = "Python's own function; the term language has no exact equal"
    node = Opaque(Strict(function), name_of(function), number_of(function), reason)
    return Symbol(Apply(node, terms, result, any(map(nullable, terms))))


# --- functions ---------------------------------------------------------------------------------------------


def call_builtin(function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A built-in function over symbols; NotImplemented if it is none that is known."""
    if keywords and function not in KEYWORDS:
        return NotImplemented
    try:
        known = FUNCTIONS.get(function)
    except TypeError:  # it does not hash
        return NotImplemented
    if known is not None:
        return known(*args, **keywords)
    if function in OF_MATH:
        return builtin(function, OF_MATH[function], *args)
    owner = getattr(function, "__objclass__", None)
    if owner is str and args and isinstance(args[0], Symbol):  # str.lower(x)
        return method(args[0], function.__name__)(*args[1:])
    return NotImplemented


def length(value: Any) -> Any:
    if hasattr(value, "_length_"):
        return value._length_()
    if not isinstance(value, Symbol):
        return len(value)
    term = term_of(value)
    match term.type:
        case Array() | Map():
            return Symbol(build.cast(build.call("size", term), BIGINT))
        case _:
            return Symbol(build.cast(build.call("length", term), BIGINT))


def text(value: Any = "") -> Any:
    """`str(value)`, exactly for texts, integers and dates."""
    if not is_symbolic(value):
        return str(value)
    term = term_of(value)
    match term.type:
        case String():
            return Symbol(_or_none(term))
        case Integer() | Date():
            return Symbol(_or_none(build.cast(term, STRING)))
        case _:
            return builtin(str, STRING, value)


def _or_none(term: Term) -> Term:
    return build.call("coalesce", term, build.lit("None")) if nullable(term) else term


def integer(value: Any = 0) -> Any:
    if not is_symbolic(value):
        return int(value)
    term = term_of(value)
    if isinstance(term.type, Integer | Float | Decimal | Boolean):
        return Symbol(build.cast(term, BIGINT))
    return builtin(int, BIGINT, value)


def to_float(value: Any = 0.0) -> Any:
    if not is_symbolic(value):
        return float(value)
    term = term_of(value)
    if is_numeric(term.type) or isinstance(term.type, Boolean):
        return Symbol(build.cast(term, DOUBLE))
    return builtin(float, DOUBLE, value)


def round_value(value: Any, digits: Any = None) -> Any:
    if not is_symbolic(value):
        return round(value) if digits is None else round(value, digits)
    term = term_of(value)
    if isinstance(term.type, Integer) and digits is None:
        return value
    if isinstance(term.type, Float):
        return builtin(
            round, BIGINT if digits is None else DOUBLE, *((value,) if digits is None else (value, digits))
        )
    raise Resists("round of a number that is not a float")


def least(*args: Any) -> Any:
    return _extreme("least", "lt", min, args)


def greatest(*args: Any) -> Any:
    return _extreme("greatest", "gt", max, args)


def _extreme(name: str, comparison: str, function: Any, args: tuple[Any, ...]) -> Any:
    if len(args) == 1:
        if hasattr(args[0], "_extreme_"):
            return args[0]._extreme_("min" if function is min else "max")
        if isinstance(args[0], Symbol) and isinstance(args[0]._term.type, Array):
            return Symbol(build.call("array_min" if function is min else "array_max", args[0]._term))
        return (
            function(*args)
            if not is_symbolic(args[0])
            else _extreme(name, comparison, function, tuple(args[0]))
        )
    terms = [term_of(a) for a in args]
    if any(map(nullable, terms)):
        # Python would raise for None; here None in is None out, which greatest and least are not.
        known = build.conjunction(build.call("is_not_null", t) for t in terms)
        return Symbol(build.case([(known, build.call(name, *terms))]))
    return Symbol(build.call(name, *terms))


def total(values: Any, start: Any = 0) -> Any:
    if hasattr(values, "_sum_"):
        return values._sum_(start)
    result = start
    for value in values:
        result = result + value
    return result


def any_of(values: Any) -> Any:
    if hasattr(values, "_any_"):
        return values._any_()
    return logic.either([False, *(Symbol(logic.truth(v)) for v in values)])


def all_of(values: Any) -> Any:
    if hasattr(values, "_all_"):
        return values._all_()
    return logic.both([True, *(Symbol(logic.truth(v)) for v in values)])


def truth_of(value: Any = False) -> Any:
    return Symbol(logic.truth(value))


def absolute(value: Any) -> Any:
    return operations.unary("abs", value)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    len: length,
    str: text,
    int: integer,
    float: to_float,
    bool: truth_of,
    abs: absolute,
    round: round_value,
    min: least,
    max: greatest,
    sum: total,
    any: any_of,
    all: all_of,
}

KEYWORDS: frozenset[Any] = frozenset((sum, round))

OF_MATH: dict[Any, Type] = {
    **{
        f: DOUBLE
        for f in (
            math.sqrt,
            math.exp,
            math.log,
            math.log2,
            math.log10,
            math.sin,
            math.cos,
            math.tan,
            math.atan,
            math.atan2,
            math.hypot,
            math.fabs,
            math.pow,
        )
    },
    math.floor: BIGINT,
    math.ceil: BIGINT,
    math.trunc: BIGINT,
    math.isnan: BOOLEAN,
    math.isinf: BOOLEAN,
    math.gcd: BIGINT,
    ord: BIGINT,
    chr: STRING,
    repr: STRING,
}
