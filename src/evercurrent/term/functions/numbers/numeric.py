"""Functions of numbers: roots, logarithms, powers, angles, signs.

Functions of the reals take and return DOUBLE. Outside of their domain logarithms are NULL and all else is NaN; what is too
large is infinite.

    sqrt(2.25)      1.5
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from evercurrent.data.order import order_key
from evercurrent.data.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INT,
    Decimal,
    Float,
    Integer,
    Interval,
    Type,
)
from evercurrent.data.values import NAN, canonical_float
from evercurrent.errors import EvaluationError
from evercurrent.term.functions.exact import check_decimal, check_integer, remainder, rescale
from evercurrent.term.functions.failures import division_by_zero
from evercurrent.term.functions.function import Function, Signature, Types
from evercurrent.term.functions.numbers import arithmetic
from evercurrent.term.functions.numbers.arithmetic_source import within
from evercurrent.term.functions.signatures import (
    common,
    count,
    number_or_interval,
    numeric,
    simple,
    take_exactly,
)

Real = Callable[..., float]


def _real(f: Real) -> Real:
    """A function of the reals, total: NaN outside of its domain, infinite beyond all bounds."""

    def total(*xs: float) -> float:
        try:
            r = f(*xs)
        except OverflowError:
            return math.inf
        except ValueError:
            return NAN
        return canonical_float(r)

    return total


def _inverse(f: Real) -> Real:
    def g(x: float) -> float:
        d = f(x)
        return math.copysign(math.inf, d) if d == 0 else 1 / d

    return g


def _atanh(x: float) -> float:
    return math.copysign(math.inf, x) if abs(x) == 1 else math.atanh(x)


def _sinh(x: float) -> float:
    try:
        return math.sinh(x)
    except OverflowError:
        return math.copysign(math.inf, x)


def power(x: float, y: float) -> float:
    if y != y or (abs(x) == 1 and math.isinf(y)):
        return NAN
    try:
        return canonical_float(math.pow(x, y))
    except OverflowError:
        odd = y == math.floor(y) and y % 2 == 1
        return -math.inf if x < 0 and odd else math.inf
    except ValueError:
        if x == 0:  # a negative power of zero
            odd = y % 2 == 1
            return math.copysign(math.inf, x) if odd else math.inf
        return NAN


def _cbrt(x: float) -> float:
    return math.cbrt(x)


REALS: dict[str, Real] = {
    "sqrt": math.sqrt,
    "cbrt": _cbrt,
    "exp": math.exp,
    "expm1": math.expm1,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "cot": _inverse(math.tan),
    "sec": _inverse(math.cos),
    "csc": _inverse(math.sin),
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "sinh": _sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "asinh": math.asinh,
    "acosh": math.acosh,
    "atanh": _atanh,
    "degrees": math.degrees,
    "radians": math.radians,
    "rint": lambda x: float(round(x)) if math.isfinite(x) else x,
    "signum": lambda x: x if x == 0 or x != x else math.copysign(1.0, x),
}


def _log(f: Real, above: float = 0.0) -> Callable[[float], float | None]:
    def log(x: float) -> float | None:
        if x <= above:
            return None
        return canonical_float(f(x))

    return log


def log_base(*args: float) -> float | None:
    """log(x) or log(base, x)."""
    base, x = args if len(args) == 2 else (math.e, args[0])
    if x <= 0 or base <= 0:
        return None
    if x != x or base != base:
        return NAN
    if base == 1:
        d = math.log(x)
        return NAN if d == 0 else math.copysign(math.inf, d)
    return canonical_float(math.log(x) if len(args) == 1 else math.log(x) / math.log(base))


def _infer_log(types: Types) -> Signature:
    return take_exactly((DOUBLE, DOUBLE), DOUBLE, least=1)(types)


# --- signs and sizes ---------------------------------------------------------------------------------------


def _infer_same(types: Types) -> Signature:
    count(types, 1)
    t = number_or_interval(types[0])
    return Signature((t,), t)


def _implement_abs(types: Types, result: Type) -> Callable[[Any], Any]:
    match result:
        case Integer():
            return lambda x: check_integer(result, abs(x))
        case Interval(unit):
            return lambda x: check_integer(Integer(32 if unit == "months" else 64), abs(x))
        case _:
            return lambda x: abs(x) if x == x else NAN


def _infer_sign(types: Types) -> Signature:
    count(types, 1)
    t = types[0]
    return Signature((t if isinstance(t, Interval) else DOUBLE,), DOUBLE)


def _python_abs(types: Types, result: Type, args: tuple[str, ...]) -> str | None:
    match result:
        case Integer():
            return within(result, f"abs({args[0]})")
        case Decimal():
            return f"abs({args[0]})"
        case _:
            return None


def _implement_pmod(types: Types, result: Type) -> Callable[[Any, Any], Any]:
    if isinstance(result, Float):

        def float_pmod(a: float, b: float) -> float:
            if b == 0:
                division_by_zero()
            if not math.isfinite(a) or b != b:
                return NAN
            r = math.fmod(a, b)
            if r < 0 and math.isinf(r + b):
                return NAN
            return canonical_float(math.fmod(r + b, b) if r < 0 else r)

        return float_pmod
    x, y = arithmetic.to_one_scale(types)
    scale = max((t.scale for t in types if isinstance(t, Decimal)), default=0)

    def pmod(a: int, b: int) -> int:
        if b == 0:
            division_by_zero()
        a, b = a * x, b * y
        r = remainder(a, b)
        if r < 0:
            r = remainder(r + b, b)
        return check_decimal(result, rescale(r, scale, result.scale)) if isinstance(result, Decimal) else r

    return pmod


def _extreme(pick: Callable[..., Any]) -> Callable[[Types, Type], Callable[..., Any]]:
    def implement(types: Types, result: Type) -> Callable[..., Any]:
        key = order_key(result)

        def choose(*args: Any) -> Any:
            known = [a for a in args if a is not None]
            return pick(known, key=key) if known else None

        return choose

    return implement


def factorial(n: int) -> int | None:
    return math.factorial(n) if 0 <= n <= 20 else None


def width_bucket(value: float, low: float, high: float, buckets: int) -> int | None:
    """The bucket, from 1, among equally wide ones between the bounds; 0 below, one more above."""
    if buckets <= 0 or buckets == (1 << 63) - 1 or value != value or low == high:
        return None
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    lower, upper = min(low, high), max(low, high)
    if low < high:
        if value < lower:
            return 0
        if value >= upper:
            return buckets + 1
        return int(buckets * (value - lower) / (upper - lower)) + 1
    if value > upper:
        return 0
    if value <= lower:
        return buckets + 1
    return int(buckets * (upper - value) / (upper - lower)) + 1


# --- attempts ----------------------------------------------------------------------------------------------


def _attempt(name: str, base: str) -> Function:
    """An operator that returns NULL where it would fail."""
    function = next(f for f in arithmetic.FUNCTIONS if f.name == base)

    def implement(types: Types, result: Type) -> Callable[..., Any]:
        meaning = function.implement(types, result)

        def attempt(*args: Any) -> Any:
            try:
                return meaning(*args)
            except EvaluationError:
                return None

        return attempt

    return Function(name, function.infer, implement, nullable=True)


def _infer_nanvl(types: Types) -> Signature:
    count(types, 2)
    t = common()(tuple(numeric(t, i) for i, t in enumerate(types))).result
    t = t if isinstance(t, Float) else DOUBLE
    return Signature((t, t), t)


FUNCTIONS = (
    *(simple(name, (DOUBLE,), DOUBLE, _real(f)) for name, f in REALS.items() if name != "signum"),
    # Adding zero makes a positive zero of a negative one, as Spark does.
    simple("atan2", (DOUBLE, DOUBLE), DOUBLE, _real(lambda y, x: math.atan2(y + 0.0, x + 0.0))),
    simple("hypot", (DOUBLE, DOUBLE), DOUBLE, _real(math.hypot)),
    simple("power", (DOUBLE, DOUBLE), DOUBLE, power),
    simple("pi", (), DOUBLE, lambda: math.pi),
    simple("e", (), DOUBLE, lambda: math.e),
    simple("ln", (DOUBLE,), DOUBLE, _log(math.log), nullable=True),
    simple("log10", (DOUBLE,), DOUBLE, _log(math.log10), nullable=True),
    simple("log2", (DOUBLE,), DOUBLE, _log(math.log2), nullable=True),
    simple("log1p", (DOUBLE,), DOUBLE, _log(math.log1p, -1.0), nullable=True),
    Function("log", _infer_log, lambda t, r: log_base, nullable=True),
    Function("abs", _infer_same, _implement_abs, python=_python_abs, fails=True),
    Function("positive", _infer_same, lambda t, r: lambda x: x, python=lambda t, r, a: a[0]),
    Function("sign", _infer_sign, lambda t, r: lambda x: REALS["signum"](float(x))),
    Function(
        "pmod",
        next(f for f in arithmetic.FUNCTIONS if f.name == "mod").infer,
        _implement_pmod,
        fails=True,
    ),
    Function("greatest", common(2), _extreme(max), strict=False),
    Function("least", common(2), _extreme(min), strict=False),
    simple("factorial", (INT,), BIGINT, factorial, nullable=True),
    simple("width_bucket", (DOUBLE, DOUBLE, DOUBLE, BIGINT), BIGINT, width_bucket, nullable=True),
    simple("isnan", (DOUBLE,), BOOLEAN, lambda x: x is not None and x != x, strict=False),
    # Not strict: the second value is looked at only if the first is NaN.
    Function("nanvl", _infer_nanvl, lambda t, r: lambda a, b: b if a != a else a, strict=False),
    _attempt("try_add", "add"),
    _attempt("try_subtract", "sub"),
    _attempt("try_multiply", "mul"),
    _attempt("try_divide", "div"),
    _attempt("try_mod", "mod"),
)
