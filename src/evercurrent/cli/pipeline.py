"""A pipeline is one SQL file: definitions, and comment lines that name the tables that others write.

    -- source: orders delta lake/orders key=o_orderkey
    -- source: lineitem parquet lake/lineitem
    CREATE VIEW revenue AS SELECT ...;

Running a pipeline again changes what has changed: a definition with the same text is left alone, a view with another text
is replaced. Paths are relative to the file.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evercurrent.errors import QueryError
from evercurrent.frontend.sql.parse import parse_script, parse_statement
from evercurrent.frontend.sql.statements import CreateAssertion, CreateTable, CreateView
from evercurrent.warehouse.database import Warehouse

MARK = "-- source:"


@dataclass(frozen=True)
class SourceLine:
    name: str
    format: Any
    path: str
    key: tuple[str, ...]


def source_lines(text: str) -> Iterator[SourceLine]:
    """The sources that a pipeline names.

    >>> list(source_lines("-- source: o delta lake/o key=a,b"))
    [SourceLine(name='o', format='delta', path='lake/o', key=('a', 'b'))]
    """
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip().lower().startswith(MARK):
            continue
        words = shlex.split(line.strip()[len(MARK) :])
        keys = [w.removeprefix("key=") for w in words[3:] if w.startswith("key=")]
        if len(words) - len(keys) != 3:
            raise QueryError(
                f"line {number} is no source: {line.strip()}",
                hint="-- source: NAME delta|parquet PATH [key=A,B]",
            )
        yield SourceLine(words[0], words[1], words[2], tuple(k for ks in keys for k in ks.split(",") if k))


def define(db: Warehouse, file: Path) -> Iterator[str]:
    """Bring the definitions of a warehouse to those of a file; tells what was done, one by one."""
    text = file.read_text()
    for line in source_lines(text):
        path = line.path if Path(line.path).is_absolute() else str(file.parent / line.path)
        known = line.name.lower() in {t.lower() for t in db.tables}
        db.source(line.name, format=line.format, path=path, key=line.key)
        yield f"source {line.name}: {'unchanged' if known else 'declared'}"
    for one in parse_script(text):
        yield define_one(db, one)


def define_one(db: Warehouse, text: str) -> str:
    statement = parse_statement(text, db._core.catalog)
    match statement:
        case CreateTable(table):
            kind, name = "table", table.name
        case CreateView(view):
            kind, name = "view", view.name
        case CreateAssertion(assertion):
            kind, name = "assertion", assertion.name
        case _:
            raise QueryError("a pipeline holds definitions: CREATE TABLE, VIEW or ASSERTION", hint=text[:60])
    known = {(d["kind"], d["name"].lower()): d["text"] for d in db._core.snapshot.definitions}
    before = known.get((kind, name.lower()))
    if before == text:
        return f"{kind} {name}: unchanged"
    if before is None:
        db.execute(text)
        return f"{kind} {name}: created"
    if kind != "view":
        raise QueryError(
            f"{kind} {name} is there with another definition", hint=f"DROP {kind.upper()} {name} first"
        )
    db.replace_view(text)
    return f"view {name}: replaced"
