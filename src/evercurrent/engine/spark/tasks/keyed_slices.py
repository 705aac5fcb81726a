"""Functions of groups, for a slice of what a transaction touches.

    entries whose rows are sums      a slice of the entries that were added; each is a group of its own
    bags, windows, top-k             a slice of the touched keys; what was added under them is looked up like what is stored

Delta            f(new group) - f(old group), for the groups of the slice
Correct because  a group is in one slice: an entry stands once among what was added, a key once among the touched ones
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy
import pyarrow

from evercurrent.delta.program import WEIGHT, Finalize, Keyed
from evercurrent.engine.columnar.deltas import consolidate
from evercurrent.engine.columnar.keyed import Output
from evercurrent.engine.columnar.vectors import Pools, Unfit
from evercurrent.engine.spark.kernel.entries import Entries
from evercurrent.engine.spark.kernel.steps import Weights, compute_keyed_change
from evercurrent.engine.spark.storage.entry_reader import EntryReader, TooLarge
from evercurrent.engine.spark.storage.file_schema import Shape, W, relation_schema
from evercurrent.engine.spark.storage.store_names import StoreName, delta_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.tasks.column_rules import StoredColumns, add_entries
from evercurrent.engine.spark.tasks.pieces import Piece, Slice, read_slice, write_piece
from evercurrent.engine.spark.tasks.rule_slices import FEWEST
from evercurrent.engine.spark.tasks.runner import TASK_ENTRIES
from evercurrent.engine.spark.tasks.vectors import column_of, total_column, vector_of
from evercurrent.engine.spark.translate.arrow_columns import arrow_to_rows, rows_to_arrow
from evercurrent.engine.spark.translate.types import arrow_schema


@dataclass(frozen=True)
class Groups:
    """A keyed relation, its state before the transaction, and what the transaction has added to it."""

    relation: Keyed
    shape: Shape
    stores: Mapping[StoreName, Store]
    additions: Mapping[StoreName, Store]
    columnar: bool = True

    @property
    def by(self) -> tuple[str, ...]:
        """The columns of the state that tell groups apart."""
        if isinstance(self.relation.function, Finalize) and self.shape.bags:
            return tuple(c.name for c in self.shape.state.columns)
        return self.relation.key

    @property
    def by_entries(self) -> bool:
        """Whether each entry is a group of its own, of which sums are all that is read."""
        return isinstance(self.relation.function, Finalize) and not self.shape.bags


def change_of_entries(groups: Groups, reader: EntryReader, part: Slice) -> list[Piece]:
    """The change of a relation for the added entries of a slice."""
    added = read_slice(reader, part, arrow_schema(groups.shape.schema))
    if groups.columnar:
        try:
            return list_pieces(
                write_piece(reader, delta_store(groups.relation.name), over_columns(groups, reader, added))
            )
        except Unfit:
            pass
    return list(over_entries(groups, reader, added))


def list_pieces(piece: Piece | None) -> list[Piece]:
    return [] if piece is None else [piece]


def over_columns(groups: Groups, reader: EntryReader, added: pyarrow.Table) -> pyarrow.Table:
    relation, shape, pools = groups.relation, groups.shape, Pools()
    output = Output(relation, pools)
    stored = StoredColumns(shape, reader, groups.stores.get(shape.store, Store()), pools)
    key = relation.key or tuple(c.name for c in shape.state.columns)
    types = {c.name: (c.type, n) for c, n in zip(shape.state.columns, shape.columns, strict=True)}
    keys = [vector_of(types[k][0], added.column(types[k][1]), pools) for k in key]
    state = stored.state_of(stored.tables(stored.key_table(key, keys) if key else None), ())
    state.commit()
    add_entries(state, shape, added, pools)
    saved = state.list_touched()
    schema = arrow_schema(relation_schema(relation.columns))
    if saved is None:
        return schema.empty_table()
    change = output.change(state, saved, False)
    if not change.size:
        return schema.empty_table()
    columns, weights = [change.columns[n] for n in output.names], change.columns[WEIGHT].values
    if weights.min() < 0 < weights.max():
        columns, weights = consolidate(columns, weights)
    arrays = [
        column_of(c.type, v, pools, schema.field(i).type)
        for i, (c, v) in enumerate(zip(relation.columns, columns, strict=True))
    ]
    arrays.append(total_column(numpy.ascontiguousarray(weights), schema.field(W).type))
    return pyarrow.Table.from_arrays(arrays, schema=schema)


def over_entries(groups: Groups, reader: EntryReader, added: pyarrow.Table) -> Iterator[Piece]:
    """The same by loops; halves if the groups are too large together."""
    if not added.num_rows:
        return
    reader.allow(max(TASK_ENTRIES, 2 * added.num_rows))
    try:
        state = Entries(groups.shape, reader, groups.stores)
        state.new = state.add_up(reader.decode([added], state.types))
        found = compute_keyed_change(groups.relation, state)
    except TooLarge:
        if added.num_rows <= FEWEST:
            raise
        half = added.num_rows // 2
        yield from over_entries(groups, reader, added.slice(0, half))
        yield from over_entries(groups, reader, added.slice(half))
        return
    yield from write_change(groups, reader, found)


def write_change(groups: Groups, reader: EntryReader, change: Weights) -> list[Piece]:
    types = [c.type for c in groups.relation.columns]
    table = rows_to_arrow(types, [f"c{i}" for i in range(len(types))], change.items(), W)
    return list_pieces(write_piece(reader, delta_store(groups.relation.name), table))


# --- by keys -----------------------------------------------------------------------------------------------


def find_touched_keys(
    groups: Groups, keys: StoreName, reader: EntryReader, part: tuple[StoreName, Slice]
) -> list[Piece]:
    """The distinct keys of a slice of what was added to one of the state's stores, as pieces of a scratch store."""
    store, rows = part
    schema = arrow_schema(groups.shape.schemas[store])
    names = [groups.shape.columns[i] for i in key_positions(groups)]
    table = read_slice(reader, rows, pyarrow.schema([schema.field(n) for n in names]))
    types = [groups.shape.state.columns[i].type for i in key_positions(groups)]
    numbered = table.append_column(W, pyarrow.array(numpy.ones(table.num_rows, numpy.int64)))
    distinct = dict.fromkeys(row for row, _ in arrow_to_rows(types, numbered, W))
    made = rows_to_arrow(types, [f"c{i}" for i in range(len(types))], [(row, 1) for row in distinct], W)
    return list_pieces(write_piece(reader, keys, made))


