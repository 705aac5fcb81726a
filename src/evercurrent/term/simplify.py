"""Simplification: one node at a time, its children already simple.

Laws, each used from left to right (three-valued logic; `x` any term, `n` one that cannot be NULL):

    f(constants)          = the value, unless evaluating it fails
    f(NULL), f strict     = NULL
    x AND TRUE            = x              x AND FALSE    = FALSE        x AND x = x       (and dually for OR)
    NOT NOT x             = x              NOT (x < y)    = x >= y       (the order is total, NaN included)
    n IS NULL             = FALSE          n = n          = TRUE         n <=> m  = n = m
    x = TRUE              = x              1 < x          = x > 1
    COALESCE(n, x)        = n              CASE WHEN TRUE THEN x ... = x
    CAST(CAST(x AS wider) AS t) = CAST(x AS t)            CAST(x AS wider) < c = x < c, where c fits

Evaluation may be skipped, so an error that a dropped part would have raised is not raised.
"""

from __future__ import annotations

from evercurrent.data.types import BOOLEAN, Decimal, Integer, Type
from evercurrent.data.values import integer_fits
from evercurrent.errors import EvaluationError, UnsupportedError
from evercurrent.term.function_table import FUNCTIONS, implementation
from evercurrent.term.functions.values.casts import cast_fails, cast_value
from evercurrent.term.nodes import Call, Case, Cast, Field, Literal, Record, Term
from evercurrent.term.nullable import nullable
from evercurrent.term.walk import rewrite

TRUE = Literal(True, BOOLEAN)
FALSE = Literal(False, BOOLEAN)

