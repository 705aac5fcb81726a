"""The types of columns, with a constant of each and the Python value that it becomes."""

from __future__ import annotations

from typing import get_args

from evercurrent.data import types
from evercurrent.rows.results import Result
from tools.reference.engine import NOTICE, cell, code, database, entries, row, table

OF_OBJECTS = {"Collection", "Reference"}
"""Types that only classes of objects have."""


def kinds() -> set[str]:
    """The classes of types that SQL has."""
    return {kind.__name__ for kind in get_args(types.Type)} - OF_OBJECTS


def kinds_shown() -> set[str]:
    return {type(f.type).__name__ for e in entries("types.txt") for f in _read(e.example).schema}


def _read(example: str) -> Result:
    return database().query(f"SELECT {example} AS v")


def types_page() -> str:
    page = [
        "# Types",
        "",
        NOTICE,
        "",
        "Types have Spark's names and meaning, in ANSI mode: what overflows or cannot be cast is an error, not NULL.",
        "[Where the answers differ](../guide.md#where-the-answers-differ-from-sparks) is listed in the guide. A value that you insert may",
        "be the Python value, or a text that stands for it.",
        "",
        *table("type", "values", "constant", "in Python"),
    ]
    for entry in entries("types.txt"):
        ((value,),) = _read(entry.example).rows()
        page.append(row(code(entry.form), cell(entry.meaning), code(entry.example), code(repr(value))))
    page += [
        "",
        "[Objects](../objects.md) have references and collections besides: `set<t>`, `bag<t>`, `list<t>`, a class.",
        "",
    ]
    return "\n".join(page)
