"""Window calls, and the level of a block with windows.

All functions with the same partition and order are one `Window` node; different ones are nodes over each other. What the
rest of the block needs of the level below is carried through.

    rank() OVER w, count(*) OVER w ... WINDOW w AS (PARTITION BY customer ORDER BY total)      one Window node, two functions
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlglot import exp

from evercurrent.calculus.nodes import Qualifier, Query, Window
from evercurrent.data.naming import unique
from evercurrent.data.types import DOUBLE, INT, Date, Integer, Interval, Member, Timestamp, Type, is_numeric
from evercurrent.errors import QueryError
from evercurrent.frontend.sql import aggregates, expressions, ordering
from evercurrent.frontend.sql.carrying import Head
from evercurrent.frontend.sql.functions import WINDOW_ONLY, find_call, name_of
from evercurrent.frontend.sql.names import suggestion
from evercurrent.frontend.sql.scope import Env, Level, Stage
from evercurrent.term import build
from evercurrent.term.aggregates import aggregate, find_aggregate
from evercurrent.term.nodes import (
    RUNNING,
    WHOLE,
    Frame,
    Literal,
    SortKey,
    Term,
    Variable,
    WindowFunction,
)
from evercurrent.term.nullable import nullable

Named = Mapping[str, exp.Window]
RANKING: dict[str, Type] = {
    "row_number": INT,
    "rank": INT,
    "dense_rank": INT,
    "ntile": INT,
    "percent_rank": DOUBLE,
    "cume_dist": DOUBLE,
}
PICKING = frozenset(("first_value", "last_value", "first", "last", "any_value", "nth_value"))


def calls_in(node: exp.Expr) -> Iterator[exp.Window]:
    """The window calls of a block in an expression, those of nested queries left out."""
    if isinstance(node, exp.Window):
        yield node
        return
    if isinstance(node, exp.Query):
        return
    for part in node.iter_expressions():
        yield from calls_in(part)


def read_named_windows(env: Env, nodes: Sequence[exp.Window]) -> Named:
    """The WINDOW clause."""
    named: dict[str, exp.Window] = {}
    for node in nodes:
        name = node.name.lower()
        if name in named:
            raise env.wrong(f"two windows are called {node.name}", node)
        named[name] = node
    return named


# --- reading one call ----------------------------------------------------------------------------------------


def read(level: Level, node: exp.Window, named: Named) -> WindowFunction:
    """A window call, over terms of the level below."""
    env = level.env
    inner = find_call(node.this)
    name = name_of(inner) if inner is not None else None
    if name is None or not (name in WINDOW_ONLY or aggregates.is_aggregate(name)):
        shown = name or "this"
        raise env.wrong(f"{shown} is neither a window function nor an aggregate", node)
    nested = next((w for part in node.iter_expressions() for w in calls_in(part)), None)
    if nested is not None:
        raise env.wrong(
            "a window function inside another", nested, node, hint="compute the inner one in a subquery"
        )
    partition_nodes, order_nodes, spec = _definition(env, node, named)
    partition = tuple(dict.fromkeys(expressions.term(level, p) for p in partition_nodes))
    order = tuple(ordering.sort_key(level, o) for o in order_nodes)
    parts = aggregates.parts_of(level, node.this)
    if parts.order and name not in aggregates.WITH_FRACTION:
        raise env.unsupported_error(f"ORDER BY inside {name} with OVER", node)
    where = None if parts.where is None else expressions.condition(level, parts.where, "FILTER")
    frame = _frame(level, node, spec, order)
    if name in RANKING or name in ("lag", "lead"):
        if spec is not None:
            raise env.wrong(f"{name} takes no frame", node)
        if not order:
            raise env.wrong(f"{name} needs ORDER BY in its window", node)
        if where is not None or parts.distinct:
            raise env.wrong(f"FILTER and DISTINCT mean nothing for {name}", node)
        return _rank(level, node, name, parts, partition, order)
    if parts.distinct and order and name not in PICKING:
        raise env.unsupported_error(f"DISTINCT in the window function {name} with ORDER BY", node)
    if name in PICKING:
        return _pick(level, node, name, parts, partition, order, frame)
    function, args, options = aggregates.arguments(level, parts)
    made = aggregate(
        function, args, distinct=parts.distinct, where=where, options=options, place=env.place(node)
    )
    return WindowFunction(
        made.function,
        made.args,
        made.type,
        partition,
        order,
        frame,
        where,
        made.distinct,
        False,
        made.options,
    )


def _rank(
    level: Level,
    node: exp.Window,
    name: str,
    parts: aggregates.Parts,
    partition: tuple[Term, ...],
    order: tuple[SortKey, ...],
) -> WindowFunction:
    env = level.env
    args = [expressions.term(level, a) for a in parts.args]
    if name in ("lag", "lead"):
        return _shift(level, node, name, parts, args, partition, order)
    wanted = 1 if name == "ntile" else 0
    if len(args) != wanted or parts.ignore_nulls:
        raise env.wrong(f"{name} takes {'one argument' if wanted else 'no arguments'}", node)
    if wanted and not (
        isinstance(args[0], Literal) and isinstance(args[0].type, Integer) and (args[0].value or 0) > 0
    ):
        raise env.wrong("ntile takes a positive whole number", node)
    frame = Frame("rows", None, 0)
    return WindowFunction(name, tuple(args), RANKING[name], partition, order, frame)


def _shift(
    level: Level,
    node: exp.Window,
    name: str,
    parts: aggregates.Parts,
    args: list[Term],
    partition: tuple[Term, ...],
    order: tuple[SortKey, ...],
) -> WindowFunction:
    """lag(x [, offset [, default]]); all three are there in the result."""
    env = level.env
    if not 1 <= len(args) <= 3:
        raise env.wrong(f"{name} takes a value, an offset and a default", node)
    offset = args[1] if len(args) > 1 else Literal(1, INT)
    if not (isinstance(offset, Literal) and isinstance(offset.type, Integer) and offset.value is not None):
        raise env.wrong(f"the offset of {name} must be a constant whole number", node)
    default = args[2] if len(args) > 2 else Literal(None, args[0].type)
    result = build.common_type([args[0].type, default.type], env.place(node))
    value, default = build.cast(args[0], result), build.cast(default, result)
    return WindowFunction(
        name,
        (value, offset, default),
        result,
        partition,
        order,
        Frame("rows", None, None),
        ignore_nulls=bool(parts.ignore_nulls),
    )


def _pick(
    level: Level,
    node: exp.Window,
    name: str,
    parts: aggregates.Parts,
    partition: tuple[Term, ...],
    order: tuple[SortKey, ...],
    frame: Frame,
) -> WindowFunction:
    """first_value, last_value, nth_value: a row of the frame."""
    env = level.env
    if parts.where is not None or parts.distinct:
        raise env.unsupported_error(f"FILTER or DISTINCT in the window function {name}", node)
    if name == "nth_value":
        args = [expressions.term(level, a) for a in parts.args]
        position = args[1] if len(args) == 2 else None
        if not (
            isinstance(position, Literal) and isinstance(position.type, Integer) and (position.value or 0) > 0
        ):
            raise env.wrong("nth_value takes a value and a positive whole number", node)
        ignore = bool(parts.ignore_nulls)
    else:
        _, args, options = aggregates.arguments(level, parts)
        ignore, name = bool(options), {"first": "first_value", "last": "last_value"}.get(name, name)
        if len(args) != 1:
            raise env.wrong(f"{name} takes one value", node)
    if name == "any_value":
        name = "first_value"
    return WindowFunction(name, tuple(args), args[0].type, partition, order, frame, ignore_nulls=ignore)


def _definition(
    env: Env, node: exp.Window, named: Named
) -> tuple[list[exp.Expr], list[exp.Expr], exp.WindowSpec | None]:
    """PARTITION BY, ORDER BY and frame; those of a named window where the call refers to one."""
    partition = list(node.args.get("partition_by") or [])
    order = node.args.get("order")
    keys = list(order.expressions) if order is not None else []
    spec = node.args.get("spec")
    alias = node.args.get("alias")
    if alias is None:
        return partition, keys, spec
    base = named.get(alias.name.lower())
    if base is None:
        raise env.wrong(f"there is no window {alias.name}", alias, node, hint=suggestion(alias.name, named))
    rest = {k: v for k, v in named.items() if v is not base}
    inherited, inherited_keys, inherited_spec = _definition(env, base, rest)
    if partition or (keys and inherited_keys):
        raise env.wrong(f"what the window {alias.name} says already cannot be said again", node)
    return inherited, keys or inherited_keys, spec or inherited_spec


# --- frames --------------------------------------------------------------------------------------------------


def _frame(level: Level, node: exp.Window, spec: exp.WindowSpec | None, order: tuple[SortKey, ...]) -> Frame:
    if spec is None:
        return RUNNING if order else WHOLE
    env, kind = level.env, str(spec.args.get("kind") or "").lower()
    if spec.args.get("exclude"):
        raise env.unsupported_error("EXCLUDE in a frame", node)
    if kind not in ("rows", "range", "groups"):
        raise env.wrong("a frame is ROWS, RANGE or GROUPS", node)
    start = _read_bound(level, node, spec, "start", kind, order)
    end = _read_bound(level, node, spec, "end", kind, order)
    if _after(start, end):
        raise env.wrong("the frame starts after its end", node)
    if kind == "groups" and not order:
        raise env.wrong("a GROUPS frame needs ORDER BY", node)
    return Frame(kind, start, end)


def _after(start: Any, end: Any) -> bool:
    a = start.value if isinstance(start, Literal) else start
    b = end.value if isinstance(end, Literal) else end
    return a is not None and b is not None and a > b


def _read_bound(
    level: Level, node: exp.Window, spec: exp.WindowSpec, which: str, kind: str, order: tuple[SortKey, ...]
) -> Any:
    """An offset from the current row, negative for PRECEDING; None is unbounded."""
    env = level.env
    value, side = spec.args.get(which), str(spec.args.get(f"{which}_side") or "").upper()
    if value is None and which == "end":
        return 0
    if isinstance(value, str) or value is None:
        word = str(value or "").upper()
        if word == "CURRENT ROW":
            return 0
        wanted = "PRECEDING" if which == "start" else "FOLLOWING"
        if word != "UNBOUNDED" or side != wanted:
            raise env.wrong(f"the {which} of this frame cannot be {word} {side}".rstrip(), node)
        return None
    if side not in ("PRECEDING", "FOLLOWING"):
        raise env.wrong("a bound of a frame is PRECEDING or FOLLOWING", node)
    amount = expressions.term(level, value)
    if not isinstance(amount, Literal) or amount.value is None:
        raise env.wrong("a bound of a frame must be a constant", value, node)
    if kind in ("rows", "groups"):
        if not isinstance(amount.type, Integer) or amount.value < 0:
            raise env.wrong(f"a bound of a {kind.upper()} frame is a whole number, 0 or more", value, node)
        return -amount.value if side == "PRECEDING" else amount.value
    return _range_bound(level, node, amount, side == "PRECEDING", order)


def _range_bound(
    level: Level, node: exp.Window, amount: Literal, preceding: bool, order: tuple[SortKey, ...]
) -> Literal:
    """The offset of a RANGE frame, in the type that is added to the sort key."""
    env = level.env
    if len(order) != 1:
        raise env.wrong("a RANGE frame with an offset needs exactly one sort key", node)
    key = order[0].term.type
    match key, amount.type:
        case ((Date() | Timestamp()), Interval()):
            offset: Term = amount
        case Date(), Integer():
            offset = amount
        case Interval(), Interval() if key.unit == amount.type.unit:
            offset = amount
        case _ if is_numeric(key) and is_numeric(amount.type):
            offset = build.cast(amount, key, place=env.place(node))
        case _:
            raise env.wrong(f"{amount.type} cannot be added to a sort key of type {key}", node)
    if (
        isinstance(key, Date)
        and isinstance(amount.type, Interval)
        and not (amount.type.unit == "months" or amount.value % 86_400_000_000 == 0)
    ):
        raise env.wrong("a sort key of type DATE can be shifted by whole days only", node)
    if not isinstance(offset, Literal) or offset.value < 0:
        raise env.wrong("the offset of a frame is 0 or more", node)
    return Literal(-offset.value if preceding else offset.value, offset.type)


# --- the level above -----------------------------------------------------------------------------------------


def compute_windows(
    below: Level,
    qualifiers: tuple[Qualifier, ...],
    own: frozenset[str],
    calls: Sequence[tuple[exp.Window, WindowFunction]],
    needed: Sequence[Term],
) -> tuple[Query, Variable, Stage]:
    """The rows with their window functions, a variable over them, and the level for the rest of the block.

    `needed` are terms of the level below that the rest of the block mentions.
    """
    env, head = below.env, Head()
    for term in needed:
        head.carry(term)
    functions = list(dict.fromkeys(f for _, f in calls))
    for f in functions:
        for t in (
            *f.args,
            *f.partition,
            *(k.term for k in f.order),
            *(() if f.where is None else (f.where,)),
        ):
            head.carry(t)
    query: Query = head.close(env, qualifiers, "w")
    variable = head.variable
    assert variable is not None
    taken = [f.name for f in query.fields]
    names = unique([*taken, *(f.function for f in functions)])[len(taken) :]
    for (partition, order), group in _by_window(functions).items():
        made = tuple(_at(head, functions[i], partition, order, variable) for i in group)
        more = tuple(Member(names[i], functions[i].type, _nullable(functions[i])) for i in group)
        query = Window(variable, query, made, query.fields + more)
        variable = env.variable("w", query)
    mapping = {t: head.at(t, variable) for t in head.terms}
    place = {f: build.field(variable, names[i]) for i, f in enumerate(functions)}
    known = {id(node): place[f] for node, f in calls}

    def complain(node: exp.Expr | None, name: str) -> QueryError:
        return env.wrong(f"{name} is not known above the window functions", node)

    return query, variable, Stage(below, mapping, own, complain, known)


Order = tuple[tuple[Term, ...], tuple[SortKey, ...]]


def _by_window(functions: Sequence[WindowFunction]) -> dict[Order, list[int]]:
    groups: dict[Order, list[int]] = {}
    for i, f in enumerate(functions):
        groups.setdefault((f.partition, f.order), []).append(i)
    return groups


def _at(
    head: Head, f: WindowFunction, partition: tuple[Term, ...], order: tuple[SortKey, ...], variable: Variable
) -> WindowFunction:
    return WindowFunction(
        f.function,
        tuple(head.at(a, variable) for a in f.args),
        f.type,
        tuple(head.at(p, variable) for p in partition),
        tuple(head.key_at(k, variable) for k in order),
        f.frame,
        None if f.where is None else head.at(f.where, variable),
        f.distinct,
        f.ignore_nulls,
        f.options,
    )


def _nullable(f: WindowFunction) -> bool:
    if f.function in RANKING:
        return False
    if f.function in ("lag", "lead"):
        return nullable(f.args[0]) or nullable(f.args[2])
    function = find_aggregate(f.function)
    return function is None or function.nullable or f.function in PICKING
