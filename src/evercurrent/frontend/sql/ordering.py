"""ORDER BY, LIMIT and OFFSET.

A sort key that names an output column, by its name or position, is that column; any other is an expression over what the
select list is made from, carried as a hidden field. With a limit the result is `Top`; without one, the order is how the
result is read, and inside another query it means nothing.

    SELECT id FROM orders ORDER BY total DESC LIMIT 3      top 3(t <- bag{ (id: orders.id, order_1: orders.total) | ... },
                                                                 order by t.order_1 desc)
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from evercurrent.calculus.nodes import Comprehension, Generator, Query, Top
from evercurrent.data.types import Integer
from evercurrent.frontend.sql import expressions
from evercurrent.frontend.sql.scope import Env, Level, Rows
from evercurrent.term import build
from evercurrent.term.nodes import Literal, SortKey

Key = tuple[int, bool, bool]  # position, descending, nulls first


def direction(node: exp.Expr) -> tuple[bool, bool]:
    """Descending, and NULLs first (by default in ascending order only)."""
    descending = bool(node.args.get("desc"))
    nulls_first = node.args.get("nulls_first")
    return descending, not descending if nulls_first is None else bool(nulls_first)


def sort_key(level: Level, node: exp.Expr) -> SortKey:
    """A sort key that is an expression, as in windows and aggregates."""
    inner = node.this if isinstance(node, exp.Ordered) else node
    if node.args.get("with_fill"):
        raise level.env.unsupported_error("WITH FILL", node)
    descending, nulls_first = direction(node) if isinstance(node, exp.Ordered) else (False, True)
    return SortKey(expressions.term(level, inner), descending, nulls_first)


def limit_and_offset(env: Env, node: exp.Expr) -> tuple[int | None, int]:
    """LIMIT and OFFSET of a query; None is no limit."""
    limit, offset = node.args.get("limit"), node.args.get("offset")
    count: int | None = None
    if isinstance(limit, exp.Fetch):
        options = limit.args.get("limit_options")
        if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
            raise env.unsupported_error("FETCH with PERCENT or WITH TIES", limit)
        count = _number(env, limit.args.get("count"), "FETCH") if limit.args.get("count") is not None else 1
    elif limit is not None:
        if limit.args.get("offset") is not None or limit.expressions:
            raise env.unsupported_error("this form of LIMIT", limit)
        options = limit.args.get("limit_options")
        if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
            raise env.unsupported_error("LIMIT with PERCENT or WITH TIES", limit)
        expression = limit.expression
        if not (isinstance(expression, exp.Var | exp.Column) and expression.name.upper() == "ALL"):
            count = _number(env, expression, "LIMIT")
    start = 0 if offset is None else _number(env, offset.expression, "OFFSET")
    return count, start


def _number(env: Env, node: exp.Expr | None, clause: str) -> int:
    if node is not None and node.find(exp.Column) is not None:
        raise env.wrong(f"{clause} needs a constant whole number", node)
    found = expressions.term(Rows(env.within(None), (), clause), node)
    if not (isinstance(found, Literal) and isinstance(found.type, Integer) and found.value is not None):
        raise env.wrong(f"{clause} needs a constant whole number", node)
    if found.value < 0:
        raise env.wrong(f"{clause} must not be negative", node)
    return int(found.value)


def is_position(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit()


def output_position(env: Env, node: exp.Expr, count: int, clause: str) -> int:
    """`ORDER BY 2`: the position, from 0."""
    number = int(node.name)
    if not 1 <= number <= count:
        raise env.wrong(f"{clause} {number}: the select list has {count} columns", node)
    return number - 1


def top(env: Env, query: Query, keys: Sequence[Key], limit: int | None, offset: int, shown: int) -> Query:
    """The first rows of a query by some of its fields; fields after `shown` are hidden and dropped."""
    variable = env.variable("t", query)
    order = tuple(
        SortKey(build.field(variable, query.fields[p].name), descending, nulls_first)
        for p, descending, nulls_first in keys
    )
    result: Query = Top(variable, query, order, limit, offset, query.fields)
    if shown == len(query.fields):
        return result
    outer = env.variable("t", result)
    fields = query.fields[:shown]
    head = tuple(build.field(outer, f.name) for f in fields)
    return Comprehension("bag", head, (Generator(outer, result),), fields)
