"""Text to syntax tree.

Every way in which sqlglot can fail becomes a QueryError with its place.

>>> parse_tokens(tokenize("SELECT a FROM t")).sql(), len(split("SELECT 1; SELECT 2"))
('SELECT a FROM t', 2)
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import ErrorLevel, ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from evercurrent.errors import LimitError, QueryError
from evercurrent.frontend.sql.dialect import EvercurrentParser, EvercurrentSpark, Malformed
from evercurrent.limits import BRACKETS
from evercurrent.source import Place

OPEN = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE}
CLOSE = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE}
EXPECTED = re.compile(r"Expect(?:ed|ing)(?: token)? (.+?)(?: but got .*)?$")
FRAMES = 6000
"""The parser takes about twenty calls for each bracket; what comes after it takes few, and keeps Python's own limit."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one statement, of the text that they were read from."""

    text: str
    tokens: list[Token]

    def word(self, i: int) -> str:
        """The i-th token in upper case; nothing past the end or for a quoted name or string."""
        if i >= len(self.tokens) or self.tokens[i].token_type in (TokenType.IDENTIFIER, TokenType.STRING):
            return ""
        return self.tokens[i].text.upper()

    def place(self, i: int) -> Place:
        """The place of the i-th token; past the end that of the last."""
        token = self.tokens[min(i, len(self.tokens) - 1)]
        return Place(self.text, token.start, token.end + 1)

    def since(self, i: int) -> Tokens:
        return Tokens(self.text, self.tokens[i:])


def tokenize(text: str) -> Tokens:
    try:
        return Tokens(text, _with_window_calls(EvercurrentSpark().tokenize(text)))
    except TokenError as error:
        raise _of_token_error(text, error) from None


def _with_window_calls(tokens: list[Token]) -> list[Token]:
    """The tokens in which `window(` begins a call wherever it stands, as the grammar has it only in the select list."""
    return [
        Token(TokenType.VAR, t.text, t.line, t.col, t.start, t.end)
        if t.token_type == TokenType.WINDOW and following.token_type == TokenType.L_PAREN
        else t
        for t, following in zip(tokens, [*tokens[1:], *tokens[-1:]], strict=True)
    ]


def _of_token_error(text: str, error: TokenError) -> QueryError:
    cause = str(error.__cause__ or error)
    missing = re.match(r"Missing (.+) from \d+:(\d+)", cause, re.DOTALL)
    if missing:
        start = min(int(missing[2]), max(len(text) - 1, 0))
        return QueryError(
            f"this is never closed: {missing[1]} is missing", place=Place(text, start, start + 1)
        )
    return QueryError("this is not SQL: it cannot be split into words", place=_whole(text))


def _whole(text: str) -> Place:
    return Place(text, 0, len(text))


def split(text: str) -> list[Tokens]:
    """The statements of a script: semicolons separate, except in strings, quoted names and comments."""
    statements: list[Tokens] = []
    current: list[Token] = []
    for token in tokenize(text).tokens:
        if token.token_type == TokenType.SEMICOLON:
            statements.append(Tokens(text, current))
            current = []
        else:
            current.append(token)
    statements.append(Tokens(text, current))
    return [s for s in statements if s.tokens]


def parse_tokens(tokens: Tokens, into: type[exp.Condition] | None = None) -> exp.Expr:
    """One statement, or with `into` one thing of that kind (`exp.Condition`: an expression)."""
    if not tokens.tokens:
        raise QueryError("the statement is empty")
    _check_depth(tokens)
    parser = EvercurrentParser(error_level=ErrorLevel.IMMEDIATE, dialect=EvercurrentSpark())
    try:
        with _deeper():
            if into is None:
                found = parser.parse(tokens.tokens, tokens.text)
            else:
                found = parser.parse_into(into, tokens.tokens, tokens.text)
    except ParseError as error:
        malformed = parser.furthest or error
        if isinstance(malformed, Malformed):
            place = Place(tokens.text, malformed.start, malformed.end)
            raise QueryError(f"syntax error: {_plain(malformed.message)}", place=place) from None
        raise QueryError(f"syntax error: {_plain(str(error))}", place=_whole(tokens.text)) from None
    except RecursionError:
        raise LimitError("this is nested too deeply", hint="name parts of it in WITH, or in views") from None
    if len(found) != 1 or found[0] is None:
        raise QueryError("exactly one statement is expected here", place=_whole(tokens.text))
    return found[0]


@contextmanager
def _deeper() -> Iterator[None]:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _plain(message: str) -> str:
    """Returns a message of the parser as a sentence that names no tokens.

    >>> _plain("Expected table name but got <Token token_type: TokenType.WHERE>")
    'a table name is expected here'
    >>> _plain("Expecting )")
    "')' is expected here"
    """
    first = message.splitlines()[0].rstrip(".") if message else "unexpected text"
    if first.startswith("Required keyword"):
        return "something is missing here"
    expected = EXPECTED.match(first)
    if expected is not None:
        return f"{_name_expected(expected[1])} is expected here"
    return {"Invalid expression / Unexpected token": "this is unexpected here"}.get(first, first)


def _name_expected(what: str) -> str:
    """A word of the language stays as it is; a sign is quoted, and a thing has its article."""
    first = what.partition(" ")[0]
    if first in ("a", "an", "either") or first.isupper():
        return what
    if not what[0].isalnum():
        return f"'{what}'"
    return f"an {what}" if what[0].lower() in "aeiou" else f"a {what}"


def _check_depth(tokens: Tokens) -> None:
    depth = 0
    for token in tokens.tokens:
        if token.token_type in OPEN:
            depth += 1
            if depth > BRACKETS:
                place = Place(tokens.text, token.start, token.end + 1)
                raise LimitError(f"more than {BRACKETS} brackets are open here", place=place)
        elif token.token_type in CLOSE:
            depth -= 1
