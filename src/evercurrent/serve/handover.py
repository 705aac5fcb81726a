"""Responses whose connections leave the process: they begin here, and the relay's process continues them.

A task that wakes up for each client costs more than what it sends, and commits need the interpreter too. So a client of a server
that `serve` has started gets the beginning of its stream from here, and its connection is handed to the relay (`relay`). In
another application, where the connection belongs to somebody else, each client is a task (`event_stream`).

    GET /views/spend/changes       200, `event: ready`          written by this process
                                   `event: change` ...          written by the relay, to the same connection
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from evercurrent.serve.relay import Relay, can_relay

if TYPE_CHECKING:
    from evercurrent.serve.change_log import ChangeLog

LONGEST_LOOK = 1.0
"""Seconds between two looks at a connection that does not take the beginning of its stream."""


def frame(text: str) -> bytes:
    """A piece of a chunked response.

    >>> frame("id: 1")
    b'5\\r\\nid: 1\\r\\n'
    """
    body = text.encode()
    return b"%x\r\n%b\r\n" % (len(body), body)


class TransportInScope:
    """Tells the application the connection of a request, where the server has one to tell: uvicorn's cycles have."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.usable = can_relay()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        transport = getattr(getattr(send, "__self__", None), "transport", None)
        usable = self.usable and scope["type"] == "http" and scope.get("http_version") == "1.1"
        if usable and transport is not None and transport.get_extra_info("sslcontext") is None:
            scope = {**scope, "evercurrent.transport": transport}
        await self.app(scope, receive, send)


class Followed:
    """The response that begins a stream and leaves the rest to the relay."""

    def __init__(self, relay: Relay, log: ChangeLog, seen: int, first: str, headers: dict[str, str]) -> None:
        self.relay, self.log, self.seen, self.first = relay, log, seen, first
        self.headers = [(k.lower().encode("latin-1"), v.encode("latin-1")) for k, v in headers.items()]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.first.encode(), "more_body": True})
        await self.hand_over(scope["evercurrent.transport"])
        while (await receive())["type"] != "http.disconnect":
            pass

    async def hand_over(self, transport: Any) -> None:
        """Writes what the client has not seen; once it has taken everything, the relay continues from there."""
        look = 0.02
        while not transport.is_closing():
            if transport.get_write_buffer_size():
                await asyncio.sleep(look)
                look = min(2 * look, LONGEST_LOOK)
                continue
            self.relay.follow(self.log)
            self.relay.feed(self.log)
            found = self.log.events_since(self.seen, self.relay.mark)
            if found is None:
                transport.write(frame(self.log.reset_text()) + b"0\r\n\r\n")
                transport.close()
            elif found[0]:
                transport.write(frame(found[0]))
                self.seen = found[1]
            elif self.relay.follows(self.log):
                self.relay.add(self.log, transport, self.seen)
            else:  # the process has just died: another one is started in the next round
                await asyncio.sleep(look)
