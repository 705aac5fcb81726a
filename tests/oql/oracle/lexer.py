"""Text to tokens.

>>> [t.text for t in tokens("e.name[0:2] || '.' // name")]
['e', '.', 'name', '[', '0', ':', '2', ']', '||', '.', '']
"""

from __future__ import annotations

import re
from dataclasses import dataclass

PATTERN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<float>\d+\.\d+([eE][+-]?\d+)?|\d+[eE][+-]?\d+)
      | (?P<int>\d+)
      | (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      | (?P<name>[A-Za-z_]\w*)
      | (?P<sign>::|\.\.|\|\||->|<=|>=|!=|<>|[-+*/()\[\],;:.=<>])""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    kind: str
    text: str


def tokens(text: str) -> list[Token]:
    """All tokens, and one of kind "end"."""
    result, at = [], 0
    while at < len(text):
        found = PATTERN.match(text, at)
        if found is None:
            raise SyntaxError(f"unexpected {text[at]!r} in {text!r}")
        at = found.end()
        kind = str(found.lastgroup)
        if kind == "string":
            # A backslash before a quote or a backslash is dropped; others belong to `like`.
            result.append(Token("string", re.sub(r"\\([\"'\\])", r"\1", found.group()[1:-1])))
        elif kind != "space":
            result.append(Token(kind, found.group()))
    return [*result, Token("end", "")]
