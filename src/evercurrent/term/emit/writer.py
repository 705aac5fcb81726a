"""Lines of source with their indentation, and the names that stand for objects in it.

Nothing that a user wrote ever becomes source: identifiers are numbered, and constants other than small ones are objects
that the source refers to by such an identifier.

>>> writer = Writer()
>>> with writer.block("for v1 in s1:"):
...     writer.line("v2 += v1")
>>> print(writer.text())
for v1 in s1:
    v2 += v1
>>> Namespace().constant(7), Namespace().constant("text of a user")
('7', 'c1')
"""

from __future__ import annotations

import re
import symtable
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

DEEPEST = 60
"""So many levels of indentation, of the 100 that Python allows, before the rest becomes a function of its own."""

MOST_LOOPS = 12
"""So many loops in each other, of the 20 that Python allows, before the rest becomes a function of its own."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A function that was left to write the rest of its body as another one: its lines so far, and where it stopped."""

    lines: list[str]
    base: int
    depth: int
    function: str


class Writer:
    """Source under construction.

    Generated code nests with the query, and Python limits how deeply code can nest. So where a function is `crowded`,
    `cut` writes what follows, up to the end of the block, as another function, and a call of it here:

        for v1 in s1:               for v1 in s1:
            if v1 > 0:                  if v1 > 0:
                ...                         rest1(v1)
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.apart: list[str] = []
        self.headers: list[str] = []
        self.base = 0
        self.cuts: list[Cut] = []
        self.assigned: dict[int, tuple[int, set[str]]] = {}

    @property
    def depth(self) -> int:
        """The number of blocks that are open, those of functions that were left included."""
        return len(self.headers)

    def line(self, text: str = "") -> None:
        self.lines.append("    " * (self.depth - self.base) + text if text else "")

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """`header` and an indented body; an empty body gets `pass`."""
        outer = self.depth
        self.open(header)
        inside, before = self.lines, len(self.lines)
        yield
        if self.lines is inside and len(self.lines) == before:
            self.line("pass")
        self.close(outer)

    def open(self, header: str) -> None:
        """A block that `close` ends."""
        self.line(header)
        self.headers.append(header)

    def close(self, depth: int) -> None:
        while self.cuts and depth < self.cuts[-1].depth:
            self._resume()
        del self.headers[depth:]

    # --- functions that would nest too deeply --------------------------------------------------------------

    @property
    def crowded(self) -> bool:
        """Whether the function cannot take many more blocks."""
        own = self.headers[self.base :]
        return len(own) >= DEEPEST or sum(h.startswith("for ") for h in own) >= MOST_LOOPS

    def cut(self, function: str) -> None:
        """Write what follows as a function of this name, until the block that is open now ends.

        It may read the locals of the functions that were left, but what it assigns is not there after it.
        """
        self.cuts.append(Cut(self.lines, self.base, self.depth, function))
        self.lines, self.base = [], self.depth - 1

    def _resume(self) -> None:
        """End the function that was cut off, and go on with the one that calls it."""
        cut = self.cuts.pop()
        body = self.lines or ["    pass"]
        read = _globals("\n".join(["def f():", *body]))
        frames = [*(c.lines for c in self.cuts), cut.lines]
        given = ", ".join(sorted(name for name in read if any(self._assigns(f, name) for f in frames)))
        self.apart += ["", f"def {cut.function}({given}):", *body]
        self.lines, self.base = cut.lines, cut.base
        del self.headers[cut.depth :]
        self.line(f"{cut.function}({given})")

    def _assigns(self, lines: list[str], name: str) -> bool:
        """Whether a function that was left has a local of this name. Lines are only ever added, so each is read once."""
        count, names = self.assigned.get(id(lines), (0, set()))
        for line in lines[count:]:
            names |= _targets(line)
        self.assigned[id(lines)] = (len(lines), names)
        return name in names

    def text(self) -> str:
        return "\n".join([*self.lines, *self.apart]) + "\n"


_ASSIGNED = re.compile(r"(\w+)(?= := |(?:, \w+)* = )")
_BOUND = re.compile(r"\s*(?:for (.+?) in |def \w+\((.*)\):)")


def _targets(line: str) -> set[str]:
    """The names that a line of generated source assigns.

    >>> sorted(_targets("v1, v2 = v3 = f((v4 := 1))")), sorted(_targets("for a, (b, c) in d:"))
    (['v1', 'v2', 'v3', 'v4'], ['a', 'b', 'c'])
    """
    if line.lstrip().startswith("#"):
        return set()
    bound = _BOUND.match(line)
    found = re.findall(r"\w+", f"{bound[1] or ''} {bound[2] or ''}") if bound else []
    return {*found, *_ASSIGNED.findall(line)}


def _globals(source: str) -> set[str]:
    """The names that functions of the source read and do not assign."""
    pending = symtable.symtable(source, "<rules>", "exec").get_children()
    found: set[str] = set()
    while pending:
        table = pending.pop()
        found |= {s.get_name() for s in table.get_symbols() if s.is_global()}
        pending += table.get_children()
    return found


class Namespace:
    """The objects that generated source refers to, by numbered identifiers."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {}
        self.magnitudes: Mapping[str, Any] = {}
        """What is known of bounded factors, by name: an object with `high` and `grow`."""
        self._names: dict[tuple[str, int], str] = {}
        self._constants: dict[tuple[type, Any], str] = {}
        self._count = 0

    def define(self, name: str, value: Any) -> str:
        self.objects[name] = value
        return name

    def bind(self, value: Any, prefix: str) -> str:
        """An identifier for an object; the same one for the same object."""
        key = (prefix, id(value))
        name = self._names.get(key)
        if name is None:
            self._count += 1
            name = self._names[key] = f"{prefix}{self._count}"
            self.objects[name] = value
        return name

    def number(self, prefix: str) -> str:
        """A new identifier, for a function that the source defines itself."""
        self._count += 1
        return f"{prefix}{self._count}"

    def constant(self, value: Any) -> str:
        """Source for a constant: ints, booleans and None as themselves, everything else by a name."""
        if value is None or value is True or value is False:
            return repr(value)
        if type(value) is int:
            return repr(value) if value >= 0 else f"({value!r})"
        key = (type(value), repr(value) if isinstance(value, float) else value)
        name = self._constants.get(key)
        if name is None:
            name = self._constants[key] = self.bind(value, "c")
        return name


def remark(text: str) -> str:
    """User text in a comment: escaped, on one line, and not too long."""
    shown = ascii(text)[1:-1]
    return shown if len(shown) <= 90 else shown[:87] + "..."
