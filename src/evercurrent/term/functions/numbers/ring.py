"""Arithmetic of accumulators: addition and multiplication in a ring, without bounds.

Sums that are kept between changes must be exact and may pass the range of their type on the way to a value within it,
so they are added up without bounds (`ring_add`, `ring_mul`) and checked where they are read (`ring_check`). Decimals are
integers scaled by their type, so a product's scale is the sum of its factors'. `average` reads a sum and a count.
These functions are written by the compiler only; no front end knows their names.

>>> from evercurrent.data.types import BIGINT
>>> add, check = (next(f for f in RING if f.name == name) for name in ("ring_add", "ring_check"))
>>> add.implement((BIGINT, BIGINT), BIGINT)(2**62, 2**62) == 2**63
True
>>> check.implement((BIGINT,), BIGINT)(2**63)
Traceback (most recent call last):
...
evercurrent.errors.EvaluationError: ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evercurrent.data.representation import canonical_float
from evercurrent.data.types import BIGINT, DOUBLE, Decimal, Float, Integer, Type
from evercurrent.errors import EvaluationError
from evercurrent.term.functions.function import Function, Signature, Types


def _sum_type(types: Types) -> Type:
    """The type of a sum: the widest of its kind, at the common scale."""
    if any(isinstance(t, Float) for t in types):
        return DOUBLE
    scales = [t.scale for t in types if isinstance(t, Decimal)]
    return Decimal(38, max(scales)) if scales else BIGINT


def _product_type(types: Types) -> Type:
    if any(isinstance(t, Float) for t in types):
        return DOUBLE
    scales = [t.scale for t in types if isinstance(t, Decimal)]
    return Decimal(38, sum(scales)) if scales else BIGINT


def _chain(symbol: str) -> Callable[[Types, Type, tuple[str, ...]], str]:
    return lambda _types, _result, sources: f"({f' {symbol} '.join(sources)})"


def _add(_types: Types, _result: Type) -> Callable[..., Any]:
    return lambda *xs: sum(xs)


def _mul(_types: Types, _result: Type) -> Callable[..., Any]:
    def product(*xs: Any) -> Any:
        result = xs[0]
        for x in xs[1:]:
            result = result * x
        return result

    return product


def _check(types: Types, result: Type) -> Callable[..., Any]:
    match result:
        case Integer(bits):
            low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        case Decimal(precision, _):
            high = 10**precision - 1
            low = -high
        case _:
            return lambda x: x

    def check(x: int) -> int:
        if low <= x <= high:
            return x
        raise EvaluationError(
            f"a sum is out of the range of {result}", hint="cast the argument to a wider type"
        )

    return check


def _check_signature(types: Types) -> Signature:
    return Signature(types, types[0])


def average_type(argument: Type) -> Type:
    """Spark's type of avg over an argument of this type."""
    if isinstance(argument, Decimal):
        return limit_decimal(argument.precision + 4, argument.scale + 4)
    return DOUBLE


def limit_decimal(precision: int, scale: int) -> Decimal:
    return Decimal(min(38, precision), min(38, scale))


def _average(types: Types, result: Type) -> Callable[..., Any]:
    total = types[0]
    if isinstance(result, Decimal):
        assert isinstance(total, Decimal)
        shift: int = 10 ** (result.scale - total.scale)
        limit: int = 10**result.precision

        def decimal_average(s: int, n: int) -> int:
            q, r = divmod(abs(s) * shift, n)
            q += 2 * r >= n
            if q >= limit:
                raise EvaluationError(f"an average is out of the range of {result}")
            return -q if s < 0 else q

        return decimal_average
    return lambda s, n: canonical_float(s / n)


RING: tuple[Function, ...] = (
    Function("ring_add", lambda ts: Signature(ts, _sum_type(ts)), _add, python=_chain("+")),
    Function(
        "ring_sub",
        lambda ts: Signature(ts, _sum_type(ts)),
        lambda _t, _r: lambda a, b: a - b,
        python=_chain("-"),
    ),
    Function("ring_mul", lambda ts: Signature(ts, _product_type(ts)), _mul, python=_chain("*")),
    Function("ring_check", _check_signature, _check, fails=True),
    Function("average", lambda ts: Signature(ts, average_type(ts[0])), _average, fails=True),
)
