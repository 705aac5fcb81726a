"""Whether changes that the driver holds as Arrow tables satisfy all rules: the rules of `catalog.rules`, compiled over columns.

Law. `is_satisfied(rule)` implies that rows, looked at one by one, satisfy the rule (see `rows.violations`). It does not say
which row violates one: where it is False, rows are validated one by one. So it can be wrong in one direction only.

    row rules      `engine.columnar.row_rules`, which the database in process shares
    RowExists      stored rows and change together, each row is there 0 times or more often
    UniqueKey      stored rows and change together, each key is there at most once
    References     of each key that inserted rows refer to, the parent has a row
    Unreferenced   of each key that no row has after the change, no child has one

    stored  id 1, 2    change  id 2: -1, id 3: +1, id 1: +1    sums  1: 2, 2: 0, 3: 1    UniqueKey is not satisfied

Of the stored rows, the columns of keys and references are read, and the digest of a row for the rest of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

import numpy
import pyarrow
import pyarrow.compute

from evercurrent.catalog.nodes import Table
from evercurrent.catalog.rules import (
    Lookup,
    MaxLength,
    NotNull,
    References,
    RowExists,
    RowRule,
    Rule,
    Satisfies,
    UniqueKey,
    Unreferenced,
    lookup_of,
    rules_of,
    table_rules,
)
from evercurrent.engine.columnar.row_rules import satisfies
from evercurrent.engine.columnar.vectors import Ints, Pools, Unfit
from evercurrent.engine.spark.kernel.equal_rows import sum_equal
from evercurrent.engine.spark.storage.digests import H
from evercurrent.engine.spark.storage.entry_reader import EntryReader, filterable
from evercurrent.engine.spark.storage.file_schema import W
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.translate.arrow_columns import arrow_to_rows
from evercurrent.errors import EvercurrentError
from evercurrent.term.evaluate import compile_term
from evercurrent.term.walk import columns_of

NARROW = 8
"""Integers are marked in a map if it has at most so many places for each of them."""


@dataclass
class ColumnValidation:
    """Net changes of tables (`c0, c1, ..., w`, with digests `h`), by lower-cased names, beside what is stored.

    Of `trusted` tables only rows that are there are deleted.
    """

    reader: EntryReader
    tables: Mapping[str, Table]
    stored: Callable[[str], Store]
    deltas: Mapping[str, pyarrow.Table]
    trusted: frozenset[str] = frozenset()
    _inserted: dict[str, pyarrow.Table] = field(default_factory=dict)
    _around: dict[str, pyarrow.Table] = field(default_factory=dict)

    def all_satisfied(self) -> bool:
        """Returns whether the changes certainly satisfy all rules."""
        return all(map(self.is_satisfied, rules_of(self.tables, self.deltas)))

    def is_satisfied(self, rule: Rule) -> bool:
        """Returns whether the changes certainly satisfy a rule, given that they satisfy those before it."""
        name = rule.table.name.lower()
        delta = self.deltas[name]
        match rule:
            case NotNull() | MaxLength() | Satisfies():
                return satisfies_row_rule(rule, self.read_inserted(name))
            case RowExists(table):
                if table.primary_key is None:
                    return name in self.trusted
                if within(delta.column(W), low=0):
                    return True
                own = names_of(lookup_of(rule).columns)
                return within(add_weights(self.rows_around(table), [*own, H]), low=0)
            case UniqueKey(table, _, place, columns):
                own = names_of(columns)
                if place == 0:
                    rows = self.rows_around(table)
                else:
                    rows = self.with_stored(table, own, drop_nulls(delta, own))
                return within(add_weights(drop_nulls(rows, own), own), high=1)
            case References():
                lookup = lookup_of(rule)
                wanted = drop_nulls(self.read_inserted(name), names_of(lookup.keys))
                return not self.keys_after(lookup, wanted, present=False).num_rows
            case Unreferenced(References(parent_columns=columns)):
                deleted = delta.filter(pyarrow.compute.less(delta.column(W), 0))
                deleted = drop_nulls(deleted, names_of(columns))
                lost = self.keys_after(Lookup(rule.table, columns, False, columns), deleted, present=False)
                return not self.keys_after(lookup_of(rule), lost, present=True).num_rows
            case _:
                assert_never(rule)

    def read_inserted(self, name: str) -> pyarrow.Table:
        if name not in self._inserted:
            delta = self.deltas[name]
            self._inserted[name] = delta.filter(pyarrow.compute.greater(delta.column(W), 0))
        return self._inserted[name]

    def rows_around(self, table: Table) -> pyarrow.Table:
        """Returns the changed rows and the stored ones under their primary keys: keys, digests and weights."""
        name = table.name.lower()
        if name not in self._around:
            assert table.primary_key is not None
            own = names_of(lookup_of(RowExists(table)).columns)
            self._around[name] = self.with_stored(table, own, self.deltas[name], H)
        return self._around[name]

    def keys_after(self, lookup: Lookup, rows: pyarrow.Table, *, present: bool) -> pyarrow.Table:
        """Returns the keys of some changed rows that a table has, or has not, after the changes; by the names of the rows."""
        own, theirs = names_of(lookup.keys), names_of(lookup.columns)
        keys = distinct(rows.select(own))
        if not keys.num_rows:
            return keys
        there = self.with_stored(lookup.table, theirs, keys.rename_columns(theirs), change=True)
        there = add_up(there, theirs)
        there = there.filter(pyarrow.compute.greater(there.column(W), 0))
        return keys.join(there, own, theirs, join_type="left semi" if present else "left anti")

    def with_stored(
        self, table: Table, own: Sequence[str], keys: pyarrow.Table, *more: str, change: bool = False
    ) -> pyarrow.Table:
        """Returns, of the stored rows under these keys and of the changed rows, the key columns, `more` and the weight.

        The changed rows are `keys` themselves, or with `change` those of the table. Other stored rows may be among them.
        """
        name, columns = table.name.lower(), [*own, *more, W]
        types = [c.type for c in table.columns]
        parts = [self.reader.columns(self.stored(name), types, own, keys, columns)]
        changed = self.deltas.get(name) if change else keys
        return pyarrow.concat_tables([*parts, changed.select(columns)] if changed is not None else parts)


def can_validate(tables: Mapping[str, Table], name: str, *, trusted: bool = False) -> bool:
    """Returns whether the rules of a table can be decided here: by its key, and by columns that Arrow compares as we do."""
    table = tables[name]
    if table.primary_key is None and not trusted:
        return False
    used: set[int] = set()
    for rule in table_rules(tables, [name]):
        if not isinstance(rule, RowExists) or not trusted:
            used.update(lookup_of(rule).keys)
    return all(filterable(table.columns[i].type) for i in used)


def satisfies_row_rule(rule: RowRule, rows: pyarrow.Table) -> bool:
    """Returns whether all rows certainly satisfy a rule of single rows."""
    try:
        return satisfies(rule, rows, Pools())
    except Unfit:
        assert isinstance(rule, Satisfies)
        return is_never_false(rule, rows)
    except EvercurrentError:
        return False


def is_never_false(rule: Satisfies, rows: pyarrow.Table) -> bool:
    """Returns whether a condition that needs values of Python is not FALSE for any row; it gets the columns that it reads."""
    read = {c.name for c in columns_of(rule.check.condition)}
    used = [(i, c) for i, c in enumerate(rule.table.columns) if c.name in read]
    condition = compile_term(rule.check.condition, [c.name for _, c in used])
    chosen = rows.select([*names_of([i for i, _ in used]), W])
    try:
        return all(
            condition(row) is not False for row, _ in arrow_to_rows([c.type for _, c in used], chosen, W)
        )
    except EvercurrentError:
        return False


def names_of(columns: Sequence[int]) -> list[str]:
    return [f"c{i}" for i in columns]


def add_up(table: pyarrow.Table, keys: Sequence[str]) -> pyarrow.Table:
    """Returns each key once, with the sum of its weights."""
    table = table.select([*keys, W])
    equal = sum_equal(table, keys)
    if equal is not None:
        places, sums = equal
        if len(places) == table.num_rows:
            return table
        return table.take(pyarrow.array(places)).set_column(len(keys), W, pyarrow.array(sums))
    alone = find_alone(table, keys)
    if alone is None:
        return sum_weights(table, keys)
    return pyarrow.concat_tables(
        [table.filter(alone), sum_weights(table.filter(pyarrow.compute.invert(alone)), keys)]
    )


def add_weights(table: pyarrow.Table, keys: Sequence[str]) -> pyarrow.ChunkedArray | pyarrow.Array:
    """Returns the sums of weights that `add_up` returns, without the keys."""
    equal = sum_equal(table, keys)
    return add_up(table, keys).column(W) if equal is None else pyarrow.array(equal[1])


def sum_weights(table: pyarrow.Table, keys: Sequence[str]) -> pyarrow.Table:
    sums = table.group_by(list(keys), use_threads=False).aggregate([(W, "sum")])
    return sums.rename_columns([W if n == f"{W}_sum" else n for n in sums.column_names]).select([*keys, W])


def find_alone(table: pyarrow.Table, keys: Sequence[str]) -> pyarrow.Array | None:
    """Returns for each row whether no other one has its value in the first of the columns that are integers; None if none is.

    Most changed rows are such, and a sort of integers in a few ascending runs costs a hundredth of what grouping them does.

    >>> find_alone(pyarrow.table({"k": [1, 2, 1, 5]}), ["k"]).to_pylist()
    [False, True, False, True]
    """
    for name in keys:
        column = table.column(name)
        if pyarrow.types.is_integer(column.type) and not column.null_count:
            values = column.to_numpy()
            order = numpy.argsort(values, kind="stable")
            ordered = values[order]
            changes = numpy.ones(len(values) + 1, bool)
            changes[1:-1] = ordered[1:] != ordered[:-1]
            alone = numpy.empty(len(values), bool)
            alone[order] = changes[1:] & changes[:-1]
            return pyarrow.array(alone)
    return None


def consolidate_rows(rows: pyarrow.Table, keys: Sequence[str]) -> pyarrow.Table:
    """Returns each row once, with the sum of its weights if that is not zero. `keys` identify a row.

    >>> consolidate_rows(pyarrow.table({"k": [1, 2, 1], "v": ["a", "b", "a"], W: [1, 1, -1]}), ["k"]).to_pylist()
    [{'k': 2, 'v': 'b', 'w': 1}]
    """
    found = sum_equal(rows, keys)
    places, sums = sum_by_grouping(rows, keys) if found is None else found
    if len(places) == rows.num_rows:
        return rows
    weights = numpy.zeros(rows.num_rows, numpy.int64)
    weights[places] = sums
    added = rows.set_column(rows.column_names.index(W), W, pyarrow.array(weights, rows.schema.field(W).type))
    return added.filter(pyarrow.array(weights != 0))


def sum_by_grouping(rows: pyarrow.Table, keys: Sequence[str]) -> tuple[Ints, Ints]:
    """Returns the place of each distinct row, and its weight: what `sum_equal` does, of any keys, in any order."""
    numbered = rows.select([*keys, W]).append_column("place", pyarrow.array(numpy.arange(rows.num_rows)))
    alone = find_alone(numbered, keys)
    once = numpy.empty(0, numpy.int64)
    if alone is not None:
        once = numpy.flatnonzero(alone)
        numbered = numbered.filter(pyarrow.compute.invert(alone))
    sums = numbered.group_by(list(keys), use_threads=False).aggregate([("place", "min"), (W, "sum")])
    weights = rows.column(W).to_numpy()[once]
    places = numpy.concatenate([once, sums.column("place_min").to_numpy()])
    return places, numpy.concatenate([weights, sums.column(f"{W}_sum").to_numpy()])


def distinct(table: pyarrow.Table) -> pyarrow.Table:
    """Returns each row once; integers that lie close together in their order, found by marking them in a map.

    >>> distinct(pyarrow.table({"k": [7, 5, 7]})).to_pydict()
    {'k': [5, 7]}
    """
    if table.num_columns == 1:
        column = table.column(0)
        if table.num_rows and pyarrow.types.is_signed_integer(column.type) and not column.null_count:
            values = column.to_numpy()
            low, high = int(values.min()), int(values.max())
            if high - low < NARROW * len(values):
                there = numpy.zeros(high - low + 1, bool)
                there[values.astype(numpy.int64, copy=False) - low] = True
                found = pyarrow.array(numpy.flatnonzero(there) + low, pyarrow.int64()).cast(column.type)
                return pyarrow.table({table.column_names[0]: found})
        return pyarrow.table({table.column_names[0]: table.column(0).unique()})
    return table.group_by(table.column_names, use_threads=False).aggregate([])


def drop_nulls(table: pyarrow.Table, columns: Sequence[str]) -> pyarrow.Table:
    """Returns the rows in which none of these columns is NULL."""
    for name in columns:
        if table.column(name).null_count:
            table = table.filter(table.column(name).is_valid())
    return table


def within(
    weights: pyarrow.ChunkedArray | pyarrow.Array, low: int | None = None, high: int | None = None
) -> bool:
    if not len(weights):
        return True
    found = pyarrow.compute.min_max(weights).as_py()
    return (low is None or low <= found["min"]) and (high is None or found["max"] <= high)
