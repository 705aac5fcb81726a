"""Keyed relations: the state of a group and the function that is read of it.

Law (by key). For a function f of groups, the delta of `union over k of f(group k)` is, for each key k that a change
touches, `f(new group k) - f(old group k)`; other groups do not change. A group's state adds up, so it is maintained by
rules like any sum, and f is applied to touched groups only.

    Delta            f(new) - f(old) for touched keys
    State            the accumulators of the groups, or their rows
    Cost             touched groups; Finalize reads one entry each, Ranked the rows up to its limit, Windowed the group
    Correct because  groups partition the rows, and the state of a group is a function of its rows alone
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from evercurrent.algebra.nodes import Aggregate, Distinct, Plan, SetOperation, Top, Window, columns
from evercurrent.data.types import BIGINT, Float
from evercurrent.delta.aggregates import Part, Parts, read
from evercurrent.delta.blocks import Block, dependencies, names_of, replace_columns
from evercurrent.delta.definitions import (
    RESERVED,
    Feed,
    KeyedOf,
    Keys,
    StateOf,
    digest,
    field_names,
    state_name,
)
from evercurrent.delta.program import Accumulator, Finalize, Ranked, Windowed, weight_column
from evercurrent.term.build import FALSE, TRUE, call, case, conjunction, lit
from evercurrent.term.nodes import Column, SortKey, Term
from evercurrent.term.nullable import nullable

ONE = lit(1, BIGINT)
ZERO = lit(0, BIGINT)

KeysOf = Mapping[str, Keys]


def aggregate_relation(
    plan: Aggregate, blocks: list[Block], outputs: tuple[Term, ...], conditions: list[Term], keys: KeysOf
) -> tuple[KeyedOf, Keys]:
    """GROUP BY: accumulators per group, read by terms; HAVING decides whether the row is there."""
    parts = Parts()
    readings = [read(a, parts, plan.scalar) for _, a in plan.aggregates]
    source = columns(plan.input)
    feeds = [feed(b, source, tuple(t for _, t in plan.keys), tuple(parts.parts)) for b in blocks]
    named, columns_, dependents, feeds = identify(feeds, tuple(c for c, _ in plan.keys), keys)
    state = make_state(
        columns_, dependents, tuple(p.accumulator for p in parts.parts), feeds, False, "groups"
    )
    own: dict[str, Term] = dict(zip((c.name for c, _ in plan.keys), named, strict=True))
    own |= {c.name: t for (c, _), t in zip(plan.aggregates, readings, strict=True)}
    finalize = Finalize(
        tuple(replace_columns(t, own) for t in outputs),
        presence([replace_columns(t, own) for t in conditions]),
        plan.scalar,
    )
    return relation(state, finalize, [c.name for c in state.columns])


def distinct_relation(
    plan: Distinct, blocks: list[Block], outputs: tuple[Term, ...], conditions: list[Term], keys: KeysOf
) -> tuple[KeyedOf, Keys]:
    """A row is there once while it is there at all."""
    source = columns(plan.input)
    feeds = [feed(b, source, source, ()) for b in blocks]
    named, columns_, dependents, feeds = identify(feeds, source, keys)
    state = make_state(columns_, dependents, (), feeds, False, "distinct rows")
    own: dict[str, Term] = dict(zip((c.name for c in source), named, strict=True))
    finalize = Finalize(
        tuple(replace_columns(t, own) for t in outputs),
        presence([replace_columns(t, own) for t in conditions]),
    )
    return relation(state, finalize, [c.name for c in state.columns])


def setop_relation(
    plan: SetOperation,
    left: list[Block],
    right: list[Block],
    outputs: tuple[Term, ...],
    conditions: list[Term],
) -> tuple[KeyedOf, Keys]:
    """Multiplicities l and r of a row on both sides; the result's is a function of them."""
    side = Column("+left", BIGINT, False)
    accumulator = Accumulator(side.name, BIGINT, "sum")
    feeds = [Feed(b, b.outputs, (), (Part(accumulator, (ONE,)),)) for b in left]
    feeds += [Feed(b, b.outputs, (), (Part(accumulator, (ZERO,)),)) for b in right]
    columns_ = tuple(name_columns(feeds, plan.outputs))
    state = make_state(columns_, (), (accumulator,), feeds, False, f"rows of both sides of {plan.kind}")
    other = call("ring_sub", weight_column(), side)
    match plan.kind, plan.all:
        case "intersect", True:
            count: Term = case(((call("lt", side, other), side),), other)
        case "except", True:
            count = case(((call("gt", side, other), call("ring_sub", side, other)),), ZERO)
        case "intersect", False:
            count = presence([call("gt", side, ZERO), call("gt", other, ZERO)])
        case _:
            count = presence([call("gt", side, ZERO), call("eq", other, ZERO)])
    own = {c.name: k for c, k in zip(plan.outputs, columns_, strict=True)}
    if conditions:
        count = case(((conjunction([replace_columns(t, own) for t in conditions]), count),), ZERO)
    finalize = Finalize(tuple(replace_columns(t, own) for t in outputs), count)
    definition, keys = relation(state, finalize, [c.name for c in state.columns])
    return definition, keys if not plan.all else ()


