"""Aggregate functions: typing as Spark types them, and their meaning over a list of rows.

An aggregate is a reading of a bag of argument values. NULL arguments do not count, and a reading of nothing is NULL
(counts are 0, collected arrays are empty). Sums of floats are exact, rounded once. Where Spark leaves the result to the
order in which rows happen to come, the result here is that of a fixed order, so that it depends on the data alone:

    collect_list, collect_set, listagg    without ORDER BY: sorted by value; ties of the ORDER BY too
    first, any_value, last                without ORDER BY: the smallest value, the largest
    mode, min_by, max_by                  among ties: the smallest value
    approx_count_distinct                 exact
    percentile_approx                     exact, as Spark's is for up to some thousand rows

>>> from evercurrent.data.types import INT
>>> from evercurrent.term.nodes import Column
>>> total = aggregate("sum", [Column("n", INT)])
>>> print(total.type, evaluate_aggregate(total, [((1,), (), 1), ((None,), (), 1), ((20,), (), 2)]))
BIGINT 41
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from evercurrent.data.order import sort_key
from evercurrent.data.types import BIGINT, BOOLEAN, DOUBLE, Type
from evercurrent.errors import QueryError
from evercurrent.source import Place
from evercurrent.term.aggregate_types import (
    Options,
    average_type,
    infer_avg,
    infer_bits,
    infer_boolean,
    infer_by,
    infer_collect,
    infer_collect_set,
    infer_count,
    infer_doubles,
    infer_listagg,
    infer_monoid,
    infer_ordered,
    infer_pair_avg,
    infer_percentile,
    infer_percentile_approx,
    infer_same,
    infer_sum,
    sum_type,
)
from evercurrent.term.build import cast
from evercurrent.term.functions.function import Signature, TypeMismatch, Types
from evercurrent.term.moments import MOMENTS, PAIRS, moment, pair_moment
from evercurrent.term.nodes import Aggregate, SortKey, Term
from evercurrent.term.readings import (
    Reading,
    Row,
    exact_sum,
    read_avg,
    read_bits,
    read_by,
    read_count,
    read_edge,
    read_extreme,
    read_listagg,
    read_mode,
    read_monoid,
    read_or_null,
    read_pair_avg,
    read_percentile,
    read_percentile_approx,
    read_set,
    read_sum,
    read_values,
)

__all__ = [
    "ALIASES",
    "ORDERED",
    "TABLE",
    "AggregateFunction",
    "aggregate",
    "average_type",
    "evaluate_aggregate",
    "exact_sum",
    "find_aggregate",
    "result_type",
    "sum_type",
]


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """One aggregate function.

    infer     argument types, options -> types that arguments are brought to, type of the result
    read      the meaning
    skips     rows with a NULL among the first so many arguments do not count
    additive  the value is a reading of sums: it can be maintained by addition alone
    repeats   whether equal rows count as often as they come (min and bool_and do not mind DISTINCT)
    nullable  whether the result can be NULL when no argument is (there may be no rows at all)
    """

    name: str
    infer: Callable[[Types, Options], Signature]
    read: Reading
    skips: int = 1
    additive: bool = False
    repeats: bool = True
    nullable: bool = True


TABLE: dict[str, AggregateFunction] = {
    f.name: f
    for f in (
        AggregateFunction("count", infer_count, read_count, skips=99, additive=True, nullable=False),
        AggregateFunction(
            "count_if",
            infer_boolean(BIGINT),
            lambda a, rows: sum(x for (x,) in rows),
            additive=True,
            nullable=False,
        ),
        AggregateFunction(
            "approx_count_distinct",
            infer_count,
            lambda a, rows: len(set(rows)),
            repeats=False,
            nullable=False,
        ),
        AggregateFunction("sum", infer_sum, read_sum, additive=True),
        AggregateFunction("avg", infer_avg, read_avg, additive=True),
        AggregateFunction("try_sum", infer_sum, read_or_null(read_sum)),
        AggregateFunction("try_avg", infer_avg, read_or_null(read_avg)),
        AggregateFunction("min", infer_ordered, read_extreme(min), repeats=False),
        AggregateFunction("max", infer_ordered, read_extreme(max), repeats=False),
        AggregateFunction(
            "bool_and",
            infer_boolean(BOOLEAN),
            lambda a, rows: all(x for (x,) in rows) if rows else None,
            additive=True,
            repeats=False,
        ),
        AggregateFunction(
            "bool_or",
            infer_boolean(BOOLEAN),
            lambda a, rows: any(x for (x,) in rows) if rows else None,
            additive=True,
            repeats=False,
        ),
        *(
            AggregateFunction(
                name,
                infer_doubles(1),
                lambda a, rows: moment(a.function, [x for (x,) in rows]),
                additive=True,
            )
            for name in MOMENTS
        ),
        *(
            AggregateFunction(
                name,
                infer_doubles(2, BIGINT if name == "regr_count" else DOUBLE),
                lambda a, rows: pair_moment(a.function, [(x, y) for x, y in rows]),
                skips=2,
                additive=True,
                nullable=name != "regr_count",
            )
            for name in PAIRS
        ),
        AggregateFunction("regr_avgx", infer_pair_avg(1), read_pair_avg(1), skips=2),
        AggregateFunction("regr_avgy", infer_pair_avg(0), read_pair_avg(0), skips=2),
        AggregateFunction("median", infer_percentile, read_percentile),
        AggregateFunction("percentile", infer_percentile, read_percentile),
        AggregateFunction("percentile_cont", infer_percentile, read_percentile),
        AggregateFunction("percentile_disc", infer_percentile, read_percentile),
        AggregateFunction("percentile_approx", infer_percentile_approx, read_percentile_approx),
        AggregateFunction("mode", infer_ordered, read_mode),
        AggregateFunction("min_by", infer_by, read_by(False), skips=-1),
        AggregateFunction("max_by", infer_by, read_by(True), skips=-1),
        AggregateFunction("collect_list", infer_collect, read_values, nullable=False),
        AggregateFunction("collect_set", infer_collect_set, read_set, repeats=False, nullable=False),
        AggregateFunction("listagg", infer_listagg, read_listagg),
        AggregateFunction("first", infer_same, read_edge(0), skips=0, repeats=False),
        AggregateFunction("last", infer_same, read_edge(-1), skips=0, repeats=False),
        AggregateFunction("any_value", infer_same, read_edge(0), skips=0, repeats=False),
        AggregateFunction("bit_and", infer_bits, read_bits(lambda x, y: x & y), repeats=False),
        AggregateFunction("bit_or", infer_bits, read_bits(lambda x, y: x | y), repeats=False),
        AggregateFunction("bit_xor", infer_bits, read_bits(lambda x, y: x ^ y)),
        AggregateFunction("monoid", infer_monoid, read_monoid),
    )
}

ALIASES = {
    "approx_percentile": "percentile_approx",
    "mean": "avg",
    "every": "bool_and",
    "some": "bool_or",
    "any": "bool_or",
    "variance": "var_samp",
    "stddev": "stddev_samp",
    "std": "stddev_samp",
    "array_agg": "collect_list",
    "string_agg": "listagg",
    "first_value": "first",
    "last_value": "last",
}


def find_aggregate(name: str) -> AggregateFunction | None:
    """The aggregate function of a name, whatever its case, or None."""
    name = name.lower()
    return TABLE.get(ALIASES.get(name, name))


def result_type(function: str, types: Types, options: Options = ()) -> Type:
    """The type of the aggregate over arguments of these types; `TypeMismatch` if they do not fit."""
    return TABLE[ALIASES.get(function, function)].infer(types, options).result


def aggregate(
    name: str,
    args: Sequence[Term],
    *,
    distinct: bool = False,
    where: Term | None = None,
    order: Sequence[SortKey] = (),
    options: Options = (),
    place: Place | None = None,
) -> Aggregate:
    """The aggregate applied, with its arguments coerced."""
    function = find_aggregate(name)
    if function is None:
        raise QueryError(f"there is no aggregate function {name.upper()}", place=place)
    try:
        signature = function.infer(tuple(a.type for a in args), tuple(options))
    except TypeMismatch as mismatch:
        raise QueryError(f"{name.upper()}: {mismatch}", place=place) from None
    coerced = tuple(cast(a, t, place=place) for a, t in zip(args, signature.args, strict=True))
    # DISTINCT changes nothing where repetition does not count, and without it there is less to keep.
    needed = distinct and function.repeats
    return Aggregate(function.name, coerced, signature.result, needed, where, tuple(order), tuple(options))


def evaluate_aggregate(a: Aggregate, rows: Iterable[tuple[Row, Row, int]], *, ordered: bool = False) -> Any:
    """The aggregate over rows (values of the arguments, values of the sort keys, multiplicity) that pass its filter.

    `ordered`: the rows come in the order that counts (a window's), and sort keys are not looked at.
    """
    function = TABLE[a.function]
    kept = [(args, keys) for args, keys, weight in rows if _counts(function, args) for _ in range(weight)]
    if not ordered and a.function in ORDERED:
        kept.sort(key=_row_order(a))
    values = [args for args, _ in kept]
    return function.read(a, list(dict.fromkeys(values)) if a.distinct else values)


ORDERED = frozenset(("collect_list", "collect_set", "listagg", "first", "last", "any_value"))
"""Functions whose value depends on the order of the rows."""


def _counts(function: AggregateFunction, args: Row) -> bool:
    match function.skips:
        case 0:
            return True
        case -1:
            return args[-1] is not None
        case n:
            return None not in args[:n]


def _row_order(a: Aggregate) -> Callable[[tuple[Row, Row]], Any]:
    """By the sort keys, then by value; NULLs of first, last and any_value where they are chosen last."""
    keys = [sort_key(k.term.type, k.descending, k.nulls_first) for k in a.order]
    values = [sort_key(t.type, nulls_first=a.function == "last") for t in a.args]

    def order(row: tuple[Row, Row]) -> Any:
        args, sorts = row
        return (
            [k(s) for k, s in zip(keys, sorts, strict=True)],
            [v(x) for v, x in zip(values, args, strict=True)],
        )

    return order
