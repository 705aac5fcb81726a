"""Lines of source with their indentation, and the names that stand for objects in it.

Nothing that a user wrote ever becomes source: identifiers are numbered, and constants other than small ones are objects
that the source refers to by such an identifier.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Writer:
    """Source under construction."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 0

    def line(self, text: str = "") -> None:
        self.lines.append("    " * self.depth + text if text else "")

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """`header` and an indented body; an empty body gets `pass`."""
        self.line(header)
        self.depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.line("pass")
        self.depth -= 1

    def open(self, header: str) -> None:
        """A block that `close` ends."""
        self.line(header)
        self.depth += 1

    def close(self, depth: int) -> None:
        self.depth = depth

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


class Namespace:
    """The objects that generated source refers to, by numbered identifiers."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {}
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