def window_relation(
    plan: Window, blocks: list[Block], outputs: tuple[Term, ...], keys: KeysOf
) -> tuple[KeyedOf, Keys]:
    """Window functions: the rows of a partition in order."""
    functions = plan.functions
    state, own, key = rows_state(
        plan.input, blocks, functions[0][1].partition, keys, "rows of each partition"
    )

    def local(t: Term) -> Term:
        return replace_columns(t, own)

    renamed = []
    for i, (c, f) in enumerate(functions):
        order = tuple(replace(k, term=local(k.term)) for k in f.order)
        where = None if f.where is None else local(f.where)
        column = Column(f"+{i}", c.type, c.nullable)
        moved = replace(
            f,
            args=tuple(map(local, f.args)),
            partition=tuple(map(local, f.partition)),
            order=order,
            where=where,
        )
        renamed.append((column, moved))
        own[c.name] = column
    function = Windowed(tuple(renamed), tuple(map(local, outputs)))
    return relation(state, function, key, one_per_group=False)


def top_relation(
    plan: Top, blocks: list[Block], outputs: tuple[Term, ...], keys: KeysOf
) -> tuple[KeyedOf, Keys]:
    """The first rows of each group in order."""
    state, own, key = rows_state(plan.input, blocks, plan.partition, keys, "rows to choose the first from")
    order = tuple(SortKey(replace_columns(k.term, own), k.descending, k.nulls_first) for k in plan.order)
    said = tuple(replace_columns(t, own) for t in outputs)
    function = Ranked(order, plan.limit, plan.offset, said, plan.ties)
    return relation(state, function, key, one_per_group=plan.limit == 1 and plan.ties == "rows")


# --- pieces ------------------------------------------------------------------------------------------------


def presence(conditions: list[Term]) -> Term:
    """1 where all conditions hold, else 0."""
    return case(((conjunction(conditions), ONE),), ZERO) if conditions else ONE


def feed(block: Block, source: tuple[Column, ...], terms: tuple[Term, ...], parts: tuple[Part, ...]) -> Feed:
    """What the block adds, with terms over the plan's columns said over the block's."""
    names = {c.name: t for c, t in zip(source, block.outputs, strict=True)}

    def local(t: Term) -> Term:
        return replace_columns(t, names)

    def rename(p: Part) -> Part:
        where = None if p.where is None else local(p.where)
        if where == FALSE and p.accumulator.kind == "sum" and not isinstance(p.accumulator.type, Float):
            return Part(p.accumulator, (lit(0, p.accumulator.type),))
        return Part(p.accumulator, tuple(map(local, p.args)), None if where == TRUE else where)

    return Feed(block, tuple(map(local, terms)), (), tuple(map(rename, parts)))


def identify(
    feeds: list[Feed], like: tuple[Column, ...], keys: KeysOf
) -> tuple[list[Column], tuple[Column, ...], tuple[Column, ...], list[Feed]]:
    """Columns for the key terms: all of them, those that identify, and those that the others determine.

    Only a single block can say what determines what: what does so in one block need not do so across two.
    """
    named = name_columns(feeds, like)
    if len(feeds) != 1 or feeds[0].block.explodes:
        return named, tuple(named), (), feeds
    (only,) = feeds
    known = dependencies(only.block.sources, only.block.conditions, keys)
    kept = list(range(len(named)))
    for i in reversed(range(len(named))):
        others = names_of(*(only.columns[j] for j in kept if j != i if isinstance(only.columns[j], Column)))
        if names_of(only.columns[i]) <= known.closure(others):
            kept.remove(i)
    gone = [i for i in range(len(named)) if i not in kept]
    moved = replace(
        only, columns=tuple(only.columns[i] for i in kept), dependents=tuple(only.columns[i] for i in gone)
    )
    return named, tuple(named[i] for i in kept), tuple(named[i] for i in gone), [moved]


