"""One rule over a delta: lookups, filters and terms, each for all rows at once.

    where l_shipdate > ...           a mask, then the rows that are left
    look up orders by o_orderkey     pairs of a row and an entry, then the rows with what was read of the entries
    add to ...                       arrays of keys, counts and amounts

Of a batch only the columns that later steps read are carried on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy

from evercurrent.delta.program import Amount, Let, Lookup, Rule, State, Step, Where
from evercurrent.delta.terms import read_by
from evercurrent.engine.columnar.exact_sums import FloatAmounts
from evercurrent.engine.columnar.state import Amounts, ColumnState
from evercurrent.engine.columnar.terms import Batch, Code, compile_vector
from evercurrent.engine.columnar.vectors import (
    Ints,
    Kind,
    Mask,
    Pools,
    Unfit,
    Vector,
    clear_nulls,
    is_true,
    kind_of,
    nulls,
    same_numbers,
    words_of,
)
from evercurrent.term.nodes import Column
from evercurrent.term.walk import columns_of

States = Mapping[str, ColumnState]
Run = Callable[[Batch, States], Batch]

MOST_PAIRS = 5_000_000
"""Pairs of a row and an entry that a range of few is sought among; of more, rows are read in order instead."""


@dataclass(slots=True)
class Rows:
    """What a rule adds: columns, weights, and for a state dependents and amounts."""

    columns: list[Vector]
    counts: Ints
    dependents: list[Vector]
    amounts: list[Amounts]


class ColumnRule:
    """A rule, compiled over vectors. `used` are the columns of the delta that it reads, by position and name."""

    def __init__(self, rule: Rule, states: Mapping[str, State], pools: Pools) -> None:
        self.rule = rule
        self.into = rule.into
        ends = [*rule.columns, rule.count, *rule.dependents]
        for a in rule.amounts:
            ends += [*a.args, *(t for t in (a.weight, a.where) if t is not None)]
        needed = _names(ends)
        self.steps: list[Run] = []
        for step in reversed(rule.steps):
            self.steps.append(_compile_step(step, needed, states, pools))
            needed = (needed - _list_bound(step)) | _names(read_by(step))
        self.steps.reverse()
        self.used = [(i, c.name) for i, c in enumerate(rule.binds) if c.name in needed]
        self.weight = rule.weight.name
        self.columns = [compile_vector(t, pools) for t in rule.columns]
        self.count = compile_vector(rule.count, pools)
        self.dependents = [compile_vector(t, pools) for t in rule.dependents]
        kinds = [kind_of(a.type) for a in states[rule.into].accumulators] if rule.amounts else []
        self.amounts = [_compile_amount(a, kind, pools) for a, kind in zip(rule.amounts, kinds, strict=True)]

    def run(self, batch: Batch, states: States) -> Rows | None:
        for step in self.steps:
            if not batch.size:
                return None
            batch = step(batch, states)
        if not batch.size:
            return None
        counts = self.count(batch)
        if counts.valid is not None:
            raise Unfit("a count that is NULL")
        return Rows(
            [clear_nulls(f(batch)) for f in self.columns],
            counts.values,
            [clear_nulls(f(batch)) for f in self.dependents],
            [f(batch) for f in self.amounts],
        )


def _names(terms: Any) -> frozenset[str]:
    return frozenset(c.name for t in terms for c in columns_of(t))


def _list_bound(step: Step) -> frozenset[str]:
    match step:
        case Let(column):
            return frozenset({column.name})
        case Lookup(binds=binds):
            return frozenset(c.name for _, c in binds)
        case _:
            return frozenset()


def _compile_step(step: Step, later: frozenset[str], states: Mapping[str, State], pools: Pools) -> Run:
    match step:
        case Where(condition):
            return _filter(compile_vector(condition, pools), later)
        case Let(column, term):
            return _let(column, compile_vector(term, pools))
        case Lookup():
            return _look_up(step, later, states[step.state], pools)
        case _:
            raise Unfit(f"a step {type(step).__name__}")


def _filter(condition: Code, later: frozenset[str]) -> Run:
    def run(batch: Batch, states: States) -> Batch:
        kept = is_true(condition(batch)).nonzero()[0]
        return batch if len(kept) == batch.size else batch.take(kept, later)

    return run


def _let(column: Column, code: Code) -> Run:
    def run(batch: Batch, states: States) -> Batch:
        return Batch({**batch.columns, column.name: code(batch)}, batch.size)

    return run


# --- lookups -----------------------------------------------------------------------------------------------


def _look_up(step: Lookup, later: frozenset[str], state: State, pools: Pools) -> Run:
    known = {c.name: c for c in (*state.columns, *state.dependents)}
    for name, term in step.match:
        if not same_numbers(known[name].type, term.type):
            raise Unfit("a key of another type")
    match = dict(step.match)  # a column may be compared with several terms: the lookup is by one of them
    others = [(name, term) for name, term in step.match if match[name] is not term]
    names = list(match)
    keys = [compile_vector(term, pools) for term in match.values()]
    equal = [(names.index(name), compile_vector(term, pools)) for name, term in others]
    strict = [i for i, name in enumerate(names) if name not in step.null_safe]
    home = bool(state.columns) and all(c.name in match for c in state.columns)  # a key has at most one entry

    def run(batch: Batch, states: States) -> Batch:
        target = states[step.state]
        if step.span is not None and not names and batch.size * len(target.weights) > MOST_PAIRS:
            raise Unfit("a join by a range alone, which rows read in order")
        vectors = [clear_nulls(f(batch)) for f in keys]
        asked = _without_nulls([vectors[i] for i in strict])
        for i, f in equal:
            same = _equal(vectors[i], clear_nulls(f(batch)))
            asked = same if asked is None else asked & same
        if asked is None:
            places, ids = target.find(names, vectors, batch.size)
        else:
            at = asked.nonzero()[0]
            places, ids = target.find(names, [v.take(at) for v in vectors], len(at))
            places = at[places]
        if step.present or step.absent:
            found = numpy.zeros(batch.size, bool)
            found[places] = True
            return batch.take(numpy.flatnonzero(found if step.present else ~found), later)
        if home and len(places) == batch.size and type(target) is ColumnState:  # every row has its one match
            result = Batch({n: v for n, v in batch.columns.items() if n in later}, batch.size)
        else:
            result = batch.take(places, later)
        for name, column in step.binds:
            if column.name in later:
                result.columns[column.name] = target.read(name, ids)
        return _with_unmatched(step, batch, result, places, later) if step.outer else result

    return run


def _equal(left: Vector, right: Vector) -> Mask:
    """Where both have the same value; NULL equals NULL here."""
    mine, theirs = words_of([left], True), words_of([right], True)
    result: Mask = (mine[0] == theirs[0]) & (mine[1] == theirs[1])
    return result


def _without_nulls(vectors: list[Vector]) -> Mask | None:
    result: Mask | None = None
    for v in vectors:
        if v.valid is not None and not v.valid.all():
            result = v.valid if result is None else result & v.valid
    return result


def _with_unmatched(step: Lookup, batch: Batch, matched: Batch, places: Ints, later: frozenset[str]) -> Batch:
    """The rows without a match once more, with NULLs for what would be read."""
    alone = numpy.ones(batch.size, bool)
    alone[places] = False
    if not alone.any():
        return matched
    rest = batch.take(alone.nonzero()[0], later)
    for _, column in step.binds:
        if column.name in later:
            rest.columns[column.name] = nulls(column.type, rest.size)
    return join_batches([matched, rest])


def join_batches(batches: list[Batch]) -> Batch:
    """The rows of all batches."""
    from evercurrent.engine.columnar.vectors import concatenate

    names = batches[0].columns
    return Batch(
        {n: concatenate([b.columns[n] for b in batches]) for n in names}, sum(b.size for b in batches)
    )


# --- amounts -----------------------------------------------------------------------------------------------


def _compile_amount(amount: Amount, kind: Kind, pools: Pools) -> Callable[[Batch], Amounts]:
    if kind == "float":
        return _compile_float(amount, pools)
    if amount.weight is not None or len(amount.args) != 1:
        raise Unfit("an amount that is no integer")
    value = compile_vector(amount.args[0], pools)
    where = None if amount.where is None else compile_vector(amount.where, pools)

    def run(batch: Batch) -> Ints:
        if where is None:
            return _present(value(batch))
        counted = is_true(where(batch))
        if counted.all():
            return _present(value(batch))
        places = counted.nonzero()[0]
        result = numpy.zeros(batch.size, numpy.int64)
        if len(places):
            result[places] = _present(value(batch.take(places)))
        return result

    return run


def _compile_float(amount: Amount, pools: Pools) -> Callable[[Batch], Amounts]:
    if amount.weight is None or kind_of(amount.args[0].type) != "float":
        raise Unfit("an amount that is no float")
    value, weight = compile_vector(amount.args[0], pools), compile_vector(amount.weight, pools)
    where = None if amount.where is None else compile_vector(amount.where, pools)

    def run(batch: Batch) -> FloatAmounts:
        counted = None if where is None else is_true(where(batch))
        if counted is None or counted.all():
            return FloatAmounts(_present(value(batch)), _present(weight(batch)))
        places = counted.nonzero()[0]
        result = FloatAmounts(numpy.zeros(batch.size), numpy.zeros(batch.size, numpy.int64))
        if len(places):
            some = batch.take(places)
            result.values[places], result.weights[places] = _present(value(some)), _present(weight(some))
        return result

    return run


def _present(vector: Vector) -> Ints:
    if vector.valid is not None and not vector.valid.all():
        raise Unfit("an amount that is NULL")
    return vector.values