def key_positions(groups: Groups) -> list[int]:
    names = [c.name for c in groups.shape.state.columns]
    return [names.index(k) for k in groups.by]


def change_of_keys(groups: Groups, reader: EntryReader, part: Slice) -> list[Piece]:
    """The change of a relation for the groups of a slice of touched keys."""
    columns = [groups.shape.state.columns[i] for i in key_positions(groups)]
    table = read_slice(reader, part, arrow_schema(relation_schema(columns)))
    keys = [row for row, _ in arrow_to_rows([c.type for c in columns], table, W)]
    return list(change_under(groups, reader, keys))


def change_under(groups: Groups, reader: EntryReader, keys: list[tuple[object, ...]]) -> Iterator[Piece]:
    reader.allow(TASK_ENTRIES)
    try:
        state = Entries(groups.shape, reader, groups.stores)
        state.seed(groups.additions, groups.by, set(keys))
        found = compute_keyed_change(groups.relation, state)
    except TooLarge:
        if len(keys) <= 1:
            raise
        half = len(keys) // 2
        yield from change_under(groups, reader, keys[:half])
        yield from change_under(groups, reader, keys[half:])
        return
    yield from write_change(groups, reader, found)


def change_of_all(groups: Groups, reader: EntryReader, _: object) -> list[Piece]:
    """The change of a relation with a single group."""
    state = Entries(groups.shape, reader, groups.stores)
    state.seed(groups.additions)
    return write_change(groups, reader, compute_keyed_change(groups.relation, state))
