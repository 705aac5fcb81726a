"""UNION, INTERSECT, EXCEPT, VALUES: rows put side by side.

Columns go by position; their types are brought together; the names are those of the first. Without ALL they are sets.

    SELECT id FROM orders UNION SELECT id FROM customers      set{ (id: u.id) | u <- union(bag{ ... }, bag{ ... }) }
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from evercurrent.calculus.nodes import Comprehension, Generator, Query, SetOperation, Union, Values
from evercurrent.data.types import Member
from evercurrent.frontend.sql import expressions, ordering, queries
from evercurrent.frontend.sql.results import Result, with_types
from evercurrent.frontend.sql.scope import Env, Rows, Visible
from evercurrent.term import build
from evercurrent.term.functions.coerce import common_type
from evercurrent.term.functions.function import TypeMismatch
from evercurrent.term.nodes import Term
from evercurrent.term.nullable import nullable


def set_operation(env: Env, node: exp.SetOperation, keep_order: bool = False) -> Result:
    if node.args.get("by_name") or node.args.get("match_by") or node.args.get("side"):
        raise env.unsupported_error("a set operation BY NAME", node)
    left = queries.query(env, node.this)
    right = queries.query(env, node.expression)
    query = combine(env, node, left.query, right.query)
    return _order(env, node, Result(query, left.names), keep_order)


def combine(env: Env, node: exp.SetOperation, left: Query, right: Query) -> Query:
    left, right = align(env, [left, right], node)
    fields = _fields([left, right])
    everything = not node.args.get("distinct")
    match node:
        case exp.Union():
            parts = _parts(left, right, everything)
            union = Union(parts, fields)
            return union if everything else distinct(env, union)
        case exp.Intersect() | exp.Except():
            kind = "intersect" if isinstance(node, exp.Intersect) else "except"
            fields = fields if kind == "intersect" else left.fields
            return SetOperation(kind, everything, left, right, fields)  # type: ignore[arg-type]
        case _:
            raise env.unsupported_error("this set operation", node)


def _parts(left: Query, right: Query, everything: bool) -> tuple[Query, ...]:
    """The inputs of a union; a chain of UNION ALLs is one node."""
    if everything and isinstance(left, Union):
        return (*left.inputs, right)
    return (left, right)


def align(env: Env, inputs: Sequence[Query], node: exp.Expr) -> list[Query]:
    """The same queries with their columns cast to common types."""
    counts = {len(q.fields) for q in inputs}
    if len(counts) != 1:
        shown = " and ".join(str(len(q.fields)) for q in inputs)
        raise env.wrong(f"both sides need as many columns; there are {shown}", node)
    types = []
    for position, column in enumerate(zip(*(q.fields for q in inputs), strict=True), 1):
        try:
            types.append(common_type([f.type for f in column]))
        except TypeMismatch as error:
            raise env.wrong(f"column {position}: {error}", node) from None
    return [with_types(env, q, types) for q in inputs]


def _fields(inputs: Sequence[Query]) -> tuple[Member, ...]:
    return tuple(
        Member(column[0].name, column[0].type, any(f.nullable for f in column))
        for column in zip(*(q.fields for q in inputs), strict=True)
    )


def distinct(env: Env, query: Query) -> Query:
    variable = env.variable("u", query)
    head = tuple(build.field(variable, f.name) for f in query.fields)
    return Comprehension("set", head, (Generator(variable, query),), query.fields)


def _order(env: Env, node: exp.Expr, result: Result, keep_order: bool) -> Result:
    """ORDER BY, LIMIT and OFFSET of a set operation: over its output columns."""
    limit, offset = ordering.limit_and_offset(env, node)
    order = node.args.get("order")
    if order is None and limit is None and offset == 0:
        return result
    if not (keep_order or limit is not None or offset):
        return result
    query, keys = with_sort_keys(env, result, list(order.expressions) if order is not None else [])
    if limit is None and offset == 0:
        return Result(query, result.names, keys)
    shown = len(query.fields) if keep_order else len(result.names)
    top = ordering.top(env, query, keys, limit, offset, shown)
    return Result(top, result.names, keys if keep_order else ())


def with_sort_keys(
    env: Env, result: Result, nodes: Sequence[exp.Expr]
) -> tuple[Query, tuple[ordering.Key, ...]]:
    """A query with the sort keys that are not columns added as hidden fields, and all keys."""
    query, count = result.query, len(result.names)
    variable = env.variable("q", query)
    terms: list[Term] = [build.field(variable, f.name) for f in query.fields]
    level = Rows(env, [Visible(n, t) for n, t in zip(result.names, terms, strict=True)], "ORDER BY")
    hidden: list[Term] = []
    keys: list[ordering.Key] = []
    for node in nodes:
        descending, nulls_first = ordering.direction(node)
        inner = node.this if isinstance(node, exp.Ordered) else node
        if isinstance(inner, exp.Var | exp.Column) and inner.name.upper() == "ALL":
            keys += [(p, descending, nulls_first) for p in range(count)]
            continue
        if ordering.is_position(inner):
            position = ordering.output_position(env, inner, count, "ORDER BY")
        else:
            term = expressions.term(level, inner)
            position = next((p for p, t in enumerate(terms) if t == term), count + len(hidden))
            if position == count + len(hidden):
                hidden.append(term)
        keys.append((position, descending, nulls_first))
    if not hidden:
        return query, tuple(keys)
    more = tuple(Member(f"order_{i}", t.type, nullable(t)) for i, t in enumerate(hidden, 1))
    whole = Comprehension("bag", (*terms, *hidden), (Generator(variable, query),), query.fields + more)
    return whole, tuple(keys)


def order_query(env: Env, node: exp.Expr, result: Result, keep_order: bool) -> Result:
    """ORDER BY, LIMIT and OFFSET around a query in parentheses, or around VALUES."""
    return _order(env, node, result, keep_order)


def values(env: Env, node: exp.Values) -> Values:
    """VALUES (1, 'a'), (2, 'b'): columns are called col1, col2 and so on."""
    level = Rows(env, (), "VALUES")
    rows: list[list[Term]] = []
    for row in node.expressions:
        cells = row.expressions if isinstance(row, exp.Tuple) else [row]
        rows.append([expressions.term(level, cell) for cell in cells])
    if not rows or not rows[0]:
        raise env.wrong("VALUES needs rows", node)
    for row, syntax in zip(rows, node.expressions, strict=True):
        if len(row) != len(rows[0]):
            raise env.wrong(f"this row has {len(row)} values, the first has {len(rows[0])}", syntax, node)
    types = []
    for position in range(len(rows[0])):
        try:
            types.append(common_type([row[position].type for row in rows]))
        except TypeMismatch as error:
            raise env.wrong(f"column {position + 1}: {error}", node) from None
    cast = [tuple(build.cast(t, types[i]) for i, t in enumerate(row)) for row in rows]
    fields = tuple(
        Member(f"col{i + 1}", t, any(nullable(row[i]) for row in cast)) for i, t in enumerate(types)
    )
    return Values(tuple(cast), fields)
