"""Queries inside expressions: scalar, EXISTS, IN, SOME/ANY and ALL.

A nested query may mention variables of the blocks around it; they are simply left free. Both sides of a comparison are
brought to a common type, the query's by a comprehension around it.

    customer IN (SELECT id FROM customers)                    orders.customer = some bag{ (id: customers.id) | ... }
    (SELECT name FROM customers c WHERE c.id = o.customer)    the bag{ (name: c.name) | c <- customers, c.id = o.customer }
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from evercurrent.calculus.nodes import Exists, Quantified, Query, Scalar
from evercurrent.data.types import BOOLEAN
from evercurrent.frontend.sql import expressions, queries
from evercurrent.frontend.sql.results import with_types
from evercurrent.frontend.sql.scope import Level
from evercurrent.term import build
from evercurrent.term.functions.coerce import common_type
from evercurrent.term.functions.function import TypeMismatch
from evercurrent.term.nodes import Literal, Term


def _query(level: Level, node: exp.Expr) -> Query:
    return queries.query(level.env.within(level), node).query


def scalar(level: Level, node: exp.Expr) -> Term:
    query = _query(level, node)
    if len(query.fields) != 1:
        raise level.env.wrong(
            f"a subquery used as a value has one column, this one has {len(query.fields)}", node
        )
    return Scalar(query, query.fields[0].type, level.env.place(node))


def exists(level: Level, node: exp.Exists) -> Term:
    return Exists(_query(level, node.this), BOOLEAN)


def member_of(level: Level, node: exp.In) -> Term:
    """`x IN (...)`: a list of expressions, or a query."""
    env, query = level.env, node.args.get("query")
    if query is not None:
        return _quantify(level, node, "eq", False, node.this, query)
    if node.args.get("unnest") is not None or node.args.get("field") is not None or not node.expressions:
        raise env.wrong("IN needs a list in parentheses or a subquery", node)
    left = _row(node.this)
    if len(left) > 1:
        rows = [_row(e) for e in node.expressions]
        if any(len(row) != len(left) for row in rows):
            raise env.wrong(f"every row in this list must have {len(left)} values", node)
        terms = [expressions.term(level, e) for e in left]
        matches = [_same_row(level, terms, row, node) for row in rows]
        return matches[0] if len(matches) == 1 else build.call("or", *matches, place=env.place(node))
    value = expressions.term(level, node.this)
    members = [expressions.term(level, e) for e in node.expressions]
    if all(isinstance(m, Literal) for m in members):
        return build.call("in_list", value, *members, place=env.place(node))
    matches = [build.call("eq", value, m, place=env.place(node)) for m in members]
    return matches[0] if len(matches) == 1 else build.call("or", *matches, place=env.place(node))


def _same_row(level: Level, left: Sequence[Term], right: Sequence[exp.Expr], node: exp.Expr) -> Term:
    place = level.env.place(node)
    pairs = [
        build.call("eq", a, expressions.term(level, b), place=place) for a, b in zip(left, right, strict=True)
    ]
    return pairs[0] if len(pairs) == 1 else build.call("and", *pairs, place=place)


def _row(node: exp.Expr) -> list[exp.Expr]:
    inner = node.unnest() if isinstance(node, exp.Paren) else node
    return list(inner.expressions) if isinstance(inner, exp.Tuple) else [inner]


def quantify(level: Level, node: exp.Binary, comparison: str) -> Term:
    """`x < ALL (query)`, `x = SOME (query)`."""
    right = node.expression
    inner = right.this.unnest() if isinstance(right.this, exp.Paren) else right.this
    if not isinstance(inner, exp.Query):
        raise level.env.unsupported_error("ANY, SOME or ALL over something other than a subquery", node)
    return _quantify(level, node, comparison, isinstance(right, exp.All), node.this, inner)


def _quantify(
    level: Level, node: exp.Expr, comparison: str, every: bool, left: exp.Expr, right: exp.Expr
) -> Term:
    env = level.env
    args = [expressions.term(level, e) for e in _row(left)]
    query = _query(level, right)
    if len(query.fields) != len(args):
        raise env.wrong(
            f"{len(args)} value{'s are' if len(args) > 1 else ' is'} compared with a subquery of"
            f" {len(query.fields)} column{'s' if len(query.fields) != 1 else ''}",
            node,
        )
    if len(args) > 1 and comparison not in ("eq", "ne"):
        raise env.unsupported_error("comparing rows by order", node)
    try:
        types = [common_type([a.type, f.type]) for a, f in zip(args, query.fields, strict=True)]
    except TypeMismatch as error:
        raise env.wrong(str(error), node) from None
    cast = tuple(build.cast(a, t) for a, t in zip(args, types, strict=True))
    return Quantified(comparison, every, cast, with_types(env, query, types), BOOLEAN)
