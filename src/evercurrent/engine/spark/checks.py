"""Constraints of changes that are too large for the driver, judged by Spark: each gives the rows that break it.

Law (as for small changes): the stored rows satisfy every constraint, so only what a change touches can break one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from evercurrent.catalog.nodes import ForeignKey, Table
from evercurrent.data.types import String
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.expressions import column
from evercurrent.engine.spark.files import Segment
from evercurrent.engine.spark.kept import Store
from evercurrent.engine.spark.shapes import W, consolidate, row_schema, same


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
        self.workshop = engine.workshop(sum(s.rows for s in deltas.values()))

    def all(self) -> Iterator[Violation]:
        for key in self.deltas:
            table = self.tables[key]
            yield from self.rows(table)
            yield from self.keys(table)
            for reference in table.foreign_keys:
                yield self.children(table, reference)
            for child in self.tables.values():
                for reference in child.foreign_keys:
                    if reference.parent.lower() == key:
                        yield self.parents(table, child, reference)

    def schema(self, table: Table):  # type: ignore[no-untyped-def]
        return row_schema([c.type for c in table.columns])

    def delta(self, table: Table) -> DataFrame:
        return self.workshop.read(self.schema(table), [self.deltas[table.name.lower()]])

    def after(self, table: Table) -> DataFrame:
        """The rows of a table as they will be."""
        key = table.name.lower()
        segments = [*self.stored(key).segments]
        if key in self.deltas:
            segments.append(self.deltas[key])
        schema = self.schema(table)
        if not segments:
            return self.engine.session.createDataFrame([], schema)
        return consolidate(self.workshop.read(schema, segments), schema)

    def rows(self, table: Table) -> Iterator[Violation]:
        inserted = self.delta(table).where(F.col(W) > 0)
        names = [c.name for c in table.columns]
        required = {i for i, c in enumerate(table.columns) if not c.nullable}
        if table.primary_key:
            required |= set(places(table, table.primary_key.columns))
        for i in sorted(required):
            bad = inserted.where(F.col(f"c{i}").isNull())
            yield Violation(table, f"{names[i]} NOT NULL", f"{names[i]} must not be NULL", bad)
        for i, c in enumerate(table.columns):
            if isinstance(c.type, String) and c.type.length is not None:
                bad = inserted.where(F.length(f"c{i}") > c.type.length)
                what = f"{c.name} is longer than {c.type.length}"
                yield Violation(table, f"{c.name} {c.type}", what, bad)
        scope = {name: F.col(f"c{i}") for i, name in enumerate(names)}
        for check in table.checks:
            bad = inserted.where(~column(check.condition, scope))
            yield Violation(table, check.name, f"CHECK ({check.text}) is false", bad)

    def keys(self, table: Table) -> Iterator[Violation]:
        touched = self.delta(table)
        own = [f"c{i}" for i in range(len(table.columns))]
        near = self.near(self.after(table), touched, own, own)
        gone = near.where(F.col(W) < 0)
        yield Violation(table, "existing row", "there is no such row to delete", gone)
        declared = ([table.primary_key] if table.primary_key else []) + list(table.unique)
        for key in declared:
            columns = [f"c{i}" for i in places(table, key.columns)]
            rows = self.near(self.after(table), touched, columns, columns)
            for c in columns:
                rows = rows.where(F.col(c).isNotNull())
            twice = rows.groupBy(*columns).agg(F.sum(W).alias("n")).where(F.col("n") > 1)
            bad = self.near(rows, twice, columns, columns)
            kind = "PRIMARY KEY" if key is table.primary_key else "UNIQUE"
            what = f"{kind} ({', '.join(key.columns)}) is there more than once"
            yield Violation(table, key.name, what, bad)

    def children(self, table: Table, reference: ForeignKey) -> Violation:
        """Inserted rows whose parent is not there."""
        parent = self.tables[reference.parent.lower()]
        own = [f"c{i}" for i in places(table, reference.columns)]
        theirs = [f"c{i}" for i in places(parent, reference.parent_columns)]
        rows = self.delta(table).where(F.col(W) > 0)
        for c in own:
            rows = rows.where(F.col(c).isNotNull())
        bad = self.near(rows, self.after(parent), own, theirs, "left_anti")
        what = f"FOREIGN KEY ({', '.join(reference.columns)}) refers to no row of {parent.name}"
        return Violation(table, reference.name, what, bad)

    def parents(self, table: Table, child: Table, reference: ForeignKey) -> Violation:
        """Deleted keys to which rows still refer."""
        own = [f"c{i}" for i in places(table, reference.parent_columns)]
        theirs = [f"c{i}" for i in places(child, reference.columns)]
        gone = self.near(self.delta(table).where(F.col(W) < 0), self.after(table), own, own, "left_anti")
        bad = self.near(gone, self.after(child), own, theirs)
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
