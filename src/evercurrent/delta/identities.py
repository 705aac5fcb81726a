"""Join a delta with materialized identities: the second kind of plan of Ali, Fernandes and Paton (2000).

Most attributes of a join's sources are only shown: no condition reads them. A change of such an attribute brings no row into
the view or out of it, yet planting its delta walks through all other sources again. So the join is cut by columns. Each source
R with a key k, condition columns C and shown columns S is the join of two projections of itself, and

    { outputs | R1, R2, ..., conditions }  =  { outputs | I, S1, S2, ..., I.k1 = S1.k, I.k2 = S2.k, ... }

    I   =  { (k1, k2, ...) | C1, C2, ..., conditions }        the identities that contribute to each row
    Ci  =  { (k, condition columns) | Ri }                    Si  =  { (k, shown columns) | Ri }

Law. k is a key of R, so R = C * S on k, and a product does not ask for the order of its factors. C and S are relations of their
own, each with a consolidated delta: a change of a shown attribute alone leaves C's delta empty (the row that goes and the row
that comes are the same there), and reaches the view through I alone. A change of a condition attribute is planted in I.
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.data.types import Reference
from evercurrent.delta.blocks import Block, Source, find_equality, names_of, replace_columns
from evercurrent.delta.combine import whole
from evercurrent.delta.definitions import TableOf
from evercurrent.delta.graph import Graph
from evercurrent.term.build import equate
from evercurrent.term.nodes import Column, Term


def by_identities(graph: Graph, block: Block) -> Block | None:
    """The block over the identities that contribute to it; None where no source has attributes that are only shown."""
    read = names_of(
        *block.conditions,
        *(e.collection for e in block.explodes),
        *(term for s in block.sources for _, term in s.on),
    )
    shown = names_of(*block.outputs)
    cuts: dict[int, tuple[tuple[Column, ...], tuple[Column, ...], tuple[Column, ...]]] = {}
    for i, source in enumerate(block.sources):
        key = key_of(graph, source)
        if key is None:
            continue
        names = {c.name for c in key}
        only_shown = tuple(
            c for c in source.columns if c.name in shown and c.name not in read and c.name not in names
        )
        if only_shown:
            rest = tuple(c for c in source.columns if c.name in read and c.name not in names)
            cuts[i] = (key, rest, only_shown)
    if len(block.sources) < 2 or not cuts:
        return None
    return _cut(graph, block, cuts)


def pays(graph: Graph, block: Block) -> bool:
    """Whether planting a shown attribute of some object would read more than the identities: rows that fall out later.

    From the object that changed, a lookup fans out to the rows of another source (its key does not match), and a third source
    has a condition of its own, which those rows then meet or not. The identities hold only what has met it. A state more is
    to be kept for that, so it is done for objects alone, whose attributes change in place; tables get it when asked.
    """
    own = [
        any(names_of(c) <= {x.name for x in s.columns} for c in block.conditions if names_of(c))
        for s in block.sources
    ]
    shown = names_of(*block.outputs)
    for i, source in enumerate(block.sources):
        key = key_of(graph, source)
        if (
            key is None
            or not isinstance(key[0].type, Reference)
            or not (shown & {c.name for c in source.columns})
        ):
            continue
        for j, other in enumerate(block.sources):
            if j != i and _fans_out(graph, block, key, other):
                if any(filtered for k, filtered in enumerate(own) if k not in (i, j)):
                    return True
    return False


def _fans_out(graph: Graph, block: Block, key: tuple[Column, ...], other: Source) -> bool:
    """Whether the source is matched by a column that refers to the key, and is not unique on it."""
    mine, theirs = (
        {c.name for c in key},
        {c.name: f for f, c in zip(other.fields, other.columns, strict=True)},
    )
    keys = graph.keys.get(other.relation, ())
    for condition in block.conditions:
        sides = find_equality(condition)
        if sides is None or not all(isinstance(s, Column) for s in sides):
            continue
        names = names_of(*sides)
        matched = [theirs[n] for n in names if n in theirs]
        if names & mine and matched and not any(set(k) <= set(matched) for k in keys):
            return True
    return False


def key_of(graph: Graph, source: Source) -> tuple[Column, ...] | None:
    """The shortest key of a table in a product, as columns of the block."""
    if source.mode != "inner" or not isinstance(graph.definitions[source.relation], TableOf):
        return None
    by_field = dict(zip(source.fields, source.columns, strict=True))
    keys = [k for k in graph.keys.get(source.relation, ()) if k and all(f in by_field for f in k)]
    return tuple(by_field[f] for f in min(keys, key=len)) if keys else None


def _cut(
    graph: Graph,
    block: Block,
    cuts: dict[int, tuple[tuple[Column, ...], tuple[Column, ...], tuple[Column, ...]]],
) -> Block:
    sources: list[Source] = []
    shown: dict[int, Source] = {}
    for i, source in enumerate(block.sources):
        if i not in cuts:
            sources.append(source)
            continue
        key, rest, only_shown = cuts[i]
        sources.append(projection(graph, source, (*key, *rest), (*key, *rest)))
        columns = (*graph.fresh_columns(key), *only_shown)
        shown[i] = projection(graph, source, (*key, *only_shown), columns)
    apart = {c.name for _, _, only_shown in cuts.values() for c in only_shown}
    needed = names_of(*block.outputs) - apart
    own = {c.name: c for s in block.sources for c in s.columns} | {
        c.name: c for e in block.explodes for c in e.elements
    }
    keys = {c.name for key, _, _ in cuts.values() for c in key}
    carried = tuple(c for name, c in own.items() if name in needed | keys)
    inner = replace(block, sources=tuple(sources), outputs=carried)
    identities = graph.source(graph.sum([inner], carried), graph.fresh_columns(carried))
    names: dict[str, Term] = {c.name: now for c, now in zip(carried, identities.columns, strict=True)}
    conditions = tuple(
        equate(names[c.name], there)
        for i, source in shown.items()
        for c, there in zip(cuts[i][0], source.columns, strict=False)
    )
    outputs = tuple(replace_columns(t, names) for t in block.outputs)
    return Block((identities, *shown.values()), conditions, outputs)


def projection(
    graph: Graph, source: Source, columns: tuple[Column, ...], names: tuple[Column, ...]
) -> Source:
    """Columns of a relation as a relation of its own, under these names."""
    block = replace(whole(source), outputs=columns)
    relation = graph.sum([block], columns)
    own = graph.columns_of(relation)
    return Source(relation, tuple(c.name for c in own), names)
