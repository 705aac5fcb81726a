"""Smart constructors: they find types, put in the casts that Spark's rules ask for, fold and simplify.

>>> from evercurrent.data.types import INT, Decimal
>>> from evercurrent.term.nodes import Column
>>> from evercurrent.term.show import show
>>> price = Column("price", Decimal(12, 2))
>>> print(show(call("mul", price, lit(2, INT))), call("mul", price, lit(2, INT)).type)
price * 2 DECIMAL(14,2)
>>> print(show(conjunction([TRUE, call("gt", lit(3, INT), Column("n", INT))])))
n < 3
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from evercurrent.data.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    NULL,
    SMALLINT,
    STRING,
    TIME,
    TIMESTAMP,
    TINYINT,
    Array,
    Decimal,
    Integer,
    Map,
    Member,
    Null,
    Reference,
    String,
    Struct,
    Time,
    Timestamp,
    Type,
)
from evercurrent.errors import EvaluationError, QueryError, UnsupportedError
from evercurrent.source import Place
from evercurrent.term.function_table import find
from evercurrent.term.functions import coerce
from evercurrent.term.functions.function import UNKNOWN, Function, Signature, TypeMismatch
from evercurrent.term.functions.values.casts import castable
from evercurrent.term.nodes import Call, Case, Cast, Field, Lambda, Literal, Record, Term, Variable
from evercurrent.term.nullable import nullable
from evercurrent.term.simplify import FALSE, TRUE, join_logic, simplify_node

__all__ = [
    "FALSE",
    "TRUE",
    "call",
    "case",
    "cast",
    "common_type",
    "conjunction",
    "conjuncts",
    "disjunction",
    "disjuncts",
    "field",
    "lambda_parameters",
    "lit",
    "negation",
    "null",
    "record",
]

_ATTEMPTS = frozenset(("try_add", "try_subtract", "try_multiply", "try_divide", "try_mod"))
"""Functions that return NULL where something fails, the reading of their arguments included."""

_LITERAL_DECIMALS = _ATTEMPTS.union(
    ("add", "sub", "mul", "div", "mod", "pmod", "eq", "ne", "lt", "le", "gt", "ge", "eqns")
)
"""Where an integer constant beside a decimal counts with the digits it has, not with those of its type."""


def lit(value: Any, type: Type | None = None) -> Literal:
    """A constant in internal representation; the type of plain Python constants is found."""
    return Literal(value, _type_of(value) if type is None else type)


def _type_of(value: Any) -> Type:
    match value:
        case None:
            return NULL
        case bool():
            return BOOLEAN
        case int():
            return INT if -(1 << 31) <= value < 1 << 31 else BIGINT
        case float():
            return DOUBLE
        case str():
            return STRING
        case _:
            raise TypeError(f"the type of the constant {value!r} must be given")


def null(type: Type = NULL) -> Literal:
    return Literal(None, type)


# --- calls -------------------------------------------------------------------------------------------------


def call(name: str, *args: Term, place: Place | None = None) -> Term:
    """The function applied, with its arguments coerced; simplified."""
    derived = DERIVED.get(name.lower())
    if name.lower() == "decode" and len(args) > 2:
        derived = _decode
    if derived is not None:
        return derived(args, place)
    function = find(name)
    if function is None:
        raise QueryError(f"there is no function {name.upper()}", place=place)
    if function.name in _LITERAL_DECIMALS:
        args = _digits_of_literals(args)
    signature = _signature(function, name, args, place)
    strict = function.name not in _ATTEMPTS
    coerced = tuple(_coerce(a, t, strict, place) for a, t in zip(args, signature.args, strict=True))
    return simplify_node(Call(function.name, coerced, signature.result, place))


def _signature(function: Function, name: str, args: tuple[Term, ...], place: Place | None) -> Signature:
    types = tuple(a.type for a in args)
    try:
        if function.refine is not None:
            constants = tuple(a.value if isinstance(a, Literal) else UNKNOWN for a in args)
            return function.refine(types, constants)
        return function.infer(types)
    except TypeMismatch as mismatch:
        raise QueryError(f"{name.upper()}: {mismatch}", place=place) from None
    except EvaluationError as failure:  # of a constant parameter: a pattern, a unit
        raise QueryError(f"{name.upper()}: {failure.message}", place=place, hint=failure.hint) from None
    except UnsupportedError as failure:
        raise UnsupportedError(failure.message, place=place, hint=failure.hint) from None


def _coerce(term: Term, type: Type, strict: bool, place: Place | None) -> Term:
    if isinstance(term, Lambda):
        body = cast(term.body, type, place=place)
        return term if body is term.body else Lambda(term.parameters, body, type)
    return cast(term, type, strict=strict, place=place)


def _digits_of_literals(args: tuple[Term, ...]) -> tuple[Term, ...]:
    if not any(isinstance(a.type, Decimal) for a in args):
        return args
    return tuple(
        Literal(a.value, coerce.decimal_of_literal(a.value))
        if isinstance(a, Literal) and isinstance(a.type, Integer) and a.value is not None
        else a
        for a in args
    )


def lambda_parameters(
    name: str, position: int, count: int, before: Sequence[Term], place: Place | None = None
) -> tuple[Type, ...]:
    """The types of the parameters of the lambda at a position, given the arguments before it."""
    function = find(name)
    if function is None or position not in function.lambdas or function.binds is None:
        raise QueryError(f"{name.upper()} takes no function as argument {position + 1}", place=place)
    try:
        return function.binds(tuple(a.type for a in before), position, count)
    except TypeMismatch as mismatch:
        raise QueryError(f"{name.upper()}: {mismatch}", place=place) from None


def cast(term: Term, type: Type, *, strict: bool = True, place: Place | None = None) -> Term:
    """The term as a value of the type."""
    if term.type == type:
        return term
    if isinstance(term.type, String) and isinstance(type, String) and type.length is None:
        return term
    if isinstance(term.type, Reference) and isinstance(type, Reference):
        return term  # an identity, whatever the class
    if isinstance(term, Literal) and term.value is None:
        return Literal(None, type)
    if not castable(term.type, type):
        hint = None
        if isinstance(term.type, Time) and isinstance(type, Timestamp):
            hint = "in Spark the day would be that of the clock: give it, make_timestamp(day, time)"
        raise QueryError(f"{term.type} cannot be cast to {type}", place=place, hint=hint)
    return simplify_node(Cast(term, type, strict))


def equate(a: Term, b: Term, null_safe: bool = False) -> Term:
    """The comparison of two equal types by the compiler, which also compares what SQL does not: maps."""
    name = "eqns" if null_safe else "eq"
    return Call(name, (a, b), BOOLEAN) if a.type == b.type and "MAP<" in str(a.type) else call(name, a, b)


# --- logic -------------------------------------------------------------------------------------------------


def conjunction(terms: Iterable[Term]) -> Term:
    """All of them; TRUE if there are none."""
    return join_logic("and", tuple(terms), neutral=TRUE, decisive=FALSE)


def disjunction(terms: Iterable[Term]) -> Term:
    """Any of them; FALSE if there are none."""
    return join_logic("or", tuple(terms), neutral=FALSE, decisive=TRUE)


def negation(term: Term) -> Term:
    return call("not", term)


def conjuncts(term: Term) -> tuple[Term, ...]:
    """The terms whose conjunction a term is; none for TRUE."""
    if term == TRUE:
        return ()
    return term.args if isinstance(term, Call) and term.function == "and" else (term,)


def disjuncts(term: Term) -> tuple[Term, ...]:
    """The terms whose disjunction a term is; none for FALSE."""
    if term == FALSE:
        return ()
    return term.args if isinstance(term, Call) and term.function == "or" else (term,)


def case(
    branches: Sequence[tuple[Term, Term]], otherwise: Term | None = None, place: Place | None = None
) -> Term:
    """CASE WHEN ... THEN ... ELSE ... END; its values are brought to their common type."""
    last = null() if otherwise is None else otherwise
    type = common_type([*(value.type for _, value in branches), last.type], place)
    pairs = []
    for condition, value in branches:
        if not isinstance(condition.type, type_of_conditions):
            raise QueryError(f"a condition is needed, not {condition.type}", place=place)
        pairs.append((cast(condition, BOOLEAN, place=place), cast(value, type, place=place)))
    return simplify_node(Case(tuple(pairs), cast(last, type, place=place), type))


type_of_conditions = (type(BOOLEAN), Null, String)


def common_type(types: Sequence[Type], place: Place | None = None) -> Type:
    """The least type that holds values of all the types."""
    try:
        return coerce.common_type(types)
    except TypeMismatch as mismatch:
        raise QueryError(str(mismatch), place=place) from None


# --- structs -----------------------------------------------------------------------------------------------


def record(members: Sequence[tuple[str, Term]]) -> Term:
    """A struct of named terms."""
    type = Struct(tuple(Member(name, term.type, nullable(term)) for name, term in members))
    return Record(tuple(members), type)


def field(term: Term, name: str, place: Place | None = None) -> Term:
    """A member of a struct, the value of a map's key, or that member of every element of an array of structs."""
    match term.type:
        case Struct(members) as struct:
            position = struct.position(name)
            if position is None:
                known = ", ".join(m.name for m in members)
                raise QueryError(f"there is no member {name}; there are {known}", place=place)
            member = members[position]
            if isinstance(term, Record):
                return term.members[position][1]
            return simplify_node(Field(term, member.name, member.type, member.nullable or nullable(term)))
        case Map():
            return call("element_at", term, lit(name), place=place)
        case Array(Struct() as element):
            item = Variable("element.", element, True)
            body = field(item, name, place)
            return call("transform", term, Lambda((item,), body, body.type), place=place)
        case other:
            raise QueryError(f"{other} has no members", place=place)


