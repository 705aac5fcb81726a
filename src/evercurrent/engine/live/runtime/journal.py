"""The record of old values that undoes a transaction.

Law. An entry (container, key, old) is written before the container changes at the key, so undoing the entries from the
last to the first leaves every container as it was, wherever the transaction stopped; undoing twice does no harm.

    (dictionary, key, old value)             put the old value back; None: take the key out
    (list, place, old content)               put the old content back
    (function, a, b)                         call it: containers that know how to put themselves back
"""

from __future__ import annotations

from typing import Any

Entry = tuple[Any, Any, Any]


def undo(journal: list[Entry], begin: int = 0) -> None:
    """Puts back everything since the entry `begin`. The entries go last: if it is interrupted, it can be called again."""
    for where, key, old in reversed(journal[begin:] if begin else journal):
        kind = type(where)
        if kind is dict:
            if old is None:
                where.pop(key, None)
            else:
                where[key] = old
        elif kind is list:
            where[key] = old
        else:
            where(key, old)
    del journal[begin:]


def restore_columns(core: Any, made: Any) -> None:
    """Lets the columns, not the dictionaries, hold the states again."""
    core.columns = made


def restore(table: dict[Any, Any], content: dict[Any, Any]) -> None:
    """Put back what was noted in a table."""
    table.clear()
    table.update(content)
