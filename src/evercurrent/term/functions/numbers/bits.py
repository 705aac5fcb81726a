"""Functions of integers as bits, and of numbers written in other bases.

shiftleft(1, 4)           16
conv('ff', 16, 10)      '255'
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evercurrent.data.types import BIGINT, BINARY, BOOLEAN, INT, STRING, Binary, Integer, Null, String, Type
from evercurrent.term.functions.failures import overflow, within_size
from evercurrent.term.functions.function import Function, Signature, TypeMismatch, Types
from evercurrent.term.functions.signatures import common, count, simple, take_exactly


def _infer_bits(types: Types) -> Signature:
    count(types, 2)
    signature = common()(types)
    if not isinstance(signature.result, Integer):
        raise TypeMismatch(f"integers are needed, not {signature.result}")
    return signature


def _infer_integer(types: Types) -> Signature:
    count(types, 1)
    if not isinstance(types[0], Integer | Null):
        raise TypeMismatch(f"an integer is needed, not {types[0]}")
    t = types[0] if isinstance(types[0], Integer) else INT
    return Signature((t,), t)


def _infer_shift(types: Types) -> Signature:
    count(types, 2)
    t = BIGINT if types[0] == BIGINT else INT
    return Signature(
        (take_exactly((t,), t)(types[:1]).args[0], take_exactly((INT,), INT)(types[1:]).args[0]), t
    )


def wrap_integer(x: int, bits: int) -> int:
    """The integer that the lowest bits stand for."""
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def _shift(name: str) -> Callable[[Types, Type], Callable[[int, int], int]]:
    def implement(types: Types, result: Type) -> Callable[[int, int], int]:
        assert isinstance(result, Integer)
        bits = result.bits

        def shift(x: int, n: int) -> int:
            n &= bits - 1
            if name == "shiftleft":
                return wrap_integer(x << n, bits)
            return x >> n if name == "shiftright" else wrap_integer((x & ((1 << bits) - 1)) >> n, bits)

        return shift

    return implement


def _bit_count(types: Types, result: Type) -> Callable[[int], int]:
    return lambda x: (int(x) & ((1 << 64) - 1)).bit_count()


def _infer_hex(types: Types) -> Signature:
    count(types, 1)
    t = types[0] if isinstance(types[0], String | Binary) else BIGINT
    if t == BIGINT:
        take_exactly((BIGINT,), STRING)(types)
    return Signature((t,), STRING)


def _implement_hex(types: Types, result: Type) -> Callable[[Any], str]:
    match types[0]:
        case String():
            return lambda s: str(within_size("HEX", s.encode().hex().upper()))
        case Binary():
            return lambda b: str(within_size("HEX", b.hex().upper()))
        case _:
            return lambda n: f"{n & ((1 << 64) - 1):X}"


def unhex(text: str) -> bytes | None:
    padded = text if len(text) % 2 == 0 else "0" + text
    try:
        return bytes.fromhex(padded) if not any(c.isspace() for c in text) else None
    except ValueError:
        return None


DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def conv(text: str, source: int, target: int) -> str | None:
    """A number's text in another base; a negative target base is signed."""
    if not 2 <= source <= 36 or not 2 <= abs(target) <= 36:
        return None
    text = text.strip(" ").upper()
    if not text:
        return None
    negative = text[0] == "-"
    value = 0
    for c in text[negative:]:
        digit = DIGITS.find(c)
        if digit < 0 or digit >= source:
            break
        value = value * source + digit
        if value >= 1 << 64:
            overflow("an unsigned BIGINT")
    if negative and target > 0:
        value = (1 << 64) - value if value < 1 << 63 else value
        value &= (1 << 64) - 1
    if target < 0 and not negative and value >= 1 << 63:
        value, negative = (1 << 64) - value, True
    sign = "-" if negative and target < 0 and value else ""
    digits = ""
    while value:
        value, d = divmod(value, abs(target))
        digits = DIGITS[d] + digits
    return sign + (digits or "0")


FUNCTIONS = (
    Function("bitand", _infer_bits, lambda t, r: lambda a, b: a & b),
    Function("bitor", _infer_bits, lambda t, r: lambda a, b: a | b),
    Function("bitxor", _infer_bits, lambda t, r: lambda a, b: a ^ b),
    Function("bitnot", _infer_integer, lambda t, r: lambda a: ~a),
    *(
        Function(name, _infer_shift, _shift(name))
        for name in ("shiftleft", "shiftright", "shiftrightunsigned")
    ),
    Function(
        "bit_count",
        lambda types: Signature(types if types == (BOOLEAN,) else _infer_integer(types).args, INT),
        _bit_count,
    ),
    Function("hex", _infer_hex, _implement_hex),
    simple("unhex", (STRING,), BINARY, unhex, nullable=True),
    simple("bin", (BIGINT,), STRING, lambda n: f"{n & ((1 << 64) - 1):b}"),
    simple("conv", (STRING, INT, INT), STRING, conv, nullable=True, fails=True),
)
