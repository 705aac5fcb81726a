"""A SELECT block while it is read, and the generators in its select list.

    SELECT id, explode(tags) AS tag FROM orders      bag{ (id: orders.id, tag: e.col) | orders <- orders
                                                                                      , e <- unnest orders.tags }

A generator becomes one more qualifier, and a column of the select list.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from evercurrent.calculus.nodes import Qualifier
from evercurrent.data.types import Struct
from evercurrent.frontend.sql import expressions
from evercurrent.frontend.sql.functions import GENERATORS, name_of
from evercurrent.frontend.sql.items import Item
from evercurrent.frontend.sql.scope import Env, Level
from evercurrent.frontend.sql.sources import generator
from evercurrent.term import build


@dataclass(slots=True)
class SortNode:
    """A sort key: the position of an output column, or an expression."""

    position: int | None
    node: exp.Expr | None
    descending: bool
    nulls_first: bool


@dataclass(slots=True)
class Block:
    """A block while it is read: the qualifiers of the comprehension at hand, its level, and the level's variables."""

    env: Env
    level: Level
    qualifiers: tuple[Qualifier, ...]
    own: frozenset[str]
    items: list[Item]
    having: exp.Expr | None = None
    qualify: exp.Expr | None = None
    sorts: list[SortNode] = field(default_factory=list)
    generated: bool = False

    def nodes(self) -> list[exp.Expr]:
        """Everything that is read above the rows."""
        found = [i.node for i in self.items if i.node is not None]
        found += [n for n in (self.having, self.qualify) if n is not None]
        return found + [s.node for s in self.sorts if s.node is not None]


def generate(block: Block) -> None:
    """`explode` in the select list: a qualifier over the groups or rows, below the windows, and its columns."""
    items: list[Item] = []
    for item in block.items:
        if not item.generator:
            items.append(item)
            continue
        if block.generated:
            raise block.env.wrong("a select list can have one generator only", item.node)
        block.generated = True
        items += _generate(block, item)
    block.items = items


def _generate(block: Block, item: Item) -> list[Item]:
    env, call = block.env, item.node
    assert call is not None
    name = name_of(call) or ""
    if len(call.expressions) != 1:
        raise env.wrong(f"{name} takes one argument", call)
    unnest = generator(
        env, expressions.term(block.level, call.expressions[0]), GENERATORS[name], call.expressions[0]
    )
    block.qualifiers += (unnest,)
    assert isinstance(unnest.variable.type, Struct)
    members = [m.name for m in unnest.variable.type.members]
    names = list(item.names) or members
    if len(names) != len(members):
        raise env.wrong(
            f"{name} returns {len(members)} columns, so it takes {len(members)} names, not {len(names)}", call
        )
    block.own |= {unnest.variable.name}
    return [
        Item(n, None, build.field(unnest.variable, m), star=call) for n, m in zip(names, members, strict=True)
    ]