# --- functions that are written with others ------------------------------------------------------------------

Arguments = tuple[Term, ...]


def _arity(name: str, args: Arguments, least: int, most: int, place: Place | None) -> None:
    if not least <= len(args) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise QueryError(f"{name}: {wanted} arguments expected, {len(args)} given", place=place)


def _if(args: Arguments, place: Place | None) -> Term:
    _arity("IF", args, 3, 3, place)
    return case([(args[0], args[1])], args[2], place)


def _nvl2(args: Arguments, place: Place | None) -> Term:
    _arity("NVL2", args, 3, 3, place)
    return case([(call("is_not_null", args[0]), args[1])], args[2], place)


def _nullif(args: Arguments, place: Place | None) -> Term:
    _arity("NULLIF", args, 2, 2, place)
    return case([(call("eq", *args, place=place), null(args[0].type))], args[0], place)


def _nvl(args: Arguments, place: Place | None) -> Term:
    _arity("NVL", args, 2, 2, place)
    return call("coalesce", *args, place=place)


def _between(args: Arguments, place: Place | None) -> Term:
    _arity("BETWEEN", args, 3, 3, place)
    value, low, high = args
    return conjunction([call("ge", value, low, place=place), call("le", value, high, place=place)])


def _struct(args: Arguments, place: Place | None) -> Term:
    names = [a.name if isinstance(a, Field) else f"col{i}" for i, a in enumerate(args, 1)]
    return record(list(zip(names, args, strict=True)))


