"""What stands in FROM: relations, CTEs, subqueries, VALUES, table functions.

A source is a query, or a generator over a collection (`Unnest`), with the columns that it makes visible. `From` is a join
tree read so far: qualifiers in order, and the columns that they make visible.

    FROM orders o JOIN customers c ON o.customer = c.id      o <- orders, c <- customers, o.customer = c.id
    FROM orders LATERAL VIEW explode(tags) e AS t            orders <- orders, e <- unnest orders.tags
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from evercurrent.calculus.nodes import (
    Comprehension,
    Generator,
    Qualifier,
    Query,
    Relation,
    Unnest,
)
from evercurrent.catalog.nodes import Table, View
from evercurrent.data.naming import unique
from evercurrent.data.types import BIGINT, INT, Array, Map, Member, Null, Struct, Type
from evercurrent.frontend.sql import expressions, file_functions, pivots, queries, setops
from evercurrent.frontend.sql.functions import GENERATORS, name_of
from evercurrent.frontend.sql.names import suggestion
from evercurrent.frontend.sql.results import rename_columns
from evercurrent.frontend.sql.scope import Env, Level, Rows, Visible
from evercurrent.term import build
from evercurrent.term.nodes import Literal, Term, Variable
from evercurrent.term.nullable import nullable


@dataclass(frozen=True, slots=True)
class From:
    """A join tree: its qualifiers, its visible columns, and the variables that it binds."""

    qualifiers: tuple[Qualifier, ...]
    visible: tuple[Visible, ...]
    own: frozenset[str]

    def with_filter(self, *more: Qualifier) -> From:
        return From(self.qualifiers + more, self.visible, self.own)


NOTHING = From((), (), frozenset())


def over_query(
    env: Env,
    query: Query,
    names: Sequence[str],
    qualifier: tuple[str, ...],
    stem: str,
    nullable_: bool = False,
) -> tuple[Variable, tuple[Visible, ...]]:
    """A variable that ranges over a query, and its columns under the names they have here."""
    variable = env.variable(stem, query, nullable_)
    return variable, visible_of(variable, query, names, qualifier)


def visible_of(
    variable: Variable, query: Query, names: Sequence[str], qualifier: tuple[str, ...]
) -> tuple[Visible, ...]:
    """A column that is there twice under one name is one column: naming it is not ambiguous."""
    heads = query.head if isinstance(query, Comprehension) else tuple(range(len(query.fields)))
    first: dict[tuple[str, object], Term] = {}
    found = []
    for name, field, head in zip(names, query.fields, heads, strict=True):
        term = first.setdefault((name.lower(), head), build.field(variable, field.name))
        found.append(Visible(name, term, qualifier))
    return tuple(found)


def source(env: Env, node: exp.Expr, rows: Rows) -> From:
    """One item of FROM. `rows` is the level that a lateral item sees: the items before it."""
    match node:
        case exp.Table() | exp.Subquery() if node.args.get("pivots"):
            result, pivot = pivots.read_pivot(env, node)
            return _generate(env, result.query, result.names, pivot, ())
        case exp.Table() if isinstance(node.this, exp.Anonymous):
            return _function(env, node.this, node, rows)
        case exp.Table():
            _refuse_extras(env, node)
            query, names, qualifier = _relation(env, node)
            return _generate(env, query, names, node, qualifier)
        case exp.Values():
            query = setops.values(env, node)
            return _generate(env, query, [f.name for f in query.fields], node, ())
        case exp.Subquery():
            _refuse_extras(env, node)
            return _subquery(env, node)
        case exp.Lateral():
            return lateral(env, node, rows)
        case exp.Unnest():
            if len(node.expressions) != 1:
                raise env.unsupported_error(
                    "UNNEST of several arrays", node, hint="use arrays_zip and INLINE"
                )
            ordinal = bool(node.args.get("offset")) or bool(node.args.get("ordinality"))
            return unnest_collection(env, rows, node.expressions[0], node, (ordinal, False, False))
        case _:
            raise env.unsupported_error(f"'{node.sql(dialect='spark')[:60]}' in FROM", node)


def _refuse_extras(env: Env, node: exp.Expr) -> None:
    for key, what in (
        ("sample", "TABLESAMPLE"),
        ("version", "time travel"),
        ("when", "time travel"),
    ):
        if node.args.get(key):
            raise env.unsupported_error(what, node)


def _relation(env: Env, node: exp.Table) -> tuple[Query, tuple[str, ...], tuple[str, ...]]:
    """A CTE, table or view: its query, the names of its columns, and how it is called."""
    parts = tuple(p.name for p in node.parts)
    name = ".".join(parts)
    cte = env.ctes.get(name.lower()) if len(parts) == 1 else None
    if cte is not None:
        return cte.query, cte.names, parts
    found: Table | View | None = env.catalog.relation(name)
    if found is None:
        known = [
            *(t.name for t in env.catalog.tables.values()),
            *(v.name for v in env.catalog.views.values()),
        ]
        hint = _elsewhere(name) or suggestion(name, [*known, *env.ctes])
        raise env.wrong(f"there is no table or view {name}", node, hint=hint)
    return Relation(found.name, found.fields), tuple(f.name for f in found.fields), parts


def _generate(
    env: Env, query: Query, names: Sequence[str], node: exp.Expr, qualifier: tuple[str, ...]
) -> From:
    """A generator over a query, under the alias that the node gives it."""
    alias, columns = alias_of(node)
    if alias is not None:
        qualifier = (alias,)
    names = rename_columns(env, names, columns, node)
    stem = qualifier[-1] if qualifier else "q"
    variable, visible = over_query(env, query, names, qualifier, stem)
    return From((Generator(variable, query),), visible, frozenset((variable.name,)))


def alias_of(node: exp.Expr) -> tuple[str | None, list[exp.Identifier]]:
    alias = node.args.get("alias")
    if not isinstance(alias, exp.TableAlias):
        return (alias.name or None, []) if isinstance(alias, exp.Identifier) else (None, [])
    return (alias.name or None), list(alias.args.get("columns") or [])


def _subquery(env: Env, node: exp.Subquery) -> From:
    inner = node.this
    if isinstance(inner, exp.Table | exp.Lateral | exp.Unnest | exp.Values) or (
        isinstance(inner, exp.Subquery) and (inner.args.get("joins") or not inner.is_wrapper)
    ):
        return _read_parentheses(env, node, inner)
    result = queries.query(env, node if _has_modifiers(node) else inner)
    return _generate(env, result.query, result.names, node, ())


def _has_modifiers(node: exp.Subquery) -> bool:
    return any(node.args.get(k) for k in ("order", "limit", "offset", "with_"))


def _read_parentheses(env: Env, node: exp.Subquery, inner: exp.Expr) -> From:
    """`(a JOIN b ON ...)`, perhaps with an alias for all of it."""
    from evercurrent.frontend.sql import joins

    tree = joins.join_items(env, inner, inner.args.get("joins") or [])
    alias, columns = alias_of(node)
    if alias is None:
        return tree
    query, names = pack(env, tree)
    return _generate(env, query, rename_columns(env, names, columns, node), node, ())


def pack(env: Env, tree: From) -> tuple[Query, tuple[str, ...]]:
    """A join tree as one query of all its columns in `*`, and their names."""
    columns = [v for v in tree.visible if v.bare]
    return _pack(tree, columns), tuple(v.name for v in columns)


def pack_whole(env: Env, tree: From, stem: str) -> tuple[Variable, Query, tuple[Visible, ...]]:
    """A join tree behind one variable; every column that could be named can still be."""
    if len(tree.qualifiers) == 1 and isinstance(tree.qualifiers[0], Generator):
        only = tree.qualifiers[0]
        return only.variable, only.source, tree.visible
    query = _pack(tree, tree.visible)
    variable = env.variable(stem, query)
    visible = tuple(
        Visible(v.name, build.field(variable, f.name), v.qualifier, v.bare)
        for v, f in zip(tree.visible, query.fields, strict=True)
    )
    return variable, query, visible


def _pack(tree: From, columns: Sequence[Visible]) -> Comprehension:
    names = unique(v.name for v in columns)
    fields = tuple(Member(n, v.term.type, nullable(v.term)) for n, v in zip(names, columns, strict=True))
    return Comprehension("bag", tuple(v.term for v in columns), tree.qualifiers, fields)


# --- generators over collections ---------------------------------------------------------------------------


def lateral(env: Env, node: exp.Lateral, rows: Rows) -> From:
    """LATERAL (query), LATERAL explode(...), LATERAL VIEW [OUTER] explode(...)."""
    inner = node.this
    if isinstance(inner, exp.Subquery):
        result = queries.query(env.within(rows), inner.this if not _has_modifiers(inner) else inner)
        return _generate(env, result.query, result.names, node, ())
    if isinstance(inner, exp.Unnest):
        return unnest_collection(env, rows, inner.expressions[0], node, (False, False, False))
    if isinstance(inner, exp.Anonymous):
        return _function(env, inner, node, rows, outer=bool(node.args.get("outer")))
    raise env.unsupported_error("LATERAL of something other than a query or a generator function", node)


def _function(env: Env, call: exp.Anonymous, node: exp.Expr, rows: Rows, outer: bool = False) -> From:
    """A table function: explode and its kin, range."""
    name = name_of(call) or ""
    if name == "range":
        return _range(env, call, node, rows)
    if name in file_functions.KINDS:
        unnest, names = file_functions.rows_of(env, call, node)
        alias, columns = alias_of(node)
        visible = tuple(
            Visible(n, build.field(unnest.variable, m.name), (alias or name,))
            for n, m in zip(rename_columns(env, names, columns, node), _members(unnest.variable), strict=True)
        )
        return From((unnest,), visible, frozenset((unnest.variable.name,)))
    if name not in GENERATORS:
        raise env.wrong(
            f"there is no table function {name}",
            call,
            node,
            hint=suggestion(name, [*GENERATORS, "range", *file_functions.KINDS]),
        )
    if len(call.expressions) != 1:
        raise env.wrong(f"{name} takes one argument", call, node)
    ordinal, inline, keeps = GENERATORS[name]
    return unnest_collection(env, rows, call.expressions[0], node, (ordinal, inline, keeps or outer))


def unnest_collection(
    env: Env, level: Level, argument: exp.Expr, node: exp.Expr, kind: tuple[bool, bool, bool]
) -> From:
    """A generator over a collection, under the alias that the node gives it."""
    unnest = generator(env, expressions.term(level, argument), kind, argument)
    alias, columns = alias_of(node)
    members = _members(unnest.variable)
    names = rename_columns(env, [m.name for m in members], columns, node)
    qualifier = () if alias is None else (alias,)
    visible = tuple(
        Visible(name, build.field(unnest.variable, m.name), qualifier)
        for name, m in zip(names, members, strict=True)
    )
    return From((unnest,), visible, frozenset((unnest.variable.name,)))


def _members(variable: Variable) -> tuple[Member, ...]:
    assert isinstance(variable.type, Struct)
    return variable.type.members


def generator(env: Env, collection: Term, kind: tuple[bool, bool, bool], node: exp.Expr) -> Unnest:
    """`explode` and its kin as a qualifier; `kind` is (with a position, of structs, outer)."""
    ordinal, inline, outer = kind
    position = (Member("pos", INT, False),) if ordinal else ()
    match collection.type:
        case Array(Struct(members)) if inline:
            fields = tuple(Member(m.name, m.type, True) for m in members)
        case Array(element) if not inline:
            fields = (*position, Member("col", element, True))
        case Map(key, value) if not inline:
            fields = (*position, Member("key", key, False), Member("value", value, True))
        case Null() if not inline:
            collection, fields = Literal(None, Array(INT)), (*position, Member("col", INT, True))
        case other:
            wanted = "an ARRAY of STRUCTs" if inline else "an ARRAY or a MAP"
            raise env.wrong(f"{wanted} is needed here, this is {other}", node)
    names = unique(f.name for f in fields)
    struct = Struct(tuple(Member(n, f.type, f.nullable) for n, f in zip(names, fields, strict=True)))
    variable = Variable(env.names.fresh("e"), struct, nullable=outer)
    return Unnest(variable, collection, outer, ordinal, inline)


def _range(env: Env, call: exp.Anonymous, node: exp.Expr, rows: Rows) -> From:
    """range([start,] end [, step]): numbers from start to before end."""
    if not 1 <= len(call.expressions) <= 4:
        raise env.wrong("range takes an end; or a start, an end and a step", call, node)
    numbers: list[int] = []
    for argument in call.expressions[:3]:
        term = build.cast(expressions.term(rows, argument), BIGINT)
        if not isinstance(term, Literal) or term.value is None:
            raise env.unsupported_error("range with an argument that is not constant", call, node)
        numbers.append(term.value)
    start, end, step = (0, numbers[0], 1) if len(numbers) == 1 else (*numbers, 1)[:3]
    if step == 0:
        raise env.wrong("the step of range must not be 0", call, node)
    if len(range(start, end, step)) > 1_000_000:
        raise env.unsupported_error("a range of more than a million numbers", call, node)
    element: Type = BIGINT
    collection = Literal(tuple(range(start, end, step)), Array(element))
    unnest = generator(env, collection, (False, False, False), node)
    alias, columns = alias_of(node)
    name = columns[0].name if columns else "id"
    visible = Visible(name, build.field(unnest.variable, "col"), (alias or "range",))
    return From((unnest,), (visible,), frozenset((unnest.variable.name,)))


def _elsewhere(name: str) -> str | None:
    """What is meant by the name of a file, or of a table that other databases describe themselves in."""
    low = name.lower()
    for kind in ("parquet", "csv", "json"):
        if low.endswith(f".{kind}"):
            return f"read_{kind}('{name}') reads a file"
    if low.startswith(("information_schema.", "pg_catalog.", "sqlite_")):
        return "SHOW TABLES, SHOW VIEWS and DESCRIBE name say what there is; so do db.tables and db.views"
    return None
