"""Which rows of changes that are too large for the driver violate which rule: the rules of `catalog.rules`, over DataFrames.

Law. The changed rows that a rule's frame holds are those of `rows.violations`.

    stored  id 1, 2    change  id 1: +1, id 3: +1    sums under the inserted keys  1: 2, 3: 1    violating  the change of id 1

Most changes satisfy all rules. So one job counts the violations of all rules about single rows together, and another one
those of keys and references; files say by their footers, or by their order, that some rules need no look at all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import assert_never

import pyarrow
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

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
    TableRule,
    UniqueKey,
    Unreferenced,
    lookup_of,
    row_rules,
    table_rules,
)
from evercurrent.data.types import Type
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.intake.sorted_unique import is_ascending
from evercurrent.engine.spark.kernel.constraint_precheck import names_of
from evercurrent.engine.spark.storage.file_schema import Schema, W, any_of, row_schema, same
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.translate.expressions import column


@dataclass(frozen=True)
class ViolatingRows:
    """A rule, and the changed rows `c0, c1, ...` that violate it."""

    rule: Rule
    rows: DataFrame


class ConstraintJobs:
    """The changes of one batch beside the stored rows. All mappings are by lower-cased names of tables."""

    def __init__(
        self,
        engine: Engine,
        tables: Mapping[str, Table],
        stored: Callable[[str], Store],
        deltas: Mapping[str, Segment],
        satisfied: Collection[Rule] = (),
    ) -> None:
        self.engine, self.tables, self.stored, self.deltas = engine, tables, stored, deltas
        self.known = satisfied  # rules that need no look
        self.context = engine.job_context(sum(s.rows for s in deltas.values()))

    def find_violations(self) -> Iterator[tuple[ViolatingRows, int]]:
        """Returns the rules that are violated, in their order, each with the number of changed rows that violate it."""
        yield from self.count([self.find_violating(rule) for rule in self.suspect_row_rules()])
        rules = [rule for rule in table_rules(self.tables, self.deltas) if not self.is_satisfied(rule)]
        yield from self.count([self.find_violating(rule) for rule in rules])

    def count(self, found: list[ViolatingRows]) -> Iterator[tuple[ViolatingRows, int]]:
        for i, n in counts([v.rows for v in found]):
            yield found[i], n

    def suspect_row_rules(self) -> Iterator[RowRule]:
        """Returns the rules about single rows of the tables in which a row violates one: one job for all tables."""
        suspects: list[list[RowRule]] = []
        frames = []
        for name in self.deltas:
            rules = [rule for rule in row_rules(self.tables[name]) if not self.is_satisfied(rule)]
            if rules:
                wrong = [F.coalesce(is_violated(rule), F.lit(False)) for rule in rules]
                suspects.append(rules)
                frames.append(self.read_inserted(self.tables[name]).where(any_of(wrong)))
        for i, _ in counts(frames):
            yield from suspects[i]

    def find_violating(self, rule: Rule) -> ViolatingRows:
        match rule:
            case NotNull() | MaxLength() | Satisfies():
                return ViolatingRows(rule, self.read_inserted(rule.table).where(is_violated(rule)))
            case RowExists() | UniqueKey() | References() | Unreferenced():
                return ViolatingRows(rule, self.find_violating_pairs(rule))
            case _:
                assert_never(rule)

    def find_violating_pairs(self, rule: TableRule) -> DataFrame:
        lookup = lookup_of(rule)
        own, theirs = names_of(lookup.keys), names_of(lookup.columns)
        match rule:
            case RowExists(table):
                whole = tuple(range(len(table.columns)))
                deleted = self.read_deleted(table)
                return self.counts_after(Lookup(table, whole, False, whole), deleted).where(F.col("n") < 0)
            case UniqueKey(table):
                inserted = drop_nulls(self.read_inserted(table), own)
                shared = self.counts_after(lookup, inserted).where(F.col("n") > 1)
                return join(inserted, shared, own, theirs)
            case References(table):
                inserted = drop_nulls(self.read_inserted(table), own)
                return join(inserted, self.keys_after(lookup, inserted), own, theirs, "left_anti")
            case Unreferenced():
                deleted = self.read_deleted(rule.table)
                keys = self.keys_after(Lookup(rule.table, lookup.keys, False, lookup.keys), deleted)
                lost = join(deleted, keys, own, own, "left_anti")
                return join(lost, self.keys_after(lookup, lost), own, theirs)
            case _:
                assert_never(rule)

    def with_holders(self, found: ViolatingRows) -> DataFrame:
        """Returns all rows that an error shows: with rows that want a key, the stored rows that have it."""
        rule = found.rule
        columns = names_of(range(len(rule.table.columns)))
        rows = found.rows.select(*columns)
        stored = self.stored(rule.table.name.lower()).segments
        if not isinstance(rule, UniqueKey) or not stored:
            return rows
        own = names_of(rule.columns)
        held = self.context.read(self.schema(rule.table), list(stored)).unionByName(
            self.read_deleted(rule.table)
        )
        left = join(held, rows, own, own).groupBy(*columns).agg(F.sum(W).alias("n")).where(F.col("n") > 0)
        return left.select(*columns).unionByName(rows)

    # --- what files say ------------------------------------------------------------------------------------

    def is_satisfied(self, rule: Rule) -> bool:
        """Returns whether it is known, or the files of the changes show, that they satisfy the rule; no job runs."""
        if rule in self.known:
            return True
        name = rule.table.name.lower()
        match rule:
            case NotNull(_, i):
                return not self.can_be_null(name, f"c{i}")
            case MaxLength() | Satisfies() | References():
                return False
            case RowExists() | Unreferenced():
                return self.engine.only_inserts(self.deltas[name])
            case UniqueKey(_, _, _, columns):
                return not self.stored(name).segments and self.has_unique_keys(name, names_of(columns))
            case _:
                assert_never(rule)

    def has_unique_keys(self, name: str, columns: Sequence[str]) -> bool:
        """Returns whether the changes have each key once, because they are sorted by it."""
        segment = self.deltas[name]
        if segment.origins:
            return False
        weights = [r for file in segment.files for r in self.engine.reader.footer(file).range(W)]
        once = all(r is not None and r[1] is not None and r[1] <= 1 for r in weights)
        return once and is_ascending(self.engine.folder, segment, columns)

    def can_be_null(self, name: str, column: str) -> bool:
        """Returns whether a column of the changes can hold NULLs, by what the footers of their files say."""
        if self.deltas[name].origins:
            return True
        footers = [self.engine.reader.footer(file) for file in self.deltas[name].files]
        if any(f.place(column) is None for f in footers):
            return True
        return any(r is None or r[2] for f in footers for r in f.range(column))

    # --- frames --------------------------------------------------------------------------------------------

    def schema(self, table: Table) -> Schema:
        return row_schema([c.type for c in table.columns])

    def delta(self, table: Table) -> DataFrame:
        return self.context.read(self.schema(table), [self.deltas[table.name.lower()]])

    def read_inserted(self, table: Table) -> DataFrame:
        return self.delta(table).where(F.col(W) > 0)

    def read_deleted(self, table: Table) -> DataFrame:
        return self.delta(table).where(F.col(W) < 0)

    def counts_after(self, lookup: Lookup, rows: DataFrame) -> DataFrame:
        """Returns, for each of the rows' keys, the columns and `n`, how many rows of a table have it after the change."""
        name, columns = lookup.table.name.lower(), names_of(lookup.columns)
        stored = list(self.stored(name).segments)
        segments = [*stored, self.deltas[name]] if name in self.deltas else stored
        if not segments:
            empty = self.engine.session.createDataFrame([], self.schema(lookup.table))
            return empty.select(*columns, F.col(W).alias("n"))
        found = self.context.read(self.schema(lookup.table), segments)
        if stored:
            found = join(found, rows, columns, names_of(lookup.keys))
        return found.groupBy(*columns).agg(F.sum(W).alias("n"))

    def keys_after(self, lookup: Lookup, rows: DataFrame) -> DataFrame:
        """Returns those of the rows' keys that a table has after the change."""
        return self.counts_after(lookup, rows).where(F.col("n") > 0)


