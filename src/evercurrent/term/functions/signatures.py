"""Typing rules that many functions share.

A rule is a function from argument types to a `Signature`. `take_exactly` is the usual one: so many arguments, each brought to
the type it wants if that can be done implicitly.

>>> from evercurrent.data.types import INT, NULL, STRING
>>> take_exactly((STRING, INT), STRING, least=1)((NULL,)).args
(String(length=None),)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evercurrent.data.types import (
    DOUBLE,
    Array,
    Interval,
    Null,
    String,
    Type,
    is_numeric,
)
from evercurrent.term.functions.coerce import common_type, implicit
from evercurrent.term.functions.function import Function, Signature, TypeMismatch, Types

Infer = Callable[[Types], Signature]


def expect(found: Type, wanted: Type, position: int) -> Type:
    """The wanted type, if the found one may be used there."""
    if isinstance(found, String) and isinstance(wanted, String):
        return found
    if not implicit(found, wanted):
        raise TypeMismatch(f"argument {position + 1} is {found}, but {wanted} is needed")
    return wanted


def count(types: Types, least: int, most: int | None = None) -> None:
    """Check the number of arguments."""
    most = least if most is None else most
    if not least <= len(types) <= most:
        wanted = str(least) if least == most else f"{least} to {most}" if most < 1000 else f"at least {least}"
        raise TypeMismatch(f"{wanted} argument{'' if wanted == '1' else 's'} expected, {len(types)} given")


def take_exactly(args: Types, result: Type, least: int | None = None) -> Infer:
    """Arguments of the given types; those after `least` may be left out."""

    def infer(types: Types) -> Signature:
        count(types, len(args) if least is None else least, len(args))
        return Signature(
            tuple(expect(t, w, i) for i, (t, w) in enumerate(zip(types, args, strict=False))), result
        )

    return infer


def take_many(arg: Type, result: Type, least: int = 0) -> Infer:
    """Any number of arguments of one type."""

    def infer(types: Types) -> Signature:
        count(types, least, 1000)
        return Signature(tuple(expect(t, arg, i) for i, t in enumerate(types)), result)

    return infer


def common(least: int = 1, most: int = 1000, result: Type | None = None) -> Infer:
    """Arguments of one type that they have in common; the result is of that type unless another is given."""

    def infer(types: Types) -> Signature:
        count(types, least, most)
        t = common_type(types)
        return Signature((t,) * len(types), t if result is None else result)

    return infer


def numeric(t: Type, position: int = 0) -> Type:
    """The type as a number: a string reads as DOUBLE."""
    if isinstance(t, Null | String):
        return DOUBLE
    if not is_numeric(t):
        raise TypeMismatch(f"argument {position + 1} is {t}, but a number is needed")
    return t


def number_or_interval(t: Type) -> Type:
    return t if isinstance(t, Interval) else numeric(t)


def array(t: Type, position: int = 0) -> Array:
    if isinstance(t, Null):
        return Array(t)
    if not isinstance(t, Array):
        raise TypeMismatch(f"argument {position + 1} is {t}, but an array is needed")
    return t


def any_types(least: int, result: Type, most: int | None = None) -> Infer:
    """Arguments of whatever types."""

    def infer(types: Types) -> Signature:
        count(types, least, most)
        return Signature(types, result)

    return infer


def simple(
    name: str,
    args: Types,
    result: Type,
    meaning: Callable[..., Any],
    least: int | None = None,
    *,
    fails: bool = False,
    nullable: bool = False,
    strict: bool = True,
) -> Function:
    """A function of fixed types whose meaning does not depend on them."""
    return Function(
        name,
        take_exactly(args, result, least),
        lambda types, result: meaning,
        strict=strict,
        fails=fails,
        nullable=nullable,
    )
