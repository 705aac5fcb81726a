"""A table as JSON, exactly, and back: its columns, keys, references and checks.

    orders (id BIGINT PRIMARY KEY)      {"kind": "table", "name": "orders", "columns": [["id", BIGINT, false, null]], ...}

Types and terms are written by `calculus.codec`, whose list of what can be read is closed.

Law. `table_of(table_definition(t)) == t`.
"""

from __future__ import annotations

from typing import Any

from evercurrent.calculus.codec import decode, encode
from evercurrent.catalog.nodes import Check, ForeignKey, Table, TableColumn, Unique
from evercurrent.errors import StorageError
from evercurrent.statements.table_text import table_text
from evercurrent.statements.target import Definition


def table_definition(table: Table) -> Definition:
    """Returns the definition of a table; `text` is for people."""
    return {
        "kind": "table",
        "name": table.name,
        "text": table_text(table),
        "columns": [[c.name, encode(c.type), c.nullable, encode(c.default)] for c in table.columns],
        "primary_key": None if table.primary_key is None else _unique(table.primary_key),
        "unique": [_unique(u) for u in table.unique],
        "foreign_keys": [
            [f.name, list(f.columns), f.parent, list(f.parent_columns)] for f in table.foreign_keys
        ],
        "checks": [[c.name, encode(c.condition), c.text] for c in table.checks],
    }


def _unique(key: Unique) -> list[Any]:
    return [key.name, list(key.columns)]


def table_of(definition: Definition) -> Table:
    """Returns the table of a definition."""
    try:
        primary = definition["primary_key"]
        return Table(
            _text(definition["name"]),
            tuple(
                TableColumn(_text(name), decode(type_), bool(nullable), decode(default))
                for name, type_, nullable, default in definition["columns"]
            ),
            None if primary is None else _key(primary),
            tuple(map(_key, definition["unique"])),
            tuple(
                ForeignKey(_text(name), tuple(map(_text, columns)), _text(parent), tuple(map(_text, theirs)))
                for name, columns, parent, theirs in definition["foreign_keys"]
            ),
            tuple(
                Check(_text(name), decode(condition), _text(text))
                for name, condition, text in definition["checks"]
            ),
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise StorageError(f"the definition of a table cannot be read: {problem!r}") from problem


def _key(value: Any) -> Unique:
    name, columns = value
    return Unique(_text(name), tuple(map(_text, columns)))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:60]!r} is no name")
    return value
