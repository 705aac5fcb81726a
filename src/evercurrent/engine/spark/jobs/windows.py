"""Window functions and ranks over the rows of touched groups.

The order is total: ties in the order are settled by the state's columns, ascending, NULLs first. What counts rows
(row_number, lag, ROWS frames) goes by the total order; what counts peers (rank, RANGE frames) by the order alone. Window
functions that Spark does not compute in the same way (exact sums of floats, GROUPS frames, RANGE frames with offsets, nth_value)
are computed in Python workers by `calculus.windows`, one group at a time.

    ORDER BY total over (id 1, 10), (id 2, 10), (id 3, 20)        row_number 1, 2, 3        rank 1, 1, 3
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from evercurrent.calculus.windows import total_order, window_values
from evercurrent.data.types import Float
from evercurrent.delta.program import Ranked, Windowed
from evercurrent.engine.spark.jobs.aggregates import decoder, encode, unwire, wire, wire_type
from evercurrent.engine.spark.storage.file_schema import Shape
from evercurrent.engine.spark.translate.expressions import column, translate_typed
from evercurrent.term.evaluate import Environment, evaluate
from evercurrent.term.nodes import Literal, SortKey, Term, WindowFunction

Scope = Mapping[str, SparkColumn]

RANKS = {
    "rank": F.rank,
    "dense_rank": F.dense_rank,
    "percent_rank": F.percent_rank,
    "cume_dist": F.cume_dist,
}
SUMS = {"sum": F.sum, "avg": F.avg, "min": F.min, "max": F.max, "count": F.count}
NUMBER = "row"


def sort_columns(order: Sequence[SortKey], scope: Scope) -> list[SparkColumn]:
    result = []
    for k in order:
        c = column(k.term, scope)
        if k.descending:
            result.append(c.desc_nulls_first() if k.nulls_first else c.desc_nulls_last())
        else:
            result.append(c.asc_nulls_first() if k.nulls_first else c.asc_nulls_last())
    return result


def total(order: Sequence[SortKey], scope: Scope, shape: Shape) -> list[SparkColumn]:
    ties = [F.col(n).asc_nulls_first() for n in shape.columns]
    return [*sort_columns(order, scope), *ties, F.col("copy").asc()]


def select_ranked(
    rows: DataFrame, function: Ranked, partition: Sequence[str], shape: Shape, scope: Scope
) -> DataFrame:
    """The rows of each group from the offset on, as many as the limit says."""
    ordered = Window.partitionBy(*partition)
    if function.ties == "rows":
        number = F.row_number().over(ordered.orderBy(*total(function.order, scope, shape)))
    else:
        ranks = {"rank": F.rank, "dense_rank": F.dense_rank}
        number = ranks[function.ties]().over(ordered.orderBy(*sort_columns(function.order, scope)))
    rows = rows.withColumn(NUMBER, number).where(F.col(NUMBER) > function.offset)
    if function.limit is not None:
        rows = rows.where(F.col(NUMBER) <= function.offset + function.limit)
    return rows


def add_window_values(
    rows: DataFrame, function: Windowed, partition: Sequence[str], shape: Shape, scope: Scope
) -> tuple[DataFrame, dict[str, SparkColumn]]:
    """The rows with the functions' values, and the scope that knows them."""
    values = {f"f{i}": f for i, (_, f) in enumerate(function.functions)}
    names = {c.name: F.col(f"f{i}") for i, (c, _) in enumerate(function.functions)}
    if all(is_native(f) for f in values.values()):
        if any(f.function in ("first_value", "last_value") for f in values.values()):
            first = next(iter(values.values()))
            window = Window.partitionBy(*partition).orderBy(*total(first.order, scope, shape))
            rows = rows.withColumn(NUMBER, F.row_number().over(window))
        for name, f in values.items():
            rows = rows.withColumn(name, native(f, partition, shape, scope))
    else:
        rows = by_python(rows, list(values.values()), partition, shape)
    return rows, {**scope, **names}


def is_native(f: WindowFunction) -> bool:
    match f.function:
        case "row_number" | "rank" | "dense_rank" | "percent_rank" | "cume_dist":
            return True
        case "ntile" | "lag" | "lead":
            constant = all(isinstance(a, Literal) for a in f.args[(f.function != "ntile") :][:1])
            return constant and not f.ignore_nulls
        case "first_value" | "last_value":
            return simple_frame(f) and not f.ignore_nulls and f.where is None
        case "sum" | "avg":
            return simple_frame(f) and not f.distinct and not isinstance(f.args[0].type, Float)
        case "min" | "max" | "count":
            return simple_frame(f) and not f.distinct and len(f.args) < 2
        case _:
            return False


