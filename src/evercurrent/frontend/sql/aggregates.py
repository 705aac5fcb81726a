"""Aggregate calls: finding them in an expression, and reading one.

    sum(DISTINCT x) FILTER (WHERE c)          listagg(x, ', ') WITHIN GROUP (ORDER BY y)
    percentile_cont(0.5) WITHIN GROUP (ORDER BY x DESC)          first(x) IGNORE NULLS

Arguments are read at the level of rows; what an aggregate stands for above is a field of the group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from evercurrent.data.types import BOOLEAN, Array, Decimal, Float, Integer
from evercurrent.frontend.sql import expressions, ordering
from evercurrent.frontend.sql.functions import find_call, name_of
from evercurrent.frontend.sql.scope import Level
from evercurrent.term.aggregates import ALIASES, TABLE, aggregate, find_aggregate
from evercurrent.term.nodes import Aggregate, Literal, SortKey, Term

# Aggregates whose second argument is a constant parameter.
WITH_FRACTION = frozenset(("percentile", "percentile_approx", "percentile_cont", "percentile_disc"))
IGNORING_NULLS = frozenset(("first", "last", "any_value"))


def is_aggregate(name: str) -> bool:
    return find_aggregate(name) is not None


def names() -> Iterator[str]:
    yield from TABLE
    yield from ALIASES


def is_call(node: exp.Expr) -> bool:
    """Whether a node is an aggregate call, with whatever stands around it (FILTER, WITHIN GROUP)."""
    if not isinstance(
        node, exp.Anonymous | exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls
    ):
        return False
    inner = find_call(node)
    name = name_of(inner) if inner is not None else None
    return name is not None and is_aggregate(name)


def calls_in(node: exp.Expr) -> Iterator[exp.Expr]:
    """The aggregate calls of a block in an expression; those of windows and of nested queries are not its own."""
    if is_call(node):
        yield node
        return
    if isinstance(node, exp.Query):
        return
    parts: Sequence[exp.Expr] = _children(node)
    if isinstance(node, exp.Window):
        inner = find_call(node.this)
        around = [p for p in parts if p is not node.this]
        parts = [*(_children(inner) if inner is not None else ()), *_filters(node.this), *around]
    for part in parts:
        yield from calls_in(part)


def _children(node: exp.Expr) -> list[exp.Expr]:
    return list(node.iter_expressions())


def _filters(node: exp.Expr) -> list[exp.Expr]:
    """The conditions of FILTER around a window's function."""
    found: list[exp.Expr] = []
    while isinstance(node, exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
        if isinstance(node, exp.Filter):
            found.append(node.expression)
        node = node.this
    return found


@dataclass(slots=True)
class Parts:
    """A call taken apart, not yet read."""

    name: str
    call: exp.Expr
    args: list[exp.Expr] = field(default_factory=list)
    distinct: bool = False
    where: exp.Expr | None = None
    order: list[exp.Expr] = field(default_factory=list)
    within: bool = False
    ignore_nulls: bool | None = None


def parts_of(level: Level, node: exp.Expr) -> Parts:
    """Take a call apart: FILTER, WITHIN GROUP, IGNORE NULLS, DISTINCT, ORDER BY."""
    inner = find_call(node)
    assert inner is not None
    parts = Parts(name_of(inner) or "", inner)
    current: exp.Expr = node
    while current is not inner:
        match current:
            case exp.Filter():
                parts.where = current.expression.this
            case exp.WithinGroup():
                parts.order, parts.within = list(current.expression.expressions), True
            case exp.IgnoreNulls():
                parts.ignore_nulls = True
            case exp.RespectNulls():
                parts.ignore_nulls = False
            case _:
                raise AssertionError(current)
        current = current.this
    for arg in inner.expressions:
        _take(level, parts, arg)
    return parts


def _take(level: Level, parts: Parts, arg: exp.Expr) -> None:
    match arg:
        case exp.Order() if arg.this is not None:
            parts.order = list(arg.expressions)
            _take(level, parts, arg.this)
        case exp.Distinct():
            parts.distinct = True
            for part in arg.expressions:
                _take(level, parts, part)
        case exp.IgnoreNulls() if not is_call(arg):
            parts.ignore_nulls = True
            _take(level, parts, arg.this)
        case exp.RespectNulls() if not is_call(arg):
            parts.ignore_nulls = False
            _take(level, parts, arg.this)
        case exp.Limit() | exp.HavingMax():
            raise level.env.unsupported_error(f"LIMIT or HAVING inside {parts.name}", parts.call)
        case _:
            parts.args.append(arg)


def read(level: Level, node: exp.Expr) -> Aggregate:
    """An aggregate call, over terms of the level of rows."""
    env, parts = level.env, parts_of(level, node)
    nested = next((c for a in (*parts.args, *parts.order) for c in calls_in(a)), None)
    if nested is not None:
        raise env.wrong(
            f"an aggregate inside the aggregate {parts.name}",
            nested,
            node,
            hint="compute the inner one in a subquery",
        )
    name, args, options = arguments(level, parts)
    where = None if parts.where is None else expressions.condition(level, parts.where, "FILTER")
    order = tuple(ordering.sort_key(level, o) for o in parts.order)
    if name in WITH_FRACTION:
        order = ()
    return aggregate(
        name,
        args,
        distinct=parts.distinct,
        where=where,
        order=order,
        options=options,
        place=env.place(node),
    )


def arguments(level: Level, parts: Parts) -> tuple[str, list[Term], tuple[Any, ...]]:
    """The name, the argument terms and the constant options of a call."""
    env, name = level.env, ALIASES.get(parts.name, parts.name)
    nodes = list(parts.args)
    if any(
        isinstance(n, exp.Star) or (isinstance(n, exp.Column) and isinstance(n.this, exp.Star)) for n in nodes
    ):
        if name == "count" and len(nodes) == 1 and isinstance(nodes[0], exp.Star) and not parts.distinct:
            return name, [], ()
        raise env.wrong(f"* cannot be an argument of {name} here", parts.call, hint="name the columns")
    if name == "count" and len(nodes) == 1 and isinstance(nodes[0], exp.Literal) and not parts.distinct:
        return name, [], ()  # count(1) counts rows
    if name == "count" and not nodes:
        raise env.wrong("count needs an argument, or *", parts.call)
    options: tuple[Any, ...] = ()
    if name in WITH_FRACTION:
        return name, *_fraction(level, parts, nodes)
    if name == "mode" and parts.within and not nodes:
        return name, [ordering.sort_key(level, parts.order[0]).term], ()
    if name == "mode" and len(nodes) == 2:
        flag = _constant(level, nodes.pop(), "whether the smallest of several modes is taken")
        if flag.type != BOOLEAN:  # it always is: a view depends on its data alone
            raise env.wrong("whether the smallest of several modes is taken is TRUE or FALSE", parts.call)
    if name == "listagg" and len(nodes) == 2:
        options = (_constant(level, nodes.pop(), "the separator").value,)
    if name in IGNORING_NULLS:
        ignore = parts.ignore_nulls
        if len(nodes) == 2:
            flag = _constant(level, nodes.pop(), "whether NULLs are ignored")
            if flag.type != BOOLEAN:
                raise env.wrong("whether NULLs are ignored is TRUE or FALSE", parts.call)
            ignore = bool(flag.value)
        options = (True,) if ignore else ()
    elif parts.ignore_nulls is not None and name not in ("lag", "lead", "nth_value"):
        raise env.wrong(f"IGNORE NULLS and RESPECT NULLS mean nothing for {name}", parts.call)
    return name, [expressions.term(level, n) for n in nodes], options


def _constant(level: Level, node: exp.Expr, what: str) -> Literal:
    found = expressions.term(level, node)
    if not isinstance(found, Literal):
        raise level.env.wrong(f"{what} must be a constant", node)
    return found


def _fraction(level: Level, parts: Parts, nodes: list[exp.Expr]) -> tuple[list[Term], tuple[Any, ...]]:
    """percentile(x, p), or percentile_cont(p) WITHIN GROUP (ORDER BY x)."""
    env, descending = level.env, False
    if parts.within:
        if len(nodes) != 1 or len(parts.order) != 1:
            raise env.wrong(f"{parts.name} takes one percentage and orders by one expression", parts.call)
        key: SortKey = ordering.sort_key(level, parts.order[0])
        value, descending, fraction = key.term, key.descending, nodes[0]
    else:
        approximate = ALIASES.get(parts.name, parts.name) == "percentile_approx"
        if approximate and len(nodes) == 3:
            _accuracy(level, nodes.pop())
        if parts.name != "percentile" and not approximate:
            raise env.wrong(f"{parts.name} needs WITHIN GROUP (ORDER BY ...)", parts.call)
        if len(nodes) != 2:
            raise env.unsupported_error(
                "percentile with other than an expression and a percentage", parts.call
            )
        value, fraction = expressions.term(level, nodes[0]), nodes[1]
    constant = _constant(level, fraction, "the percentage")
    chosen: Any
    if isinstance(constant.type, Array) and constant.value is not None:
        element = constant.type.element
        chosen = tuple(_as_float(level, fraction, Literal(v, element)) for v in constant.value)
    else:
        chosen = _as_float(level, fraction, constant)
    return [value], (chosen, True) if descending else (chosen,)


def _accuracy(level: Level, node: exp.Expr) -> None:
    """The accuracy of percentile_approx, a positive whole number. The result is exact whatever it is."""
    found = _constant(level, node, "the accuracy")
    if not isinstance(found.type, Integer) or found.value is None or found.value <= 0:
        raise level.env.wrong("the accuracy must be a positive whole number", node)


def _as_float(level: Level, node: exp.Expr, constant: Literal) -> float:
    match constant.type:
        case Decimal(scale=scale) if constant.value is not None:
            return float(constant.value / 10**scale)
        case Float() | Integer() if constant.value is not None:
            return float(constant.value)
        case _:
            raise level.env.wrong("the percentage must be a number between 0 and 1", node)
