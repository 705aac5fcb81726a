"""The process that holds the connections of event streams, so that a thousand clients cost the writer what one costs.

It runs this file alone, with the standard library and nothing of the package. Messages come through one Unix socket, each a
byte for its kind, its length, and what follows; connections come with them, as file descriptors (SCM_RIGHTS):

    R  log, version              a log, of which later changes will follow
    A  log, version              and a connection: a client that has seen that version
    C  log, version, text        a change: goes to all clients of the log that have seen less
    X  log, 0                    the log is closed: its clients come again

It answers with `N` and the number of its clients whenever that has changed. When the socket ends, so does the process. What it
keeps is bounded: of each log the latest changes, and for each client at most one piece that the client has not taken yet. A
client that is too slow falls behind alone, and gets `reset` when what it needs is gone.
"""

from __future__ import annotations

import collections
import json
import selectors
import signal
import socket
import struct
import sys
import time

HEAD = struct.Struct("!cI")
PLACE = struct.Struct("!IQ")
PIECE = 256 << 10
"""Bytes that are written to a client at a time."""
ROUND = 0.05
"""Seconds between two rounds of writing, at least."""
SHARE = 4
"""A round that took t seconds is followed by a pause of this number times t."""
ALIVE = b"9\r\n: alive\n\n\r\n"


def frame(body: bytes) -> bytes:
    """A piece of a chunked response."""
    return b"%x\r\n%b\r\n" % (len(body), body)


class Client:
    """A connection, what it has seen, and what it has not taken yet."""

    __slots__ = ("log", "rest", "seen", "sock", "written")

    def __init__(self, sock: socket.socket, log: int, seen: int) -> None:
        self.sock, self.log, self.seen = sock, log, seen
        self.rest = memoryview(b"")
        self.written = time.monotonic()


class Log:
    """The latest changes of one relation."""

    __slots__ = ("begins", "changes", "clients", "most", "size")

    def __init__(self, begins: int, most: int) -> None:
        self.begins, self.most = begins, most
        self.changes: collections.deque[tuple[int, bytes]] = collections.deque()
        self.size = 0
        self.clients: dict[Client, None] = {}

    @property
    def newest(self) -> int:
        return self.changes[-1][0] if self.changes else self.begins

    def append(self, version: int, text: bytes) -> None:
        self.changes.append((version, text))
        self.size += len(text)
        while self.size > self.most and len(self.changes) > 1:
            self.begins, gone = self.changes.popleft()
            self.size -= len(gone)

    def since(self, version: int) -> tuple[bytes, int] | None:
        """The piece that follows a version, framed, and the version that it leads to; None if it is not kept."""
        if version < self.begins:
            return None
        found: list[bytes] = []
        size = 0
        for number, text in self.changes:
            if number > version:
                found.append(text)
                version, size = number, size + len(text)
                if size > PIECE:
                    break
        return frame(b"".join(found)), version


