"""One program over columnar states: a transaction is its deltas, relation after relation, each rule over all rows at once.

Laws L9 to L12 of programs hold as in `delta.interpret`: deletions of all inputs run before insertions, and each derived
relation runs after what it is computed from. `Unfit`, raised while a program is compiled or run, leaves the states as they
were once `undo` is called; the engine then processes rows one by one.

    program.transact({"orders": delta}, watched=["spend"])      {"spend": its delta}, columns in and columns out
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy

from evercurrent.data.types import Type
from evercurrent.data.zset import Row
from evercurrent.delta.analyses.rule_order import in_turn
from evercurrent.delta.program import (
    WEIGHT,
    Finalize,
    Input,
    Keyed,
    Linear,
    Lookup,
    Program,
)
from evercurrent.engine.columnar.deltas import Delta, consolidate, of_rows, of_vectors, to_rows
from evercurrent.engine.columnar.keyed import Output
from evercurrent.engine.columnar.rules import ColumnRule, Rows
from evercurrent.engine.columnar.state import ColumnState, Saved
from evercurrent.engine.columnar.terms import Batch
from evercurrent.engine.columnar.vectors import Ints, Pools, Unfit, Vector, concatenate
from evercurrent.engine.columnar.windows import GroupOutput
from evercurrent.term.failing import can_fail
from evercurrent.term.nodes import Column


class ColumnProgram:
    """A program and its states."""

    def __init__(self, program: Program, pools: Pools | None = None) -> None:
        self.program = program
        self.pools = Pools() if pools is None else pools
        definitions = {s.name: s for s in program.states}
        chained: dict[str, set[tuple[str, ...]]] = {name: set() for name in definitions}
        for rules in program.triggers.values():
            for rule in rules:
                for step in rule.steps:
                    if isinstance(step, Lookup):
                        chained[step.state].add(tuple(dict(step.match)))
        for r in program.relations:
            if isinstance(r, Keyed) and not isinstance(r.function, Finalize):
                chained[r.state].add(r.key)
        self.states = {s.name: ColumnState(s, _chains(s.columns, chained[s.name])) for s in program.states}
        self.rules: dict[str, list[tuple[ColumnRule, int]]] = {}
        compiled: dict[int, ColumnRule] = {}
        for name, rules in program.triggers.items():
            for rule in rules:
                compiled[id(rule)] = ColumnRule(rule, definitions, self.pools)
            self.rules[name] = [(compiled[id(rule)], sign) for rule, sign in in_turn(rules)]
        self.columns: dict[str, tuple[Column, ...]] = {}
        self.outputs: dict[str, Output | GroupOutput] = {}
        self.checked: set[str] = set()
        for r in program.relations:
            match r:
                case Input() | Linear():
                    self.columns[r.name] = r.columns
                case Keyed(function=Finalize(outputs, multiplicity)):
                    self.columns[r.name] = r.columns
                    self.outputs[r.name] = Output(r, self.pools)
                    if any(map(can_fail, (*outputs, multiplicity))):
                        self.checked.add(r.name)
                case Keyed(state=state):
                    self.columns[r.name] = r.columns
                    of = definitions[state]
                    self.outputs[r.name] = GroupOutput(r, (*of.columns, *of.dependents), self.pools)
                case _:
                    raise Unfit(f"a relation {r.name}")
        self.gathered: dict[str, list[Rows]] = {}
        self.begun = False

    # --- transactions --------------------------------------------------------------------------------------

    def transact(self, deltas: Mapping[str, Delta], watched: Collection[str] = ()) -> dict[str, Delta]:
        """Runs one transaction; returns the deltas of the watched relations."""
        followed = self._find_watched(watched)
        result = {name: d for name, d in deltas.items() if name in watched}
        inputs = [r.name for r in self.program.relations if isinstance(r, Input) and r.name in deltas]
        for name in reversed(inputs):
            self._run(name, deltas[name].select_sign(-1), followed)
        for name in inputs:
            self._run(name, deltas[name].select_sign(1), followed)
        for r in self.program.relations:
            if isinstance(r, Linear):
                delta = self._linear(r)
            elif isinstance(r, Keyed) and (r.name in followed or r.name in self.checked):
                delta = self._update_keyed(r)
            else:
                continue
            if r.name in watched:
                result[r.name] = delta
            for sign in (-1, 1):
                self._run(r.name, delta.select_sign(sign), followed)
        self.begun = True
        return result

    def constants(self) -> dict[str, Delta]:
        """The rows of constant inputs: deltas of the first transaction (law L12)."""
        found = {}
        for r in self.program.relations:
            if isinstance(r, Input) and r.rows is not None:
                found[r.name] = of_rows([c.type for c in r.columns], [(x, 1) for x in r.rows], self.pools)
        return found

    def _find_watched(self, watched: Collection[str]) -> set[str]:
        useful = set(self.states) | set(watched)
        for r in reversed(self.program.relations):
            if any(rule.into in useful for rule, _ in self.rules.get(r.name, ())):
                useful.add(r.name)
        return useful

    def _run(self, name: str, delta: Delta, followed: set[str]) -> None:
        """Runs the rules of a delta whose weights have one sign."""
        if not len(delta):
            return
        positive = bool(delta.weights[0] > 0)
        for rule, sign in self.rules.get(name, ()):
            if rule.into not in followed or (sign and (sign > 0) != positive):
                continue
            columns = {n: delta.column(i) for i, n in rule.used}
            columns[rule.weight] = Vector(delta.weights)
            rows = rule.run(Batch(columns, len(delta)), self.states)
            if rows is not None:
                self._add(rule.into, rows)

    def _add(self, into: str, rows: Rows) -> None:
        state = self.states.get(into)
        if state is None:
            self.gathered.setdefault(into, []).append(rows)
            return
        negative = rows.counts < 0
        if not negative.any() or negative.all():
            state.add(rows.columns, rows.dependents, rows.counts, rows.amounts)
            return
        for mask in (negative, ~negative):  # law L10
            at = mask.nonzero()[0]
            state.add(
                [c.take(at) for c in rows.columns],
                [d.take(at) for d in rows.dependents],
                rows.counts[at],
                [a[at] for a in rows.amounts],
            )

    def _linear(self, r: Linear) -> Delta:
        parts = self.gathered.pop(r.name, [])
        if not parts:
            return of_vectors([], numpy.empty(0, numpy.int64))
        weights = numpy.concatenate([p.counts for p in parts])
        columns = [concatenate(list(vs)) for vs in zip(*(p.columns for p in parts), strict=True)]
        if weights.min() < 0 < weights.max():
            columns, weights = consolidate(columns, weights)
        return of_vectors(columns, weights)

    def _update_keyed(self, r: Keyed) -> Delta:
        state, output = self.states[r.state], self.outputs[r.name]
        saved = state.list_touched()
        if output.scalar and not self.begun:
            zero = numpy.zeros(1, numpy.int64)
            saved = Saved(zero, zero, [numpy.zeros(1, s.dtype) for s in state.sums], [])
        if saved is None:
            return of_vectors([], numpy.empty(0, numpy.int64))
        change = output.change(state, saved, not self.begun)
        if not change.size:
            return of_vectors([], numpy.empty(0, numpy.int64))
        columns = [change.columns[n] for n in output.names]
        weights = change.columns[WEIGHT].values
        if weights.min() < 0 < weights.max():
            columns, weights = consolidate(columns, weights)
        return of_vectors(columns, weights)

    def undo(self) -> None:
        """Puts the states back as they were before the transaction. Idempotent."""
        for state in self.states.values():
            state.undo()
        self.gathered = {}

    def repair(self) -> None:
        for state in self.states.values():
            state.repair()

    def commit(self) -> None:
        for name, state in self.states.items():
            self.states[name] = state.commit()

    # --- reading -------------------------------------------------------------------------------------------

    def rows(self, relation: str) -> Iterator[tuple[Row, int]]:
        """The rows of a keyed relation, or of a linear one that is kept."""
        columns, counts = self._read(relation)
        rows = to_rows(self._types(relation), columns, len(counts), self.pools)
        return ((row, n) for row, n in zip(rows, counts.tolist(), strict=True) if n)

    def page(self, relation: str, offset: int, limit: int) -> tuple[list[Row], int]:
        """So many of these rows from one on, each as often as it is there, and how many there are. Only these are made."""
        columns, counts = self._read(relation)
        ends = numpy.cumsum(counts)
        total = int(ends[-1]) if len(ends) else 0
        if offset >= total or limit <= 0:
            return [], total
        first = int(numpy.searchsorted(ends, offset, side="right"))
        last = int(numpy.searchsorted(ends, min(offset + limit, total) - 1, side="right")) + 1
        part = numpy.arange(first, last)
        rows = to_rows(self._types(relation), [c.take(part) for c in columns], len(part), self.pools)
        repeated = [row for row, n in zip(rows, counts[first:last].tolist(), strict=True) for _ in range(n)]
        begin = offset - int(ends[first] - counts[first])
        return repeated[begin : begin + limit], total

    def _types(self, relation: str) -> list[Type]:
        return [c.type for c in self.columns[relation]]

    def _read(self, relation: str) -> tuple[Sequence[Vector], Ints]:
        """The columns of a relation's rows, and how often each row is there."""
        r = next(r for r in self.program.relations if r.name == relation)
        if isinstance(r, Keyed):
            state = self.states[r.state]
            output = self.outputs[relation]
            # A scalar aggregate has a row whatever the weight of its only entry.
            return output.of(state, numpy.zeros(1, numpy.int64) if output.scalar else state.alive())
        assert isinstance(r, Linear)
        assert r.state is not None
        state = self.states[r.state]
        ids = state.alive()
        return [state.read(c, ids) for c in state.columns], state.weights[ids]

    def entries(self) -> int:
        return sum(len(s.alive()) for s in self.states.values())


def _chains(columns: Sequence[Column], wanted: set[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The keys by which several entries may be found: those that do not hold all columns."""
    own = {c.name for c in columns}
    return sorted(names for names in wanted if names and not own <= set(names))
