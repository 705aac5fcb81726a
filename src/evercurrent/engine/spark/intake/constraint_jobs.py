"""Constraints of changes that are too large for the driver, judged by Spark: each gives the rows that break it.

Law (as for small changes): the stored rows satisfy every constraint, so only what a change touches can break one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from evercurrent.catalog.nodes import ForeignKey, Table
from evercurrent.data.types import String
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.intake.sorted_unique import rising
from evercurrent.engine.spark.storage.file_schema import Schema, W, any_of, row_schema, same
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.translate.expressions import column


@dataclass(frozen=True)
class Violation:
    """A constraint that a change breaks: rows `c0, c1, ...` of the table that break it."""

    table: Table
    constraint: str
    what: str
    rows: DataFrame


class Checks:
    """The changes of one batch beside the stored rows. All mappings are by lower-cased names of tables."""

    def __init__(
        self,
        engine: Engine,
        tables: Mapping[str, Table],
        stored: Callable[[str], Store],
        deltas: Mapping[str, Segment],
    ) -> None:
        self.engine, self.tables, self.stored, self.deltas = engine, tables, stored, deltas
        self.context = engine.job_context(sum(s.rows for s in deltas.values()))

    def broken(self) -> Iterator[tuple[Violation, int]]:
        """The constraints that are broken, each with the number of rows: two kinds of checks, one job each."""
        yield from self.counted(list(self.single()))
        yield from self.counted(list(self.among()))

    def counted(self, violations: list[Violation]) -> Iterator[tuple[Violation, int]]:
        if not violations:
            return
        counts = [
            v.rows.agg(F.count(F.lit(1)).alias("n")).select(F.lit(i).alias("i"), "n")
            for i, v in enumerate(violations)
        ]
        for row in reduce(DataFrame.union, counts).where(F.col("n") > 0).orderBy("i").collect():
            yield violations[row["i"]], row["n"]

    def single(self) -> Iterator[Violation]:
        """What a row must satisfy by itself. Most changes are right, so each table is first asked as a whole."""
        suspects = []
        for key in self.deltas:
            table = self.tables[key]
            rules = list(self.rules(table))
            if rules:
                inserted = self.delta(table).where(F.col(W) > 0)
                bad = inserted.where(any_of([F.coalesce(c, F.lit(False)) for _, _, c in rules]))
                suspects.append(bad.agg(F.count(F.lit(1)).alias("n")).select(F.lit(key).alias("i"), "n"))
        if not suspects:
            return
        for row in reduce(DataFrame.union, suspects).where(F.col("n") > 0).collect():
            table = self.tables[row["i"]]
            for name, what, condition in self.rules(table):
                inserted = self.delta(table).where(F.col(W) > 0)
                yield Violation(table, name, what, inserted.where(condition))

    def among(self) -> Iterator[Violation]:
        """What rows must satisfy among each other."""
        for key in self.deltas:
            table = self.tables[key]
            yield from self.keys(table)
            for reference in table.foreign_keys:
                yield self.children(table, reference)
            for child in self.tables.values():
                for reference in child.foreign_keys:
                    if reference.parent.lower() == key and self.deletes(table):
                        yield self.parents(table, child, reference)

    def schema(self, table: Table) -> Schema:
        return row_schema([c.type for c in table.columns])

    def delta(self, table: Table) -> DataFrame:
        return self.context.read(self.schema(table), [self.deltas[table.name.lower()]])

    def deletes(self, table: Table) -> bool:
        return not self.engine.only_inserts(self.deltas[table.name.lower()])

    def after(
        self, table: Table, columns: Sequence[str], keys: DataFrame, theirs: Sequence[str]
    ) -> DataFrame:
        """Under each of these keys that the table will have: `columns`, and `n`, how many rows."""
        name = table.name.lower()
        segments = [*self.stored(name).segments]
        if name in self.deltas:
            segments.append(self.deltas[name])
        if not segments:
            return self.engine.session.createDataFrame([], self.schema(table)).select(
                *columns, F.col(W).alias("n")
            )
        rows = self.context.read(self.schema(table), segments)
        if self.stored(name).segments:
            rows = self.near(rows, keys, columns, theirs)
        counted = rows.groupBy(*columns).agg(F.sum(W).alias("n"))
        return counted.where(F.col("n") != 0)

    def rules(self, table: Table) -> Iterator[tuple[str, str, Column]]:
        """Conditions that no row may satisfy: (constraint, what is wrong, condition)."""
        names = [c.name for c in table.columns]
        required = {i for i, c in enumerate(table.columns) if not c.nullable}
        if table.primary_key:
            required |= set(places(table, table.primary_key.columns))
        for i in sorted(required):
            if not self.nulls(table, f"c{i}"):
                continue
            yield f"{names[i]} NOT NULL", f"{names[i]} must not be NULL", F.col(f"c{i}").isNull()
        for i, c in enumerate(table.columns):
            if isinstance(c.type, String) and c.type.length is not None:
                what = f"{c.name} is longer than {c.type.length}"
                yield f"{c.name} {c.type}", what, F.length(f"c{i}") > c.type.length
        scope = {name: F.col(f"c{i}") for i, name in enumerate(names)}
        for check in table.checks:
            yield check.name, f"CHECK ({check.text}) is false", ~column(check.condition, scope)

    def told_apart(self, table: Table, columns: Sequence[str]) -> bool:
        """Whether the changes by themselves certainly have each key once."""
        segment = self.deltas[table.name.lower()]
        weights = [r for file in segment.files for r in self.engine.reader.footer(file).range(W)]
        once = all(r is not None and r[1] is not None and r[1] <= 1 for r in weights)
        return once and rising(self.engine.folder, segment, columns)

    def nulls(self, table: Table, column: str) -> bool:
        """Whether a column of the changes can hold NULLs, by what their files say."""
        segment = self.deltas[table.name.lower()]
        footers = [self.engine.reader.footer(file) for file in segment.files]
        if any(f.place(column) is None for f in footers):
            return True
        return any(r is None or r[2] for f in footers for r in f.range(column))

    def keys(self, table: Table) -> Iterator[Violation]:
        touched = self.delta(table)
        own = [f"c{i}" for i in range(len(table.columns))]
        if self.deletes(table):
            gone = self.after(table, own, touched.where(F.col(W) < 0), own).where(F.col("n") < 0)
            yield Violation(table, "existing row", "there is no such row to delete", gone)
        declared = ([table.primary_key] if table.primary_key else []) + list(table.unique)
        alone = not self.stored(table.name.lower()).segments
        for key in declared:
            columns = [f"c{i}" for i in places(table, key.columns)]
            if alone and self.told_apart(table, columns):
                continue
            come = touched.where(F.col(W) > 0)
            twice = self.after(table, columns, come, columns).where(F.col("n") > 1)
            for c in columns:
                twice = twice.where(F.col(c).isNotNull())
            bad = self.near(come, twice, columns, columns)
            kind = "PRIMARY KEY" if key is table.primary_key else "UNIQUE"
            what = f"{kind} ({', '.join(key.columns)}) occurs more than once"
            yield Violation(table, key.name, what, bad)

    def children(self, table: Table, reference: ForeignKey) -> Violation:
        """Inserted rows whose parent is not there."""
        parent = self.tables[reference.parent.lower()]
        own = [f"c{i}" for i in places(table, reference.columns)]
        theirs = [f"c{i}" for i in places(parent, reference.parent_columns)]
        rows = self.delta(table).where(F.col(W) > 0)
        for c in own:
            rows = rows.where(F.col(c).isNotNull())
        bad = self.near(rows, self.after(parent, theirs, rows, own), own, theirs, "left_anti")
        what = f"FOREIGN KEY ({', '.join(reference.columns)}) refers to no row of {parent.name}"
        return Violation(table, reference.name, what, bad)

    def parents(self, table: Table, child: Table, reference: ForeignKey) -> Violation:
        """Deleted keys to which rows still refer."""
        own = [f"c{i}" for i in places(table, reference.parent_columns)]
        theirs = [f"c{i}" for i in places(child, reference.columns)]
        deleted = self.delta(table).where(F.col(W) < 0)
        gone = self.near(deleted, self.after(table, own, deleted, own), own, own, "left_anti")
        bad = self.near(gone, self.after(child, theirs, gone, own), own, theirs)
        what = f"rows of {child.name} still refer to it by FOREIGN KEY ({', '.join(reference.columns)})"
        return Violation(table, reference.name, what, bad)

    def near(
        self,
        rows: DataFrame,
        keys: DataFrame,
        own: Sequence[str],
        theirs: Sequence[str],
        how: str = "left_semi",
    ) -> DataFrame:
        """Rows whose columns are (or are not) among the keys; NULL equals NULL."""
        other = keys.select(*(F.col(t).alias(f"k{i}") for i, t in enumerate(theirs)))
        on = same([F.col(c) for c in own], [F.col(f"k{i}") for i in range(len(own))])
        return rows.join(other, on, how)


def places(table: Table, columns: Sequence[str]) -> list[int]:
    found = {c.name.lower(): i for i, c in enumerate(table.columns)}
    return [found[name.lower()] for name in columns]
