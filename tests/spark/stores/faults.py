"""A proxy before an S3 server that injects faults: answers that are errors, slow or lost, for requests that match.

    with faulty(endpoint) as proxy:
        proxy.inject(Fault("PUT", "0007.json", 503), Fault("PUT", "0007.json", "lost"))

A fault is used up by the first request that it matches; `times` says how often it is used.

    503, 409, 412, ...    the request does not reach the server, and this is the answer
    "lost"                the request reaches the server, and its answer does not reach the client
    "dropped"             neither
    "slow"                the answer takes half a second
"""

from __future__ import annotations

import http.client
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


@dataclass
class Fault:
    method: str
    path: str
    kind: int | str
    times: int = 1


class Proxy:
    """What a proxy injects, and what it has seen: requests by method, and bytes both ways."""

    def __init__(self, target: str) -> None:
        self.target = urlsplit(target).netloc
        self.faults: list[Fault] = []
        self.seen: Counter[str] = Counter()
        self.moved = 0
        self.injected = 0
        self.address = ""
        self._lock = threading.Lock()

    def inject(self, *faults: Fault) -> None:
        self.faults += faults

    def fault(self, method: str, path: str) -> int | str | None:
        with self._lock:
            self.seen[method] += 1
            for fault in self.faults:
                if fault.times and fault.method == method and fault.path in path:
                    fault.times -= 1
                    self.injected += 1
                    return fault.kind
        return None


@contextmanager
def faulty(target: str) -> Iterator[Proxy]:
    """A proxy that runs as long as the block."""
    proxy = Proxy(target)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            kind = proxy.fault(self.command, self.path)
            if kind == "dropped":
                self.close_connection = True
                return
            if isinstance(kind, int):
                self.answer(kind, {}, b"<Error><Code>Injected</Code></Error>")
                return
            server = http.client.HTTPConnection(proxy.target)
            server.request(self.command, self.path, body or None, dict(self.headers))
            found = server.getresponse()
            content = found.read()
            proxy.moved += len(body) + len(content)
            server.close()
            if kind == "lost":
                self.close_connection = True
                return
            if kind == "slow":
                time.sleep(0.5)
            headers = {
                k: v for k, v in found.getheaders() if k.lower() not in ("transfer-encoding", "connection")
            }
            self.answer(found.status, headers, content)

        def answer(self, status: int, headers: dict[str, str], content: bytes) -> None:
            self.send_response_only(status)
            for name, value in headers.items():
                if name.lower() != "content-length" or self.command == "HEAD":
                    self.send_header(name, value)
            if self.command != "HEAD":
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = forward

        def log_message(self, *given: object) -> None:
            """Nothing is logged."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    proxy.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
