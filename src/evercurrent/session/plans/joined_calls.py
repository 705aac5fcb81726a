"""Calls that read or join: a row into the open transaction, and a committed row by its key, each as one function.

    with db.transaction():
        orders.insert((1, 7, "9.50"))       one dictionary entry: the pending change of orders is {(1, 7, 950): 1}
    orders.get(1)                           (1, 7, Decimal("9.50"))

Law. An insertion does what a block inside the transaction does that makes this change: `Transaction.inner` counts the call while
the change is made, so that an interrupt in the middle of it keeps the transaction from being committed. A function returns False,
and nothing has happened, wherever something is unusual: values of the wrong type, a row that the transaction has changed already,
keys that it has been asked for, a lock that another thread may have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from evercurrent.locking.calls import NAMES
from evercurrent.rows.store import Store
from evercurrent.session.plans.small_calls import call_names, get_lines, read_lines
from evercurrent.term.emit.load import load

if TYPE_CHECKING:
    from evercurrent.session.session import Session

Call = Callable[[Any], Any]
"""From what the user gives to the result; False: go the long way."""

JOINED = (
    "    transaction = session.transaction",
    "    if transaction is None or transaction.status != 'open' or transaction.task is not None: return False",
    "    if session.committing is not None or transaction.columns is not None: return False",
    "    last = lock.hint",
    "    if last.over or last.next or last.thread != get_ident(): return False",
    "    place = last.place",
    "    if place is not None and place.is_left(get_frame()): return False",
    "    if session.catalog is not catalog or session.stores.get(table) is not store: return False",
    "    pending = transaction.pending.get(table)",
    "    if pending is None:",
    "        if table in session.cursors: return False",
    "        pending = transaction.on(table)",
    "    weights = pending.delta.weights",
    "    if pending._inserted or new in weights: return False",
    "    transaction.inner += 1",
    "    try:",
    "        weights[new] = 1",
    "    except Exception:",
    "        weights.pop(new, None)",
    "        transaction.inner -= 1",
    "        raise",
    "    transaction.inner -= 1",
    "    return True",
)
"""After the row has been read into the local `new`."""


def insert_joined(session: Session, table: str) -> Call:
    """The function of a table, by its lower-cased name, that inserts a row into the open transaction."""
    return _find(session, table, _insert)


def get_given(session: Session, table: str) -> Call:
    """The function of a table, by its lower-cased name, that returns a committed row by its key, or None; False: ask otherwise."""
    return _find(session, table, get_lines)


def _find(session: Session, table: str, write: Callable[[Store], list[str]]) -> Call:
    found = session.calls.get((table, write))
    if found is None or found[0] is not session.catalog:
        with session.lock:
            found = session.calls[table, write] = session.catalog, _generate(session, table, write)
    return found[1]


def _insert(store: Store) -> list[str]:
    return ["def call(value):", *read_lines(store), *JOINED]


def _generate(session: Session, table: str, write: Callable[[Store], list[str]]) -> Call:
    store = session.stores.get(table)
    if type(store) is not Store or not store.stored:
        return lambda _: False
    names = {
        **NAMES,
        **call_names(session, store),
        "session": session,
        "catalog": session.catalog,
        "store": store,
        "table": table,
    }
    load("\n".join(write(store)), names, "small changes, a call")
    made: Call = names["call"]
    return made
