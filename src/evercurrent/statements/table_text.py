"""A table as CREATE TABLE, for tables that were not declared in SQL: its definition is kept as this text.

Table("orders", ...)     CREATE TABLE `orders` (`id` BIGINT NOT NULL, CONSTRAINT `orders_pk` PRIMARY KEY (`id`))
"""

from __future__ import annotations

from evercurrent.catalog.nodes import Check, ForeignKey, Unique
from evercurrent.catalog.nodes import Table as Declared
from evercurrent.errors import UnsupportedError
from evercurrent.frontend.sql.spark_text import quote_name
from evercurrent.term.show import show


def table_text(table: Declared) -> str:
    """CREATE TABLE, as it would be written."""
    if not table.stored:
        raise UnsupportedError("a table that is not stored is not there on Spark")
    parts = []
    for c in table.columns:
        default = "" if c.default is None else f" DEFAULT {show(c.default)}"
        parts.append(f"{quote_name(c.name)} {c.type}{'' if c.nullable else ' NOT NULL'}{default}")
    if table.primary_key is not None:
        parts.append(
            f"{_name_constraint(table.primary_key)} PRIMARY KEY ({list_names(table.primary_key.columns)})"
        )
    parts += [f"{_name_constraint(u)} UNIQUE ({list_names(u.columns)})" for u in table.unique]
    parts += [f"{_name_constraint(f)} {_reference(f)}" for f in table.foreign_keys]
    parts += [f"{_name_constraint(c)} CHECK ({c.text})" for c in table.checks]
    return f"CREATE TABLE {quote_name(table.name)} ({', '.join(parts)})"


def _name_constraint(constraint: Unique | ForeignKey | Check) -> str:
    return f"CONSTRAINT {quote_name(constraint.name)}"


def _reference(key: ForeignKey) -> str:
    return f"FOREIGN KEY ({list_names(key.columns)}) REFERENCES {quote_name(key.parent)} ({list_names(key.parent_columns)})"


def list_names(names: tuple[str, ...]) -> str:
    return ", ".join(map(quote_name, names))
