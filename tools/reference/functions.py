"""Operators, scalar functions, aggregates, window functions and generators: one line each, with an example and its result."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from evercurrent.frontend.sql.calls import SPECIAL
from evercurrent.frontend.sql.functions import CASTS, GENERATORS, INTERNAL, RENAMED, WINDOW_ONLY
from evercurrent.term import aggregates, function_table
from evercurrent.term.build import DERIVED
from tools.reference.engine import NOTICE, Entry, cell, code, database, entries, evaluate, example, row, table

SCALAR = "SELECT {}"
GROUPED = "SELECT {} FROM (VALUES (1, 10.0, 'a'), (2, 20.0, 'b'), (3, 60.0, 'b')) AS t (x, y, s)"
WINDOWED = "SELECT {} FROM (VALUES (1, 10), (2, 20), (3, 20)) AS t (x, y)"
CLICKS = (
    "SELECT window(at, '10 minutes').start AS start, count(*) AS n FROM (VALUES (TIMESTAMP '2024-02-29 10:03:00'), "
    "(TIMESTAMP '2024-02-29 10:08:00'), (TIMESTAMP '2024-02-29 10:12:00')) AS t (at) "
    "GROUP BY window(at, '10 minutes') ORDER BY start"
)
HEADS = ("call", "returns", "example", "result", "type")
CALL = re.compile(r"(\w+)\(")


def names_in(file: str) -> set[str]:
    """The names of functions that the entries of a file describe."""
    return {name for e in entries(file) for name in CALL.findall(e.form)[:1]}


def scalar_names() -> set[str]:
    """The scalar functions that SQL has, other names of the same function left out."""
    named = {*function_table.FUNCTIONS, *RENAMED, *DERIVED, *SPECIAL, *CASTS}
    return named - INTERNAL - set(function_table.ALIASES)


def aggregate_names() -> set[str]:
    return set(aggregates.TABLE) - {"monoid"}  # the aggregates of users, which have names of their own


def window_names() -> set[str]:
    return {*WINDOW_ONLY, "first_value", "last_value"}


def other_names(aliases: dict[str, str]) -> dict[str, list[str]]:
    """For each function its other names."""
    found: dict[str, list[str]] = {}
    for alias, name in aliases.items():
        if alias not in INTERNAL:
            found.setdefault(name, []).append(alias)
    return found


def lines(found: Iterable[Entry], query: str, aliases: dict[str, str]) -> Iterator[str]:
    """A table of entries, under their headings."""
    heading, others, told = None, other_names(aliases), set[str]()
    for entry in found:
        if entry.heading != heading:
            heading = entry.heading
            yield from (["", f"## {heading}"] if heading else [])
            yield from ["", *table(*HEADS)]
        value, kind = evaluate(entry.example, query)
        meaning, name = entry.meaning, "".join(CALL.findall(entry.form)[:1])
        if name in others and name not in told:
            told.add(name)
            meaning += f" (also {', '.join(f'`{o}`' for o in sorted(others[name]))})"
        yield row(code(entry.form), cell(meaning), code(entry.example), code(value), code(kind))


def functions_page() -> str:
    return "\n".join(
        [
            "# Operators and functions",
            "",
            NOTICE,
            "",
            "Names and meaning are Spark's, in ANSI mode. A NULL argument makes the result NULL unless the table says otherwise.",
            "Names are not case-sensitive. Every example was run by the engine when this page was written.",
            "",
            "## Operators",
            *lines(entries("operators.txt"), SCALAR, {}),
            *lines(entries("functions.txt"), SCALAR, function_table.ALIASES),
            "",
        ]
    )


def aggregates_page() -> str:
    generators = [
        row(code(f"{name}({'structs' if structs else 'array or map'})"), meaning)
        for name, (position, structs, outer) in sorted(GENERATORS.items())
        for meaning in [
            "a row for each element"
            + (", with its position" if position else "")
            + (", its members as columns" if structs else "")
            + ("; one of NULLs where there is none" if outer else "")
        ]
    ]
    return "\n".join(
        [
            "# Aggregates and window functions",
            "",
            NOTICE,
            "",
            "NULL arguments do not count. Every aggregate takes `DISTINCT`, and `FILTER (WHERE condition)` behind it; those that",
            "depend on an order take `ORDER BY`. An aggregate of your own is a [monoid](../python.md).",
            "",
            "## Aggregates",
            "",
            f"The examples stand in `{GROUPED.format('...')}`.",
            *lines(entries("aggregates.txt"), GROUPED, aggregates.ALIASES),
            "",
            "## Window functions",
            "",
            f"The examples stand in `{WINDOWED.format('...')}`; the results are those of the three rows.",
            *lines(entries("windows.txt"), WINDOWED, {}),
            "",
            "## Windows of event time",
            "",
            "`window(time, length [, slide [, start]])` in GROUP BY groups rows by the windows that their time falls into: tumbling",
            "ones, or with a slide windows that overlap. In the select list it is a struct with `start` and `end`.",
            "",
            "```sql",
            example(CLICKS, database().query(CLICKS)),
            "```",
            "",
            "## Functions that make rows",
            "",
            "They stand alone in a select list, or in FROM: `LATERAL VIEW explode(tags) AS tag`, `FROM t, unnest(t.tags) AS tag`.",
            "",
            *table("call", "makes"),
            *generators,
            "",
        ]
    )
