"""A place in a query's text, and the excerpt with a caret that shows it.

>>> print(Place("SELECT a\\nFROM tt", 14, 16).excerpt())
line 2, column 6
  FROM tt
       ^^
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """The half-open range `start:end` of character offsets in `text`."""

    text: str
    start: int
    end: int

    @property
    def line(self) -> int:
        return self.text.count("\n", 0, self.start) + 1

    @property
    def column(self) -> int:
        return self.start - (self.text.rfind("\n", 0, self.start) + 1) + 1

    def excerpt(self) -> str:
        """The line with the place, and carets under it."""
        begin = self.text.rfind("\n", 0, self.start) + 1
        stop = self.text.find("\n", self.start)
        line = self.text[begin : stop if stop >= 0 else len(self.text)]
        width = max(1, min(self.end, begin + len(line)) - self.start)
        pad = "".join("\t" if c == "\t" else " " for c in line[: self.start - begin])
        return f"line {self.line}, column {self.column}\n  {line}\n  {pad}{'^' * width}"
