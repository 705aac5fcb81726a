"""Attributes that wait: for a hybrid view, a change of a shared attribute is joined with its rows when the view is read.

A row that many others refer to shows its attributes in as many rows of a join. In a hybrid view it stands in the join as a keyed
relation of its own, of which each change may wait (see `analyses.deferral`), however often an attribute changes before somebody
reads (Nakamura 2001, figure 5):

    select struct(e: e.name, d: e.dept.name) from e in Employees

    { (e.name, d.name) | e <- Employees, d <- D, d.oid = e.dept }       D = { (oid, name) | Departments }, by oid

Law. D has the rows of the table, so the join is the same. A join is right for whatever order its sides are updated in (law L9),
so D may be late. What can fail is not deferred: it fails in the transaction that causes it.
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.delta.blocks import Block, Source, find_equality, names_of
from evercurrent.delta.combine import is_bare, whole
from evercurrent.delta.definitions import Feed, SumOf, TableOf, field_names
from evercurrent.delta.graph import Graph
from evercurrent.delta.keyed import make_state, presence, relation
from evercurrent.delta.program import Finalize
from evercurrent.term.failing import can_fail
from evercurrent.term.nodes import Column, Term
from evercurrent.term.nullable import nullable


def let_attributes_wait(graph: Graph, block: Block) -> Block:
    """The block with a keyed relation in place of each table to whose rows those of another source refer."""
    terms = (*block.outputs, *block.conditions, *(t for s in block.sources for _, t in s.on))
    if block.explodes or any(map(can_fail, terms)):
        return block
    used = names_of(*terms)
    sources = []
    for source in block.sources:
        key = _key_of(graph, source)
        if key is not None and _is_shared(graph, block, source, key):
            source = _by_key(graph, source, key, used)
        sources.append(source)
    return replace(block, sources=tuple(sources))


def _key_of(graph: Graph, source: Source) -> tuple[Column, ...] | None:
    """The shortest key of a table, or of some of its columns, as columns of the block."""
    definition = graph.definitions[source.relation]
    if isinstance(definition, SumOf):
        if definition.kept or len(definition.feeds) != 1 or not is_bare(definition.feeds[0].block):
            return None
        definition = graph.definitions[definition.feeds[0].block.sources[0].relation]
    if not isinstance(definition, TableOf) or definition.rows is not None or source.mode == "anti":
        return None
    by_field = dict(zip(source.fields, source.columns, strict=True))
    keys = [k for k in graph.keys.get(source.relation, ()) if k and all(f in by_field for f in k)]
    return tuple(by_field[f] for f in min(keys, key=len)) if keys else None


def _is_shared(graph: Graph, block: Block, source: Source, key: tuple[Column, ...]) -> bool:
    """Whether several rows of another source can refer to one row of this one: they do so by a column that is no key of theirs."""
    pairs: list[tuple[Term, Term]] = [sides for c in block.conditions if (sides := find_equality(c))]
    pairs += [(s.columns[i], term) for s in block.sources for i, term in s.on]
    names = {c.name for c in key}
    referring = {
        b.name
        for sides in pairs
        for a, b in (sides, sides[::-1])
        if isinstance(a, Column) and isinstance(b, Column) and a.name in names
    }
    for other in block.sources:
        fields = {f for f, c in zip(other.fields, other.columns, strict=True) if c.name in referring}
        unique = any(set(k) <= fields for k in graph.keys.get(other.relation, ()))
        if other is not source and fields and not unique:
            return True
    return False


def _by_key(graph: Graph, source: Source, key: tuple[Column, ...], used: frozenset[str]) -> Source:
    """The source as a keyed relation of the columns that the block uses."""
    names = {c.name for c in key}
    used |= {source.columns[i].name for i, _ in source.on}
    shown = tuple(c for c in source.columns if c.name in used and c.name not in names)
    if not shown:
        return source
    fields = {c.name: f for c, f in zip(source.columns, graph.columns_of(source.relation), strict=True)}
    read = whole(Source(source.relation, source.fields, tuple(fields.values())))
    read = replace(read, outputs=tuple(fields[c.name] for c in (*key, *shown)))
    own = [
        Column(n, c.type, nullable(c))
        for n, c in zip(field_names(read.outputs, read), read.outputs, strict=True)
    ]
    columns, dependents = tuple(own[: len(key)]), tuple(own[len(key) :])
    feed = Feed(read, read.outputs[: len(key)], read.outputs[len(key) :])
    state = make_state(columns, dependents, (), [feed], True, "attributes that may wait")
    definition, keys = relation(state, Finalize(tuple(own), presence([])), [c.name for c in columns])
    graph.define(definition, keys)
    kept = (*key, *shown)
    where = {c.name: i for i, c in enumerate(kept)}
    on = tuple((where[source.columns[i].name], term) for i, term in source.on)
    return replace(
        source,
        relation=definition.name,
        fields=tuple(c.name for c in definition.columns),
        columns=kept,
        on=on,
    )
