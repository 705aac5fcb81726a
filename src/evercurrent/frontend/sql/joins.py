"""Join trees.

    a JOIN b ON c          a's qualifiers, b's qualifiers, c
    a LEFT JOIN b ON c     a's qualifiers, v <-outer b on c
    a RIGHT JOIN b ON c    b's qualifiers, v <-outer a on c
    a FULL JOIN b ON c     v <- FullOuter(a, b, c)
    a SEMI JOIN b ON c     a's qualifiers, EXISTS (b where c)
    a ANTI JOIN b ON c     a's qualifiers, NOT EXISTS (b where c)

USING and NATURAL compare columns of equal names and show each of them once, first; the sides' own stay reachable with
their qualifiers.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from evercurrent.calculus.nodes import (
    Comprehension,
    Exists,
    Filter,
    FullOuter,
    Generator,
    OuterGenerator,
    Query,
)
from evercurrent.data.naming import unique
from evercurrent.data.types import BOOLEAN, INT, Member
from evercurrent.frontend.sql import expressions
from evercurrent.frontend.sql.names import suggestion
from evercurrent.frontend.sql.scope import Env, Rows, Visible
from evercurrent.frontend.sql.sources import NOTHING, From, lateral, pack_whole, source
from evercurrent.term import build
from evercurrent.term.nodes import Field, Literal, Term, Variable
from evercurrent.term.nullable import nullable
from evercurrent.term.walk import substitute


def from_clause(env: Env, select: exp.Select) -> From:
    """FROM, its joins and its lateral views."""
    clause = select.args.get("from_")
    if clause is None:
        tree = NOTHING
    else:
        tree = join_items(env, clause.this, select.args.get("joins") or [])
    return _lateral_views(env, tree, select.args.get("laterals") or [])


def _lateral_views(env: Env, tree: From, views: Sequence[exp.Lateral]) -> From:
    for view in views:
        tree = _product(tree, lateral(env, view, _rows(env, tree)))
    return tree


def join_items(env: Env, first: exp.Expr, joins: Sequence[exp.Join]) -> From:
    tree = source(env, first, _rows(env, NOTHING))
    tree = _lateral_views(env, tree, first.args.get("laterals") or [])
    for join in joins:
        tree = _join(env, tree, join)
        tree = _lateral_views(env, tree, join.this.args.get("laterals") or [])
    return tree


def _rows(env: Env, tree: From, clause: str = "FROM") -> Rows:
    return Rows(env, tree.visible, clause)


def _product(left: From, right: From) -> From:
    return From(left.qualifiers + right.qualifiers, left.visible + right.visible, left.own | right.own)


def _join(env: Env, left: From, node: exp.Join) -> From:
    kind = _kind(env, node)
    nested = node.this.args.get("joins") if not isinstance(node.this, exp.Subquery) else None
    if nested:
        right = join_items(env, node.this, nested)
    else:
        right = source(env, node.this, _rows(env, left))
    common = _common_columns(env, left, right, node)
    match kind:
        case "inner":
            tree = _product(left, right)
            return _merge_columns(tree.with_filter(*_filters(env, left, right, node, common)), common, "left")
        case "left":
            return _join_left(env, left, right, node, common)
        case "right":
            return _right(env, left, right, node, common)
        case "full":
            return _full(env, left, right, node, common)
        case _:
            filters = _filters(env, left, right, node, common)
            one = Comprehension(
                "bag", (Literal(1, INT),), right.qualifiers + filters, (Member("found", INT, False),)
            )
            found: Term = Exists(one, BOOLEAN)
            return left.with_filter(Filter(found if kind == "semi" else build.call("not", found)))


def _kind(env: Env, node: exp.Join) -> str:
    side, kind = str(node.args.get("side") or "").upper(), str(node.args.get("kind") or "").upper()
    method = str(node.args.get("method") or "").upper()
    if method not in ("", "NATURAL") or kind not in ("", "INNER", "OUTER", "CROSS", "SEMI", "ANTI"):
        raise env.unsupported_error(f"{method} {kind} JOIN".strip(), node)
    if (kind == "OUTER" and not side) or (side and kind in ("INNER", "CROSS")):
        raise env.wrong("a join is INNER, CROSS, LEFT, RIGHT, FULL, SEMI or ANTI", node.this)
    if kind in ("SEMI", "ANTI"):
        if side not in ("", "LEFT"):
            raise env.unsupported_error(f"{side} {kind} JOIN", node)
        return kind.lower()
    if isinstance(node.this, exp.Lateral) and node.this.args.get("cross_apply") is False:
        return "left"  # OUTER APPLY
    return side.lower() or "inner"


# --- conditions --------------------------------------------------------------------------------------------

Pair = tuple[Visible, Visible]


def _common_columns(env: Env, left: From, right: From, node: exp.Join) -> list[Pair]:
    """The columns that USING or NATURAL compares."""
    using = node.args.get("using")
    if using:
        return [(_find_column(env, left, c, "left"), _find_column(env, right, c, "right")) for c in using]
    if str(node.args.get("method") or "").upper() == "NATURAL":
        names = [v.name.lower() for v in right.visible if v.bare]
        common = [v for v in left.visible if v.bare and v.name.lower() in names]
        return [
            (_find_column(env, left, v.name, "left"), _find_column(env, right, v.name, "right"))
            for v in common
        ]
    return []


def _find_column(env: Env, tree: From, column: exp.Expr | str, side: str) -> Visible:
    name = column if isinstance(column, str) else column.name
    node = None if isinstance(column, str) else column
    found = [v for v in tree.visible if v.bare and v.name.lower() == name.lower()]
    if not found:
        hint = suggestion(name, [v.name for v in tree.visible if v.bare])
        raise env.wrong(f"there is no column {name} on the {side} side of the join", node, hint=hint)
    if len({v.term for v in found}) > 1:
        raise env.wrong(f"{name} is ambiguous on the {side} side of the join", node)
    return found[0]


def _condition(env: Env, left: From, right: From, node: exp.Join, common: Sequence[Pair]) -> Term:
    level = Rows(env, left.visible + right.visible, "ON")
    terms = [build.call("eq", a.term, b.term, place=env.place(node)) for a, b in common]
    on = node.args.get("on")
    if on is not None:
        terms.append(expressions.condition(level, on, "ON"))
    return build.conjunction(terms)


def _filters(env: Env, left: From, right: From, node: exp.Join, common: Sequence[Pair]) -> tuple[Filter, ...]:
    condition = _condition(env, left, right, node, common)
    return tuple(Filter(c) for c in build.conjuncts(condition))


# --- outer joins -------------------------------------------------------------------------------------------


def _nullable(variable: Variable) -> Variable:
    return Variable(variable.name, variable.type, nullable=True)


def _over(visible: Sequence[Visible], old: Variable, new: Variable) -> tuple[Visible, ...]:
    """The same columns, of a variable that may be NULL now."""
    return tuple(Visible(v.name, _replace_variable(v.term, old, new), v.qualifier, v.bare) for v in visible)


def _replace_variable(term: Term, old: Variable, new: Variable) -> Term:
    if isinstance(term, Field) and term.of == old:
        return build.field(new, term.name)
    return substitute(term, {old: new})


def _join_left(env: Env, left: From, right: From, node: exp.Join, common: Sequence[Pair]) -> From:
    variable, query, inner = pack_whole(env, right, "r")
    packed_right = From((), inner, frozenset((variable.name,)))
    pairs = [(a, _again(packed_right, right, b)) for a, b in common]
    on = _condition(env, left, packed_right, node, pairs)
    outer = _nullable(variable)
    visible = _over(inner, variable, outer)
    generator = OuterGenerator(outer, query, on)
    tree = From((*left.qualifiers, generator), left.visible + visible, left.own | {variable.name})
    return _merge_columns(
        tree, [(a, _again(From((), visible, frozenset()), right, b)) for a, b in common], "left"
    )


def _again(packed: From, tree: From, column: Visible) -> Visible:
    """The column of a packed tree that a column of the tree has become."""
    return packed.visible[tree.visible.index(column)]


def _right(env: Env, left: From, right: From, node: exp.Join, common: Sequence[Pair]) -> From:
    if isinstance(node.this, exp.Lateral):
        raise env.wrong("a LATERAL item cannot be the right side of a RIGHT JOIN", node.this)
    variable, query, inner = pack_whole(env, left, "l")
    packed_left = From((), inner, frozenset((variable.name,)))
    pairs = [(_again(packed_left, left, a), b) for a, b in common]
    on = _condition(env, packed_left, right, node, pairs)
    outer = _nullable(variable)
    visible = _over(inner, variable, outer)
    tree = From(
        (*right.qualifiers, OuterGenerator(outer, query, on)),
        visible + right.visible,
        right.own | {variable.name},
    )
    kept = From((), visible, frozenset())
    return _merge_columns(tree, [(_again(kept, left, a), b) for a, b in common], "right")


def _full(env: Env, left: From, right: From, node: exp.Join, common: Sequence[Pair]) -> From:
    if isinstance(node.this, exp.Lateral):
        raise env.wrong("a LATERAL item cannot be a side of a FULL JOIN", node.this)
    left_variable, left_query, left_inner = pack_whole(env, left, "l")
    right_variable, right_query, right_inner = pack_whole(env, right, "r")
    packed_left, packed_right = From((), left_inner, frozenset()), From((), right_inner, frozenset())
    pairs = [(_again(packed_left, left, a), _again(packed_right, right, b)) for a, b in common]
    on = _condition(env, packed_left, packed_right, node, pairs)
    outer_left, outer_right = _nullable(left_variable), _nullable(right_variable)
    columns = _over(left_inner, left_variable, outer_left) + _over(right_inner, right_variable, outer_right)
    names = unique(v.name for v in columns)
    fields = tuple(Member(n, v.term.type, nullable(v.term)) for n, v in zip(names, columns, strict=True))
    head = tuple(v.term for v in columns)
    query: Query = FullOuter(outer_left, left_query, outer_right, right_query, on, head, fields)
    variable = env.variable("f", query)
    visible = tuple(
        Visible(v.name, build.field(variable, f.name), v.qualifier, v.bare)
        for v, f in zip(columns, fields, strict=True)
    )
    tree = From((Generator(variable, query),), visible, frozenset((variable.name,)))
    split = len(left.visible)
    merged = [(visible[left.visible.index(a)], visible[split + right.visible.index(b)]) for a, b in common]
    return _merge_columns(tree, merged, "full")


def _merge_columns(tree: From, common: Sequence[Pair], keep: str) -> From:
    """The columns of USING: one for both sides, first; the sides' own only with their qualifiers."""
    if not common:
        return tree
    shown: list[Visible] = []
    for a, b in common:
        match keep:
            case "left":
                term = a.term
            case "right":
                term = b.term
            case _:
                term = build.call("coalesce", a.term, b.term)
        shown.append(Visible(a.name, term))
    hidden = {id(v) for pair in common for v in pair}
    rest = tuple(Visible(v.name, v.term, v.qualifier, False) if id(v) in hidden else v for v in tree.visible)
    return From(tree.qualifiers, (*shown, *rest), tree.own)
