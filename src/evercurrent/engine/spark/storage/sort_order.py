"""By which columns a store's files are sorted.

A lookup reads the row groups whose statistics (smallest and largest value) can hold its keys. Sorted by the columns that
lookups use, few of them can; sorted by anything else, nearly all can. So the order of a state is, of what its program does
with it,

    the key of the groups that a window or a top-k reads, then its order
    else the columns of an index: one that finds at most one entry before others, a shorter one before longer ones
    else the columns of its entries, from left to right

and that of a table is its primary key. Readers trust statistics only, so a file that is sorted otherwise is read more
slowly and gives the same answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evercurrent.data.types import Array, Float, Map, Struct, Type
from evercurrent.delta.analyses.copies import is_copy
from evercurrent.delta.program import Keyed, Program, Ranked, State, Windowed
from evercurrent.engine.spark.storage.file_schema import Shape
from evercurrent.engine.spark.storage.store_names import StoreName, delta_store, state_store
from evercurrent.term.nodes import Column

Order = tuple[str, ...]
"""Names of columns as files have them, the most telling first."""

DEPTH = 3
"""More columns than this tell no more row groups apart."""


def sortable(t: Type) -> bool:
    """Whether files can be sorted by it, and statistics of it be trusted."""
    return not isinstance(t, Float | Array | Map | Struct)


def row_order(types: Sequence[Type], first: Sequence[int] = ()) -> Order:
    """The order of a relation's rows: the columns at `first`, then the others from left to right."""
    places = [*first, *(i for i in range(len(types)) if i not in first)]
    return tuple(f"c{i}" for i in places if sortable(types[i]))[: max(DEPTH, len(first))]


def orders(program: Program) -> dict[StoreName, Order]:
    """The order of every store of states and bags of a program."""
    readers = {
        r.state: r
        for r in program.relations
        if isinstance(r, Keyed) and isinstance(r.function, Windowed | Ranked)
    }
    result: dict[StoreName, Order] = {}
    for state in program.states:
        shape = Shape(state)
        result[shape.store] = stored_order(shape, preferred(state, readers))
        for i in shape.bags:
            types = [c.type for c in state.columns]
            values = [f"a{j}" for j, t in enumerate(shape.bag_types(i)) if sortable(t)][:1]
            own = [n for n, t in zip(shape.columns, types, strict=True) if sortable(t)]
            result[shape.bag_store(i)] = (*own, *values)
    for rules in program.triggers.values():
        for rule in rules:
            state_order = result.get(state_store(rule.into))
            if state_order is not None and is_copy(rule):  # the files of the delta become the state's
                result[delta_store(rule.on)] = state_order
    return result


def preferred(state: State, readers: Mapping[str, Keyed]) -> list[str]:
    """The columns, by the program's names, that come first."""
    reader = readers.get(state.name)
    if reader is not None:
        order = reader.function.order if isinstance(reader.function, Ranked) else ()
        return [*reader.key, *(k.term.name for k in order[:1] if isinstance(k.term, Column))]
    indexes = [i for i in state.indexes if i.columns]
    if not indexes:
        return []
    return list(min(indexes, key=lambda i: (not i.single, len(i.columns))).columns)


def stored_order(shape: Shape, first: Sequence[str]) -> Order:
    s = shape.state
    types = {c.name: c.type for c in (*s.columns, *s.dependents)}
    stored = shape.stored_names()
    names = [*first, *(c.name for c in s.columns if c.name not in first)]
    return tuple(dict.fromkeys(stored[n] for n in names if n in types and sortable(types[n])))[:DEPTH]