def simple_frame(f: WindowFunction) -> bool:
    frame = f.frame
    match frame.kind:
        case "rows":
            return True
        case "range":
            return frame.start in (None, 0) and frame.end in (None, 0)
        case _:
            return False


def native(f: WindowFunction, partition: Sequence[str], shape: Shape, scope: Scope) -> SparkColumn:
    peers = Window.partitionBy(*partition).orderBy(*sort_columns(f.order, scope))
    every = Window.partitionBy(*partition).orderBy(*total(f.order, scope, shape))
    args = [translate_typed(a, scope) for a in f.args]
    match f.function:
        case "row_number":
            return F.row_number().over(every)
        case "rank" | "dense_rank" | "percent_rank" | "cume_dist":
            return RANKS[f.function]().over(peers)
        case "ntile":
            return F.ntile(constant(f.args[0])).over(every)
        case "lag" | "lead":
            return shift_rows(f, args).over(every)
        case _:
            pass
    if f.frame.kind == "rows":
        low = Window.unboundedPreceding if f.frame.start is None else int(f.frame.start)
        high = Window.unboundedFollowing if f.frame.end is None else int(f.frame.end)
        window = every.rowsBetween(low, high)
    else:
        low = Window.unboundedPreceding if f.frame.start is None else Window.currentRow
        high = Window.unboundedFollowing if f.frame.end is None else Window.currentRow
        whole = low == Window.unboundedPreceding and high == Window.unboundedFollowing
        base = Window.partitionBy(*partition) if whole or not f.order else peers
        window = base if whole or not f.order else base.rangeBetween(low, high)
    if f.function == "first_value":
        return F.min_by(F.struct(args[0].alias("v")), F.col(NUMBER)).over(window).getField("v")
    if f.function == "last_value":
        return F.max_by(F.struct(args[0].alias("v")), F.col(NUMBER)).over(window).getField("v")
    value = args[0] if args else F.lit(1)
    if f.where is not None:
        value = F.when(column(f.where, scope), value)
    return SUMS[f.function](value).over(window)


def constant(t: Term) -> int:
    assert isinstance(t, Literal)
    return int(t.value)


def shift_rows(f: WindowFunction, args: Sequence[SparkColumn]) -> SparkColumn:
    """lag and lead; the default may be any expression, so rows without a partner have a marker."""
    offset = constant(f.args[1]) if len(args) > 1 else 1
    step = F.lag if f.function == "lag" else F.lead
    if len(args) < 3:
        return step(args[0], offset)
    return F.call_function(f.function, args[0], F.lit(offset), args[2])


# --- in Python workers -------------------------------------------------------------------------------------


def by_python(
    rows: DataFrame, functions: Sequence[WindowFunction], partition: Sequence[str], shape: Shape
) -> DataFrame:
    columns = shape.state.columns
    types = tuple(c.type for c in columns)
    names = [c.name for c in columns]
    decode = [decoder(t) for t in types]
    result_types = [f.type for f in functions]
    order = functions[0].order

    def values(group: list[Any]) -> list[Any]:
        def read(term: Term, row: Any) -> Any:
            return evaluate(term, Environment(dict(zip(names, row, strict=True))), no_queries)

        found = [tuple(f(x) for f, x in zip(decode, row, strict=True)) for row in group]
        found.sort(key=total_order(order, types, read))
        computed = [window_values(f, found, read) for f in functions]
        return [
            tuple(encode(t, v) for t, v in zip((*types, *result_types), (*row, *more), strict=True))
            for row, *more in zip(found, *computed, strict=True)
        ]

    fields = [spark.StructField(n, wire_type(t)) for n, t in zip(shape.columns, types, strict=True)]
    fields += [spark.StructField(f"f{i}", wire_type(t)) for i, t in enumerate(result_types)]
    function = F.udf(values, spark.ArrayType(spark.StructType(fields)))
    row = F.struct(*(wire(F.col(n), t) for n, t in zip(shape.columns, types, strict=True)))
    grouped = rows.groupBy(*(F.col(p).alias(f"p_{p}") for p in partition)).agg(
        F.collect_list(row).alias("rows")
    )
    made = grouped.select("p_side", F.explode(function(F.col("rows"))).alias("x"))
    outputs = [
        unwire(F.col("x").getField(f.name), t).alias(f.name)
        for f, t in zip(fields, (*types, *result_types), strict=True)
    ]
    return made.select(F.col("p_side").alias("side"), *outputs)


def no_queries(*_: object) -> Any:
    raise AssertionError("no query is left inside a term")
