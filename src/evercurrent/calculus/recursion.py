"""Fixpoints: the least relations that satisfy their bodies.

Law. Starting from nothing, apply all bodies again and again; the relations that no longer change are the solution. A set
(`distinct`) is that for every monotone body, cycles in the data or not. A bag counts derivations: it is found if they are
finitely many.

Where the relations are only ranged over (by generators, and in unions), what an iteration adds depends on what the iteration
before added: one occurrence at a time reads the addition, those to its left the new state, those to its right the old one.

    t = a + t*e            d1 = a,  d(n+1) = dn*e
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from evercurrent.calculus.nodes import (
    Comprehension,
    Definition,
    Fixpoint,
    Generator,
    Qualifier,
    Query,
    Relation,
    Union,
)
from evercurrent.calculus.walk import children, relations_of, rename_relations
from evercurrent.data.zset import Row, ZSet
from evercurrent.errors import EvaluationError

DEFAULT_LIMIT = 10_000
"""Iterations after which a recursion is considered endless, unless the fixpoint says otherwise."""

Run = Callable[[Query, Mapping[str, ZSet]], ZSet]


def solve(query: Fixpoint, run: Run) -> Iterator[tuple[Row, int]]:
    """The rows of the fixpoint's result; `run` evaluates a body, given what its relations hold."""
    names = {d.name for d in query.definitions}
    additive = all(is_additive(d.body, names, d.distinct) for d in query.definitions)
    total = (semi_naive if additive else naive)(query, run)
    yield from total[query.result].items()


def naive(query: Fixpoint, run: Run) -> dict[str, ZSet]:
    known = {d.name: ZSet() for d in query.definitions}
    for _ in rounds(query):
        now = {
            d.name: support(run(d.body, known)) if d.distinct else run(d.body, known)
            for d in query.definitions
        }
        if now == known:
            break
        known = now
    return known


def semi_naive(query: Fixpoint, run: Run) -> dict[str, ZSet]:
    names = {d.name for d in query.definitions}
    variants = {d.name: list(differentials(d.body, names)) for d in query.definitions}
    total = {name: ZSet() for name in names}
    added = {d.name: new_rows(d, run(d.body, total), total) for d in query.definitions}
    for _ in rounds(query):
        if not any(added.values()):
            break
        before = {old(name): ZSet(total[name].weights) for name in names if uses_old(variants, name)}
        for name in names:
            for row, weight in added[name].items():
                total[name].add(row, weight)
        known = {**total, **before, **{delta(name): rows for name, rows in added.items()}}
        changes = {
            d.name: ZSet(entry for variant in variants[d.name] for entry in run(variant, known).items())
            for d in query.definitions
        }
        added = {d.name: new_rows(d, changes[d.name], total) for d in query.definitions}
    return total


def rounds(query: Fixpoint) -> Iterator[int]:
    limit = DEFAULT_LIMIT if query.limit is None else query.limit
    yield from range(limit + 1)
    raise EvaluationError(
        f"the recursion of {query.result} did not end within {limit} rounds",
        hint="bound it by a condition, use UNION instead of UNION ALL on cyclic data, or raise the limit",
    )


def support(rows: ZSet) -> ZSet:
    return ZSet((row, 1) for row, _ in rows.items())


def new_rows(definition: Definition, change: ZSet, total: Mapping[str, ZSet]) -> ZSet:
    if not definition.distinct:
        return change
    known = total[definition.name].weights
    return ZSet((row, 1) for row, _ in change.items() if row not in known)


# --- occurrences -------------------------------------------------------------------------------------------


def delta(name: str) -> str:
    return f"{name}\0delta"


def old(name: str) -> str:
    return f"{name}\0old"


def uses_old(variants: Mapping[str, list[Query]], name: str) -> bool:
    return any(old(name) in relations_of(variant) for queries in variants.values() for variant in queries)


def is_additive(body: Query, names: set[str], distinct: bool) -> bool:
    """Whether the relations are only ranged over, so that the body distributes over their union."""
    match body:
        case Relation():
            return True
        case Union(inputs):
            return all(is_additive(i, names, distinct) for i in inputs)
        case Comprehension(monoid, _, qualifiers):
            if monoid == "set" and not distinct:
                return not (relations_of(body) & names)
            sources = [q.source for q in qualifiers if isinstance(q, Generator)]
            others = [part for part in children(body) if not any(part is s for s in sources)]
            return all(is_additive(s, names, distinct) for s in sources) and not any(
                relations_of(part) & names for part in others
            )
        case _:
            return not (relations_of(body) & names)


def differentials(body: Query, names: set[str]) -> Iterator[Query]:
    """The bodies whose sum is what the body adds: in each, one occurrence reads what was added."""
    match body:
        case Relation(name, fields):
            if name in names:
                yield Relation(delta(name), fields)
        case Union(inputs):
            for part in inputs:
                yield from differentials(part, names)
        case Comprehension(qualifiers=qualifiers):
            for i, qualifier in enumerate(qualifiers):
                if not isinstance(qualifier, Generator):
                    continue
                later = tuple(to_old(q, names) for q in qualifiers[i + 1 :])
                for source in differentials(qualifier.source, names):
                    changed = (*qualifiers[:i], Generator(qualifier.variable, source), *later)
                    yield replace(body, qualifiers=changed)
        case _:
            pass


def to_old(qualifier: Qualifier, names: set[str]) -> Qualifier:
    if isinstance(qualifier, Generator) and relations_of(qualifier.source) & names:
        return Generator(qualifier.variable, rename_relations(qualifier.source, {n: old(n) for n in names}))
    return qualifier
