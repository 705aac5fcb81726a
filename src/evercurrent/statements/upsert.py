"""`table.upsert`: rows are inserted, or put in the place of those that have their keys.

upsert(transaction, table, reader, {"id": 1, "total": 5}, ())      the row with id 1 keeps its other columns
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evercurrent.catalog.nodes import Table
from evercurrent.data.zset import Row
from evercurrent.errors import QueryError
from evercurrent.rows.conversion import RowReader, is_many
from evercurrent.rows.readers import frame_columns, rows_of
from evercurrent.statements.conflicts import find_rows, indexes_of
from evercurrent.statements.target import Changes


def upsert(transaction: Changes, table: Table, reader: RowReader, rows: Any, key: Sequence[str]) -> int:
    """Inserts rows or replaces those with their keys; returns how many."""
    name = table.name.lower()
    pending = transaction.on(name)
    for column in key:
        reader.position(column)
    columns = tuple(key) or (table.primary_key.columns if table.primary_key is not None else ())
    found = indexes_of(pending, table, columns) if columns else []
    if not found:
        keys = [f"({', '.join(k.columns)})" for k in (table.primary_key, *table.unique) if k is not None]
        raise QueryError(
            f"upsert needs a key of {table.name}"
            + (f", and ({', '.join(columns)}) is none" if columns else ""),
            hint=f"its keys are {', '.join(keys)}"
            if keys
            else "declare PRIMARY KEY or UNIQUE; insert() inserts rows",
        )
    index = found[0]
    given = _read_mappings(reader, rows)
    wanted = {index.key_of(row) for row, _ in given}
    transaction.load_keys(name, index.positions, [k for k in wanted if not index.has_null(k)])
    for row, partial in given:
        old = find_rows(pending, [index], row)
        new = row if not old or partial is None else reader.replace_columns(old[0], partial)
        transaction.change(name, [*((one, -1) for one in old), (new, 1)])
    return len(given)


def _read_mappings(reader: RowReader, rows: Any) -> list[tuple[Row, Mapping[str, Any] | None]]:
    """Returns the rows; beside each the mapping that it was given as, if it was one."""
    if frame_columns(rows) is not None:
        return [(row, None) for row in rows_of(reader, rows)]
    many = list(rows) if is_many(rows) else [rows]
    read = reader.many(many)
    return [
        (row, one if isinstance(one, Mapping) and not isinstance(one, tuple) else None)
        for row, one in zip(read, many, strict=True)
    ]
