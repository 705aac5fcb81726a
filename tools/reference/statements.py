"""SQL statements: what each does, its syntax, examples that run, and their results. Refused ones, with what to use instead."""

from __future__ import annotations

import tempfile
from contextlib import chdir
from typing import get_args

import evercurrent as ec
from evercurrent.frontend.sql import statements
from evercurrent.frontend.sql.parse import parse_statement
from evercurrent.frontend.sql.refused import INSTEAD
from tools.reference.engine import NOTICE, blocks, cell, code, example, row, table


def kinds() -> set[str]:
    """The classes of statements that the code has."""
    return {kind.__name__ for kind in get_args(statements.Statement)}


def kinds_shown() -> set[str]:
    """The classes of statements that the examples are read as."""
    return {kind for _, _, kind in _examples()}


def _examples() -> list[tuple[str, str, str]]:
    """Each example: the section, its result as text, the class of the statement."""
    found = []
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        db = ec.connect()
        for title, lines in blocks("statements.txt"):
            for line in lines:
                if line.startswith("$ "):
                    statement = parse_statement(line[2:], db._session.catalog)
                    found.append((title, example(line[2:], db.execute(line[2:])), type(statement).__name__))
        db.close()
    return found


def statements_page() -> str:
    run = _examples()
    page = [
        "# SQL statements",
        "",
        NOTICE,
        "",
        "`db.execute(text)` runs statements, separated by semicolons; `db.query(text)` runs one query. The grammar is Spark's, with",
        "what DuckDB and PostgreSQL add where it helps. In the syntax, `[ ]` may be left out and `|` separates choices. The examples",
        "were run one after another; comments are their results.",
    ]
    for title, lines in blocks("statements.txt"):
        syntax = [line[2:] for line in lines if line.startswith("> ")]
        text = [line for line in lines if line and line[:2] not in ("> ", "$ ")]
        examples = [shown_text for section, shown_text, _ in run if section == title]
        page += ["", f"## {title}", "", *text, "", "```text", *syntax, "```", "", "```sql", *examples, "```"]
    page += ["", "## Statements that are not supported", "", *table("statement", "instead")]
    page += [row(code(word), cell(instead)) for word, instead in sorted(INSTEAD.items())]
    return "\n".join([*page, ""])