MIRRORED = {"eq": "eq", "ne": "ne", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
REFLEXIVE = {"eq": True, "le": True, "ge": True, "ne": False, "lt": False, "gt": False}

UNFOLDED = frozenset(("repeat", "space", "sequence", "array_repeat", "lpad", "rpad", "bounded", "scaled"))
"""Functions whose result can be very much larger than their arguments, or that check them: they stay as they are written."""


def simplify(t: Term) -> Term:
    """The whole term, from the leaves up."""
    return rewrite(t, simplify_node)


def simplify_node(t: Term) -> Term:
    match t:
        case Call():
            return _call(t)
        case Case():
            return _case(t)
        case Cast():
            return _cast(t)
        case Field(of=Literal(value=None), type=type):
            return Literal(None, type)
        case Field(of=Record(members), name=name):
            return next((term for member, term in members if member == name), t)
        case _:
            return t


def _call(t: Call) -> Term:
    function = FUNCTIONS[t.function]
    if t.function not in UNFOLDED and all(isinstance(a, Literal) for a in t.args):
        folded = _fold(t)
        if folded is not None:
            return folded
    if function.strict and any(isinstance(a, Literal) and a.value is None for a in t.args):
        return Literal(None, t.type)
    match t.function, t.args:
        case "and", args:
            return join_logic("and", args, neutral=TRUE, decisive=FALSE)
        case "or", args:
            return join_logic("or", args, neutral=FALSE, decisive=TRUE)
        case "not", (Call("not", (x,)),):
            return x
        case "not", (Call(function=name, args=inner, place=place),) if name in OPPOSITE:
            return Call(OPPOSITE[name], inner, BOOLEAN, place)
        case "not", (Call("is_null", inner, place=place),):
            return Call("is_not_null", inner, BOOLEAN, place)
        case "not", (Call("is_not_null", inner, place=place),):
            return Call("is_null", inner, BOOLEAN, place)
        case "is_null", (x,) if not nullable(x):
            return FALSE
        case "is_not_null", (x,) if not nullable(x):
            return TRUE
        case "eqns", (x, y):
            return _null_safe(t, x, y)
        case "coalesce", args:
            return _coalesce(t, args)
        case "in_list", (x, option):
            return simplify_node(Call("eq", (x, option), BOOLEAN, t.place))
        case "in_list", (x, *options) if len(set(options)) < len(options):
            return simplify_node(Call("in_list", (x, *dict.fromkeys(options)), BOOLEAN, t.place))
        case (name, (x, y)) if name in MIRRORED:
            return _comparison(t, x, y)
        case _:
            return t


def _fold(t: Call) -> Literal | None:
    """The value of a call of constants; None if evaluating it fails, as it then does when it is run."""
    values = [a.value for a in t.args if isinstance(a, Literal)]
    if FUNCTIONS[t.function].strict and None in values:
        return Literal(None, t.type)
    try:
        function = implementation(t.function, tuple(a.type for a in t.args), t.type)
        return Literal(function(*values), t.type)
    except (EvaluationError, UnsupportedError):
        return None


def join_logic(name: str, args: tuple[Term, ...], neutral: Literal, decisive: Literal) -> Term:
    """AND or OR of terms: flat, without repetition, without what decides nothing."""
    flat: dict[Term, None] = {}
    for a in args:
        for b in a.args if isinstance(a, Call) and a.function == name else (a,):
            if b == decisive:
                return decisive
            if b != neutral:
                flat[b] = None
    match tuple(flat):
        case ():
            return neutral
        case (single,):
            return single
        case several:
            return Call(name, several, BOOLEAN)


def _null_safe(t: Call, x: Term, y: Term) -> Term:
    if x == y:
        return TRUE
    if isinstance(x, Literal) and x.value is None:
        return simplify_node(Call("is_null", (y,), BOOLEAN, t.place))
    if isinstance(y, Literal) and y.value is None:
        return simplify_node(Call("is_null", (x,), BOOLEAN, t.place))
    if not nullable(x) and not nullable(y):
        return simplify_node(Call("eq", (x, y), BOOLEAN, t.place))
    return t


def _coalesce(t: Call, args: tuple[Term, ...]) -> Term:
    kept: list[Term] = []
    for a in args:
        for b in a.args if isinstance(a, Call) and a.function == "coalesce" else (a,):
            if (isinstance(b, Literal) and b.value is None) or b in kept:
                continue
            kept.append(b)
            if not nullable(b):
                return kept[0] if len(kept) == 1 else Call("coalesce", tuple(kept), t.type, t.place)
    if not kept:
        return Literal(None, t.type)
    return kept[0] if len(kept) == 1 else Call("coalesce", tuple(kept), t.type, t.place)


def _comparison(t: Call, x: Term, y: Term) -> Term:
    name = t.function
    if isinstance(x, Literal) and not isinstance(y, Literal):
        return simplify_node(Call(MIRRORED[name], (y, x), BOOLEAN, t.place))
    if x == y and not nullable(x):
        return Literal(REFLEXIVE[name], BOOLEAN)
    match x, y:
        case _, Literal(value=True) if name == "eq" and x.type == BOOLEAN:
            return x
        case _, Literal(value=False) if name == "eq" and x.type == BOOLEAN:
            return simplify_node(Call("not", (x,), BOOLEAN, t.place))
        case Cast(of=Literal()), _:
            return t
        case Cast(inner, Integer()), Literal(int() as value) if isinstance(inner.type, Integer):
            if not cast_fails(inner.type, x.type) and integer_fits(inner.type, value):
                return simplify_node(Call(name, (inner, Literal(value, inner.type)), BOOLEAN, t.place))
    return t


def _case(t: Case) -> Term:
    branches: list[tuple[Term, Term]] = []
    otherwise = t.otherwise
    for condition, value in t.branches:
        if isinstance(condition, Literal):
            if condition.value:
                otherwise = value
                break
            continue
        branches.append((condition, value))
    while branches and branches[-1][1] == otherwise:
        branches.pop()
    if not branches:
        return otherwise
    if len(branches) == len(t.branches) and otherwise is t.otherwise:
        return t
    return Case(tuple(branches), otherwise, t.type)


def _cast(t: Cast) -> Term:
    inner = t.of
    if inner.type == t.type:
        return inner
    match inner:
        case Literal(value, source):
            try:
                return Literal(cast_value(source, t.type, t.strict)(value), t.type)
            except EvaluationError:
                return t
        case Cast(of=first) if _embeds(first.type, inner.type) and _exact(t.type):
            return simplify_node(Cast(first, t.type, t.strict))
        case _:
            return t


def _exact(t: Type) -> bool:
    return isinstance(t, Integer | Decimal)


def _embeds(source: Type, target: Type) -> bool:
    """Whether every value of an exact type is, unchanged, one of another."""
    match source, target:
        case (Integer(), (Integer() | Decimal())) | (Decimal(), Decimal()):
            scale = source.scale if isinstance(source, Decimal) else 0
            target_scale = target.scale if isinstance(target, Decimal) else 0
            return target_scale >= scale and not cast_fails(source, target)
        case _:
            return False
