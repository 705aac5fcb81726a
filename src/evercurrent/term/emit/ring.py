"""Reading accumulators, as source: sums within the range of their types, averages, bounded factors.

sum(x) of BIGINT      (v if -9223372036854775808 <= v <= 9223372036854775807 else fail(v))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evercurrent.data.types import Decimal, Integer
from evercurrent.term.emit.code import Code
from evercurrent.term.function_table import implementation
from evercurrent.term.functions.numbers.arithmetic_source import not_nan
from evercurrent.term.nodes import Call, Literal

if TYPE_CHECKING:
    from evercurrent.term.emit.expressions import Expressions


def check(e: Expressions, t: Call) -> Code:
    """A sum within the range of its type, tested in line; the function is called to fail."""
    match t.type:
        case _ if e.trusted:
            return e.code(t.args[0])
        case Integer(bits):
            low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        case Decimal(precision):
            low, high = 1 - 10**precision, 10**precision - 1
        case _:
            return e.code(t.args[0])
    fail = e.namespace.bind(implementation(t.function, (t.args[0].type,), t.type), "f")

    def python(args: tuple[str, ...]) -> str:
        (x,) = args
        first, again = (x, x) if x.isidentifier() else (f"(_v := {x})", "_v")
        return f"({again} if {low} <= {first} <= {high} else {fail}({again}))"

    return e.apply([e.code(t.args[0])], python, str)


def check_bound(e: Expressions, t: Call) -> Code:
    """A value, compared in line with the greatest magnitude so far."""
    factor, name = t.args
    assert isinstance(name, Literal)
    known = e.namespace.bind(e.namespace.magnitudes[name.value], "m")

    def python(args: tuple[str, ...]) -> str:
        (x,) = args
        return f"({x} if -{known}.high <= {x} <= {known}.high else {known}.grow({x}))"

    return e.apply([e.code(factor)], python, str)


def average(e: Expressions, t: Call) -> Code:
    """A sum over a count, rounded half away from zero; the function is called to fail."""
    types = tuple(a.type for a in t.args)
    total, result = types[0], t.type
    call = e.namespace.bind(implementation(t.function, types, t.type), "f")

    def python(args: tuple[str, ...]) -> str | None:
        s, n = args
        if not isinstance(total, Decimal) or not isinstance(result, Decimal):
            return not_nan(f"{s} / {n} + 0.0")
        double = 2 * 10 ** (result.scale - total.scale)
        up = f"({double} * {s} + {n}) // (2 * {n})"
        down = f"-(({n} - {double} * {s}) // (2 * {n}))"
        limit = 10**result.precision
        return f"(_v if {-limit} < (_v := {up} if {s} >= 0 else {down}) < {limit} else {call}({s}, {n}))"

    return e.apply([e.code(a) for a in t.args], python, str)
