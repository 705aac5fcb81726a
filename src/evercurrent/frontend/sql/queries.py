"""Any query: WITH, and what kind of query it is.

    WITH big AS (SELECT id FROM orders WHERE total > 5)      bag{ (id: big.id)
    SELECT id FROM big                                          | big <- bag{ (id: orders.id) | orders <- orders, ... } }

A name of WITH stands for its query wherever it is read.
"""

from __future__ import annotations

from sqlglot import exp

from evercurrent.calculus.nodes import Query
from evercurrent.calculus.walk import size
from evercurrent.frontend.sql import recursion, setops
from evercurrent.frontend.sql.results import Result, rename_columns
from evercurrent.frontend.sql.scope import Cte, Env
from evercurrent.limits import NODES, READS, check


def query(env: Env, node: exp.Expr, keep_order: bool = False) -> Result:
    """A query and the names of its columns; its order is kept only where `keep_order` says so."""
    result = _any(with_ctes(env, node), node, keep_order)
    check_size(env, result.query, node)
    return result


def _any(env: Env, node: exp.Expr, keep_order: bool) -> Result:
    from evercurrent.frontend.sql import select  # whose parts read queries: any of them may be imported first

    match node:
        case exp.Select():
            return select.select(env, node, keep_order)
        case exp.SetOperation():
            return setops.set_operation(env, node, keep_order)
        case exp.Subquery():
            return _read_parentheses(env, node, keep_order)
        case exp.Values():
            values = setops.values(env, node)
            alias = node.args.get("alias")
            names = tuple(f.name for f in values.fields)
            if isinstance(alias, exp.TableAlias):
                names = rename_columns(env, names, alias.args.get("columns") or [], node)
            return setops.order_query(env, node, Result(values, names), keep_order)
        case exp.Table():
            star = exp.Select(expressions=[exp.Star()], from_=exp.From(this=node))
            return select.select(env, star, keep_order)
        case _:
            raise env.wrong("a query is expected here", node)


def _read_parentheses(env: Env, node: exp.Subquery, keep_order: bool) -> Result:
    outer_order = any(node.args.get(k) for k in ("order", "limit", "offset"))
    inner = query(env, node.this, keep_order and not outer_order)
    return setops.order_query(env, node, inner, keep_order) if outer_order else inner


def check_size(env: Env, query: Query, node: exp.Expr) -> None:
    """Refuses a query that grows too large: what it reads twice is compiled twice."""
    reads, nodes = size(query)
    hint = "make a view of a part that is read several times: a view is kept once"
    check(reads, READS, "tables in this query, once its WITH is written out", env.place(node), hint)
    check(nodes, NODES, "operators and columns in this query, once it is written out", env.place(node), hint)


def with_ctes(env: Env, node: exp.Expr) -> Env:
    """The environment with the CTEs of a query's WITH."""
    clause = node.args.get("with_")
    if clause is None:
        return env
    if (search := clause.args.get("search")) is not None:
        raise env.unsupported_error(
            str(search.args["kind"]).upper() + " behind a recursive query",
            search,
            clause,
            node,
            hint="compute the path or the depth as a column of the query; UNION ends on a cycle",
        )
    recursive = bool(clause.args.get("recursive"))
    seen: set[str] = set()
    for cte in clause.expressions:
        name = cte.alias
        if name.lower() in seen:
            raise env.wrong(f"two queries in WITH are called {name}", cte.args.get("alias"), cte)
        seen.add(name.lower())
        columns = list(cte.args["alias"].args.get("columns") or [])
        if recursive and recursion.mentions(cte.this, name):
            env = env.with_cte(name, recursion.fixpoint(env, name, columns, cte))
        else:
            result = query(env, cte.this)
            env = env.with_cte(name, Cte(result.query, rename_columns(env, result.names, columns, cte)))
    return env
