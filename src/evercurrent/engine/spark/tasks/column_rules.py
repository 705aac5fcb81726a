"""Rules over columns, with lookups into stored states.

A rule is compiled by the columnar kernel; its lookups ask a `StoredColumns`, which reads of the state's files the entries under
the asked keys, in all segments, adds them up, and finds them as the kernel's own states do. What a rule returns is added up and
becomes Arrow tables of its target's stores.

    delta of orders, as columns        customer [7, 7, 8], total [9.50, 3.00, 1.00], weight [1, 1, 1]
    added to orders by customer        customer [7, 8], sum [12.50, 1.00], weight [2, 1]

Correct because  the kernel raises `Unfit` wherever it is not certainly exact, and loops over rows run instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy
import pyarrow

from evercurrent.data.types import BOOLEAN, Type
from evercurrent.delta.program import WEIGHT, Lookup, Rule, State
from evercurrent.engine.columnar.rules import ColumnRule
from evercurrent.engine.columnar.state import ColumnState
from evercurrent.engine.columnar.terms import Batch
from evercurrent.engine.columnar.vectors import Ints, Mask, Pools, Unfit, Vector, is_true
from evercurrent.engine.spark.storage.entry_reader import STRAYS, EntryReader, filterable
from evercurrent.engine.spark.storage.file_schema import Shape, W, relation_schema
from evercurrent.engine.spark.storage.lookup import among
from evercurrent.engine.spark.storage.store_names import StoreName
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.storage.wanted import Wanted
from evercurrent.engine.spark.tasks.vectors import (
    add_up,
    column_of,
    total_column,
    total_of,
    vector_of,
)
from evercurrent.engine.spark.translate.types import arrow_schema
from evercurrent.term.nodes import Column, Literal, Term

HELD_ROWS = 400_000
"""A state of at most this number of entries is read whole, once for all slices of a worker."""
MOST_ROWS = 4_000_000
"""More entries than this are not held as columns for one lookup,"""
MOST_BYTES = 512 << 20
"""nor more bytes of them."""


def entry_state(shape: Shape) -> State:
    """A state as files tell entries apart: by columns and dependents together; sums only."""
    s = shape.state
    return replace(
        s,
        columns=(*s.columns, *s.dependents),
        dependents=(),
        accumulators=tuple(s.accumulators[i] for i in shape.sums),
    )


class StoredColumns:
    """The entries of one state, read for the keys that are asked."""

    def __init__(self, shape: Shape, reader: EntryReader, store: Store, pools: Pools) -> None:
        self.shape, self.reader, self.store, self.pools = shape, reader, store, pools
        self.definition = entry_state(shape)
        self.types = {c.name: c.type for c in self.definition.columns}
        self.stored = shape.list_stored_names()
        self.found: ColumnState | None = None
        self.held: dict[tuple[str, ...], ColumnState] = {}

    # --- what rules ask ------------------------------------------------------------------------------------

    def find(self, names: Sequence[str], keys: Sequence[Vector], count: int) -> tuple[Ints, Ints]:
        """Pairs of a place among the keys and an entry; see `ColumnState.find`."""
        self.found = self.under(tuple(names), keys)
        return self.found.find(names, keys, count)

    def read(self, name: str, ids: Ints) -> Vector:
        assert self.found is not None
        if name not in self.found.readable and name != WEIGHT:
            raise Unfit("an aggregate of a bag")
        return self.found.read(name, ids)

    # --- reading -------------------------------------------------------------------------------------------

    def under(self, names: tuple[str, ...], keys: Sequence[Vector]) -> ColumnState:
        """The entries under keys; all of them if the state is small or is not looked up by a key."""
        if names in self.held:
            return self.held[names]
        if self.store.rows <= HELD_ROWS or not names:
            found = self.held[names] = self.state_of(self.tables(None), names)
            return found
        asked = self.key_table(names, keys)
        return self.state_of(self.tables(asked), names)

    def key_table(self, names: Sequence[str], keys: Sequence[Vector]) -> pyarrow.Table:
        """Distinct keys as columns of the files; those that Arrow compares otherwise are left out."""
        arrow = arrow_schema(self.shape.schema)
        chosen = [(n, v) for n, v in zip(names, keys, strict=True) if filterable(self.types[n])]
        once, _ = add_up([v for _, v in chosen], [numpy.ones(len(keys[0]), numpy.int64)], len(keys[0]))
        columns = {
            self.stored[n]: column_of(self.types[n], v, self.pools, arrow.field(self.stored[n]).type)
            for (n, _), v in zip(chosen, once, strict=True)
        }
        return pyarrow.table(columns)

    def tables(self, keys: pyarrow.Table | None) -> list[pyarrow.Table]:
        """Rows of all segments under at least these keys."""
        arrow = arrow_schema(self.shape.schema)
        if keys is None or not keys.num_columns:
            if self.store.rows > MOST_ROWS or self.store.bytes > MOST_BYTES:
                raise Unfit("too many entries for one lookup")
            return [self.reader.whole(f, s, arrow) for s in self.store.segments for f in s.files]
        wanted = [Wanted.among(n, keys.column(n)) for n in keys.column_names]
        whole_keys = keys.select([n for n in keys.column_names if not keys.column(n).null_count])
        parts = [arrow.empty_table()]
        rows = size = 0
        for segment in self.store.segments:
            for file in segment.find_holding(wanted):
                found = self.reader.choose_rows(file, segment, arrow, wanted)
                if len(wanted) > 1 and found.num_rows > STRAYS + 2 * keys.num_rows:
                    found = among(found, whole_keys)
                parts.append(found)
                rows, size = rows + found.num_rows, size + found.nbytes
                if rows > MOST_ROWS or size > MOST_BYTES:
                    raise Unfit("too many entries for one lookup")
        return parts

    def state_of(self, tables: Sequence[pyarrow.Table], names: tuple[str, ...]) -> ColumnState:
        own = [c.name for c in self.definition.columns]
        chained = [names] if names and not set(own) <= set(names) else []
        state = ColumnState(self.definition, chained)
        for table in tables:
            if table.num_rows:
                add_entries(state, self.shape, table, self.pools)
        return state


def add_entries(state: ColumnState, shape: Shape, table: pyarrow.Table, pools: Pools) -> None:
    """Adds entries as files have them."""
    columns = [
        vector_of(c.type, table.column(n), pools)
        for c, n in zip(state.state.columns, (*shape.columns, *shape.dependents), strict=True)
    ]
    sums = [total_of(table.column(n)) for n in shape.sums.values()]
    state.add(columns, [], total_of(table.column(W)), sums)


class RuleOverColumns:
    """A rule, compiled over columns; `run` returns what it adds to each store for some rows of a delta."""

    def __init__(
        self, rule: Rule, shapes: Mapping[str, Shape], columns: Sequence[Column], pools: Pools
    ) -> None:
        self.rule = rule
        self.pools = pools
        self.shape = shapes.get(rule.into)
        self.target = columns  # of a linear relation
        definitions = {name: shape.state for name, shape in shapes.items()}
        for step in rule.steps:
            if isinstance(step, Lookup):
                self.require_sums(step, shapes[step.state])
        bags = self.shape.bags if self.shape is not None else ()
        if any(rule.amounts[i].weight is None for i in bags):
            raise Unfit("a value without a weight")
        self.wheres = [a.where or Literal(True, BOOLEAN) for a in rule.amounts]
        self.weights = [a.weight or rule.count for a in rule.amounts]
        self.terms: list[Term] = [*rule.columns, *rule.dependents]
        for a, where, weight in zip(rule.amounts, self.wheres, self.weights, strict=True):
            self.terms += [*a.args, where, weight]
        plain = replace(rule, columns=tuple(self.terms), dependents=(), amounts=())
        self.compiled = ColumnRule(plain, definitions, pools)

    @staticmethod
    def require_sums(step: Lookup, shape: Shape) -> None:
        bags = {shape.state.accumulators[i].name for i in shape.bags}
        if any(name in bags for name, _ in step.binds):
            raise Unfit("an aggregate of a bag")

    def run(
        self, batch: Batch, states: Mapping[str, StoredColumns]
    ) -> Iterator[tuple[StoreName | None, pyarrow.Table]]:
        """Tables for the stores of a state, or for a relation (None)."""
        rows = self.compiled.run(batch, states)  # type: ignore[arg-type]
        if rows is None:
            return
        width = len(self.rule.columns) + len(self.rule.dependents)
        members, more = rows.columns[:width], rows.columns[width:]
        if self.shape is None:
            keys, (counts,) = add_up(members, [rows.counts], len(rows.counts))
            types = [c.type for c in self.target]
            yield None, self.table(keys, types, [counts], arrow_schema(relation_schema(self.target)))
            return
        yield from self.entries(self.shape, members, rows.counts, more)

    def entries(
        self, shape: Shape, members: list[Vector], counts: Ints, more: list[Vector]
    ) -> Iterator[tuple[StoreName, pyarrow.Table]]:
        s = shape.state
        totals = [counts]
        bags: list[tuple[int, pyarrow.Table]] = []
        for i, a in enumerate(self.rule.amounts):
            n = len(a.args)
            values, where, weight = more[:n], more[n], more[n + 1]
            more = more[n + 2 :]
            counted = is_true(where)
            if i in shape.sums:
                totals.append(_amounts(values[0], counted))
                continue
            at = numpy.flatnonzero(counted)
            keys, (counts_in,) = add_up(
                [*(m.take(at) for m in members[: len(s.columns)]), *(v.take(at) for v in values)],
                [_present(weight.take(at))],
                len(at),
            )
            types = [*(c.type for c in s.columns), *shape.bag_types(i)]
            bags.append((i, self.table(keys, types, [counts_in], arrow_schema(shape.bag_schema(i)))))
        keys, sums = add_up(members, totals, len(counts))
        types = [c.type for c in (*s.columns, *s.dependents)]
        yield shape.store, self.table(keys, types, sums, arrow_schema(shape.schema))
        for i, table in bags:
            yield shape.bag_store(i), table

    def table(
        self, keys: Sequence[Vector], types: Sequence[Type], totals: Sequence[Ints], schema: pyarrow.Schema
    ) -> pyarrow.Table:
        arrays = [
            column_of(t, v, self.pools, schema.field(i).type)
            for i, (t, v) in enumerate(zip(types, keys, strict=True))
        ]
        arrays += [total_column(v, schema.field(len(types) + i).type) for i, v in enumerate(totals)]
        return pyarrow.Table.from_arrays(arrays, schema=schema)


def _amounts(values: Vector, counted: Mask) -> Ints:
    """What each row adds: nothing where it does not count."""
    if counted.all():
        return _present(values)
    places = numpy.flatnonzero(counted)
    result = numpy.zeros(len(counted), numpy.int64)
    result[places] = _present(values.take(places))
    return result


def _present(vector: Vector) -> Ints:
    if vector.valid is not None and not vector.valid.all():
        raise Unfit("an amount that is NULL")
    return vector.values
