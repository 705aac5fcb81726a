"""The words, numbers and signs of an ODL text, each with its place.

>>> [t.text for t in tokenize("attribute set<string> tags; // words")]
['attribute', 'set', '<', 'string', '>', 'tags', ';', '']
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal as Choice
from typing import cast

from evercurrent.errors import QueryError
from evercurrent.source import Place

Kind = Choice["name", "number", "text", "sign", "end"]

PATTERN = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*.*?\*/)"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<number>\d+(\.\d+)?([eE][+-]?\d+)?)"
    r"""|(?P<text>"(\\.|[^"\\])*"|'(\\.|[^'\\])*')"""
    r"|(?P<sign>::|<<|>>|[-+*/%(){}<>,;:=\[\]|&^~])",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    kind: Kind
    text: str
    place: Place


def tokenize(text: str) -> list[Token]:
    """All tokens, and one of kind "end" behind them."""
    found: list[Token] = []
    at = 0
    while at < len(text):
        match = PATTERN.match(text, at)
        if match is None:
            raise QueryError(f"{text[at]!r} has no meaning in ODL", place=Place(text, at, at + 1))
        if match.group() == "/" and text.startswith("/*", at):
            raise QueryError("the comment does not end", place=Place(text, at, at + 2))
        kind, at = match.lastgroup, match.end()
        if kind != "space":
            found.append(Token(cast(Kind, kind), match.group(), Place(text, match.start(), at)))
    found.append(Token("end", "", Place(text, len(text), len(text))))
    return found
