"""Which stored row a user means: by a key, or by the whole row.

{"id": 1}           the columns of a declared key
1, ("DE", 7)        the value of the primary key
{...}, (...)        all columns: the row itself
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evercurrent.data.showing import show_value
from evercurrent.data.zset import Row
from evercurrent.errors import ConstraintError, QueryError
from evercurrent.rows.conversion import RowReader, give_rows, is_row
from evercurrent.rows.pending import Pending
from evercurrent.rows.store import KeyIndex, Store


def locate(pending: Pending, reader: RowReader, which: Any) -> Row:
    """The row that is meant, among the committed and the pending ones."""
    found = key_of(pending.store, reader, which)
    if found is None:
        return reader.one(which)
    index, key = found
    rows = pending.find(index, key)
    if len(rows) == 1:
        return rows[0]
    table = pending.store.table
    meant = f"{', '.join(index.constraint.columns)} = {show_value(which)}"
    if not rows:
        raise ConstraintError(
            f"{table.name} has no row with {meant}", constraint="existing row", rows=[which]
        )
    raise ConstraintError(
        f"{table.name} has {len(rows)} pending rows with {meant}",
        constraint=index.constraint.name,
        rows=give_rows(table.fields, rows),
        hint="give the whole row",
    )


def key_of(store: Store, reader: RowReader, which: Any) -> tuple[KeyIndex, Any] | None:
    """The key that is meant and its value; None if it is a whole row."""
    table = store.table
    width = len(table.columns)
    if not isinstance(which, tuple) and isinstance(which, Mapping):
        given = {reader.position(name): value for name, value in which.items()}
        if len(given) == width:
            return None
        index = store.index_at(given.keys())
        if index is None:
            names = ", ".join(table.columns[i].name for i in given)
            raise no_key(store, f"({names}) is not a key of {table.name}")
        return index, _value(reader, index, [given[i] for i in index.positions])
    whole = isinstance(which, tuple) and (len(which) == width or hasattr(which, "_fields"))
    if whole or (is_row(which) and not isinstance(which, tuple)):
        return None
    values = list(which) if isinstance(which, tuple) else [which]
    index = store.primary
    if index is None or len(index.positions) != len(values):
        raise no_key(store, f"{show_value(which)} is neither a key nor a row of {table.name}")
    return index, _value(reader, index, values)


def _value(reader: RowReader, index: KeyIndex, values: list[Any]) -> Any:
    if len(values) == 1:
        return reader.value(index.positions[0], values[0])
    return tuple(reader.value(i, value) for i, value in zip(index.positions, values, strict=True))


def no_key(store: Store, message: str) -> QueryError:
    declared = ([store.primary] if store.primary is not None else []) + store.keys
    keys = [f"({', '.join(index.constraint.columns)})" for index in declared]
    return QueryError(
        message, hint=f"its keys are {', '.join(keys)}" if keys else "it has no key: give the whole row"
    )
