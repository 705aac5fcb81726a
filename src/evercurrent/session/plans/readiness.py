"""When a change of one row may go the short way, as source that generated functions contain.

    is_settled(session)      whether nobody is in a transaction, and no interrupt has left anything to be finished or undone
    SETTLED                  the same as text
    READY                    that, and that the functions of a table may be used and fit the database as it is now

There is one text for each question, because the answer must be found in nanoseconds wherever it is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evercurrent.term.emit.load import load

WATCHED = 128
"""One change out of this number takes the long way, which watches how tables grow."""

MAINTAINED = (
    "kept.engine.core.phase == 'settled' and kept.lazy.engine.core.phase == 'settled'"
    " and kept._before is None and not kept.torn"
)
"""Of the maintenance of views: no transaction or installation is under way, or was stopped on its way."""

SETTLED = (
    "session.transaction is None and session.committing is None and session.replacing is None and session.idle"
    f" and (kept := session.maintenance) is not None and {MAINTAINED} and not kept.outdated"
    " and not session.subscribers.is_delivering"
    " and (session.space is None or not session.space.work.is_dirty)"
)

ADMITTED = (
    "not session.subscribers.asks_before and session.space is None and session.keeper is None"
    " and table not in session.cursors and not session.maintenance.has_loaded"
    f" and session.number % {WATCHED} != {WATCHED - 1}"
)
"""Of a session that is settled, and the lower-cased name of a table."""

FITTING = (
    "session.maintenance.engine.core is core and session.catalog is catalog"
    " and session.stores.get(table) is store"
    " and session._watching is watching and session.subscribers.watched is watching.names"
    # The functions change dictionaries, which are of no account while there are columns.
    " and core.columns is None"
)
"""The names beside `session` and `table` are what the functions of the table were generated for."""

READY = (
    "session.transaction is None and session.committing is None and session.replacing is None and session.idle"
    " and session.space is None and session.keeper is None and session.catalog is catalog"
    " and session.stores.get(table) is store and (not session.cursors or table not in session.cursors)"
    f" and session._watching is watching and session.number % {WATCHED} != {WATCHED - 1}"
    " and (kept := session.maintenance).engine.core is core and core.phase == 'settled' and core.columns is None"
    " and kept.lazy.engine.core.phase == 'settled' and kept._before is None"
    " and not (kept.torn or kept.outdated or kept.has_loaded)"
    " and not ((subscribers := session.subscribers).is_delivering or subscribers.asks_before)"
    " and subscribers.watched is watching.names"
)
"""All three, `SETTLED`, `ADMITTED` and `FITTING`, with each thing looked at once: this is asked with every change."""


def test_of(arguments: str, condition: str) -> Callable[..., bool]:
    """The function that says whether a condition holds."""
    names: dict[str, Any] = {}
    load(f"def test({arguments}):\n    return {condition}\n", names, "a test")
    found: Callable[..., bool] = names["test"]
    return found


is_settled = test_of("session", SETTLED)
is_maintained = test_of("kept", MAINTAINED)
is_admitted = test_of("session, table", ADMITTED)
