"""Runs an example, and shows its result as text; reads the files of entries.

>>> evaluate("1 + 1", "SELECT {}")
('2', 'INT')
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import evercurrent as ec
from evercurrent.display import value_text

ENTRIES = Path(__file__).parent / "entries"
NOTICE = "<!-- Written by `make reference`: change the code or tools/reference, not this page. -->"


class Entry(NamedTuple):
    """A line of a file of entries."""

    heading: str
    form: str
    meaning: str
    example: str


def entries(file: str) -> Iterator[Entry]:
    """The entries of a file, each with the heading that it stands under."""
    heading = ""
    for line in (ENTRIES / file).read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            heading = line[2:]
        elif line and not line.startswith("#"):
            form, meaning, example = line.split(" | ", 2)
            yield Entry(heading, form, meaning, example.replace("\\|", "|"))


def blocks(file: str) -> Iterator[tuple[str, list[str]]]:
    """The sections of a file: each title, and the lines under it."""
    title, lines = "", list[str]()
    for line in (ENTRIES / file).read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            if title:
                yield title, lines
            title, lines = line[2:], []
        elif not line.startswith("#"):
            lines.append(line)
    yield title, lines


@cache
def database() -> ec.Database:
    """A database without tables, in which examples of expressions run."""
    return ec.connect()


def evaluate(example: str, query: str) -> tuple[str, str]:
    """The value or values of an expression in a query, as text, and its type."""
    result = database().query(query.format(f"{example} AS v"))
    (field,) = result.schema
    return ", ".join(shown(value) for (value,) in result.rows()), str(field.type)


def shown(value: Any) -> str:
    """A value as tables show it, texts in quotes."""
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    return value_text(value)


def example(text: str, result: Any) -> str:
    """A statement as it is written in a program, with what it returns."""
    lines = [f"{text};"]
    if result.columns:
        lines.append(f"-- {', '.join(result.columns)}")
        lines += [f"-- {', '.join(map(shown, found))}" for found in result.rows()]
    elif result.count:
        lines.append(f"-- {result.count} row{'' if result.count == 1 else 's'}")
    return "\n".join(lines)


def cell(text: str) -> str:
    """Text in a cell of a table."""
    return text.replace("\\|", "|").replace("|", "\\|")


def code(text: str) -> str:
    """Code in a cell of a table."""
    return f"`{cell(text)}`"


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def table(*heads: str) -> list[str]:
    """The first two lines of a table."""
    return [row(*heads), row(*("---" for _ in heads))]
