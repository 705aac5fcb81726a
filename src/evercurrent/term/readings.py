"""The meaning of aggregates: readings of a bag of argument values.

A reading takes the argument tuples that count, in order, each as often as it occurs. Sums of floats are exact, rounded
once; where values tie, the smallest is taken.

>>> exact_sum([1e16, 1.0, -1e16]), sum([1e16, 1.0, -1e16])
(1.0, 0.0)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

from evercurrent.data.order import sort_key
from evercurrent.data.types import BINARY, Decimal, Float, Integer, Interval, Type
from evercurrent.data.values import canonical_float, give_out, take_in
from evercurrent.errors import EvaluationError
from evercurrent.term.aggregate_types import fractions
from evercurrent.term.functions.exact import POWERS, check_decimal, check_integer, divide_half_up, rescale
from evercurrent.term.functions.failures import check_size
from evercurrent.term.moments import nearest
from evercurrent.term.monoid import call_guarded, fold
from evercurrent.term.nodes import Aggregate
from evercurrent.term.percentiles import continuous, discrete

Row = tuple[Any, ...]
Reading = Callable[[Aggregate, Sequence[Row]], Any]
"""From argument tuples in order, none of them to be left out, to the value."""


def exact_sum(values: Iterable[float]) -> float:
    """The sum of floats, rounded once; NaN and infinities as IEEE 754 adds them."""
    total, special = Fraction(0), 0.0
    for x in values:
        if math.isfinite(x):
            total += Fraction(x)
        else:
            special += x
    if special != 0.0:
        return canonical_float(special)
    return nearest(total)


def read_sum(a: Aggregate, rows: Sequence[Row]) -> Any:
    if not rows:
        return None
    match a.type:
        case Float():
            return exact_sum(float(x) for (x,) in rows)
        case Integer():
            return check_integer(a.type, sum(x for (x,) in rows))
        case Decimal():
            return check_decimal(a.type, sum(x for (x,) in rows))
        case Interval(unit):
            return check_integer(Integer(32 if unit == "months" else 64), sum(x for (x,) in rows))
        case _:
            raise AssertionError(a)


def read_avg(a: Aggregate, rows: Sequence[Row]) -> Any:
    n = len(rows)
    if n == 0:
        return None
    match a.args[0].type, a.type:
        case Float(), _:
            return canonical_float(exact_sum(x for (x,) in rows) / n)
        case Decimal(scale=s), Decimal(scale=t):
            # 38 fractional digits first, as in a division of decimals
            total = sum(x for (x,) in rows)
            return check_decimal(a.type, rescale(divide_half_up(total * POWERS[38 - s], n), 38, t))
        case Interval(), _:
            return divide_half_up(sum(x for (x,) in rows), n)
        case _:
            return sum(x for (x,) in rows) / n


def read_pair_avg(position: int) -> Reading:
    """The average of one of two arguments, over the rows where both are known."""

    def read(a: Aggregate, rows: Sequence[Row]) -> Any:
        single = Aggregate("avg", (a.args[position],), a.type)
        return read_avg(single, [(row[position],) for row in rows])

    return read


def read_extreme(pick: Callable[..., Any]) -> Reading:
    def read(a: Aggregate, rows: Sequence[Row]) -> Any:
        return pick((x for (x,) in rows), key=sort_key(a.args[0].type)) if rows else None

    return read


def read_by(descending: bool) -> Reading:
    def read(a: Aggregate, rows: Sequence[Row]) -> Any:
        if not rows:
            return None
        value = sort_key(a.args[0].type, nulls_first=False)
        measure = sort_key(a.args[1].type, descending)
        return min(rows, key=lambda row: (measure(row[1]), value(row[0])))[0]

    return read


def read_percentile(a: Aggregate, rows: Sequence[Row]) -> Any:
    if not rows:
        return None
    descending = len(a.options) > 1 and bool(a.options[1])
    t = a.args[0].type
    values = sorted((x for (x,) in rows), key=sort_key(t), reverse=descending)
    several = bool(a.options) and isinstance(a.options[0], tuple)
    results = tuple(percentile(a.function, values, p, t) for p in fractions(a.options))
    return results if several else results[0]


def percentile(function: str, values: Sequence[Any], p: float, t: Type) -> Any:
    if function == "percentile_disc":
        found = discrete(values, p)
        if isinstance(t, Interval):
            return found
        return found / POWERS[t.scale] if isinstance(t, Decimal) else canonical_float(float(found))
    if isinstance(t, Interval):
        return round(continuous(values, p))
    result = continuous([v / POWERS[t.scale] for v in values] if isinstance(t, Decimal) else values, p)
    return canonical_float(result)


def read_percentile_approx(a: Aggregate, rows: Sequence[Row]) -> Any:
    """Values of the bag itself, at the places of the fractions."""
    if not rows:
        return None
    values = sorted((x for (x,) in rows), key=sort_key(a.args[0].type))
    results = tuple(discrete(values, p) for p in fractions(a.options))
    return results if a.options and isinstance(a.options[0], tuple) else results[0]


def read_or_null(read: Reading) -> Reading:
    """The reading, and NULL where no value of its type is the result."""

    def attempt(a: Aggregate, rows: Sequence[Row]) -> Any:
        try:
            return read(a, rows)
        except EvaluationError:
            return None

    return attempt


def read_mode(a: Aggregate, rows: Sequence[Row]) -> Any:
    counts: dict[Any, int] = {}
    for (x,) in rows:
        counts[x] = counts.get(x, 0) + 1
    if not counts:
        return None
    key = sort_key(a.args[0].type)
    return min(counts, key=lambda x: (-counts[x], key(x)))


def read_listagg(a: Aggregate, rows: Sequence[Row]) -> Any:
    if not rows:
        return None
    separator = a.options[0] if a.options and a.options[0] is not None else None
    check_size("LISTAGG", sum(len(x) for (x,) in rows) + len(separator or "") * len(rows))
    if a.type == BINARY:
        return (separator or b"").join(x for (x,) in rows)
    return (separator or "").join(x for (x,) in rows)


def ignores_nulls(a: Aggregate) -> bool:
    return bool(a.options and a.options[0])


def read_edge(position: int) -> Reading:
    def read(a: Aggregate, rows: Sequence[Row]) -> Any:
        values = [x for (x,) in rows if x is not None or not ignores_nulls(a)]
        return values[position] if values else None

    return read


def read_bits(f: Callable[[int, int], int]) -> Reading:
    return lambda a, rows: reduce(f, (x for (x,) in rows)) if rows else None


def read_count(a: Aggregate, rows: Sequence[Row]) -> int:
    return len(rows)


def read_values(a: Aggregate, rows: Sequence[Row]) -> Row:
    return tuple(x for (x,) in rows)


def read_set(a: Aggregate, rows: Sequence[Row]) -> Row:
    return tuple(dict.fromkeys(x for (x,) in rows))


def read_monoid(a: Aggregate, rows: Sequence[Row]) -> Any:
    """The values folded by a user's functions, from its zero."""
    (monoid,) = a.options
    value = a.args[0].type
    total = call_guarded(monoid, fold, monoid, [give_out(value, x) for (x,) in rows])
    return take_in(a.type, total if monoid.finish is None else call_guarded(monoid, monoid.finish, total))
