"""Who may call.

A server on loopback answers every program on this machine, but no web page of another site that is open in a browser here: a
request must name loopback as its host (so a foreign name that resolves to 127.0.0.1 is refused), and bodies must be JSON (which
a browser does not send to another site without asking that site first). Anywhere else a token is needed, in the header
`Authorization: Bearer TOKEN` or, for `EventSource`, which cannot send headers, as `?token=TOKEN`.

>>> access = Access(None, token=None, hosts=LOOPBACK)
>>> access.refusal({"headers": [(b"host", b"localhost:8080")], "path": "/views"}) is None
True
>>> access.refusal({"headers": [(b"host", b"evil.example")], "path": "/views"}).status_code
403
"""

from __future__ import annotations

import hmac
import secrets
from urllib.parse import parse_qs

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def is_loopback(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")


def new_token() -> str:
    return secrets.token_urlsafe(24)


class Access:
    """Lets requests through that may be answered."""

    def __init__(self, app: ASGIApp, *, token: str | None, hosts: tuple[str, ...] | None) -> None:
        self.app = app
        self.token = token
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refusal = self.refusal(scope)
        if refusal is None:
            await self.app(scope, receive, send)
        else:
            await refusal(scope, receive, send)

    def refusal(self, scope: Scope) -> JSONResponse | None:
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        if self.hosts is not None and _host(headers.get("host", "")) not in self.hosts:
            return _refuse(403, "this server answers only on loopback", "use http://127.0.0.1")
        if self.token is None or is_page(scope["path"].removeprefix(scope.get("root_path", ""))):
            return None
        given = headers.get("authorization", "").removeprefix("Bearer ").strip()
        if not given:
            query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
            given = query.get("token", [""])[0]
        if hmac.compare_digest(given.encode(), self.token.encode()):
            return None
        return _refuse(401, "a token is needed", "send the header Authorization: Bearer TOKEN")


def is_page(path: str) -> bool:
    """Whether a path is a file of the studio's page, which says nothing of the database. It reads with the token."""
    return path in ("/", "/studio") or (path.startswith("/studio/") and not path.startswith("/studio/api/"))


def _host(header: str) -> str:
    """The host of a header `Host`, without its port."""
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.partition(":")[0].lower()


def _refuse(status: int, message: str, hint: str) -> JSONResponse:
    return JSONResponse({"error": "Refused", "message": message, "hint": hint}, status)
