"""Hands the connections of event streams to a process of their own, and tells it what changes.

    relay.add(log, transport, 12)     the connection leaves this process; its client has seen version 12
    relay.feed(log)                   what is new in the log, once, whoever follows it

Commits share their interpreter with the server, and writing to a thousand connections takes it from them. So the connections
live in `relay_process`, which is fed by one message for each change. If that process dies, its clients come again with the id of
the last event that they have seen; the next of them starts another one. If it stops reading, it is ended.

All methods are called on the server's thread.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import struct
import subprocess
import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evercurrent.serve.change_log import ChangeLog

HEAD = struct.Struct("!cI")
PLACE = struct.Struct("!IQ")
MOST_WAITING = 64 << 20
"""Bytes that may wait for the process before it is ended."""
KEPT_BYTES = 32 << 20
"""Bytes of changes of each log that the process keeps for clients that are slow."""
HEARTBEAT = 15.0
"""Seconds after which a quiet connection gets a heartbeat: proxies cut idle ones."""
PROGRAM = Path(__file__).with_name("relay_process.py")

log_of_package = logging.getLogger("evercurrent")


def message(kind: bytes, body: bytes) -> bytes:
    return HEAD.pack(kind, len(body)) + body


def can_relay() -> bool:
    """Whether connections can be handed to another process here."""
    return hasattr(socket, "send_fds") and bool(sys.executable)


class Relay:
    """The process, as the server sees it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, mark: str) -> None:
        self.loop, self.mark = loop, mark
        self.clients = 0
        self.fed: dict[ChangeLog, int] = {}
        """The logs that the process knows, and the version up to which it has them."""
        self.numbers: dict[ChangeLog, int] = {}
        self._made = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._waiting: deque[tuple[memoryview, list[int]]] = deque()
        self._size = 0
        self._writing = False
        self._received = bytearray()

    # --- the process -----------------------------------------------------------------------------------------

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Starts the process, unless it runs."""
        if self._control is not None and self._is_alive(self._control):
            return
        self.stop()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-I",
                    "-S",
                    str(PROGRAM),
                    *map(str, (theirs.fileno(), HEARTBEAT, KEPT_BYTES)),
                ],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        finally:
            theirs.close()
        ours.setblocking(False)
        self._control = ours
        self.loop.add_reader(ours.fileno(), self._receive)

    @staticmethod
    def _is_alive(control: socket.socket) -> bool:
        """Whether the process has its end of the socket. Clients that lost it may come before the loop has noticed."""
        try:
            return control.recv(1, socket.MSG_PEEK) != b""
        except (BlockingIOError, InterruptedError):
            return True
        except OSError:
            return False

    def stop(self) -> None:
        """Ends the process and its connections. Idempotent."""
        control, process = self._control, self._process
        self._control = self._process = None
        for _, descriptors in self._waiting:
            for descriptor in descriptors:
                os.close(descriptor)
        self._waiting.clear()
        self._size, self.clients = 0, 0
        self.fed.clear()
        self.numbers.clear()
        self._received.clear()
        if control is not None:
            if not self.loop.is_closed():
                self.loop.remove_reader(control.fileno())
                self.loop.remove_writer(control.fileno())
            self._writing = False
            control.close()
        if process is not None:
            try:
                process.wait(2)  # it ends when the socket does
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _receive(self) -> None:
        assert self._control is not None
        try:
            data = self._control.recv(1 << 16)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            log_of_package.warning(
                "the process that holds the event streams has ended; clients connect again"
            )
            self.stop()
            return
        self._received += data
        while len(self._received) >= HEAD.size + 4:
            (self.clients,) = struct.unpack_from("!I", self._received, HEAD.size)
            del self._received[: HEAD.size + 4]

    # --- messages --------------------------------------------------------------------------------------------

    def add(self, log: ChangeLog, transport: Any, seen: int) -> None:
        """Hands over a connection whose client has seen a version that the process knows."""
        sock = transport.get_extra_info("socket")
        descriptor = os.dup(sock.fileno())
        self._send(message(b"A", PLACE.pack(self.numbers[log], seen)), [descriptor])
        transport.abort()  # closes this process's descriptor; the connection stays

    def follow(self, log: ChangeLog) -> None:
        """Tells the process of a log, if it does not know it."""
        self.start()
        if log not in self.fed:
            self._made += 1
            self.numbers[log] = self._made
            self.fed[log] = log.newest
            log.relay = self
            self._send(message(b"R", PLACE.pack(self._made, self.fed[log])))

    def follows(self, log: ChangeLog) -> bool:
        """Whether the process knows a log."""
        return log in self.fed

    def feed(self, log: ChangeLog) -> None:
        """Tells the process what is new in a log that it follows."""
        told = self.fed.get(log)
        if told is None:
            return
        changes = log.texts_since(told, self.mark)
        if changes is None:  # more has happened at once than the log keeps: its clients have to start over
            self.forget(log)
        elif changes:
            number = self.numbers[log]
            said = [message(b"C", PLACE.pack(number, version) + text.encode()) for version, text in changes]
            self.fed[log] = changes[-1][0]
            self._send(b"".join(said))

    def forget(self, log: ChangeLog) -> None:
        """Ends the streams of a log; their clients come again."""
        if log in self.fed:
            del self.fed[log]
            self._send(message(b"X", PLACE.pack(self.numbers.pop(log), 0)))

    def _send(self, said: bytes, descriptors: list[int] | None = None) -> None:
        if self._control is None:
            for descriptor in descriptors or ():
                os.close(descriptor)
            return
        self._waiting.append((memoryview(said), descriptors or []))
        self._size += len(said)
        if not self._writing:
            self._write()
        if self._size > MOST_WAITING:
            log_of_package.warning("the process that holds the event streams does not read, and is ended")
            if self._process is not None:
                self._process.kill()
            self.stop()

    def _write(self) -> None:
        control = self._control
        while control is not None and self._waiting:
            said, descriptors = self._waiting[0]
            try:
                sent = socket.send_fds(control, [said], descriptors) if descriptors else control.send(said)
            except (BlockingIOError, InterruptedError):
                break
            except OSError:
                self.stop()
                return
            for descriptor in descriptors:
                os.close(descriptor)
            self._size -= sent
            if sent < len(said):
                self._waiting[0] = (said[sent:], [])
            else:
                self._waiting.popleft()
        self._listen(control)

    def _listen(self, control: socket.socket | None) -> None:
        """Goes on writing when the process has read."""
        if control is None:
            return
        if self._waiting and not self._writing:
            self._writing = True
            self.loop.add_writer(control.fileno(), self._write)
        elif not self._waiting and self._writing:
            self._writing = False
            self.loop.remove_writer(control.fileno())
