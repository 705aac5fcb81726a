"""Parameters and bodies of requests, checked.

>>> request = Request({"type": "http", "query_string": b"limit=10&format=csv", "headers": []})
>>> number(request, "limit", 100), number(request, "offset", 0), find_format(request)
(10, 0, 'csv')
>>> member({"sql": 1}, "sql", str)
Traceback (most recent call last):
evercurrent.errors.QueryError: the body needs 'sql', of type str
"""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request

from evercurrent.errors import QueryError

MOST_BYTES = 64 * 1024 * 1024
"""The largest body of a request."""
FORMATS = ("json", "csv", "arrow")
MEDIA = {
    "application/json": "json",
    "text/csv": "csv",
    "application/vnd.apache.arrow.stream": "arrow",
}


def number(request: Request, name: str, default: int | None) -> int | None:
    """A whole number that is not negative."""
    text = request.query_params.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise QueryError(f"{name} must be a whole number, not {text[:40]!r}")
    return int(text)


def find_format(request: Request) -> str:
    """What `?format=` or the header Accept ask for; JSON if they ask for nothing."""
    named = request.query_params.get("format")
    if named is not None:
        if named not in FORMATS:
            raise QueryError(f"there is no format {named[:40]!r}", hint=f"there is {', '.join(FORMATS)}")
        return named
    accepted = request.headers.get("accept", "")
    return next((known for media, known in MEDIA.items() if media in accepted), "json")


async def json_body(request: Request) -> dict[str, Any]:
    """The JSON object in the body.

    The content type must say that it is JSON. Pages of other sites cannot send that without being asked first, so no page
    can change a database behind its user's back.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise QueryError("the body must be JSON", hint="send the header Content-Type: application/json")
    text = bytearray()
    async for chunk in request.stream():
        text += chunk
        if len(text) > MOST_BYTES:
            raise QueryError(f"the body is larger than {MOST_BYTES:,} bytes", hint="send several batches")
    try:
        found = json.loads(bytes(text))
    except (ValueError, RecursionError) as problem:
        raise QueryError(f"the body is not JSON: {str(problem)[:200]}") from None
    if not isinstance(found, dict):
        raise QueryError("the body must be a JSON object", hint='{"sql": "SELECT ..."}')
    return found


def member(body: dict[str, Any], name: str, kind: type, *, needed: bool = True) -> Any:
    """One member of a body, of the right type."""
    value = body.get(name)
    if value is None and not needed:
        return None
    if not isinstance(value, kind):
        raise QueryError(f"the body needs {name!r}, of type {kind.__name__}")
    return value
