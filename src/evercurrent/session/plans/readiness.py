"""When a change of one row may go the short way, as source that generated functions contain.

    is_settled(session)      whether nobody is in a transaction, and no interrupt has left anything to be finished or undone
    SETTLED                  the same as text
    READY                    that, and that the functions of a table may be used and fit the database as it is now

These are texts, because the answer must be found in nanoseconds wherever it is asked, and each condition stands in one place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evercurrent.term.emit.load import load

WATCHED = 128
"""One change out of this number takes the long way, which watches how tables grow."""

MAINTENANCE = (
    "{core}.phase == 'settled'",
    "kept.lazy.engine.core.phase == 'settled'",
    "kept._before is None",
    "not kept.torn",
)
NOBODY = (
    "session.transaction is None",
    "session.committing is None",
    "session.replacing is None",
    "session.idle",
    "not subscribers.is_delivering",
)
ALONE = (
    "not subscribers.asks_before",
    "session.space is None",
    "session.keeper is None",
    "table not in session.cursors",
    "not kept.has_loaded",
    f"session.number % {WATCHED} != {WATCHED - 1}",
)
MADE_FOR = (
    "session.catalog is catalog",
    "session.stores.get(table) is store",
    "session._watching is watching",
    "subscribers.watched is watching.names",
    # The functions change dictionaries, which are of no account while there are columns.
    "core.columns is None",
)


def combine(*conditions: str, core: str = "kept.engine.core") -> str:
    """The conditions as one, in which parts of the session are looked at once. `core` is the source of the core of the views."""
    found = " and ".join(conditions).format(core=core)
    for name, part in (("subscribers", "session.subscribers"), ("kept", "session.maintenance")):
        if f"{name}." in found:
            found = f"({name} := {part}) is not None and {found}"
    return found


MAINTAINED = " and ".join(MAINTENANCE).format(core="kept.engine.core")
"""Of the maintenance of views, `kept`: no transaction or installation is under way, or was stopped on its way."""

SETTLED = combine(
    *NOBODY,
    *MAINTENANCE,
    "not kept.outdated",
    "(session.space is None or not session.space.work.is_dirty)",
)

ADMITTED = combine(*ALONE)
"""Of a session that is settled, and the lower-cased name of a table."""

FITTING = combine("{core} is core", *MADE_FOR)
"""The names beside `session` and `table` are what the functions of the table were generated for."""

READY = combine(
    "kept.engine.core is core", *NOBODY, *MAINTENANCE, "not kept.outdated", *ALONE, *MADE_FOR, core="core"
)
"""All three: who is alone has no space whose work could wait, and the core is the one that is at hand."""


def test_of(arguments: str, condition: str) -> Callable[..., bool]:
    """The function that says whether a condition holds."""
    names: dict[str, Any] = {}
    load(f"def test({arguments}):\n    return {condition}\n", names, "a test")
    found: Callable[..., bool] = names["test"]
    return found


is_settled = test_of("session", SETTLED)
is_maintained = test_of("kept", MAINTAINED)
is_admitted = test_of("session, table", ADMITTED)