class Relay:
    """All logs and clients, and the socket to the process that writes."""

    def __init__(self, control: socket.socket, heartbeat: float, most: int) -> None:
        self.control, self.heartbeat, self.most = control, heartbeat, most
        self.selector = selectors.DefaultSelector()
        self.selector.register(control, selectors.EVENT_READ)
        self.buffer = bytearray()
        self.descriptors: collections.deque[int] = collections.deque()
        self.logs: dict[int, Log] = {}
        self.count = self.told = 0
        self.due = False
        self.next_round = self.next_beat = 0.0

    def run(self) -> None:
        self.next_beat = time.monotonic() + self.heartbeat
        while True:
            wait = self.next_round - time.monotonic() if self.due else self.next_beat - time.monotonic()
            for key, events in self.selector.select(max(0.0, wait)):
                if key.fileobj is self.control:
                    if not self.receive():
                        return
                elif key.data is not None:
                    self.look_at(key.data, events)
            now = time.monotonic()
            if self.due and now >= self.next_round:
                self.send_round()
                after = time.monotonic()
                self.next_round = after + max(ROUND, SHARE * (after - now))
            if now >= self.next_beat:
                self.beat(now)
            self.tell()

    # --- the writer ------------------------------------------------------------------------------------------

    def receive(self) -> bool:
        """Takes what the writer has sent; returns whether it is still there."""
        try:
            data, descriptors, _, _ = socket.recv_fds(self.control, 1 << 18, 64)
        except (BlockingIOError, InterruptedError):
            return True
        except OSError:
            return False
        self.descriptors.extend(descriptors)
        if not data:
            return False
        self.buffer += data
        while len(self.buffer) >= HEAD.size:
            kind, length = HEAD.unpack_from(self.buffer)
            if len(self.buffer) < HEAD.size + length:
                break
            body = bytes(self.buffer[HEAD.size : HEAD.size + length])
            del self.buffer[: HEAD.size + length]
            self.take(kind, body)
        return True

    def take(self, kind: bytes, body: bytes) -> None:
        number, version = PLACE.unpack_from(body)
        if kind == b"R":
            self.logs[number] = Log(version, self.most)
        elif kind == b"C":
            self.logs[number].append(version, body[PLACE.size :])
            self.due = True
        elif kind == b"X":
            for client in list(self.logs[number].clients):
                self.drop(client, b"0\r\n\r\n")
            del self.logs[number]
        elif kind == b"A":
            sock = socket.socket(fileno=self.descriptors.popleft())
            sock.setblocking(False)
            client = Client(sock, number, version)
            self.logs[number].clients[client] = None
            self.count += 1
            self.selector.register(sock, selectors.EVENT_READ, client)
            self.due = True

    def tell(self) -> None:
        """Tells the writer how many clients there are."""
        if self.count != self.told:
            try:
                self.control.send(HEAD.pack(b"N", 4) + struct.pack("!I", self.count))
                self.told = self.count
            except OSError:
                pass  # it is notified later, or is gone

    # --- clients ---------------------------------------------------------------------------------------------

    def look_at(self, client: Client, events: int) -> None:
        if events & selectors.EVENT_READ:
            try:
                if not client.sock.recv(1 << 16):
                    self.drop(client)
                    return
            except (BlockingIOError, InterruptedError):
                pass
            except OSError:
                self.drop(client)
                return
        if events & selectors.EVENT_WRITE:
            self.write(client)

    def send_round(self) -> None:
        """Gives every client what it has not seen; most are at the same place, so a piece is made once for all of them."""
        self.due = False
        for log in self.logs.values():
            pieces: dict[int, tuple[bytes, int] | None] = {}
            newest = log.newest
            for client in list(log.clients):
                if client.seen >= newest or client.rest:
                    continue  # nothing is new, or it goes on when it has taken the rest
                if client.seen not in pieces:
                    pieces[client.seen] = log.since(client.seen)
                self.give(client, pieces[client.seen], newest)

    def give(self, client: Client, piece: tuple[bytes, int] | None, newest: int) -> None:
        if piece is None:
            text = b"event: reset\ndata: " + json.dumps({"version": newest}).encode() + b"\n\n"
            self.drop(client, frame(text) + b"0\r\n\r\n")
            return
        client.rest, client.seen = memoryview(piece[0]), piece[1]
        self.write(client)
        self.due = self.due or piece[1] < newest

    def write(self, client: Client) -> None:
        """Writes what the connection takes; what is left waits until it takes more."""
        try:
            taken = client.sock.send(client.rest)
        except (BlockingIOError, InterruptedError):
            taken = 0
        except OSError:
            self.drop(client)
            return
        had = bool(client.rest)
        client.rest = client.rest[taken:]
        client.written = time.monotonic()
        if client.rest:
            self.selector.modify(client.sock, selectors.EVENT_READ | selectors.EVENT_WRITE, client)
        elif had:
            if self.selector.get_key(client.sock).events != selectors.EVENT_READ:
                self.selector.modify(client.sock, selectors.EVENT_READ, client)
                self.due = True  # it may be behind

    def beat(self, now: float) -> None:
        """Writes to connections that were quiet for long: proxies cut idle ones."""
        self.next_beat = now + self.heartbeat
        for log in self.logs.values():
            for client in list(log.clients):
                if not client.rest and now - client.written > self.heartbeat * 0.9:
                    client.rest = memoryview(ALIVE)
                    self.write(client)

    def drop(self, client: Client, last: bytes = b"") -> None:
        """Ends a connection; `last` is sent if it can be."""
        log = self.logs.get(client.log)
        if log is None or client not in log.clients:
            return
        del log.clients[client]
        self.count -= 1
        self.selector.unregister(client.sock)
        try:
            if last and not client.rest:
                client.sock.send(last)
        except OSError:
            pass
        client.sock.close()


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the writer gets it, and ends the socket
    control = socket.socket(fileno=int(sys.argv[1]))
    control.setblocking(False)
    Relay(control, float(sys.argv[2]), int(sys.argv[3])).run()


if __name__ == "__main__":
    main()
