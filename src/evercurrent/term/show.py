"""Terms as text, close to SQL, for plans, programs and messages.

>>> from evercurrent.data.types import BOOLEAN, INT
>>> a = Column("a", INT)
>>> show(Call("or", (Call("lt", (a, Literal(1, INT)), BOOLEAN), Call("is_null", (a,), BOOLEAN)), BOOLEAN))
'a < 1 or a is null'
"""

from __future__ import annotations

from typing import Any, assert_never

from evercurrent.data.types import (
    Array,
    Binary,
    Boolean,
    Date,
    Float,
    Integer,
    Interval,
    Map,
    Null,
    String,
    Struct,
    Time,
    Timestamp,
    Type,
)
from evercurrent.term.functions.text.spelling import spelling
from evercurrent.term.nodes import (
    Aggregate,
    Apply,
    Call,
    Case,
    Cast,
    Column,
    Field,
    Frame,
    Lambda,
    Literal,
    Nested,
    Record,
    SortKey,
    Term,
    Variable,
    WindowFunction,
)

# How tightly an operator binds; what binds less inside what binds more is put in parentheses.
INFIX = {
    "or": ("or", 1),
    "and": ("and", 2),
    "eq": ("=", 4),
    "ne": ("<>", 4),
    "lt": ("<", 4),
    "le": ("<=", 4),
    "gt": (">", 4),
    "ge": (">=", 4),
    "eqns": ("<=>", 4),
    "like": ("like", 4),
    "rlike": ("rlike", 4),
    "add": ("+", 6),
    "sub": ("-", 6),
    "mul": ("*", 7),
    "div": ("/", 7),
    "idiv": ("div", 7),
    "mod": ("%", 7),
}
ATOM = 10


def show(t: Term) -> str:
    return _show(t)[0]


def _show(t: Term) -> tuple[str, int]:
    """The text, and how tightly its outermost operator binds."""
    match t:
        case Literal(value, type):
            text = show_value(value, type)
            return text, 8 if text.startswith("-") else ATOM
        case Column(name) | Variable(name):
            return name, ATOM
        case Field(of, name):
            return f"{_inside(of, ATOM)}.{name}", ATOM
        case Call():
            return _call(t)
        case Case(branches, otherwise):
            arms = " ".join(f"when {show(c)} then {show(v)}" for c, v in branches)
            return f"case {arms} else {show(otherwise)} end", ATOM
        case Cast(of, type, strict):
            return f"{'cast' if strict else 'try_cast'}({show(of)} as {type})", ATOM
        case Record(members):
            return f"({', '.join(f'{name}: {show(term)}' for name, term in members)})", ATOM
        case Lambda(parameters, body):
            return f"({', '.join(p.name for p in parameters)}) -> {show(body)}", 0
        case Apply(opaque, args):
            return f"{opaque.name}!{opaque.number}({', '.join(map(show, args))})", ATOM
        case Nested():
            return _show_nested(t), ATOM
        case _:
            assert_never(t)


def _show_nested(t: Nested) -> str:
    """The calculus shows the queries; without it, only that there is one."""
    shower = getattr(type(t), "show", None)
    return str(shower(t)) if shower is not None else f"<{type(t).__name__.lower()} query>"


def _inside(t: Term, binding: int) -> str:
    text, own = _show(t)
    return text if own >= binding else f"({text})"


def _call(t: Call) -> tuple[str, int]:
    if t.function in INFIX and len(t.args) >= 2:
        sign, binding = INFIX[t.function]
        if t.function in ("like", "rlike") and len(t.args) > 2:
            return f"{t.function}({', '.join(map(show, t.args))})", ATOM
        # AND and OR are associative; of the others the left operand may bind as tightly, the right must bind more.
        flat = t.function in ("and", "or")
        tight = [_inside(a, binding + (flat or i > 0 or binding == 4)) for i, a in enumerate(t.args)]
        return f" {sign} ".join(tight), binding
    match t.function, t.args:
        case "not", (x,):
            return f"not {_inside(x, 3)}", 3
        case "neg", (x,):
            return f"-{_inside(x, 9)}", 8
        case "is_null", (x,):
            return f"{_inside(x, 5)} is null", 4
        case "is_not_null", (x,):
            return f"{_inside(x, 5)} is not null", 4
        case "in_list", (x, *options):
            return f"{_inside(x, 5)} in ({', '.join(map(show, options))})", 4
        case _:
            return f"{t.function}({', '.join(map(show, t.args))})", ATOM


def show_value(value: Any, type: Type) -> str:
    """A constant as it would be written."""
    if value is None:
        return "null"
    match type:
        case String():
            return "'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"
        case Date():
            return f"date '{spelling(type)(value)}'"
        case Time():
            return f"time '{spelling(type)(value)}'"
        case Timestamp(zone=zone):
            return f"timestamp{'' if zone else '_ntz'} '{spelling(type)(value)}'"
        case Interval():
            return spelling(type)(value).lower()
        case Binary():
            return f"x'{value.hex().upper()}'"
        case Array(element):
            return f"[{', '.join(show_value(v, element) for v in value)}]"
        case Map(k, v):
            return f"map({', '.join(f'{show_value(a, k)}: {show_value(b, v)}' for a, b in value.items())})"
        case Struct(members):
            return f"({', '.join(f'{m.name}: {show_value(v, m.type)}' for m, v in zip(members, value, strict=True))})"
        case Boolean() | Integer() | Float() | Null():
            return spelling(type)(value)
        case _:
            return spelling(type)(value)


def show_sort_key(key: SortKey) -> str:
    usual = key.nulls_first is not key.descending
    nulls = "" if usual else f" nulls {'first' if key.nulls_first else 'last'}"
    return f"{show(key.term)}{' desc' if key.descending else ''}{nulls}"


def show_aggregate(a: Aggregate) -> str:
    args = ", ".join([*map(show, a.args), *map(repr, a.options)]) if a.args else "*"
    order = f" order by {', '.join(map(show_sort_key, a.order))}" if a.order else ""
    where = f" filter ({show(a.where)})" if a.where is not None else ""
    return f"{a.function}({'distinct ' if a.distinct else ''}{args}{order}){where}"


def show_window_function(w: WindowFunction) -> str:
    args = ", ".join([*map(show, w.args), *map(repr, w.options)])
    nulls = " ignore nulls" if w.ignore_nulls else ""
    where = f" filter ({show(w.where)})" if w.where is not None else ""
    over = []
    if w.partition:
        over.append(f"partition by {', '.join(map(show, w.partition))}")
    if w.order:
        over.append(f"order by {', '.join(map(show_sort_key, w.order))}")
    over.append(show_frame(w.frame))
    return f"{w.function}({'distinct ' if w.distinct else ''}{args}){nulls}{where} over ({' '.join(over)})"


def show_frame(frame: Frame) -> str:
    return f"{frame.kind} between {_show_bound(frame.start, 'preceding')} and {_show_bound(frame.end, 'following')}"


def _show_bound(offset: Any, side: str) -> str:
    if offset is None:
        return f"unbounded {side}"
    if offset == 0:
        return "current row"
    if isinstance(offset, Literal):
        moved = Literal(abs(offset.value), offset.type)
        return f"{show(moved)} {'preceding' if offset.value < 0 else 'following'}"
    return f"{-offset} preceding" if offset < 0 else f"{offset} following"
