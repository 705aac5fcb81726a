"""Functions of groups, for the groups that a transaction touches.

Delta            f(new group) - f(old group), for the keys among what was added to the state.
State            read once: entries of touched keys, each with its sums before and after.
Cost             a scan of the state with the touched keys broadcast beside it, then work on those groups alone.
Correct because  a group that nothing was added to has the same rows and so the same f.

    orders by customer  (8): sum 1.00 before, 3.00 after        delta of spend  {(8, 1.00): -1, (8, 3.00): +1}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from evercurrent.delta.program import Finalize, Keyed, Ranked, Windowed
from evercurrent.engine.spark.jobs.aggregates import join_values, reading, value_or
from evercurrent.engine.spark.jobs.windows import add_window_values, select_ranked
from evercurrent.engine.spark.storage.file_schema import Shape, W, any_of, consolidate, relation_schema, same
from evercurrent.engine.spark.storage.store_names import StoreName
from evercurrent.engine.spark.storage.stored_state import Contents, prefix_columns, union
from evercurrent.engine.spark.translate.expressions import column, translate_typed
from evercurrent.engine.spark.translate.types import spark_type
from evercurrent.term.nodes import Column

SIDE = "side"
"""-1 for a row of the old group, 1 for one of the new group."""


@dataclass
class Groups:
    """What is needed of a state to find the change of a keyed relation."""

    relation: Keyed
    shape: Shape
    contents: Mapping[StoreName, Contents]
    broadcast: bool
    beginning: bool = False  # law L12: nothing was given out yet

    @property
    def main(self) -> Contents:
        return self.contents[self.shape.store]

    @property
    def key(self) -> list[str]:
        names = {c.name: n for c, n in zip(self.shape.state.columns, self.shape.columns, strict=True)}
        return [names[k] for k in self.relation.key]

    def find_touched(self) -> DataFrame | None:
        """The keys of what the transaction adds; None where every group is to be read."""
        stores = [self.contents[store] for store in self.shape.stores]
        if not self.key or not any(s.store.segments for s in stores):
            return None
        frames = [p.select(*self.key) for s in stores for p in s.pending]
        keys = union(frames)
        if keys is None:
            return None
        distinct = prefix_columns(keys.distinct(), "q_")
        return F.broadcast(distinct) if self.broadcast else distinct

    def rows(self, contents: Contents, touched: DataFrame | None) -> DataFrame:
        """All rows of touched groups, old ones and new ones; `n` is 1 for what this transaction brings."""
        parts = []
        settled = contents.read_settled()
        if settled is not None:
            if touched is not None:
                on = same([F.col(k) for k in self.key], [F.col(f"q_{k}") for k in self.key])
                settled = settled.join(touched, on, "left_semi")
            parts.append(settled.withColumn("n", F.lit(0)))
        parts += [p.withColumn("n", F.lit(1)) for p in contents.pending]
        result = union(parts)
        assert result is not None
        return result


def change(groups: Groups) -> DataFrame:
    """The delta of the relation, consolidated."""
    match groups.relation.function:
        case Finalize():
            rows = finalize_groups(groups, groups.relation.function)
        case Windowed() | Ranked():
            rows = order_groups(groups, groups.relation.function)
        case _:
            assert_never(groups.relation.function)
    if groups.beginning and have_distinct_rows(groups.relation, groups.shape):
        return rows
    return consolidate(rows, relation_schema(groups.relation.columns))


def have_distinct_rows(r: Keyed, shape: Shape) -> bool:
    """Whether rows of different entries differ: they have all columns of their entry."""
    given = {t.name for t in r.function.outputs if isinstance(t, Column)}
    each = isinstance(r.function, Finalize) or shape.state.unique
    return each and all(c.name in given for c in shape.state.columns)


def both(groups: Groups, contents: Contents, touched: DataFrame | None, keys: list[str]) -> DataFrame:
    """Entries with `o_` totals before and `n_` totals after."""
    totals = [f for f in contents.schema.fields if f.name not in keys]
    if contents.net and not contents.store.segments:
        none = [F.lit(0).cast(f.dataType).alias(f"o_{f.name}") for f in totals]
        return contents.entries().select(*keys, *none, *(F.col(f.name).alias(f"n_{f.name}") for f in totals))
    rows = groups.rows(contents, touched)
    old = [
        F.coalesce(F.sum(F.when(F.col("n") == 0, F.col(f.name))), F.lit(0))
        .cast(f.dataType)
        .alias(f"o_{f.name}")
        for f in totals
    ]
    new = [F.coalesce(F.sum(f.name), F.lit(0)).cast(f.dataType).alias(f"n_{f.name}") for f in totals]
    return rows.groupBy(*keys).agg(*old, *new)


def finalize_groups(groups: Groups, function: Finalize) -> DataFrame:
    shape = groups.shape
    keys = shape.columns + shape.dependents
    touched = groups.find_touched()
    if groups.main.empty:
        zeros = [
            F.lit(0).cast(f.dataType).alias(f"{p}_{f.name}") for p in "on" for f in groups.main.schema.fields
        ]
        entries = groups.main.context.session.range(1).select(*zeros)
    else:
        entries = both(groups, groups.main, touched, keys)
    totals = [W, *shape.sums.values()]
    for i in shape.bags:
        bag = groups.contents[shape.bag_store(i)]
        accumulator = shape.state.accumulators[i]
        totals.append(f"b{i}")
        if bag.empty:
            missing = value_or(F.lit(None).cast(spark_type(accumulator.type)), accumulator)
            entries = entries.withColumn(f"o_b{i}", missing).withColumn(f"n_b{i}", missing)
            continue
        arguments = [n for n in bag.schema.names if n != W]
        values = both(groups, bag, touched, arguments)
        types = shape.bag_types(i)
        nothing = F.lit(None).cast(spark_type(accumulator.type))
        read = values.groupBy(*(F.col(k).alias(f"g_{k}") for k in shape.columns)).agg(
            (nothing if groups.beginning else reading(accumulator, types, F.col(f"o_{W}"))).alias("old"),
            reading(accumulator, types, F.col(f"n_{W}")).alias("new"),
        )
        known = entries.columns
        entries = join_values(entries, read, shape.columns).select(
            *known,
            value_or(F.col("old"), accumulator).alias(f"o_b{i}"),
            value_or(F.col("new"), accumulator).alias(f"n_b{i}"),
        )
    sides = []
    for sign, prefix in ((-1, "o_"), (1, "n_")):
        if sign < 0 and groups.beginning:
            continue
        chosen = [F.col(prefix + t).alias(t) for t in totals]
        sides.append(F.struct(F.lit(sign).alias(SIDE), *chosen))
    rows = entries.select(*keys, F.explode(F.array(*sides)).alias("x"))
    rows = rows.select(*keys, "x.*")
    if not function.scalar:
        rows = rows.where(F.col(W) != 0)
    names = shape.list_stored_names() | {shape.state.accumulators[i].name: f"b{i}" for i in shape.bags}
    scope = {name: F.col(own) for name, own in names.items()}
    counted = rows.withColumn("m", column(function.multiplicity, scope).cast("bigint")).where(F.col("m") != 0)
    outputs = [translate_typed(t, scope).alias(f"c{i}") for i, t in enumerate(function.outputs)]
    return counted.select(*outputs, (F.col("m") * F.col(SIDE)).alias(W))


def order_groups(groups: Groups, function: Windowed | Ranked) -> DataFrame:
    shape = groups.shape
    keys = shape.columns + shape.dependents
    entries = both(groups, groups.main, groups.find_touched(), keys)
    entries = entries.where(any_of([F.col(f"o_{W}") != 0, F.col(f"n_{W}") != 0]))
    old = F.struct(F.lit(-1).alias(SIDE), F.col(f"o_{W}").alias(W))
    new = F.struct(F.lit(1).alias(SIDE), F.col(f"n_{W}").alias(W))
    sides = [new] if groups.beginning else [old, new]
    rows = entries.select(*keys, F.explode(F.array(*sides)).alias("x")).select(*keys, "x.*")
    rows = rows.where(F.col(W) > 0)
    # one row for each copy
    rows = rows.select(*keys, SIDE, F.explode(F.sequence(F.lit(1).cast("bigint"), F.col(W))).alias("copy"))
    scope = {name: F.col(own) for name, own in shape.list_stored_names().items() if own != W}
    partition = [SIDE, *groups.key]
    match function:
        case Windowed():
            rows, scope = add_window_values(rows, function, partition, shape, scope)
        case Ranked():
            rows = select_ranked(rows, function, partition, shape, scope)
        case _:
            assert_never(function)
    outputs = [translate_typed(t, scope).alias(f"c{i}") for i, t in enumerate(function.outputs)]
    return rows.select(*outputs, F.col(SIDE).cast("bigint").alias(W))
