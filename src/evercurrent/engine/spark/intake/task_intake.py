"""Large changes of a table, taken in by tasks: sorted pieces of the inserted and deleted rows, then ranges of keys, validated and written at once.

    rows of a frame  ->  tasks   pieces: sorted by the key, with digests
    pieces           ->  tasks   ranges of keys: added up, rules checked beside the stored rows of the range, written

All rows of a primary key lie in one range, so what a key must satisfy is decided there. A task says of each rule whether its rows
certainly satisfy it (`constraint_precheck`); the rules that all tasks are sure of need no further look. Which rows violate a rule
is found by `constraint_jobs`, as are rules about several tables of one batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from typing import TYPE_CHECKING

import pyarrow
from pyspark.sql import DataFrame

from evercurrent.catalog.nodes import Table
from evercurrent.catalog.rules import References, Rule, UniqueKey, Unreferenced, rules_of
from evercurrent.data.types import Type
from evercurrent.engine.spark.kernel.constraint_precheck import (
    ColumnValidation,
    can_validate,
    consolidate_rows,
)
from evercurrent.engine.spark.storage.digests import H
from evercurrent.engine.spark.storage.entry_reader import EntryReader
from evercurrent.engine.spark.storage.file_schema import exact, row_schema
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.sort_order import sort_rows
from evercurrent.engine.spark.storage.store_names import StoreName
from evercurrent.engine.spark.storage.stored_state import Store, join_segments
from evercurrent.engine.spark.tasks.access import Access
from evercurrent.engine.spark.tasks.merging import RANGE_ROWS, Range, Target, add_up, ranges
from evercurrent.engine.spark.tasks.pieces import Piece, in_range, rises
from evercurrent.engine.spark.tasks.sorted_frames import write_pieces
from evercurrent.engine.spark.tasks.vectors import KNOWN
from evercurrent.engine.spark.translate.types import arrow_schema

if TYPE_CHECKING:  # tasks import this module, and have no engine
    from evercurrent.engine.spark.engine import Engine


@dataclass
class Checks:
    """What the rules of changed tables look at, and those that tasks have found to be satisfied."""

    tables: Mapping[str, Table]
    stored: Callable[[str], Store]
    changed: frozenset[str]
    satisfied: list[Rule] = field(default_factory=list)

    def local_rules(self, name: str) -> list[Rule]:
        """The rules of a table that the rows of a range, and stored rows, decide."""
        if not can_validate(self.tables, name) or self.stored(name).elsewhere:
            return []  # tasks read files of ours only
        return [rule for rule in rules_of(self.tables, [name]) if self.is_local(rule)]

    def is_local(self, rule: Rule) -> bool:
        match rule:
            case References(parent=parent):
                key = parent.name.lower()
                return key not in self.changed and not self.stored(key).elsewhere
            case UniqueKey(place=place):
                return place == 0
            case Unreferenced():
                return False
            case _:
                return True


@dataclass(frozen=True)
class Arrival:
    """The rows of a table on their way in: what a task needs to know of it."""

    store: StoreName
    types: tuple[Type, ...]
    key: tuple[str, ...]
    table: str = ""
    tables: Mapping[str, Table] = field(default_factory=dict)
    stores: Mapping[str, Store] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()

    @property
    def schema(self) -> pyarrow.Schema:
        return arrow_schema(row_schema(self.types))


def serves_rows(engine: Engine, store: StoreName, types: Sequence[Type]) -> bool:
    """Whether tasks can take in rows of these types."""
    plain = all(isinstance(t, KNOWN) for t in types)
    return (
        plain and engine.strategy != "spark" and engine.folder.shared_work and store in engine.folder.orders
    )


def take_in_by_tasks(
    engine: Engine,
    store: StoreName,
    types: Sequence[Type],
    rows: DataFrame,
    table: str,
    checks: Checks | None,
) -> Segment:
    """Weighted rows `c0, c1, ..., w` as a segment in which each stands once; rules that are satisfied are noted in `checks`."""
    pieces = write_pieces(engine.task_runner(), store, exact(rows, row_schema(types)))
    return merge_pieces(engine, store, types, pieces, table, checks)


def merge_pieces(
    engine: Engine,
    store: StoreName,
    types: Sequence[Type],
    pieces: Sequence[Piece],
    table: str,
    checks: Checks | None,
) -> Segment:
    """The same of pieces that were written."""
    key = tuple(f"c{i}" for i in engine.keys.get(store, ()))
    digested = store in engine.folder.digested
    arrival = Arrival(store, tuple(types), key if digested else ())
    if not pieces:
        return EMPTY
    rules = [] if checks is None or not arrival.key else checks.local_rules(table)
    if rules and checks is not None:
        used = {table, *(r.parent.name.lower() for r in rules if isinstance(r, References))}
        arrival = Arrival(
            store,
            arrival.types,
            arrival.key,
            table,
            checks.tables,
            {name: checks.stored(name) for name in used},
            tuple(rules),
        )
    segment, satisfied = merge_arrivals(engine, arrival, pieces)
    if checks is not None:
        checks.satisfied += [rule for rule, sure in zip(rules, satisfied, strict=True) if sure]
    return segment


def consolidate_tables(
    reader: EntryReader, arrival: Arrival, tables: Sequence[pyarrow.Table]
) -> pyarrow.Table:
    """Rows in the order of their store, each once."""
    if arrival.key:
        table = sort_rows(pyarrow.concat_tables(tables), reader.folder.orders[arrival.store])
        if rises(table, arrival.key):
            return table
        return consolidate_rows(table, [*arrival.key, H])
    schema = row_schema(arrival.types)
    bare = [t.select(schema.names) for t in tables]
    return add_up(Target(arrival.store, schema, arrival.types), [*bare, arrival.schema.empty_table()])


# --- ranges ------------------------------------------------------------------------------------------------


def merge_arrivals(
    engine: Engine, arrival: Arrival, pieces: Sequence[Piece]
) -> tuple[Segment, Sequence[bool]]:
    """One segment of the pieces, and for each rule whether it is certainly satisfied."""
    runner = engine.task_runner()
    order = engine.folder.orders[arrival.store]
    rows = sum(p.rows for p in pieces)
    width = len(arrival.key) or len(order)
    shortened = [
        Piece(p.store, p.file, p.rows, p.bytes, p.order, tuple(k[:width] for k in p.sample)) for p in pieces
    ]
    parts = ranges(shortened, max(runner.cores, ceil(rows / RANGE_ROWS))) if order else [Range(None, None)]
    segments = [p.segment for p in pieces]
    stored = [s for x in arrival.stores.values() for s in x.segments]
    access = Access.to(engine.folder, [*segments, *stored], [arrival.store])
    function = partial(write_range, arrival, segments, order)
    found: list[tuple[Segment, tuple[bool, ...]]] = runner.run(function, parts, access)
    engine.reader.read_bytes += runner.read_bytes
    return join_segments((s for s, _ in found), order), [
        all(sure) for sure in zip(*(s for _, s in found), strict=True)
    ]


def write_range(
    arrival: Arrival, pieces: Sequence[Segment], order: Sequence[str], reader: EntryReader, wanted: Range
) -> tuple[Segment, tuple[bool, ...]]:
    """What a task does with a range: its rows, added up, validated and written."""
    schema = arrival.schema
    if arrival.key:
        schema = schema.append(pyarrow.field(H, pyarrow.int64()))
    tables = [t for p in pieces for t in in_range(reader, p, schema, order, wanted.low, wanted.high)]
    table = consolidate_tables(reader, arrival, tables) if tables else schema.empty_table()
    if not table.num_rows:
        return EMPTY, (True,) * len(arrival.rules)
    satisfied: list[bool] = []
    if arrival.rules:
        validation = ColumnValidation(
            reader, arrival.tables, lambda name: arrival.stores.get(name, Store()), {arrival.table: table}
        )
        satisfied = [validation.is_satisfied(rule) for rule in arrival.rules]
    segment = (
        reader.folder.put(arrival.store, table) if arrival.key else reader.folder.write(arrival.store, table)
    )
    return segment, tuple(satisfied)
