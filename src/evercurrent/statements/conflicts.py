"""INSERT where rows with the same key may be there already: ON CONFLICT, INSERT OR REPLACE, and `table.upsert`.

    INSERT INTO t VALUES (1, 5) ON CONFLICT (id) DO UPDATE SET n = t.n + excluded.n
    -> find the row with id 1 by its key; delete it, insert the new one

Rows are inserted one after another, each sees those before it. A statement updates no row twice: what it would leave
would depend on the order of the rows, and the rows of a query have none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from evercurrent.catalog.nodes import Table
from evercurrent.catalog.rules import positions
from evercurrent.data.zset import Row
from evercurrent.errors import EvaluationError
from evercurrent.frontend.sql.statements import Conflict
from evercurrent.rows.conversion import give_row
from evercurrent.rows.pending import Pending
from evercurrent.rows.store import KeyIndex
from evercurrent.statements.target import Changes
from evercurrent.term.evaluate import compile_term


def insert_or(
    transaction: Changes, table: Table, conflict: Conflict, rows: Iterable[Row]
) -> tuple[list[Row], int]:
    """Inserts rows, or does what `conflict` says; returns the rows that are there now, and how many were changed."""
    name, rows = table.name.lower(), list(rows)
    pending = transaction.on(name)
    indexes = indexes_of(pending, table, conflict.columns)
    for index in indexes:
        keys = {index.key_of(row) for row in rows}
        transaction.load_keys(name, index.positions, [k for k in keys if not index.has_null(k)])
    act = _action(table, conflict)
    written: list[Row] = []
    inserted: set[Row] = set()
    for row in rows:
        old = find_rows(pending, indexes, row)
        if not old:
            transaction.change(name, [(row, 1)])
            written.append(row)
            inserted.add(row)
            continue
        new = act(old[0], row)
        if new is None:
            continue
        if not conflict.replaces and old[0] in inserted:
            raise EvaluationError(
                f"INSERT into {table.name}: two rows have the key of {give_row(table.fields, old[0])!r}, "
                "and a statement updates no row twice",
                hint="make the rows unique by the key first",
            )
        transaction.change(name, [*((one, -1) for one in old), (new, 1)])
        written.append(new)
        inserted.add(new)
    return written, len(written)


def indexes_of(pending: Pending, table: Table, columns: tuple[str, ...]) -> list[KeyIndex]:
    """Returns the index of the key with these columns; without columns, those of all keys."""
    if columns:
        index = pending.store.index_at(set(positions(table, columns)))
        return [] if index is None else [index]
    return [index for index in pending.store.declared if index is not None]


def find_rows(pending: Pending, indexes: Iterable[KeyIndex], row: Row) -> list[Row]:
    """Returns the rows that share a key with this one, each once."""
    found: dict[Row, None] = {}
    for index in indexes:
        key = index.key_of(row)
        if not index.has_null(key):
            found.update(dict.fromkeys(pending.find(index, key)))
    return list(found)


def _action(table: Table, conflict: Conflict) -> Callable[[Row, Row], Row | None]:
    """Returns the function of the old and the inserted row: the row that takes their place, or None."""
    if conflict.replaces:
        return lambda old, new: new
    if conflict.update is None:
        return lambda old, new: None
    names = [f"old.{c.name}" for c in table.columns] + [f"new.{c.name}" for c in table.columns]
    cells: list[Callable[[Row], Any]] = [compile_term(term, names) for term in conflict.update]
    condition = None if conflict.condition is None else compile_term(conflict.condition, names)

    def update(old: Row, new: Row) -> Row | None:
        both = (*old, *new)
        if condition is not None and condition(both) is not True:
            return None
        return tuple([cell(both) for cell in cells])

    return update
