"""Rules over a slice of a delta: what a task does in a wave.

The slice is read once, in the columns that the rules read. Each rule runs over columns where the columnar kernel is certain to be
exact, else over rows, by the loops of the kernel; a slice whose rows find more entries than a task should hold is halved.
What a rule adds becomes pieces of its target's stores.

    run_slice(wave, reader, Task("orders", part))       [a piece of `orders by customer`, a piece of `orders by day`]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow

from evercurrent.data.types import Type
from evercurrent.delta.program import Lookup, Rule
from evercurrent.engine.columnar.terms import Batch
from evercurrent.engine.columnar.vectors import Pools, Unfit, Vector
from evercurrent.engine.spark.kernel.entries import Entries
from evercurrent.engine.spark.kernel.steps import run_rule
from evercurrent.engine.spark.storage.entry_reader import EntryReader, TooLarge
from evercurrent.engine.spark.storage.file_schema import Shape, W, relation_schema
from evercurrent.engine.spark.storage.store_names import StoreName, delta_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.tasks.column_rules import RuleOverColumns, StoredColumns
from evercurrent.engine.spark.tasks.pieces import Piece, Slice, read_slice, write_piece
from evercurrent.engine.spark.tasks.runner import TASK_ENTRIES, Unserved
from evercurrent.engine.spark.tasks.vectors import total_of, vector_of
from evercurrent.engine.spark.translate.arrow_columns import arrow_to_rows, rows_to_arrow
from evercurrent.engine.spark.translate.types import arrow_schema
from evercurrent.term.nodes import Column

LOOP_ROWS = 250_000
"""The most rows that become Python values at once."""
FEWEST = 1_000
"""A slice of fewer rows is not halved again: what it finds is held, however much it is."""

Tables = Iterator[tuple[StoreName, pyarrow.Table]]


@dataclass
class Wave:
    """Rules that see the states alike: none looks up what another one adds to."""

    shapes: dict[str, Shape]
    stores: Mapping[StoreName, Store]
    columns: Mapping[str, tuple[Column, ...]]  # of relations, by name
    rules: dict[str, list[Rule]] = field(default_factory=dict)  # by the relation whose delta they read
    read: dict[str, tuple[int, ...]] = field(default_factory=dict)  # the columns of the delta that they read
    columnar: bool = True
    loops: bool = True  # whether rows that do not fit columns run by loops
    halves: bool = True  # whether a slice that finds too much is halved; if not, `TooLarge` says so

    @property
    def targets(self) -> set[str]:
        return {r.into for rules in self.rules.values() for r in rules}

    @property
    def looked_up(self) -> set[str]:
        return {
            s.state for rules in self.rules.values() for r in rules for s in r.steps if isinstance(s, Lookup)
        }

    def trim(self) -> Wave:
        """The same with only what its rules need, to be sent to tasks."""
        used = {n: s for n, s in self.shapes.items() if n in self.looked_up | self.targets}
        stores = {n: self.stores[n] for s in used.values() for n in s.stores if n in self.stores}
        names = {*self.rules, *(t for t in self.targets if t not in used)}
        columns = {n: self.columns[n] for n in names}
        return replace(self, shapes=used, stores=stores, columns=columns)


@dataclass(frozen=True)
class Task:
    """A slice of the delta of a relation."""

    relation: str
    part: Slice


def run_slice(wave: Wave, reader: EntryReader, task: Task) -> list[Piece]:
    """Runs the rules of a wave over a slice."""
    columns = wave.columns[task.relation]
    at = wave.read[task.relation]
    schema = arrow_schema(relation_schema(columns))
    narrow = pyarrow.schema([*(schema.field(i) for i in at), schema.field(W)])
    rows = read_slice(reader, task.part, narrow)
    runner = SliceRunner(wave, reader, [columns[i].type for i in at])
    made = []
    for rule in wave.rules[task.relation]:
        for store, table in runner.run(rule, rows, [rule.binds[i].name for i in at]):
            piece = write_piece(reader, store, table)
            if piece is not None:
                made.append(piece)
    return made


class SliceRunner:
    """Runs rules over rows of a delta. States that were read for one rule serve the next."""

    def __init__(self, wave: Wave, reader: EntryReader, types: Sequence[Type]) -> None:
        self.wave, self.reader, self.types = wave, reader, types
        self.pools = Pools()
        self.states = {
            name: StoredColumns(
                wave.shapes[name], reader, wave.stores.get(wave.shapes[name].store, Store()), self.pools
            )
            for name in wave.looked_up
        }
        self.vectors: dict[int, Vector] = {}

    def run(self, rule: Rule, rows: pyarrow.Table, names: list[str]) -> Tables:
        """What a rule adds, by store."""
        if not rows.num_rows:
            return
        if self.wave.columnar:
            try:
                yield from list(self.over_columns(rule, rows, names))
                return
            except Unfit as problem:
                if not self.wave.loops:
                    raise Unserved(str(problem)) from None
        for begin in range(0, rows.num_rows, LOOP_ROWS):
            yield from self.over_rows(rule, rows.slice(begin, LOOP_ROWS), names)

    def over_columns(self, rule: Rule, rows: pyarrow.Table, names: list[str]) -> Tables:
        target = self.wave.columns.get(rule.into, ())
        compiled = RuleOverColumns(rule, self.wave.shapes, target, self.pools)
        needed = {name for _, name in compiled.compiled.used}
        vectors = {}
        for i, name in enumerate(names):
            if name in needed:
                if i not in self.vectors:
                    self.vectors[i] = vector_of(self.types[i], rows.column(i), self.pools)
                vectors[name] = self.vectors[i]
        vectors[rule.weight.name] = Vector(total_of(rows.column(W)))
        for store, table in compiled.run(Batch(vectors, rows.num_rows), self.states):
            yield delta_store(rule.into) if store is None else store, table

    def over_rows(self, rule: Rule, rows: pyarrow.Table, names: list[str]) -> Tables:
        """By loops; halves of the rows if all of them find too much."""
        self.reader.allow(max(TASK_ENTRIES, rows.num_rows))
        try:
            yield from self.loop(rule, rows, names)
            return
        except TooLarge:
            if rows.num_rows <= FEWEST or not self.wave.halves:
                raise
        half = rows.num_rows // 2
        yield from self.over_rows(rule, rows.slice(0, half), names)
        yield from self.over_rows(rule, rows.slice(half), names)

    def loop(
        self, rule: Rule, rows: pyarrow.Table, names: list[str]
    ) -> list[tuple[StoreName, pyarrow.Table]]:
        wave = self.wave
        looked_up = {s.state for s in rule.steps if isinstance(s, Lookup)}
        states = {n: Entries(wave.shapes[n], self.reader, wave.stores) for n in looked_up}
        listed = [(*row, w) for row, w in arrow_to_rows(self.types, rows, W)]
        shape = wave.shapes.get(rule.into)
        if shape is not None:
            into = Entries(shape, self.reader, {})
            run_rule(rule, listed, names, wave.shapes, states, True, lambda: (into.new, into.bags_new))
            return list(into.list_added())
        added: dict[tuple[object, ...], int] = {}
        run_rule(rule, listed, names, wave.shapes, states, True, lambda: (added, None))
        types = [c.type for c in wave.columns[rule.into]]
        entries = [(row, w) for row, w in added.items() if w]
        table = rows_to_arrow(types, [f"c{i}" for i in range(len(types))], entries, W)
        return [(delta_store(rule.into), table)]
