"""Changes of a table or view as server-sent events, which browsers read with `EventSource`.

    UPDATE orders SET total = 6 WHERE id = 2        # it was 3

    id: 12
    event: change
    data: {"version":12,"deleted":[{"customer":7,"total":"15.00"}],"inserted":[{"customer":7,"total":"18.00"}]}

A stream begins with `ready` and the present version (or with `snapshot`, if it was asked for, and all rows at that
version). A client that reconnects sends the last id that it has seen, in the header `Last-Event-ID`, and gets exactly what it
missed; if that is no longer known, it gets `reset` and must read the rows again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from evercurrent.serve.change_log import ChangeLog
from evercurrent.serve.relay import HEARTBEAT

ALIVE = ": alive\n\n"


def read_position(text: str | None, mark: str) -> int | None:
    """The version of an id that this server has given; None if it is not one.

    The mark tells databases of different processes apart: their versions begin again.

    >>> read_position("12@a1", "@a1"), read_position("12", "@a1"), read_position("12", ""), read_position("x", "")
    (12, None, 12, None)
    """
    if text is None or not text.endswith(mark):
        return None
    number = text[: len(text) - len(mark)] if mark else text
    return int(number) if number.isascii() and number.isdigit() and len(number) < 19 else None


async def stream_events(
    log: ChangeLog, seen: int | None, mark: str, first: str, *, heartbeat: float = HEARTBEAT
) -> AsyncIterator[str]:
    """The events after a version, for ever. `first` is what the stream begins with; `seen` None: the client must reset."""
    yield first
    if seen is None:
        return
    while True:
        found = log.events_since(seen, mark)
        if found is None:
            yield log.reset_text()
            return
        text, seen = found
        if text:
            yield text
        elif not await log.wait(seen, heartbeat):
            yield ALIVE
