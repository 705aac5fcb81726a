"""Values of captured functions as terms: constants as literals, tuples and rows as structs.

>>> from evercurrent.term.show import show
>>> show(term_of(3)), str(term_of(decimal.Decimal("1.50")).type)
('3', 'DECIMAL(3,2)')
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
from collections.abc import Mapping
from typing import Any

from evercurrent.data.types import (
    BIGINT,
    BINARY,
    DATE,
    DOUBLE,
    MICROS,
    TIME,
    TIMESTAMP,
    Decimal,
    Integer,
    Map,
    Struct,
    Type,
)
from evercurrent.data.values import take_in
from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.frontend.python.symbols import Symbol
from evercurrent.term import build
from evercurrent.term.nodes import Apply, Field, Literal, Term, Variable


class Resists(Exception):
    """A function that cannot be looked into, and why; `node` is the syntax that stands in the way, if it is known."""

    def __init__(self, reason: str, node: Any = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.node = node


def is_symbolic(value: Any) -> bool:
    """Whether a value depends on a row."""
    if isinstance(value, Symbol) or getattr(value, "_symbolic_", False) is True:
        return True
    if isinstance(value, tuple | list | set):
        return any(map(is_symbolic, value))
    if isinstance(value, dict):
        return any(map(is_symbolic, value.values()))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return any(is_symbolic(getattr(value, f.name)) for f in dataclasses.fields(value))
    return False


def members_of(value: Any) -> list[tuple[str, Any]] | None:
    """The named parts of a row that a function made: an instance of a row class, a tuple, a dictionary."""
    if isinstance(value, dict):
        return [(str(k), v) for k, v in value.items()]
    if isinstance(value, tuple):
        names = getattr(value, "_fields", None) or names_of(value)
        return list(zip(names, value, strict=True))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value) if f.init]
    return None


def names_of(values: tuple[Any, ...]) -> list[str]:
    """Names for the parts of a plain tuple: those of the fields that they are, else their positions, from 1."""
    taken: set[str] = set()
    names = []
    for i, value in enumerate(values, 1):
        term = value._term if isinstance(value, Symbol) else None
        if isinstance(term, Field):
            name = term.name
        elif isinstance(term, Apply) and term.function.name.isidentifier() and term.function.name != "lambda":
            name = term.function.name
        else:
            name = f"_{i}"
        candidate, number = name, 1
        while candidate.lower() in taken:
            number += 1
            candidate = f"{name}_{number}"
        taken.add(candidate.lower())
        names.append(candidate)
    return names


def term_of(value: Any) -> Term:
    """The term of a symbol or a constant."""
    if isinstance(value, Symbol):
        return whole(value._term)
    if hasattr(value, "_as_term_"):
        term: Term = value._as_term_()
        return term
    if isinstance(value, enum.Enum):
        return term_of(value.value)
    match value:
        case None | bool() | int() | str():
            if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
                raise QueryError(f"the constant {value} is beyond BIGINT")
            return build.lit(value)
        case float():
            return Literal(take_in(DOUBLE, value), DOUBLE)
        case decimal.Decimal():
            return _decimal(value)
        case datetime.datetime():
            return Literal(take_in(TIMESTAMP, value), TIMESTAMP)
        case datetime.date():
            return Literal(value, DATE)
        case datetime.time():
            return Literal(take_in(TIME, value), TIME)
        case datetime.timedelta():
            return Literal(take_in(MICROS, value), MICROS)
        case bytes():
            return Literal(value, BINARY)
        case list():
            return _array(value)
    members = members_of(value)
    if members:
        return build.record([(name, term_of(part)) for name, part in members])
    raise Resists(f"{_show(value)} is no value of a column")


def whole(term: Term) -> Term:
    """A row as a value: the record of its members."""
    if isinstance(term, Variable) and isinstance(term.type, Struct) and not term.nullable:
        return build.record([(m.name, build.field(term, m.name)) for m in term.type.members])
    return term


def _decimal(value: decimal.Decimal) -> Term:
    if not value.is_finite():
        raise UnsupportedError(f"the constant Decimal({str(value)!r})")
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    scale = max(0, -exponent)
    precision = max(len(digits) + max(0, exponent), scale, 1)
    if precision > 38:
        raise UnsupportedError(f"the constant {value} has more than 38 digits")
    type_ = Decimal(precision, scale)
    return Literal(take_in(type_, value), type_)


def _array(values: list[Any]) -> Term:
    if not values:
        raise Resists("an empty list has no type of elements")
    return build.call("array", *map(term_of, values))


def mapping(value: Mapping[Any, Any]) -> Term:
    """A constant dictionary as a MAP."""
    keys = [term_of(k) for k in value]
    values = [term_of(v) for v in value.values()]
    if not all(isinstance(t, Literal) for t in (*keys, *values)) or not keys:
        raise Resists("a dictionary of values of rows")
    type_ = Map(_wide([k.type for k in keys]), _wide([v.type for v in values]))
    pairs = [
        (build.cast(k, type_.key), build.cast(v, type_.value)) for k, v in zip(keys, values, strict=True)
    ]
    from evercurrent.data.values import FrozenMap

    entries = [(k.value, v.value) for k, v in pairs if isinstance(k, Literal) and isinstance(v, Literal)]
    return Literal(FrozenMap(entries), type_)


def _wide(types: list[Type]) -> Type:
    """The common type of constants; that of integers is the one of Python's."""
    found = build.common_type(types)
    return BIGINT if isinstance(found, Integer) else found


def _show(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