def _build_named_struct(args: Arguments, place: Place | None) -> Term:
    names = args[::2]
    if len(args) % 2 or not all(isinstance(n, Literal) and isinstance(n.value, str) for n in names):
        raise QueryError("NAMED_STRUCT: names, as constants, and values must come in pairs", place=place)
    return record([(n.value, v) for n, v in zip(names, args[1::2], strict=True) if isinstance(n, Literal)])


def _decode(args: Arguments, place: Place | None) -> Term:
    """DECODE(value, search, result, ..., default): a CASE in which NULL equals NULL."""
    value, rest = args[0], args[1:]
    pairs = list(zip(rest[::2], rest[1::2], strict=False))
    default = rest[-1] if len(rest) % 2 else None
    return case([(call("eqns", value, s, place=place), r) for s, r in pairs], default, place)


def _zero_if_null(args: Arguments, place: Place | None) -> Term:
    _arity("ZEROIFNULL", args, 1, 1, place)
    return call("coalesce", args[0], lit(0), place=place)


def _null_if_zero(args: Arguments, place: Place | None) -> Term:
    _arity("NULLIFZERO", args, 1, 1, place)
    return _nullif((args[0], lit(0)), place)


def _cast_to(type: Type) -> Callable[[Arguments, Place | None], Term]:
    def apply(args: Arguments, place: Place | None) -> Term:
        _arity(str(type), args, 1, 1, place)
        return cast(args[0], type, place=place)

    return apply


DERIVED: dict[str, Callable[[Arguments, Place | None], Term]] = {
    "if": _if,
    "iff": _if,
    "nvl": _nvl,
    "ifnull": _nvl,
    "nvl2": _nvl2,
    "nullif": _nullif,
    "zeroifnull": _zero_if_null,
    "nullifzero": _null_if_zero,
    "between": _between,
    "struct": _struct,
    "named_struct": _build_named_struct,
    "date": _cast_to(DATE),
    "time": _cast_to(TIME),
    "timestamp": _cast_to(TIMESTAMP),
    "string": _cast_to(STRING),
    "boolean": _cast_to(BOOLEAN),
    "tinyint": _cast_to(TINYINT),
    "smallint": _cast_to(SMALLINT),
    "int": _cast_to(INT),
    "bigint": _cast_to(BIGINT),
    "float": _cast_to(FLOAT),
    "double": _cast_to(DOUBLE),
    "decimal": _cast_to(Decimal(10, 0)),
    "binary": _cast_to(BINARY),
}
