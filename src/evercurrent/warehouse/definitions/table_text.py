"""A table as CREATE TABLE, for tables that were not declared in SQL: its definition is kept as this text.

Table("orders", ...)     CREATE TABLE `orders` (`id` BIGINT NOT NULL, PRIMARY KEY (`id`))
"""

from __future__ import annotations

from evercurrent.catalog.nodes import ForeignKey
from evercurrent.catalog.nodes import Table as Declared
from evercurrent.errors import UnsupportedError
from evercurrent.term.show import show


def table_text(table: Declared) -> str:
    """CREATE TABLE, as it would be written."""
    if not table.stored:
        raise UnsupportedError("a table that is not stored is not there on Spark")
    parts = []
    for c in table.columns:
        default = "" if c.default is None else f" DEFAULT {show(c.default)}"
        parts.append(f"{quoted(c.name)} {c.type}{'' if c.nullable else ' NOT NULL'}{default}")
    if table.primary_key is not None:
        parts.append(f"PRIMARY KEY ({listed(table.primary_key.columns)})")
    parts += [f"UNIQUE ({listed(u.columns)})" for u in table.unique]
    parts += [_reference(f) for f in table.foreign_keys]
    return f"CREATE TABLE {quoted(table.name)} ({', '.join(parts)})"


def _reference(key: ForeignKey) -> str:
    return (
        f"FOREIGN KEY ({listed(key.columns)}) REFERENCES {quoted(key.parent)} ({listed(key.parent_columns)})"
    )


def listed(names: tuple[str, ...]) -> str:
    return ", ".join(map(quoted, names))


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
