"""An application on a port, in a thread of its own.

    server = serve(db)             # http://127.0.0.1:8080, or the next port that is free
    server.url
    server.stop()                  # also at the end of `with serve(db) as server:`

Loopback by default. Elsewhere a token is needed; one is made if none is given (`server.token`).
"""

from __future__ import annotations

import socket
import threading
import webbrowser
from types import TracebackType
from typing import TYPE_CHECKING

from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.serve.database import ServedDatabase

if TYPE_CHECKING:
    import uvicorn

    from evercurrent.serve.service import Service

PORT = 8080
TRIED_PORTS = 20


class Server:
    """A running server."""

    def __init__(
        self, server: uvicorn.Server, service: Service, sock: socket.socket, url: str, token: str | None
    ) -> None:
        self.url = url
        self.token = token
        self._service = service
        self._server = server
        self._socket = sock
        self._thread = threading.Thread(target=self._run, name="evercurrent-serve", daemon=True)

    def _run(self) -> None:
        self._server.run(sockets=[self._socket])

    def start(self) -> None:
        """Starts the thread and waits until requests are answered."""
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            self._thread.join(0.01)
        if not self._server.started:
            raise QueryError("the server could not be started", hint="the log of uvicorn says why")

    def stop(self) -> None:
        """Ends open streams and stops. A second call does nothing."""
        self._server.should_exit = True
        self._server.force_exit = True
        self._thread.join(10)
        self._service.close()

    @property
    def page(self) -> str:
        """The address of the studio, with the token if one is needed."""
        return f"{self.url}/studio/" + (f"?token={self.token}" if self.token else "")

    def wait(self) -> None:
        """Waits until the server stops: for programs that do nothing else."""
        while self._thread.is_alive():
            self._thread.join(0.5)

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Server at {self.url}>"


def serve(
    database: ServedDatabase,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    token: str | None = None,
    writes: bool = True,
) -> Server:
    """Serves a database over HTTP, in a thread of its own."""
    try:
        import uvicorn

        from evercurrent.serve.access import LOOPBACK, is_loopback, new_token
        from evercurrent.serve.application import application
        from evercurrent.serve.handover import TransportInScope
    except ImportError as problem:
        raise UnsupportedError(
            f"serving needs packages that are not installed: {problem}",
            hint="pip install 'evercurrent[serve]'",
        ) from problem
    local = is_loopback(host)
    if token is None and not local:
        token = new_token()
    app = application(database, token=token, hosts=(*LOOPBACK, host) if local else None, writes=writes)
    sock, port = open_socket(host, port)
    config = uvicorn.Config(
        TransportInScope(app), log_level="warning", lifespan="off", timeout_graceful_shutdown=1
    )
    shown = f"[{host}]" if ":" in host else host
    server = Server(uvicorn.Server(config), app.state.service, sock, f"http://{shown}:{port}", token)
    server.start()
    return server


def studio(
    database: ServedDatabase,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    token: str | None = None,
    open: bool = True,
) -> Server:
    """Serves a database, and opens its page in a browser."""
    server = serve(database, host=host, port=port, token=token)
    if open:
        webbrowser.open(server.page)
    return server


def open_socket(host: str, port: int | None) -> tuple[socket.socket, int]:
    """A socket on this port; without one, on the first free port from 8080 on."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    tried = [port] if port is not None else list(range(PORT, PORT + TRIED_PORTS))
    for number in tried:
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, number))
        except OSError as problem:
            sock.close()
            if number == tried[-1]:
                raise QueryError(
                    f"{host}:{number} cannot be used: {problem.strerror or problem}",
                    hint="name another port, or stop what uses this one",
                ) from problem
            continue
        sock.set_inheritable(True)
        return sock, sock.getsockname()[1]
    raise AssertionError(tried)
