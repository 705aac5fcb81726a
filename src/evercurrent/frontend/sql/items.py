"""The select list: what `*` stands for, what columns are called, and names given earlier in the list.

SELECT t.*, a + 1 AS b, b * 2 AS c          c may use b, where FROM has no b
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from evercurrent.data.types import Struct
from evercurrent.frontend.sql import aggregates, expressions
from evercurrent.frontend.sql.functions import GENERATORS, name_of
from evercurrent.frontend.sql.names import suggestion
from evercurrent.frontend.sql.naming import name_for
from evercurrent.frontend.sql.scope import Env, Level, Rows, Visible
from evercurrent.term import build
from evercurrent.term.nodes import Term


@dataclass(frozen=True, slots=True)
class Item:
    """One element of the select list, `*` spelled out.

    It has a node; or, from a star, a term over the rows. A generator returns several columns: `names` are their names.
    """

    name: str
    node: exp.Expr | None
    term: Term | None = None
    generator: bool = False
    names: tuple[str, ...] = ()
    explicit: bool = False
    star: exp.Expr | None = None


def expand(env: Env, nodes: Sequence[exp.Expr], rows: Rows) -> list[Item]:
    """The select list with every star replaced and every earlier name put in."""
    items: list[Item] = []
    aliases: dict[str, exp.Expr] = {}
    for node in nodes:
        for item in _items(env, node, rows):
            if item.node is not None:
                item = Item(
                    item.name,
                    with_aliases(item.node, aliases, lambda parts, n: rows.find_own(parts, n) is None),
                    None,
                    item.generator,
                    item.names,
                    item.explicit,
                )
                if item.explicit:
                    assert item.node is not None
                    aliases.setdefault(item.name.lower(), item.node)
            items.append(item)
    if not items:
        raise env.wrong("the select list is empty")
    return items


def _items(env: Env, node: exp.Expr, rows: Rows) -> Iterator[Item]:
    match node:
        case exp.Star():
            yield from _star(env, node, node, rows, [v for v in rows.visible if v.bare])
        case exp.Column() if isinstance(node.this, exp.Star):
            yield from _expand_qualified_star(env, node, rows)
        case exp.Dot() if isinstance(node.expression, exp.Star):
            yield from _struct_star(env, expressions.term(rows, node.this), node)
        case exp.Alias() if not isinstance(node.args.get("alias"), exp.Identifier):
            raise env.wrong("a name is expected after this expression", node)
        case exp.Alias():
            if is_generator(node.this):
                yield Item(node.alias, node.this, generator=True, names=(node.alias,), explicit=True)
            else:
                yield Item(node.alias, node.this, explicit=True)
        case exp.Aliases():
            names = tuple(i.name for i in node.expressions)
            if not is_generator(node.this):
                raise env.wrong("only a generator such as posexplode can be given several names", node)
            yield Item(names[0], node.this, generator=True, names=names, explicit=True)
        case _ if is_generator(node):
            yield Item("col", node, generator=True)
        case exp.PropertyEQ() | exp.Slice():
            raise env.unsupported_error("this element of a select list", node)
        case _:
            yield Item(name_for(node), node)


def is_generator(node: exp.Expr) -> bool:
    return name_of(node) in GENERATORS


def _star(env: Env, node: exp.Expr, star: exp.Expr, rows: Rows, columns: Sequence[Visible]) -> Iterator[Item]:
    for key in ("replace", "rename", "ilike"):
        if star.args.get(key):
            raise env.unsupported_error(f"* {key.upper()}", node)
    left_out = {e.name.lower(): e for e in star.args.get("except_") or ()}
    if not rows.visible:
        raise env.wrong("* needs a FROM", node)
    for name, excluded in left_out.items():
        if all(v.name.lower() != name for v in columns):
            hint = suggestion(name, [v.name for v in columns])
            raise env.wrong(f"there is no column {excluded.name} to leave out", excluded, hint=hint)
    for v in columns:
        if v.name.lower() not in left_out:
            yield Item(v.name, None, v.term, star=node)


def _expand_qualified_star(env: Env, node: exp.Column, rows: Rows) -> Iterator[Item]:
    """`t.*`, or the members of a struct column."""
    qualifier = [p.name for p in node.parts[:-1]]
    lowered = [q.lower() for q in qualifier]
    columns = [v for v in rows.visible if [q.lower() for q in v.qualifier[-len(lowered) :]] == lowered]
    if columns:
        yield from _star(env, node, node.this, rows, columns)
        return
    found = rows.find(qualifier, node)
    if found is None:
        relations = dict.fromkeys(v.qualifier[-1] for v in rows.visible if v.qualifier)
        raise env.wrong(
            f"there is no relation {'.'.join(qualifier)} in FROM",
            node,
            hint=suggestion(qualifier[-1], relations),
        )
    yield from _struct_star(env, found, node)


def _struct_star(env: Env, value: Term, node: exp.Expr) -> Iterator[Item]:
    if not isinstance(value.type, Struct):
        raise env.wrong(f"only a relation or a STRUCT has .*, this is {value.type}", node)
    for m in value.type.members:
        yield Item(m.name, None, build.field(value, m.name), star=node)


Replaces = Callable[[list[str], exp.Expr], bool]


def with_aliases(
    node: exp.Expr,
    aliases: Mapping[str, exp.Expr],
    replaces: Replaces,
    in_aggregates: Replaces | None = None,
) -> exp.Expr:
    """A copy of the node in which names that are aliases stand for their expressions.

    `replaces` says of a name whether the alias is meant; `in_aggregates` says so for arguments of aggregates.
    """
    if not aliases:
        return node

    def change(part: exp.Expr, decide: Replaces) -> exp.Expr:
        if isinstance(part, exp.Query | exp.Lambda):
            return part
        if isinstance(part, exp.Column) and not isinstance(part.this, exp.Star):
            names = [p.name for p in part.parts]
            found = aliases.get(names[0].lower())
            if found is None or not decide(names, part):
                return part
            result: exp.Expr = exp.Paren(this=found.copy())
            for member in part.parts[1:]:
                result = exp.Dot(this=result, expression=member.copy())
            return result
        if in_aggregates is not None and aggregates.is_call(part):
            decide = in_aggregates
        for key, value in list(part.args.items()):
            if isinstance(value, exp.Expr):
                part.set(key, change(value, decide))
            elif isinstance(value, list):
                part.set(key, [change(v, decide) if isinstance(v, exp.Expr) else v for v in value])
        return part

    return change(node.copy(), replaces)


def find_mentioned(level: Level, nodes: Sequence[exp.Expr]) -> list[Term]:
    """Terms of all the names in the nodes that mean something at a level; in nested queries, those that may."""
    found: dict[Term, None] = {}
    for node in nodes:
        for part in node.find_all(exp.Column, exp.Identifier):
            if isinstance(part, exp.Column):
                if isinstance(part.this, exp.Star):
                    continue
                names = [p.name for p in part.parts]
            elif isinstance(part.parent, exp.Column | exp.Dot | exp.TableAlias | exp.Alias | exp.Table):
                continue
            else:
                names = [part.name]
            term = _first_found(level, names, part)
            if term is not None:
                found[term] = None
    return list(found)


def _first_found(level: Level, names: list[str], node: exp.Expr) -> Term | None:
    """The column that a name starts with, if there is one; an error is left to where the name is really read."""
    from evercurrent.errors import QueryError

    for length in range(len(names), 0, -1):
        try:
            found = level.find(names[:length], node)
        except QueryError:
            continue
        if found is not None:
            return found
    return None
