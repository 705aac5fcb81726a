"""Parameters: `?`, numbered from left to right, and `:name`.

Law. A parameter is a value. It becomes a constant term where the place-holder stands in the syntax tree; it is never part of
a text that is parsed.

The tokens of a place-holder are made one token that carries its name, `?1` or `:name`; a name of `?1` cannot be written.

>>> constant("limit", 5), str(type_of([1]))
(Literal(value=5, type=Integer(bits=32)), 'ARRAY<INT>')
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlglot.tokenizer_core import Token, TokenType

from evercurrent.data import types as t
from evercurrent.data.showing import show_value
from evercurrent.data.types import Type
from evercurrent.data.values import BadValue, take_in
from evercurrent.errors import LimitError, QueryError
from evercurrent.frontend.sql.syntax import Tokens
from evercurrent.term import build
from evercurrent.term.nodes import Literal, Term

Parameters = Sequence[Any] | Mapping[str, Any] | None

# After these a colon goes into a value: it is no place-holder.
VALUES = {TokenType.VAR, TokenType.IDENTIFIER, TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.STRING}


def bind(
    tokens: Tokens, parameters: Parameters, make: Callable[[str, Any], Term] | None = None
) -> tuple[Tokens, dict[str, Term]]:
    """The statement with named place-holders, and the constant for each; every one is given, every given one is used.

    `make` returns the term that stands for a name and its value, if that is no constant.
    """
    found: list[Token] = []
    names: list[str] = []
    source = tokens.tokens
    i = 0
    while i < len(source):
        token = source[i]
        if token.token_type == TokenType.PLACEHOLDER:
            names.append(f"?{sum(n.startswith('?') for n in names) + 1}")
            found.append(_placeholder(token, token, names[-1]))
        elif _is_named(source, i):
            names.append(":" + source[i + 1].text)
            found.append(_placeholder(token, source[i + 1], names[-1]))
            i += 1
        else:
            found.append(token)
        i += 1
    values = _values(parameters)
    for name in names:
        if name not in values:
            token = next(x for x in found if x.text == name and x.token_type == TokenType.PLACEHOLDER)
            raise QueryError(f"there is no value for the parameter {name}", place=_place(tokens.text, token))
    extra = [name for name in values if name not in names]
    if extra:
        raise QueryError(
            f"there is no place for the parameter {extra[0]} in the statement",
            hint="write ? for each value of a list, or :name for the values of a mapping; %s and $1 are not read",
        )
    return Tokens(tokens.text, found), {name: (make or constant)(name, values[name]) for name in names}


def _is_named(source: list[Token], i: int) -> bool:
    if source[i].token_type != TokenType.COLON or i + 1 == len(source):
        return False
    after = source[i + 1]
    adjacent = after.start == source[i].end + 1 and after.text.isidentifier()
    return adjacent and (i == 0 or source[i - 1].token_type not in VALUES)


def _placeholder(first: Token, last: Token, name: str) -> Token:
    return Token(TokenType.PLACEHOLDER, name, first.line, first.col, first.start, last.end)


def _place(text: str, token: Token) -> Any:
    from evercurrent.source import Place

    return Place(text, token.start, token.end + 1)


def _values(parameters: Parameters) -> dict[str, Any]:
    if parameters is None:
        return {}
    if isinstance(parameters, Mapping):
        names: list[Any] = list(parameters)
        wrong = [name for name in names if not isinstance(name, str)]
        if wrong:
            raise QueryError(f"the name of a parameter is a string, not {show_value(wrong[0])}")
        return {f":{name}": value for name, value in parameters.items()}
    if isinstance(parameters, str | bytes) or not isinstance(parameters, Sequence):
        raise QueryError("parameters are a sequence of values for ?, or a mapping for :name")
    return {f"?{i}": value for i, value in enumerate(parameters, 1)}


def constant(name: str, value: Any) -> Literal:
    """A Python value as a constant of the type that it has by itself."""
    try:
        kind = type_of(value)
        return Literal(take_in(kind, value), kind)
    except (BadValue, TypeError) as problem:
        raise QueryError(f"the parameter {name} has no type in SQL: {problem}") from None
    except RecursionError:
        raise LimitError(f"the parameter {name} is nested too deeply") from None


def type_of(value: Any) -> Type:
    """The type of a Python value.

    >>> print(type_of(3), type_of(2.5), type_of([1, None]), type_of(decimal.Decimal("1.50")))
    INT DOUBLE ARRAY<INT> DECIMAL(3,2)
    """
    match value:
        case None:
            return t.NULL
        case bool():
            return t.BOOLEAN
        case int():
            return t.INT if -(1 << 31) <= value < 1 << 31 else t.BIGINT
        case float():
            return t.DOUBLE
        case decimal.Decimal() if value.is_finite():
            _, digits, exponent = value.as_tuple()
            scale = max(0, -int(exponent))
            precision = max(len(digits) + max(0, int(exponent)), scale, 1)
            if precision > 38:
                raise TypeError(f"{show_value(value)} has more than 38 digits")
            return t.Decimal(precision, scale)
        case str():
            return t.STRING
        case bytes() | bytearray():
            return t.BINARY
        case datetime.datetime():
            return t.TIMESTAMP if value.tzinfo is not None else t.TIMESTAMP_NTZ
        case datetime.date():
            return t.DATE
        case datetime.time():
            return t.TIME
        case datetime.timedelta():
            return t.MICROS
        case list() | tuple():
            return t.Array(build.common_type([type_of(v) for v in value]) if value else t.NULL)
        case dict():
            keys = build.common_type([type_of(k) for k in value]) if value else t.NULL
            return t.Map(keys, build.common_type([type_of(v) for v in value.values()]) if value else t.NULL)
        case _:
            if type(value).__module__.startswith("numpy") and hasattr(value, "tolist"):
                return type_of(value.tolist())
            raise TypeError(f"{type(value).__name__} is not a type of values")
