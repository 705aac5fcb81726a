"""Blocks made of blocks: restriction, product, guards, explosion.

Each function is one of the laws by which an operator over blocks is a block again; `graph` says which operator is which.

    restrict(A * B, c)       A * B with the condition c as well
    product(A * B, C * D)    A * B * C * D
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.algebra.nodes import Plan, Scan, Select, columns
from evercurrent.algebra.walk import children
from evercurrent.delta.blocks import Block, Source, find_equality, names_of, replace_columns
from evercurrent.delta.definitions import Feed, SumOf, canonical, digest, field_names, hint
from evercurrent.delta.program import Explode
from evercurrent.term.build import conjunction, conjuncts, equate
from evercurrent.term.nodes import Column, Literal, Term
from evercurrent.term.nullable import nullable


def sum_of(blocks: list[Block], like: tuple[Column, ...], kept: bool) -> SumOf:
    """Returns the relation that adds these blocks up, with columns like the given ones."""
    feeds = tuple(Feed(b, b.outputs) for b in blocks)
    names = field_names(blocks[0].outputs, blocks[0]) if len(blocks) == 1 else positions(like)
    own = tuple(
        Column(n, c.type, c.nullable if not blocks else any(nullable(b.outputs[i]) for b in blocks))
        for i, (n, c) in enumerate(zip(names, like, strict=True))
    )
    text = "\n".join(map(canonical, feeds)) + str([c.type for c in own])
    name = f"{hint(feeds)}~sum{digest(text, str(kept))}"
    return SumOf(name, own, feeds, kept)


def positions(like: tuple[Column, ...]) -> tuple[str, ...]:
    return tuple(f"c{i}" for i in range(len(like)))


def bind_columns(names: tuple[Column, ...], own: tuple[Column, ...]) -> tuple[Column, ...]:
    """A relation's columns under the names of a plan. Names with a tilde are ours to give, so theirs is doubled."""
    return tuple(
        Column(n.name.replace("~", "~~"), o.type, o.nullable) for n, o in zip(names, own, strict=True)
    )


def whole(source: Source) -> Block:
    return Block((source,), (), source.columns)


def is_bare(block: Block) -> bool:
    """Whether the block is a relation as it is, its columns perhaps in another order."""
    plain = len(block.sources) == 1 and block.sources[0].mode == "inner"
    return (
        plain
        and not block.conditions
        and not block.explodes
        and all(isinstance(t, Column) for t in block.outputs)
    )


def environment(plan: Plan, block: Block) -> dict[str, Term]:
    """What the plan's columns are in the block."""
    return {c.name: t for c, t in zip(columns(plan), block.outputs, strict=True)}


def restrict(block: Block, names: dict[str, Term], condition: Term) -> Block:
    added = tuple(replace_columns(c, names) for c in conjuncts(condition))
    return replace(block, conditions=block.conditions + added)


def product(a: Block, b: Block) -> Block:
    return Block(
        a.sources + b.sources, a.conditions + b.conditions, a.outputs + b.outputs, a.explodes + b.explodes
    )


def explode(
    block: Block,
    names: dict[str, Term],
    collection: Term,
    elements: tuple[Column, ...],
    outer: bool,
    ordinal: bool,
    inline: bool,
) -> Block:
    elements = bind_columns(elements, elements)
    step = Explode(replace_columns(collection, names), elements, outer, ordinal, inline)
    return replace(block, explodes=(*block.explodes, step), outputs=(*block.outputs, *elements))


def guard(
    block: Block,
    names: dict[str, Term],
    present: Source,
    matches: tuple[tuple[int, Term], ...],
    null_safe: bool,
    anti: bool,
) -> Block:
    """The block's rows that `present` has an entry for (or has none for, with `anti`)."""
    on = tuple((i, replace_columns(t, names)) for i, t in matches)
    if anti:
        source = replace(present, mode="anti", on=on, null_safe=null_safe)
        return replace(block, sources=(*block.sources, source))
    conditions = tuple(equate(t, present.columns[i], null_safe) for i, t in on)
    return replace(block, sources=(*block.sources, present), conditions=block.conditions + conditions)


def nulls(like: tuple[Column, ...]) -> tuple[Term, ...]:
    return tuple(Literal(None, c.type) for c in like)


def relations(plan: Plan) -> set[str]:
    """The relations that a plan scans."""
    if isinstance(plan, Scan):
        return {plan.relation}
    return {r for child in children(plan) for r in relations(child)}


def split_equalities(
    left: Plan, right: Plan, condition: Term
) -> tuple[list[tuple[Term, Term]], Plan, list[Term]]:
    """The equalities between the two sides, the right side with its own conditions, and what is left over."""
    lefts = {c.name for c in columns(left)}
    rights = {c.name for c in columns(right)}
    keys: list[tuple[Term, Term]] = []
    own: list[Term] = []
    rest: list[Term] = []
    for c in conjuncts(condition):
        mentioned = names_of(c)
        sides = find_equality(c)
        if mentioned and mentioned <= rights:
            own.append(c)
        elif sides and names_of(sides[0]) <= lefts and names_of(sides[1]) <= rights and mentioned & rights:
            keys.append(sides)
        elif sides and names_of(sides[1]) <= lefts and names_of(sides[0]) <= rights and mentioned & rights:
            keys.append((sides[1], sides[0]))
        else:
            rest.append(c)
    return keys, Select(right, conjunction(own)) if own else right, rest
