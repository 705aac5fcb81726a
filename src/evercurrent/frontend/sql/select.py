"""One SELECT block.

    rows       FROM and WHERE: one comprehension
    groups     GROUP BY and the aggregates over it; HAVING filters them
    windows    the window functions over that; QUALIFY filters them
    result     the select list, DISTINCT, and the hidden sort keys

Each part that is there makes a new level; the select list is read in the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from evercurrent.calculus.nodes import Comprehension, Filter, Generator, Qualifier, Query
from evercurrent.data.naming import unique
from evercurrent.data.types import Member
from evercurrent.errors import QueryError
from evercurrent.frontend.sql import aggregates, expressions, grouping, joins, ordering, time_windows, windows
from evercurrent.frontend.sql.block import Block, SortNode, generate
from evercurrent.frontend.sql.items import Item, expand, find_mentioned, with_aliases
from evercurrent.frontend.sql.results import Result
from evercurrent.frontend.sql.scope import Env, Level, Rows, Stage
from evercurrent.term import build
from evercurrent.term.nodes import Literal, Term
from evercurrent.term.nullable import nullable

REFUSED = {
    "into": "SELECT INTO",
    "sort": "SORT BY",
    "cluster": "CLUSTER BY",
    "distribute": "DISTRIBUTE BY",
    "match": "MATCH_RECOGNIZE",
    "connect": "CONNECT BY",
    "sample": "TABLESAMPLE",
    "prewhere": "PREWHERE",
    "locks": "FOR UPDATE",
    "kind": "SELECT AS STRUCT",
    "exclude": "EXCLUDE",
}


INSTEAD = {
    "into": "CREATE TABLE name AS SELECT ...",
    "sort": "ORDER BY",
    "locks": "a transaction holds the database from its beginning to its end: db.transaction()",
    "kind": "SELECT struct(...)",
    "sample": "WHERE rand() < 0.1 has no meaning in a view; choose rows by a column, such as id % 10 = 0",
    "exclude": "list the columns that are wanted",
    "connect": "WITH RECURSIVE",
}


def select(env: Env, node: exp.Select, keep_order: bool = False) -> Result:
    """A block; with `keep_order`, an ORDER BY without LIMIT is kept as the order of reading."""
    node = time_windows.expand(env, node)
    for key, what in REFUSED.items():
        if node.args.get(key):
            raise env.unsupported_error(what, _as_node(node.args[key]), node, hint=INSTEAD.get(key))
    tree = joins.from_clause(env, node)
    rows = Rows(env, tree.visible, "the select list")
    where = node.args.get("where")
    if where is not None:
        condition = expressions.condition(rows.in_clause("WHERE"), where.this, "WHERE")
        tree = tree.with_filter(*(Filter(c) for c in build.conjuncts(condition)))
    items = expand(env, node.expressions, rows)
    limit, offset = ordering.limit_and_offset(env, node)
    wants_order = keep_order or limit is not None or offset > 0
    block = _block(env, node, rows, tree.qualifiers, tree.own, items, wants_order)
    _group(block, node, rows)
    generate(block)
    _windows(block, node)
    result = _project(block, node, wants_order)
    if limit is None and offset == 0:
        return result
    shown = len(result.query.fields) if keep_order else len(result.names)
    query = ordering.top(env, result.query, result.order, limit, offset, shown)
    return Result(query, result.names, result.order if keep_order else ())


def _as_node(value: object) -> exp.Expr | None:
    found = value[0] if isinstance(value, list) and value else value
    return found if isinstance(found, exp.Expr) else None


def _block(
    env: Env,
    node: exp.Select,
    rows: Rows,
    qualifiers: tuple[Qualifier, ...],
    own: frozenset[str],
    items: list[Item],
    wants_order: bool,
) -> Block:
    """Names of the select list put into HAVING, QUALIFY and ORDER BY."""
    aliases = {
        i.name.lower(): i.node
        for i in reversed(items)
        if i.explicit and i.node is not None and not i.generator
    }

    def no_column(parts: list[str], part: exp.Expr) -> bool:
        return rows.find_own(parts, part) is None

    block = Block(env, rows, qualifiers, own, items)
    having, qualify = node.args.get("having"), node.args.get("qualify")
    if having is not None:
        keys = _find_grouped_names(node)

        def not_grouped(parts: list[str], part: exp.Expr) -> bool:
            return no_column(parts, part) or parts[-1].lower() not in keys

        block.having = with_aliases(having.this, aliases, not_grouped, no_column)
    if qualify is not None:
        block.qualify = with_aliases(qualify.this, aliases, no_column)
    order = node.args.get("order")
    if order is not None and wants_order:
        block.sorts = [s for o in order.expressions for s in _sorts(env, o, items, aliases, no_column)]
    return block


def _find_grouped_names(node: exp.Select) -> set[str]:
    group = node.args.get("group")
    return {c.name.lower() for c in group.find_all(exp.Column)} if group is not None else set()


def _sorts(
    env: Env,
    ordered: exp.Expr,
    items: Sequence[Item],
    aliases: dict[str, exp.Expr],
    no_column: object,
) -> list[SortNode]:
    """A sort key: a position, the name of an output column, ALL, or an expression."""
    descending, nulls_first = ordering.direction(ordered)
    inner = ordered.this if isinstance(ordered, exp.Ordered) else ordered
    if (
        isinstance(inner, exp.Var | exp.Column)
        and inner.name.upper() == "ALL"
        and not inner.args.get("table")
    ):
        if all(i.name.upper() != "ALL" for i in items):
            return [SortNode(p, None, descending, nulls_first) for p in range(len(items))]
    if any(i.generator for i in items):
        # columns of a generator are counted later; only names and positions of a simple list are known here
        return [SortNode(None, inner, descending, nulls_first)]
    if ordering.is_position(inner):
        position = ordering.output_position(env, inner, len(items), "ORDER BY")
        return [SortNode(position, None, descending, nulls_first)]
    if isinstance(inner, exp.Column) and len(inner.parts) == 1:
        matches = [p for p, i in enumerate(items) if i.name.lower() == inner.name.lower()]
        if len(matches) == 1:
            return [SortNode(matches[0], None, descending, nulls_first)]
    replaced = with_aliases(inner, aliases, lambda parts, part: True, no_column)  # type: ignore[arg-type]
    return [SortNode(None, replaced, descending, nulls_first)]


# --- groups ------------------------------------------------------------------------------------------------


def _group(block: Block, node: exp.Select, rows: Rows) -> None:
    clause = node.args.get("group")
    calls = [c for n in block.nodes() for c in aggregates.calls_in(n)]
    if clause is None and not calls and block.having is None:
        return
    by = grouping.Clause([], None) if clause is None else _clause(block, clause, rows)
    below = rows.in_clause("an aggregate")
    made = [(c, aggregates.read(below, c)) for c in calls]
    group, variable, level = grouping.group_rows(
        rows.in_clause("GROUP BY"), block.qualifiers, block.own, by, made
    )
    block.qualifiers, block.own, block.level = (
        (Generator(variable, group),),
        frozenset((variable.name,)),
        level,
    )
    if block.having is not None:
        for window in windows.calls_in(block.having):
            raise block.env.wrong("a window function is not allowed in HAVING", window, hint="use QUALIFY")
        condition = expressions.condition(level, block.having, "HAVING")
        block.qualifiers += tuple(Filter(c) for c in build.conjuncts(condition))


def _clause(block: Block, clause: exp.Group, rows: Rows) -> grouping.Clause:
    env, items = block.env, block.items
    level = rows.in_clause("GROUP BY")
    written: list[tuple[exp.Expr, Term]] = []

    def term_of(node: exp.Expr) -> Term:
        found = grouping.as_written(node, written)
        if found is None:
            found = expressions.term(level, node)
            if grouping.contains_query(node):
                written.append((grouping.normalise(node), found))
        return found

    def of_item(position: int, at: exp.Expr) -> Term:
        item = items[position]
        if item.term is not None:
            return item.term
        assert item.node is not None
        if any(True for _ in aggregates.calls_in(item.node)):
            raise env.wrong("an aggregate cannot be a key of GROUP BY", at, item.node)
        return term_of(item.node)

    def read_key(key: exp.Expr) -> Term:
        if ordering.is_position(key):
            return of_item(ordering.output_position(env, key, len(items), "GROUP BY"), key)
        if isinstance(key, exp.Column) and len(key.parts) == 1 and rows.find_own([key.name], key) is None:
            for position, item in enumerate(items):
                if item.explicit and item.name.lower() == key.name.lower():
                    return of_item(position, key)
        return term_of(key)

    if clause.args.get("totals"):
        raise env.unsupported_error("WITH TOTALS", clause)
    if clause.args.get("all") is False:
        raise env.unsupported_error("GROUP BY DISTINCT", clause, hint="list each grouping set once")
    if clause.args.get("all") is not None and not clause.expressions:
        keys = [
            of_item(p, i.node or clause)
            for p, i in enumerate(items)
            if i.node is None or not any(True for _ in aggregates.calls_in(i.node))
        ]
        return grouping.Clause([k for k in dict.fromkeys(keys) if not isinstance(k, Literal)], None, written)
    return replace(grouping.clause(env, clause, read_key), written=written)


# --- windows -----------------------------------------------------------------------------------------------


def _windows(block: Block, node: exp.Select) -> None:
    env = block.env
    named = windows.read_named_windows(env, node.args.get("windows") or [])
    above = [i.node for i in block.items if i.node is not None]
    above += [n for n in (block.qualify,) if n is not None]
    above += [s.node for s in block.sorts if s.node is not None]
    calls = [w for n in above for w in windows.calls_in(n)]
    if not calls:
        if block.qualify is not None:
            raise env.wrong("QUALIFY needs a window function", block.qualify, hint="use WHERE or HAVING")
        return
    below = block.level
    functions = [(c, windows.read(below, c, named)) for c in calls]
    needed = [*find_mentioned(below, above), *_from_stars(block)]
    if isinstance(below, grouping.Grouped):
        needed += [t for t in below.known.values()]
        needed += list(below.mapping.values())
        needed += [] if below.grouping_id is None else [below.grouping_id]
    query, variable, level = windows.compute_windows(
        below, block.qualifiers, block.own, functions, list(dict.fromkeys(needed))
    )
    block.qualifiers, block.own, block.level = (
        (Generator(variable, query),),
        frozenset((variable.name,)),
        level,
    )
    if block.qualify is not None:
        condition = expressions.condition(level, block.qualify, "QUALIFY")
        block.qualifiers += tuple(Filter(c) for c in build.conjuncts(condition))


def _from_stars(block: Block) -> list[Term]:
    return [_at(block.level, i) for i in block.items if i.term is not None]


def _at(level: Level, item: Item) -> Term:
    """An item of a star at a level: translated through the stages above the rows."""
    assert item.term is not None
    if not isinstance(level, Stage):
        return item.term
    below = _at(level.below, item)
    try:
        return level.translate(below)
    except QueryError:
        raise level.complain(item.star, item.name) from None


# --- the result --------------------------------------------------------------------------------------------


def _project(block: Block, node: exp.Select, wants_order: bool) -> Result:
    env = block.env
    names, terms = _columns(block)
    distinct = node.args.get("distinct")
    if distinct is not None and distinct.args.get("on") is not None:
        raise env.unsupported_error(
            "DISTINCT ON",
            distinct,
            node,
            hint="QUALIFY row_number() OVER (PARTITION BY ... ORDER BY ...) = 1 returns the first row of each group",
        )
    keys: list[ordering.Key] = []
    hidden: list[Term] = []
    after: list[SortNode] = []
    for sort in block.sorts:
        position = _position(block, sort, names, terms)
        if position is None and distinct is not None:
            after.append(sort)
            position = len(terms) + len(after) - 1
        elif position is None:
            assert sort.node is not None
            hidden.append(expressions.term(block.level, sort.node))
            position = len(terms) + len(hidden) - 1
        keys.append((position, sort.descending, sort.nulls_first))
    fields = _fields([*names, *(f"order_{i}" for i in range(1, len(hidden) + 1))], [*terms, *hidden])
    monoid = "bag" if distinct is None else "set"
    query: Query = Comprehension(monoid, (*terms, *hidden), block.qualifiers, fields)  # type: ignore[arg-type]
    if after:
        query = _over_distinct(block, query, terms, after)
    return Result(query, tuple(names), tuple(keys) if wants_order else ())


def _fields(names: Sequence[str], terms: Sequence[Term]) -> tuple[Member, ...]:
    return tuple(Member(n, t.type, nullable(t)) for n, t in zip(unique(names), terms, strict=True))


def _columns(block: Block) -> tuple[list[str], list[Term]]:
    """The names and terms of the select list."""
    names = [item.name for item in block.items]
    terms = [
        _at(block.level, item) if item.term is not None else expressions.term(block.level, item.node)
        for item in block.items
    ]
    return names, terms


def _position(block: Block, sort: SortNode, names: Sequence[str], terms: Sequence[Term]) -> int | None:
    """Where in the select list a sort key stands, or None."""
    if sort.position is not None:
        return sort.position
    assert sort.node is not None
    if block.generated:
        if ordering.is_position(sort.node):
            return ordering.output_position(block.env, sort.node, len(terms), "ORDER BY")
        if isinstance(sort.node, exp.Column) and len(sort.node.parts) == 1:
            matches = [p for p, n in enumerate(names) if n.lower() == sort.node.name.lower()]
            if len(matches) == 1:
                return matches[0]
    term = expressions.term(block.level, sort.node)
    return next((p for p, t in enumerate(terms) if t == term), None)


def _over_distinct(block: Block, query: Query, terms: Sequence[Term], sorts: Sequence[SortNode]) -> Query:
    """Sort keys that are expressions over the columns of SELECT DISTINCT."""
    env = block.env
    variable = env.variable("d", query)
    shown = [build.field(variable, f.name) for f in query.fields]

    def complain(node: exp.Expr | None, name: str) -> QueryError:
        return env.wrong(
            f"ORDER BY {name}: with SELECT DISTINCT only selected columns can be sorted by", node
        )

    level = Stage(block.level, dict(zip(terms, shown, strict=True)), block.own, complain)
    hidden = [expressions.term(level, s.node) for s in sorts]
    fields = _fields([*(f.name for f in query.fields), *("order" for _ in hidden)], [*shown, *hidden])
    return Comprehension("bag", (*shown, *hidden), (Generator(variable, query),), fields)
