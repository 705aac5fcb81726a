"""A place in a query's text, and the excerpt with a caret that shows it.

>>> print(Place("SELECT a\\nFROM tt", 14, 16).excerpt())
line 2, column 6
  FROM tt
       ^^

Of a long line, only the surroundings of the place are shown:

>>> print(Place("SELECT " + "a + " * 1000 + "b", 4007, 4008).excerpt())
line 1, column 4008
  ...  + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + b
                                                                                                         ^
"""

from __future__ import annotations

from dataclasses import dataclass

WIDTH = 100
"""Characters of a line that an excerpt shows."""
BEFORE = 48
"""Characters that it shows before the place, if the line is longer."""


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
        """The line with the place, and carets under it; of a long line, the part around the place."""
        begin = self.text.rfind("\n", 0, self.start) + 1
        stop = self.text.find("\n", self.start)
        line = self.text[begin : stop if stop >= 0 else len(self.text)]
        at = self.start - begin
        width = max(1, min(self.end - begin, len(line)) - at)
        if len(line) > WIDTH:
            first = max(0, min(at - BEFORE, len(line) - WIDTH))
            last = first + WIDTH
            cut = "... " if first else ""
            width = max(1, min(width, last - at))
            at += len(cut) - first
            line = f"{cut}{line[first:last]}{' ...' if last < len(line) else ''}"
        pad = "".join("\t" if c == "\t" else " " for c in line[:at])
        return f"line {self.line}, column {self.column}\n  {line}\n  {pad}{'^' * width}"
