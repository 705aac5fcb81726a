"""WITH RECURSIVE to fixpoints.

    WITH RECURSIVE reach(x, y) AS (SELECT x, y FROM edge UNION SELECT r.x, e.y FROM reach r JOIN edge e ON r.y = e.x)

Branches that do not read the relation are its anchors; they give its columns their names and types. Every branch, anchor
or step, is an input of one union, which is the body. UNION makes it a set, on which cycles do no harm; UNION ALL a bag.
Types of the steps widen those of the anchors until they agree; where they grow for ever (decimals), steps are cast.
The relation may be read any number of times, but only where more rows of it cannot remove rows of the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from evercurrent.calculus.monotone import not_monotone
from evercurrent.calculus.nodes import Definition, Fixpoint, Query, Relation, Union
from evercurrent.data.naming import unique
from evercurrent.data.types import Member, Null, Type
from evercurrent.frontend.sql import queries
from evercurrent.frontend.sql.results import rename_columns, with_types
from evercurrent.frontend.sql.scope import Cte, Env
from evercurrent.term.functions.coerce import common_type
from evercurrent.term.functions.function import TypeMismatch

ROUNDS = 3


def mentions(node: exp.Expr, name: str) -> bool:
    """Whether a relation of this name is read in a query, as far as syntax tells."""
    return any(
        isinstance(t.this, exp.Identifier) and not t.args.get("db") and t.name.lower() == name.lower()
        for t in node.find_all(exp.Table)
    )


def fixpoint(env: Env, name: str, columns: list[exp.Identifier], cte: exp.CTE) -> Cte:
    env = queries.with_ctes(env, cte.this)
    branches, distinct = _branches(env, cte)
    anchors = [b for b in branches if not mentions(b, name)]
    steps = [b for b in branches if mentions(b, name)]
    if not anchors:
        raise env.wrong(
            f"{name} is defined by itself alone",
            cte.args.get("alias"),
            cte,
            hint="add a branch that does not read it",
        )
    first = [queries.query(env, a) for a in anchors]
    names = rename_columns(env, first[0].names, columns, cte)
    for node, result in zip(anchors, first, strict=True):
        if len(result.names) != len(names):
            raise env.wrong(f"this branch has {len(result.names)} columns, the first has {len(names)}", node)
    relation = env.names.fresh(f"{name}@1")
    types = _common(env, [[f.type for f in r.query.fields] for r in first], anchors)
    nulls = [any(r.query.fields[i].nullable for r in first) for i in range(len(names))]
    reading: list[Query] = []
    for round_ in range(ROUNDS):
        last = round_ == ROUNDS - 1
        fields = tuple(
            Member(n, t, may or last) for n, t, may in zip(unique(names), types, nulls, strict=True)
        )
        inner = env.with_cte(name, Cte(Relation(relation, fields), names))
        reading = [_step(inner, step, name, relation, len(names)) for step in steps]
        wider = _common(env, [types, *([f.type for f in q.fields] for q in reading)], [cte, *steps])
        found = [may or any(q.fields[i].nullable for q in reading) for i, may in enumerate(nulls)]
        if wider == types and (found == nulls or last):
            break
        nulls = found
        if round_ < ROUNDS - 1 or any(isinstance(t, Null) for t in types):
            types = wider
    body = tuple(with_types(env, q, types) for q in [*(r.query for r in first), *reading])
    definition = Definition(relation, Union(body, fields), fields, distinct)
    return Cte(Fixpoint((definition,), relation, fields), names)


def _branches(env: Env, cte: exp.CTE) -> tuple[list[exp.Expr], bool]:
    """The branches of the unions that a recursive query is made of, and whether duplicates are dropped."""
    top = cte.this.unnest() if isinstance(cte.this, exp.Subquery) else cte.this
    if not isinstance(top, exp.Union):
        raise env.wrong(f"{cte.alias} reads itself, but it is no UNION", cte.args.get("alias"), cte)
    if any(top.args.get(k) for k in ("order", "limit", "offset")):
        raise env.unsupported_error(
            "ORDER BY or LIMIT on a recursive query", top, cte, hint="put it on what reads it"
        )
    distinct = bool(top.args.get("distinct"))

    def parts(node: exp.Expr) -> Iterator[exp.Expr]:
        inner = node.unnest() if isinstance(node, exp.Subquery) and node.is_wrapper else node
        if isinstance(inner, exp.Union) and not any(
            inner.args.get(k) for k in ("order", "limit", "offset", "with_")
        ):
            if bool(inner.args.get("distinct")) and not distinct:
                if mentions(inner, cte.alias):
                    raise env.unsupported_error("UNION inside UNION ALL in a recursive query", inner, cte)
                yield inner
                return
            yield from parts(inner.this)
            yield from parts(inner.expression)
        else:
            yield inner

    return [*parts(top.this), *parts(top.expression)], distinct


def _common(env: Env, rows: Sequence[Sequence[Type]], nodes: Sequence[exp.Expr]) -> list[Type]:
    types: list[Type] = []
    for position, column in enumerate(zip(*rows, strict=True), 1):
        try:
            types.append(common_type(list(column)))
        except TypeMismatch as error:
            raise env.wrong(f"column {position}: {error}", *nodes) from None
    return types


def _step(env: Env, node: exp.Expr, name: str, relation: str, count: int) -> Query:
    query = queries.query(env, node).query
    if len(query.fields) != count:
        raise env.wrong(f"this branch has {len(query.fields)} columns, the first has {count}", node)
    reason = not_monotone(query, relation)
    if reason is not None:
        raise env.unsupported_error(
            f"reading {name} {reason} of its own definition",
            node,
            hint="do it in the query that reads the result",
        )
    return query
