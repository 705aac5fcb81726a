"""Whether changes may stand beside the stored rows, judged by columns: for changes that the driver holds as Arrow tables.

Law (see `rows.constraints`): the stored rows satisfy every constraint, so only what a change touches can break one. Here
nobody asks which row is to blame: `stands` says that nothing is amiss, or that something may be, and then rows are
judged one by one. So it may be wrong in one direction only.

    a key            of stored rows and change together, each key is there at most once, each row 0 or 1 times
    a reference      of each key that inserted rows refer to, the parent has a row
    a deleted key    no row refers to it

What is read of the stored rows are the columns of keys and references, and the digest of a row for the rest of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy
import pyarrow
import pyarrow.compute

from evercurrent.catalog.nodes import Table, Unique
from evercurrent.engine.spark.storage.digests import H
from evercurrent.engine.spark.storage.entry_reader import EntryReader, filterable
from evercurrent.engine.spark.storage.file_schema import W
from evercurrent.engine.spark.storage.stored_state import Store


@dataclass
class Standing:
    """Changes of tables (`c0, c1, ..., w`, with digests `h`), by lower-cased names, beside what is stored.

    Of `trusted` tables only goes what is there.
    """

    reader: EntryReader
    tables: Mapping[str, Table]
    stored: Callable[[str], Store]
    deltas: Mapping[str, pyarrow.Table]
    trusted: frozenset[str] = frozenset()

    def stands(self) -> bool:
        """Whether keys and references certainly hold after the changes."""
        return all(self.keys(name) and self.parents(name) and self.children(name) for name in self.deltas)

    # --- keys ----------------------------------------------------------------------------------------------

    def keys(self, name: str) -> bool:
        table, delta = self.tables[name], self.deltas[name]
        if table.primary_key is None:
            if name not in self.trusted:
                return False
        elif not self.primary(table, table.primary_key, delta):
            return False
        return all(self.unique(table, key) for key in table.unique)

    def primary(self, table: Table, key: Unique, delta: pyarrow.Table) -> bool:
        """Each row is there once or not at all, each key too; what goes was there."""
        own = columns_of(table, key.columns)
        both = pyarrow.concat_tables([self.under(table, own, delta, H), delta.select([*own, H, W])])
        rows = summed(both, [*own, H])
        if not within(rows.column(W), 0, 1):
            return False
        there = rows.filter(pyarrow.compute.equal(rows.column(W), 1))
        return bool(summed(there, own).num_rows == there.num_rows)

    def unique(self, table: Table, key: Unique) -> bool:
        own = columns_of(table, key.columns)
        delta = known(self.deltas[table.name.lower()], own)
        both = pyarrow.concat_tables([self.under(table, own, delta), delta.select([*own, W])])
        return within(summed(both, own).column(W), 0, 1)

    # --- references ----------------------------------------------------------------------------------------

    def parents(self, name: str) -> bool:
        """Inserted rows have their parents."""
        table, delta = self.tables[name], self.deltas[name]
        for reference in table.foreign_keys:
            parent = self.tables[reference.parent.lower()]
            own = columns_of(table, reference.columns)
            theirs = columns_of(parent, reference.parent_columns)
            come = known(delta.filter(pyarrow.compute.greater(delta.column(W), 0)), own)
            wanted = distinct(come.select(own).rename_columns(theirs))
            if wanted.num_rows and self.after(parent, theirs, wanted).num_rows < wanted.num_rows:
                return False
        return True

    def children(self, name: str) -> bool:
        """No row refers to a key that goes."""
        table, delta = self.tables[name], self.deltas[name]
        gone = delta.filter(pyarrow.compute.less(delta.column(W), 0))
        if not gone.num_rows:
            return True
        for child in self.tables.values():
            for reference in child.foreign_keys:
                if reference.parent.lower() != name:
                    continue
                own = columns_of(table, reference.parent_columns)
                theirs = columns_of(child, reference.columns)
                left = without(distinct(gone.select(own)), self.after(table, own, gone), own)
                if left.num_rows and self.after(child, theirs, left.rename_columns(theirs)).num_rows:
                    return False
        return True

    def after(self, table: Table, own: Sequence[str], keys: pyarrow.Table) -> pyarrow.Table:
        """Those of the keys that the table has after the changes."""
        parts = [self.under(table, own, keys)]
        delta = self.deltas.get(table.name.lower())
        if delta is not None:
            parts.append(delta.select([*own, W]))
        rows = summed(pyarrow.concat_tables(parts), own)
        rows = rows.filter(pyarrow.compute.greater(rows.column(W), 0))
        return distinct(keys.select(own)).join(rows, list(own), join_type="left semi")

    # --- what is stored ------------------------------------------------------------------------------------

    def under(self, table: Table, own: Sequence[str], keys: pyarrow.Table, *more: str) -> pyarrow.Table:
        """Of the stored rows under these keys the key columns, `more`, and the weight; other rows may come along."""
        types = [c.type for c in table.columns]
        store = self.stored(table.name.lower())
        return self.reader.columns(store, types, own, keys, [*own, *more, W])


def judgeable(tables: Mapping[str, Table], name: str, *, trusted: bool = False) -> bool:
    """Whether the constraints of a table can be judged here: by its key, and by columns that Arrow compares as we do."""
    table = tables[name]
    if table.primary_key is None and not trusted:
        return False
    used = {c for u in (table.primary_key, *table.unique) if u is not None for c in u.columns}
    used |= {c for f in table.foreign_keys for c in f.columns}
    used |= {
        c
        for t in tables.values()
        for f in t.foreign_keys
        if f.parent.lower() == name
        for c in f.parent_columns
    }
    lower = {c.lower() for c in used}
    return all(filterable(c.type) for c in table.columns if c.name.lower() in lower)


def columns_of(table: Table, names: Sequence[str]) -> list[str]:
    places = {c.name.lower(): i for i, c in enumerate(table.columns)}
    return [f"c{places[n.lower()]}" for n in names]


def summed(table: pyarrow.Table, keys: Sequence[str]) -> pyarrow.Table:
    """The weights of equal keys added up."""
    sums = table.group_by(list(keys)).aggregate([(W, "sum")])
    return sums.rename_columns([W if n == f"{W}_sum" else n for n in sums.column_names])


def netted(rows: pyarrow.Table, keys: Sequence[str]) -> pyarrow.Table:
    """Rows that some columns tell apart, each once with the sum of its weights; what comes and goes is not there.

    >>> netted(pyarrow.table({"k": [1, 2, 1], "v": ["a", "b", "a"], W: [1, 1, -1]}), ["k"]).to_pylist()
    [{'k': 2, 'v': 'b', 'w': 1}]
    """
    places = numpy.arange(rows.num_rows)
    told = rows.select([*keys, W]).append_column("place", pyarrow.array(places))
    sums = told.group_by(list(keys)).aggregate([("place", "min"), (W, "sum")])
    if sums.num_rows == rows.num_rows:
        return rows
    sums = sums.filter(pyarrow.compute.not_equal(sums.column(f"{W}_sum"), 0))
    chosen = rows.take(sums.column("place_min"))
    return chosen.set_column(chosen.column_names.index(W), W, sums.column(f"{W}_sum"))


def distinct(table: pyarrow.Table) -> pyarrow.Table:
    return table.group_by(table.column_names).aggregate([])


def without(table: pyarrow.Table, other: pyarrow.Table, keys: Sequence[str]) -> pyarrow.Table:
    return table.join(other.select(list(keys)), list(keys), join_type="left anti")


def known(table: pyarrow.Table, columns: Sequence[str]) -> pyarrow.Table:
    """The rows in which none of these columns is NULL."""
    for name in columns:
        table = table.filter(table.column(name).is_valid())
    return table


def within(weights: pyarrow.ChunkedArray, low: int, high: int) -> bool:
    if not len(weights):
        return True
    found = pyarrow.compute.min_max(weights).as_py()
    return bool(low <= found["min"] and found["max"] <= high)