def wrong_keys(
    engine: Engine, change: Segment, types: Sequence[Type], own: Sequence[str], most: int
) -> pyarrow.Table:
    """Some keys that a change, on its own, has more than once or without a value."""
    frame = engine.job_context(change.rows).read(row_schema(types), [change])
    without = any_of([F.col(n).isNull() for n in own])
    each = frame.groupBy(*own).agg(F.sum(W).alias(W), F.max(without).alias("without"))
    return each.where((F.col(W) > 1) | F.col("without")).select(*own).limit(most).toArrow()


def is_violated(rule: RowRule) -> Column:
    """Returns the condition that is true of a row that violates the rule."""
    match rule:
        case NotNull(_, i):
            return F.col(f"c{i}").isNull()
        case MaxLength(_, i, length):
            return F.length(f"c{i}") > length
        case Satisfies(table, check):
            return ~column(check.condition, {c.name: F.col(f"c{i}") for i, c in enumerate(table.columns)})
        case _:
            assert_never(rule)


def counts(frames: Sequence[DataFrame]) -> Iterator[tuple[int, int]]:
    """Returns the positions of frames that have rows, and how many: one job."""
    if not frames:
        return
    numbered = [
        frame.agg(F.count(F.lit(1)).alias("n")).select(F.lit(i).alias("i"), "n")
        for i, frame in enumerate(frames)
    ]
    for row in reduce(DataFrame.union, numbered).where(F.col("n") > 0).orderBy("i").collect():
        yield row["i"], row["n"]


def join(
    rows: DataFrame, keys: DataFrame, own: Sequence[str], theirs: Sequence[str], how: str = "left_semi"
) -> DataFrame:
    """Returns the rows whose columns are (or are not) among the keys; NULL equals NULL."""
    other = keys.select(*(F.col(t).alias(f"k{i}") for i, t in enumerate(theirs)))
    on = same([F.col(c) for c in own], [F.col(f"k{i}") for i in range(len(own))])
    return rows.join(other, on, how)


def drop_nulls(rows: DataFrame, columns: Sequence[str]) -> DataFrame:
    """Returns the rows in which none of these columns is NULL."""
    for name in columns:
        rows = rows.where(F.col(name).isNotNull())
    return rows