def name_columns(feeds: list[Feed], like: Sequence[Term]) -> list[Column]:
    """Columns of a state for the terms that its feeds put there; like `like` in type."""
    one = feeds[0] if len(feeds) == 1 else None
    names = field_names(one.columns, one.block) if one is not None else [f"c{i}" for i in range(len(like))]
    return [
        Column(n, c.type, not feeds or any(nullable(f.columns[i]) for f in feeds))
        for i, (n, c) in enumerate(zip(names, like, strict=True))
    ]


def rows_state(
    plan: Plan, blocks: list[Block], partition: tuple[Term, ...], keys: KeysOf, why: str
) -> tuple[StateOf, dict[str, Term], list[str]]:
    """A state that keeps whole rows, with the partition's terms as columns; how to say the plan's columns in it."""
    source = columns(plan)
    extra = [t for t in partition if not isinstance(t, Column)]
    terms: tuple[Term, ...] = (*source, *extra)
    feeds = [feed(b, source, terms, ()) for b in blocks]
    named = tuple(name_columns(feeds, terms))
    own: dict[str, Term] = {c.name: n for c, n in zip(source, named, strict=False)}
    key = [
        own[t.name].name if isinstance(t, Column) else named[len(source) + extra.index(t)].name  # type: ignore[union-attr]
        for t in partition
    ]
    unique = len(feeds) == 1 and is_unique(feeds[0], keys)
    return make_state(named, (), (), feeds, unique, why), own, list(dict.fromkeys(key))


def is_unique(f: Feed, keys: KeysOf) -> bool:
    """Whether each entry comes from one combination of rows, each there once: its weight is 1."""
    if f.block.explodes:
        return False
    shown = names_of(*(t for t in (*f.columns, *f.dependents) if isinstance(t, Column)))
    reached = dependencies(f.block.sources, f.block.conditions, keys).closure(shown)
    for s in f.block.sources:
        by_field = dict(zip(s.fields, (c.name for c in s.columns), strict=True))
        if s.mode == "inner" and not any(
            all(by_field[k] in reached for k in key) for key in keys.get(s.relation, ())
        ):
            return False
    return True


def keys_of_sum(blocks: list[Block], columns: tuple[Column, ...], keys: KeysOf) -> Keys:
    """Returns the keys of a single block: a source's key that is in the output and determines the other sources' rows."""
    if len(blocks) != 1 or blocks[0].explodes:
        return ()
    (block,) = blocks
    where = {t.name: c.name for t, c in zip(block.outputs, columns, strict=True) if isinstance(t, Column)}
    found = []
    for source in block.sources:
        by_field = dict(zip(source.fields, source.columns, strict=True))
        for key in keys.get(source.relation, ()) if source.mode == "inner" else ():
            terms = tuple(by_field[f] for f in key)
            if all(t.name in where for t in terms) and is_unique(Feed(block, terms), keys):
                found.append(tuple(where[t.name] for t in terms))
    return tuple(dict.fromkeys(found))


def make_state(
    columns_: tuple[Column, ...],
    dependents: tuple[Column, ...],
    accumulators: tuple[Accumulator, ...],
    feeds: list[Feed],
    unique: bool,
    why: str,
) -> StateOf:
    name = state_name(feeds, columns_, dependents, accumulators)
    return StateOf(name, columns_, dependents, accumulators, unique, tuple(feeds), why)


def relation(
    state: StateOf, function: Finalize | Windowed | Ranked, key: list[str], one_per_group: bool = True
) -> tuple[KeyedOf, Keys]:
    """The keyed relation over a state, and its key: the group's columns, where the outputs show them all."""
    outputs = function.outputs
    names = [
        t.name if isinstance(t, Column) and t.name[0] not in RESERVED else f"c{i}"
        for i, t in enumerate(outputs)
    ]
    names = [n if names.index(n) == i else f"{n}_{i}" for i, n in enumerate(names)]
    own = tuple(Column(n, t.type, nullable(t)) for n, t in zip(names, outputs, strict=True))
    shown = {t.name: n for t, n in zip(outputs, names, strict=True) if isinstance(t, Column)}
    found: Keys = (tuple(shown[k] for k in key),) if one_per_group and all(k in shown for k in key) else ()
    kind = type(function).__name__.lower()
    name = f"{state.name.split('~')[0]}~{kind}{digest(state.name, repr(function), repr(key))}"
    return KeyedOf(name, own, state, tuple(key), function), found
