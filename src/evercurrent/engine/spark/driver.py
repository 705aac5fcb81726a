"""A small transaction, by the driver alone: the same program, the same laws, no job.

A job of Spark costs a tenth of a second and more however few rows it has. So a transaction of few rows is interpreted
here: each rule over the whole delta, each lookup for all keys of the delta at once (`pool` reads the entries of those
keys), each keyed relation for the touched groups. If more entries than the driver should hold turn out to be needed,
`TooLarge` is raised and the cluster runs the transaction instead.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, assert_never

from evercurrent.calculus.windows import total_order, window_values
from evercurrent.data.types import Map, Type
from evercurrent.data.zset import Row
from evercurrent.delta.loops import outside_rules
from evercurrent.delta.program import (
    Explode,
    Finalize,
    Fixpoint,
    Input,
    Keyed,
    Let,
    Linear,
    Lookup,
    Program,
    Ranked,
    Rule,
    Where,
    Windowed,
)
from evercurrent.delta.terms import columns_read
from evercurrent.engine.spark.columns import rows_to_arrow
from evercurrent.engine.spark.entries import Entries, Group
from evercurrent.engine.spark.files import EMPTY, Folder, Segment
from evercurrent.engine.spark.fixpoint import Change, Recursion, between
from evercurrent.engine.spark.kept import Store
from evercurrent.engine.spark.pool import Pool
from evercurrent.engine.spark.run import Cost, Outcome
from evercurrent.engine.spark.shapes import Shape, row_schema
from evercurrent.term.evaluate import compile_term
from evercurrent.term.nodes import SortKey, Term

Weights = dict[Row, int]
Code = Callable[[Row], Any]


class DriverRun:
    """A program, the stores as they are, and one small transaction."""

    def __init__(
        self,
        program: Program,
        folder: Folder,
        pool: Pool,
        stores: Mapping[str, Store],
        *,
        beginning: bool = False,
        held: frozenset[str] = frozenset(),
    ) -> None:
        self.program = program
        self.held = held  # keyed relations that do not move
        self.folder = folder
        self.pool = pool
        self.beginning = beginning
        self.states = {s.name: Entries(Shape(s), pool, stores) for s in program.states}
        self.rows: dict[str, Weights] = {}
        self.types: dict[str, tuple[Type, ...]] = {}
        self.outcome = Outcome()
        self.stores = stores
        self.outside = outside_rules(program)
        self.recursions: list[Recursion] = []
        fixpoints = [r for r in program.relations if isinstance(r, Fixpoint)]
        # Derivations are not added up: one that goes and another that comes are not the same one.
        self.derived: dict[str, Change] = {loop.body: [] for f in fixpoints for loop in f.loops}
        self.inside = {r.name for f in fixpoints for r in between(program, f)}

    def seed(self, seeds: Mapping[str, Store]) -> None:
        """Count these segments as added to their states."""
        for state in self.states.values():
            state.seed(seeds)

    def execute(self, inputs: Mapping[str, Segment]) -> Outcome:
        for relation in self.program.relations:
            if relation.name in self.inside or relation.name in self.held:
                continue
            match relation:
                case Input(name, columns):
                    segment = inputs.get(name, EMPTY)
                    if not segment.rows:
                        continue
                    self.outcome.deltas[name] = segment
                    self.take_in(relation, segment)
                    continue
                case Linear(name, columns):
                    delta = [(row, w) for row, w in self.rows.get(name, {}).items() if w]
                    self.write(name, tuple(c.type for c in columns), delta)
                case Keyed(name, columns):
                    with self.account(name):
                        delta = list(self.moved(relation).items())
                    self.write(name, tuple(c.type for c in columns), delta)
                case Fixpoint(name):
                    with self.account(name):
                        self.recur(relation)
                    continue
                case _:
                    assert_never(relation)
            self.follow(relation.name, delta)
        kept: list[Entries | Recursion] = [*self.states.values(), *self.recursions]
        for moved in kept:
            for store, table in moved.added():
                self.outcome.stores[store] = self.folder.write(store, table)
        return self.outcome

    def take_in(self, relation: Input, segment: Segment) -> None:
        """Run the rules of an input over its change, of which only what they read is decoded."""
        types = [c.type for c in relation.columns]
        read = sorted(columns_read(self.program, relation.name))
        with self.account(relation.name):
            rows = self.pool.picked(segment, row_schema(types), types, read)
        if not segment.net:
            rows = [(*row, w) for row, w in added_up((row[:-1], row[-1]) for row in rows).items()]
        self.run_all(relation.name, rows, read)

    def recur(self, fixpoint: Fixpoint) -> None:
        """Move the relations of a loop together, until no change is left."""
        given = [self.derivations(f"{loop.body}\0outside") for loop in fixpoint.loops]
        inside = [self.derivations(loop.body) for loop in fixpoint.loops]
        if not any(given) and not any(inside):
            return
        recursion = Recursion(fixpoint, self.pool, self.stores)
        self.recursions.append(recursion)
        linear = between(self.program, fixpoint)

        def turn(moving: list[Change]) -> list[Change]:
            for loop, change in zip(fixpoint.loops, moving, strict=True):
                self.follow(loop.inner, change)
            for r in linear:
                self.follow(r.name, self.taken(r.name))
            return [self.derivations(loop.body) for loop in fixpoint.loops]

        for r in linear:  # what rules from outside have brought to relations inside
            self.follow(r.name, self.taken(r.name))
        inside = [[*a, *self.derivations(loop.body)] for a, loop in zip(inside, fixpoint.loops, strict=True)]
        for loop, net in zip(fixpoint.loops, recursion.move(given, inside, turn), strict=True):
            delta = list(net.items())
            self.write(loop.name, tuple(c.type for c in loop.columns), delta)
            self.follow(loop.name, delta)

    def derivations(self, name: str) -> Change:
        found = [(row, w) for row, w in self.derived.get(name, ()) if w]
        self.derived[name] = []
        return found

    def taken(self, name: str) -> Change:
        """What rules have added to a relation, which is empty then."""
        return [(row, w) for row, w in self.rows.pop(name, {}).items() if w]

    def follow(self, name: str, delta: Change) -> None:
        if delta:
            self.run_all(name, [(*row, w) for row, w in delta], range(len(delta[0][0])))

    def run_all(self, name: str, rows: list[Row], read: Sequence[int]) -> None:
        """Run the rules of a relation over rows with their weights; `read` says which columns they have."""
        for rule in self.program.triggers.get(name, ()) if rows else ():
            with self.account(rule.into):
                self.run(rule, rows, [rule.binds[i].name for i in read])

    @contextmanager
    def account(self, serves: str) -> Iterator[None]:
        """Write down what a piece of work takes; of work within work only the whole."""
        begin, before, inside = time.perf_counter(), self.pool.read_bytes, len(self.outcome.costs)
        yield
        del self.outcome.costs[inside:]
        seconds, read = time.perf_counter() - begin, self.pool.read_bytes - before
        self.outcome.costs.append(Cost(frozenset({serves}), seconds, read))

    def write(self, name: str, types: Sequence[Type], delta: Iterable[tuple[Row, int]]) -> None:
        entries = list(delta)
        if entries:
            names = [f"c{i}" for i in range(len(types))]
            table = rows_to_arrow(types, names, entries, "w")
            self.outcome.deltas[name] = self.folder.write(f"{name}\0delta", table)

    # --- rules ---------------------------------------------------------------------------------------------

    def run(self, rule: Rule, rows: list[Row], names: list[str]) -> None:
        names = [*names, rule.weight.name]
        for step in rule.steps:
            if not rows:
                return
            match step:
                case Where(condition):
                    test = compile_term(condition, names)
                    rows = [row for row in rows if test(row) is True]
                case Let(column, term):
                    code = compile_term(term, names)
                    rows = [(*row, code(row)) for row in rows]
                    names = [*names, column.name]
                case Explode():
                    rows = self.exploded(step, rows, names)
                    names = [*names, *(c.name for c in step.elements)]
                case Lookup():
                    rows = self.found(step, rows, names)
                    if not (step.absent or step.present):
                        names = [*names, *(c.name for _, c in step.binds)]
                case _:
                    assert_never(step)
        columns = [compile_term(t, names) for t in rule.columns]
        count = compile_term(rule.count, names)
        state = self.states.get(rule.into)
        if state is None:
            if rule.into in self.derived:
                target = f"{rule.into}\0outside" if id(rule) in self.outside else rule.into
                found = self.derived.setdefault(target, [])
                found += [(tuple(c(row) for c in columns), count(row)) for row in rows]
                return
            into = self.rows.setdefault(rule.into, {})
            for row in rows:
                key = tuple(c(row) for c in columns)
                into[key] = into.get(key, 0) + count(row)
            return
        state.add(rule, rows, names, columns, count)

    def exploded(self, step: Explode, rows: list[Row], names: list[str]) -> list[Row]:
        code = compile_term(step.collection, names)
        width = len(step.elements)
        a_map = isinstance(step.collection.type, Map)
        result: list[Row] = []
        for row in rows:
            collection = code(row)
            items = [] if collection is None else list(collection.items() if a_map else collection)
            for position, item in enumerate(items):
                if a_map:
                    values = tuple(item)
                elif step.inline:
                    values = item if item is not None else (None,) * (width - step.ordinal)
                else:
                    values = (item,)
                result.append((*row, *((position, *values) if step.ordinal else values)))
            if not items and step.outer:
                result.append((*row, *(None,) * width))
        return result

    def found(self, step: Lookup, rows: list[Row], names: list[str]) -> list[Row]:
        state = self.states[step.state]
        codes = [compile_term(t, names) for _, t in step.match]
        nullable = [name in step.null_safe for name, _ in step.match]
        keys = [tuple(c(row) for c in codes) for row in rows]
        valid = [all(v is not None or n for v, n in zip(key, nullable, strict=True)) for key in keys]
        by = tuple(name for name, _ in step.match)
        index = state.index(by, {k for k, v in zip(keys, valid, strict=True) if v})
        read = [name for name, _ in step.binds]
        result: list[Row] = []
        for row, key, ok in zip(rows, keys, valid, strict=True):
            entries = index.get(key, []) if ok else []
            if step.absent or step.present:
                if bool(entries) == step.present:
                    result.append(row)
            elif step.outer and not entries:
                result.append((*row, *(None,) * len(read)))
            else:
                for entry in entries:
                    result.append((*row, *state.read(entry, read)))
        return result

    # --- keyed relations -----------------------------------------------------------------------------------

    def moved(self, relation: Keyed) -> Weights:
        """f(new group) - f(old group) for the groups that were touched."""
        state = self.states[relation.state]
        scalar = isinstance(relation.function, Finalize) and relation.function.scalar
        result: Weights = {}
        groups: Iterable[Group] = state.groups(relation.key, always=scalar and self.beginning)
        if isinstance(relation.function, Ranked) and not relation.key and state.new:
            head = state.head(relation.function)
            groups = groups if head is None else [head]
        function = self.function(relation, state)
        for group in groups:
            if not self.beginning:
                for row, w in function(group, False):
                    result[row] = result.get(row, 0) - w
            for row, w in function(group, True):
                result[row] = result.get(row, 0) + w
        return {row: w for row, w in result.items() if w}

    def function(self, relation: Keyed, state: Entries) -> Callable[[Group, bool], Iterable[tuple[Row, int]]]:
        match relation.function:
            case Finalize(outputs, multiplicity, scalar):
                names = state.names
                codes = [compile_term(t, names) for t in outputs]
                times = compile_term(multiplicity, names)

                def finalize(group: Group, new: bool) -> Iterable[tuple[Row, int]]:
                    for entry in group.entries(new, scalar):
                        row = state.read(entry, names, new)
                        n = times(row)
                        if n:
                            yield tuple(c(row) for c in codes), n

                return finalize
            case Windowed(functions, outputs):
                own = [c.name for c in state.shape.state.columns]
                wide = own + [c.name for c, _ in functions]
                codes = [compile_term(t, wide) for t in outputs]
                by = order_key(functions[0][1].order, state, own)

                def window(group: Group, new: bool) -> Iterable[tuple[Row, int]]:
                    rows = sorted(group.copies(new), key=by)
                    values = [window_values(f, rows, reader(own)) for _, f in functions]
                    for row, *more in zip(rows, *values, strict=True):
                        yield tuple(c((*row, *more)) for c in codes), 1

                return window
            case Ranked(order, limit, offset, outputs):
                own = [c.name for c in state.shape.state.columns]
                codes = [compile_term(t, own) for t in outputs]
                key = order_key(order, state, own)

                def rank(group: Group, new: bool) -> Iterable[tuple[Row, int]]:
                    copies = group.copies(new)
                    if limit is None:
                        chosen = sorted(copies, key=key)[offset:]
                    else:
                        chosen = heapq.nsmallest(offset + limit, copies, key=key)[offset:]
                    for row in chosen:
                        yield tuple(c(row) for c in codes), 1

                return rank
            case _:
                assert_never(relation.function)


def added_up(rows: Iterable[tuple[Row, int]]) -> Weights:
    """Each row once."""
    result: Weights = {}
    for row, w in rows:
        result[row] = result.get(row, 0) + w
    return {row: w for row, w in result.items() if w}


def reader(names: Sequence[str]) -> Callable[[Term, Row], Any]:
    """Values of terms over rows; each term is compiled once."""
    known: dict[int, tuple[Term, Code]] = {}

    def read(term: Term, row: Row) -> Any:
        found = known.get(id(term))
        if found is None:
            found = known[id(term)] = (term, compile_term(term, names))
        return found[1](row)

    return read


def order_key(order: tuple[SortKey, ...], state: Entries, names: Sequence[str]) -> Callable[[Row], Any]:
    """What rows are compared by; the old group and the new one share most rows, so each is looked at once."""
    types = tuple(c.type for c in state.shape.state.columns)
    found = total_order(order, types, reader(names))
    known: dict[Row, Any] = {}

    def key(row: Row) -> Any:
        value = known.get(row)
        if value is None:
            value = known[row] = found(row)
        return value

    return key
