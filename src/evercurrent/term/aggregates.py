"""Aggregate functions: typing as Spark types them, and their meaning over a list of rows.

An aggregate is a reading of a bag of argument values. NULL arguments do not count, and a reading of nothing is NULL
(counts are 0, collected arrays are empty). Sums of floats are exact, rounded once. Where Spark leaves the result to the
order in which rows happen to come, the result here is that of a fixed order, so that it depends on the data alone:

    collect_list, collect_set, listagg    without ORDER BY: sorted by value; ties of the ORDER BY too
    first, any_value, last                without ORDER BY: the smallest value, the largest
    mode, min_by, max_by                  among ties: the smallest value
    approx_count_distinct                 exact

>>> from evercurrent.data.types import INT
>>> from evercurrent.term.nodes import Column
>>> total = aggregate("sum", [Column("n", INT)])
>>> print(total.type, evaluate_aggregate(total, [((1,), (), 1), ((None,), (), 1), ((20,), (), 2)]))
BIGINT 41
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

from evercurrent.data.order import sort_key
from evercurrent.data.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DOUBLE,
    STRING,
    Array,
    Decimal,
    Float,
    Integer,
    Interval,
    Map,
    Null,
    String,
    Type,
    is_numeric,
)
from evercurrent.data.values import NAN
from evercurrent.errors import QueryError
from evercurrent.source import Place
from evercurrent.term.build import cast
from evercurrent.term.coerce import implicit
from evercurrent.term.functions.exact import (
    POWERS,
    checked_decimal,
    checked_integer,
    divide_half_up,
    rescale,
)
from evercurrent.term.functions.function import Signature, TypeMismatch, Types
from evercurrent.term.moments import MOMENTS, PAIRS, moment, nearest, pair_moment
from evercurrent.term.nodes import Aggregate, SortKey, Term
from evercurrent.term.percentiles import continuous, discrete

Row = tuple[Any, ...]
Options = tuple[Any, ...]
Reading = Callable[[Aggregate, Sequence[Row]], Any]
"""From argument tuples in order, none of them to be left out, to the value."""


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


# --- typing ------------------------------------------------------------------------------------------------


def _arity(types: Types, least: int, most: int | None = None) -> None:
    if not least <= len(types) <= (least if most is None else most):
        raise TypeMismatch(f"{least} argument{'s' * (least != 1)} expected, {len(types)} given")


def _as_number(t: Type) -> Type:
    if isinstance(t, Null | String):
        return DOUBLE
    if not is_numeric(t):
        raise TypeMismatch(f"a number is needed, not {t}")
    return t


def sum_type(t: Type) -> Type:
    """sum of INT is BIGINT, of DECIMAL(p,s) DECIMAL(p+10,s), of FLOAT DOUBLE."""
    match t:
        case Integer():
            return BIGINT
        case Decimal(p, s):
            return Decimal(min(38, p + 10), s)
        case Interval():
            return t
        case _:
            return DOUBLE


def average_type(t: Type) -> Type:
    """avg of DECIMAL(p,s) is DECIMAL(p+4,s+4), within 38 digits; of other numbers DOUBLE."""
    match t:
        case Decimal(p, s):
            return Decimal(min(38, p + 4), min(38, s + 4))
        case Interval(unit):
            return Interval(unit)
        case _:
            return DOUBLE


def _infer_sum(types: Types, options: Options) -> Signature:
    _arity(types, 1)
    t = types[0] if isinstance(types[0], Interval) else _as_number(types[0])
    return Signature((t,), sum_type(t))


def _infer_avg(types: Types, options: Options) -> Signature:
    _arity(types, 1)
    t = types[0] if isinstance(types[0], Interval) else _as_number(types[0])
    return Signature((t,), average_type(t))


def _infer_count(types: Types, options: Options) -> Signature:
    return Signature(types, BIGINT)


def _infer_ordered(types: Types, options: Options) -> Signature:
    _arity(types, 1)
    if isinstance(types[0], Map):
        raise TypeMismatch(f"values of type {types[0]} have no order")
    return Signature(types, types[0])


def _infer_same(types: Types, options: Options) -> Signature:
    _arity(types, 1)
    return Signature(types, types[0])


def _infer_by(types: Types, options: Options) -> Signature:
    _arity(types, 2)
    return Signature(types, types[0])


def _infer_boolean(result: Type) -> Callable[[Types, Options], Signature]:
    def infer(types: Types, options: Options) -> Signature:
        _arity(types, 1)
        if not isinstance(types[0], type(BOOLEAN) | Null | String):
            raise TypeMismatch(f"a condition is needed, not {types[0]}")
        return Signature((BOOLEAN,), result)

    return infer


def _infer_doubles(count: int, result: Type = DOUBLE) -> Callable[[Types, Options], Signature]:
    def infer(types: Types, options: Options) -> Signature:
        _arity(types, count)
        for t in types:
            _as_number(t)
        return Signature((DOUBLE,) * count, result)

    return infer


def _infer_percentile(types: Types, options: Options) -> Signature:
    _arity(types, 1)
    t = types[0] if isinstance(types[0], Interval) else _as_number(types[0])
    result: Type = Interval(t.unit) if isinstance(t, Interval) else DOUBLE
    for p in _fractions(options):
        if not 0 <= p <= 1:
            raise TypeMismatch(f"the percentage must be a constant between 0 and 1, not {p!r}")
    return Signature((t,), Array(result) if options and isinstance(options[0], tuple) else result)


def _fractions(options: Options) -> tuple[float, ...]:
    if not options:
        return (0.5,)
    return options[0] if isinstance(options[0], tuple) else (options[0],)


def _infer_collect(types: Types, options: Options) -> Signature:
    _arity(types, 1)
    return Signature(types, Array(types[0]))


def _infer_collect_set(types: Types, options: Options) -> Signature:
    _arity(types, 1)
    if "MAP<" in str(types[0]):
        raise TypeMismatch(f"values of type {types[0]} cannot be compared")
    return Signature(types, Array(types[0]))


def _infer_listagg(types: Types, options: Options) -> Signature:
    _arity(types, 1)
    if types[0] == BINARY:
        return Signature(types, BINARY)
    if not implicit(types[0], STRING):
        raise TypeMismatch(f"text is needed, not {types[0]}")
    return Signature((STRING,), STRING)


def _infer_bits(types: Types, options: Options) -> Signature:
    _arity(types, 1)
    if not isinstance(types[0], Integer):
        raise TypeMismatch(f"an integer is needed, not {types[0]}")
    return Signature(types, types[0])


# --- meaning -----------------------------------------------------------------------------------------------


def exact_sum(values: Iterable[float]) -> float:
    """The sum of floats, rounded once; NaN and infinities as IEEE 754 adds them."""
    total, special = Fraction(0), 0.0
    for x in values:
        if math.isfinite(x):
            total += Fraction(x)
        else:
            special += x
    if special != 0.0:
        return special if special == special else NAN
    return nearest(total)


def _read_sum(a: Aggregate, rows: Sequence[Row]) -> Any:
    if not rows:
        return None
    match a.type:
        case Float():
            return exact_sum(float(x) for (x,) in rows)
        case Integer():
            return checked_integer(a.type, sum(x for (x,) in rows))
        case Decimal():
            return checked_decimal(a.type, sum(x for (x,) in rows))
        case Interval(unit):
            return checked_integer(Integer(32 if unit == "months" else 64), sum(x for (x,) in rows))
        case _:
            raise AssertionError(a)


def _read_avg(a: Aggregate, rows: Sequence[Row]) -> Any:
    n = len(rows)
    if n == 0:
        return None
    match a.args[0].type, a.type:
        case Float(), _:
            return exact_sum(x for (x,) in rows) / n
        case Decimal(scale=s), Decimal(scale=t):
            # 38 fractional digits first, as in a division of decimals
            total = sum(x for (x,) in rows)
            return checked_decimal(a.type, rescale(divide_half_up(total * POWERS[38 - s], n), 38, t))
        case Interval(), _:
            return divide_half_up(sum(x for (x,) in rows), n)
        case _:
            return sum(x for (x,) in rows) / n


def _read_extreme(pick: Callable[..., Any]) -> Reading:
    def read(a: Aggregate, rows: Sequence[Row]) -> Any:
        return pick((x for (x,) in rows), key=sort_key(a.args[0].type)) if rows else None

    return read


def _read_by(descending: bool) -> Reading:
    def read(a: Aggregate, rows: Sequence[Row]) -> Any:
        if not rows:
            return None
        value = sort_key(a.args[0].type, nulls_first=False)
        measure = sort_key(a.args[1].type, descending)
        return min(rows, key=lambda row: (measure(row[1]), value(row[0])))[0]

    return read


def _read_percentile(a: Aggregate, rows: Sequence[Row]) -> Any:
    if not rows:
        return None
    descending = len(a.options) > 1 and bool(a.options[1])
    t = a.args[0].type
    values = sorted((x for (x,) in rows), key=sort_key(t), reverse=descending)
    several = bool(a.options) and isinstance(a.options[0], tuple)
    results = tuple(_percentile(a.function, values, p, t) for p in _fractions(a.options))
    return results if several else results[0]


def _percentile(function: str, values: Sequence[Any], p: float, t: Type) -> Any:
    if function == "percentile_disc":
        found = discrete(values, p)
        if isinstance(t, Interval):
            return found
        return found / POWERS[t.scale] if isinstance(t, Decimal) else float(found)
    if isinstance(t, Interval):
        return round(continuous(values, p))
    result = continuous([v / POWERS[t.scale] for v in values] if isinstance(t, Decimal) else values, p)
    return result if result == result else NAN


def _read_mode(a: Aggregate, rows: Sequence[Row]) -> Any:
    counts: dict[Any, int] = {}
    for (x,) in rows:
        counts[x] = counts.get(x, 0) + 1
    if not counts:
        return None
    key = sort_key(a.args[0].type)
    return min(counts, key=lambda x: (-counts[x], key(x)))


def _read_listagg(a: Aggregate, rows: Sequence[Row]) -> Any:
    if not rows:
        return None
    separator = a.options[0] if a.options and a.options[0] is not None else None
    if a.type == BINARY:
        return (separator or b"").join(x for (x,) in rows)
    return (separator or "").join(x for (x,) in rows)


def _ignores_nulls(a: Aggregate) -> bool:
    return bool(a.options and a.options[0])


def _read_edge(position: int) -> Reading:
    def read(a: Aggregate, rows: Sequence[Row]) -> Any:
        values = [x for (x,) in rows if x is not None or not _ignores_nulls(a)]
        return values[position] if values else None

    return read


def _read_bits(f: Callable[[int, int], int]) -> Reading:
    return lambda a, rows: reduce(f, (x for (x,) in rows)) if rows else None


def _read_count(a: Aggregate, rows: Sequence[Row]) -> int:
    return len(rows)


def _read_values(a: Aggregate, rows: Sequence[Row]) -> Row:
    return tuple(x for (x,) in rows)


def _read_set(a: Aggregate, rows: Sequence[Row]) -> Row:
    return tuple(dict.fromkeys(x for (x,) in rows))


TABLE: dict[str, AggregateFunction] = {
    f.name: f
    for f in (
        AggregateFunction("count", _infer_count, _read_count, skips=99, additive=True, nullable=False),
        AggregateFunction(
            "count_if",
            _infer_boolean(BIGINT),
            lambda a, rows: sum(x for (x,) in rows),
            additive=True,
            nullable=False,
        ),
        AggregateFunction(
            "approx_count_distinct",
            _infer_count,
            lambda a, rows: len(set(rows)),
            repeats=False,
            nullable=False,
        ),
        AggregateFunction("sum", _infer_sum, _read_sum, additive=True),
        AggregateFunction("avg", _infer_avg, _read_avg, additive=True),
        AggregateFunction("min", _infer_ordered, _read_extreme(min), repeats=False),
        AggregateFunction("max", _infer_ordered, _read_extreme(max), repeats=False),
        AggregateFunction(
            "bool_and",
            _infer_boolean(BOOLEAN),
            lambda a, rows: all(x for (x,) in rows) if rows else None,
            additive=True,
            repeats=False,
        ),
        AggregateFunction(
            "bool_or",
            _infer_boolean(BOOLEAN),
            lambda a, rows: any(x for (x,) in rows) if rows else None,
            additive=True,
            repeats=False,
        ),
        *(
            AggregateFunction(
                name,
                _infer_doubles(1),
                lambda a, rows: moment(a.function, [x for (x,) in rows]),
                additive=True,
            )
            for name in MOMENTS
        ),
        *(
            AggregateFunction(
                name,
                _infer_doubles(2, BIGINT if name == "regr_count" else DOUBLE),
                lambda a, rows: pair_moment(a.function, [(x, y) for x, y in rows]),
                skips=2,
                additive=True,
                nullable=name != "regr_count",
            )
            for name in PAIRS
        ),
        AggregateFunction("median", _infer_percentile, _read_percentile),
        AggregateFunction("percentile", _infer_percentile, _read_percentile),
        AggregateFunction("percentile_cont", _infer_percentile, _read_percentile),
        AggregateFunction("percentile_disc", _infer_percentile, _read_percentile),
        AggregateFunction("mode", _infer_ordered, _read_mode),
        AggregateFunction("min_by", _infer_by, _read_by(False), skips=-1),
        AggregateFunction("max_by", _infer_by, _read_by(True), skips=-1),
        AggregateFunction("collect_list", _infer_collect, _read_values, nullable=False),
        AggregateFunction("collect_set", _infer_collect_set, _read_set, repeats=False, nullable=False),
        AggregateFunction("listagg", _infer_listagg, _read_listagg),
        AggregateFunction("first", _infer_same, _read_edge(0), skips=0, repeats=False),
        AggregateFunction("last", _infer_same, _read_edge(-1), skips=0, repeats=False),
        AggregateFunction("any_value", _infer_same, _read_edge(0), skips=0, repeats=False),
        AggregateFunction("bit_and", _infer_bits, _read_bits(lambda x, y: x & y), repeats=False),
        AggregateFunction("bit_or", _infer_bits, _read_bits(lambda x, y: x | y), repeats=False),
        AggregateFunction("bit_xor", _infer_bits, _read_bits(lambda x, y: x ^ y)),
    )
}

ALIASES = {
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
