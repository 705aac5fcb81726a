"""PIVOT and UNPIVOT, each as the query that it stands for.

    t PIVOT (sum(n) FOR s IN ('a', 'b'))      SELECT others, sum(n) FILTER (WHERE s <=> 'a') AS a, ... FROM t GROUP BY others
    t UNPIVOT (v FOR k IN (x, y))             SELECT others, k, v FROM t, inline(array(struct('x' AS k, x AS v), ...))
                                              WHERE v IS NOT NULL

As in Spark, a group without rows for a value has NULL there, a count too, as long as all aggregates are numbers or booleans.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from evercurrent.data.types import Boolean, Decimal, Float, Integer
from evercurrent.frontend.sql import queries
from evercurrent.frontend.sql.naming import name_for
from evercurrent.frontend.sql.results import Result
from evercurrent.frontend.sql.scope import Env


def read_pivot(env: Env, node: exp.Expr) -> tuple[Result, exp.Pivot]:
    """Returns the query of an item of FROM with PIVOT or UNPIVOT, and the node whose alias it has."""
    pivots = node.args["pivots"]
    if len(pivots) > 1:
        raise env.unsupported_error(
            "several PIVOTs one after another", pivots[1], node, hint="nest them in subqueries"
        )
    (pivot,) = pivots
    inner = node.copy()
    inner.set("pivots", None)
    fields: list[exp.Expr] = list(pivot.args.get("fields") or [])
    if len(fields) != 1 or not isinstance(fields[0], exp.In):
        raise env.unsupported_error(
            "this form of PIVOT", pivot, node, hint="PIVOT (sum(x) FOR column IN (value, ...))"
        )
    names = queries.query(env, exp.Select(expressions=[exp.Star()], from_=exp.From(this=inner.copy()))).names
    made = (
        _unpivot(env, inner, pivot, fields[0], names)
        if pivot.args.get("unpivot")
        else _pivot(env, inner, pivot, fields[0], names)
    )
    return queries.query(env, made), pivot


def _column(name: str) -> exp.Column:
    return exp.Column(this=exp.Identifier(this=name, quoted=True))


def _alias(node: exp.Expr, name: str) -> exp.Alias:
    return exp.Alias(this=node, alias=exp.Identifier(this=name, quoted=True))


def _parts(node: exp.Expr) -> list[exp.Expr]:
    return list(node.expressions) if isinstance(node, exp.Tuple) else [node]


# --- pivot -------------------------------------------------------------------------------------------------


def _pivot(env: Env, inner: exp.Expr, pivot: exp.Pivot, field: exp.In, names: Sequence[str]) -> exp.Select:
    columns = _parts(field.this)
    calls = [a.this if isinstance(a, exp.Alias) else a for a in pivot.expressions]
    used = {c.name.lower() for part in (*calls, *columns) for c in part.find_all(exp.Column)}
    others = [n for n in names if n.lower() not in used]
    by_group = _are_plain(env, inner, calls)
    items: list[exp.Expr] = [_column(n) for n in others]
    if not field.expressions:
        raise env.wrong("PIVOT needs the values that become columns", field, pivot)
    for value in field.expressions:
        chosen = value.this if isinstance(value, exp.PivotAlias) else value
        test = _equals(env, columns, chosen, pivot)
        for aggregate, call in zip(pivot.expressions, calls, strict=True):
            label = value.args["alias"].name if isinstance(value, exp.PivotAlias) else _label(chosen)
            if len(calls) > 1:
                label += "_" + (aggregate.alias if isinstance(aggregate, exp.Alias) else name_for(call))
            items.append(_alias(_choose(call, test, by_group), label))
    group = exp.Group(expressions=[_column(n) for n in others]) if others else None
    return exp.Select(expressions=items, from_=exp.From(this=inner), group=group)


def _are_plain(env: Env, inner: exp.Expr, calls: Sequence[exp.Expr]) -> bool:
    """Whether all aggregates are numbers or booleans: then Spark aggregates first and pivots afterwards."""
    asked = exp.Select(expressions=[c.copy() for c in calls], from_=exp.From(this=inner.copy()))
    fields = queries.query(env, asked).query.fields
    return all(isinstance(f.type, Integer | Float | Decimal | Boolean) for f in fields)


def _equals(env: Env, columns: Sequence[exp.Expr], value: exp.Expr, pivot: exp.Pivot) -> exp.Expr:
    values = _parts(value)
    if len(values) != len(columns):
        raise env.wrong(f"{len(columns)} columns are compared with {len(values)} values", value, pivot)
    tests = [exp.NullSafeEQ(this=c.copy(), expression=v.copy()) for c, v in zip(columns, values, strict=True)]
    found: exp.Expr = tests[0]
    for test in tests[1:]:
        found = exp.And(this=found, expression=test)
    return found


def _choose(call: exp.Expr, test: exp.Expr, by_group: bool) -> exp.Expr:
    """The aggregate over the rows with a value; NULL if there are none."""

    def filter_rows(aggregate: exp.Expr) -> exp.Expr:
        return exp.Filter(this=aggregate, expression=exp.Where(this=test.copy()))

    if not by_group:
        return filter_rows(call.copy())
    found = exp.GT(
        this=filter_rows(exp.Anonymous(this="count", expressions=[exp.Star()])),
        expression=exp.Literal.number(0),
    )
    return exp.Case(ifs=[exp.If(this=found, true=filter_rows(call.copy()))])


def _label(value: exp.Expr) -> str:
    """What a value is called as a column: its text."""
    if isinstance(value, exp.Tuple):
        return "{" + ", ".join(_label(v) for v in value.expressions) + "}"
    return "null" if isinstance(value, exp.Null) else name_for(value)


# --- unpivot -----------------------------------------------------------------------------------------------


def _unpivot(env: Env, inner: exp.Expr, pivot: exp.Pivot, field: exp.In, names: Sequence[str]) -> exp.Select:
    values = [v.name for v in _parts(pivot.expressions[0])]
    key = field.this.name
    used: set[str] = set()
    structs: list[exp.Expr] = []
    for value in field.expressions:
        chosen = value.this if isinstance(value, exp.PivotAlias) else value
        columns = _parts(chosen)
        if len(columns) != len(values):
            raise env.wrong(f"{len(values)} columns are made of {len(columns)}", chosen, pivot)
        used |= {c.name.lower() for c in columns}
        label = (
            value.args["alias"].name
            if isinstance(value, exp.PivotAlias)
            else "_".join(c.name for c in columns)
        )
        parts: list[exp.Expr] = [exp.Literal.string(key), exp.Literal.string(label)]
        for name, column in zip(values, columns, strict=True):
            parts += [exp.Literal.string(name), column.copy()]
        structs.append(exp.Anonymous(this="named_struct", expressions=parts))
    made = exp.Anonymous(this="inline", expressions=[exp.Anonymous(this="array", expressions=structs)])
    alias = exp.TableAlias(
        this=exp.Identifier(this="unpivoted", quoted=True),
        columns=[exp.Identifier(this=n, quoted=True) for n in (key, *values)],
    )
    inner.set("laterals", None)
    items = [_column(n) for n in names if n.lower() not in used]
    items += [
        exp.Column(this=exp.Identifier(this=n, quoted=True), table=exp.Identifier(this="unpivoted"))
        for n in (key, *values)
    ]
    where = None
    if not pivot.args.get("include_nulls"):
        absent: exp.Expr | None = None
        for name in values:
            is_null = exp.Is(
                this=exp.Column(
                    this=exp.Identifier(this=name, quoted=True), table=exp.Identifier(this="unpivoted")
                ),
                expression=exp.Null(),
            )
            absent = is_null if absent is None else exp.And(this=absent, expression=is_null)
        where = exp.Where(this=exp.Not(this=exp.Paren(this=absent)))
    return exp.Select(
        expressions=items,
        from_=exp.From(this=inner),
        laterals=[exp.Lateral(this=made, view=True, outer=False, alias=alias)],
        where=where,
    )
