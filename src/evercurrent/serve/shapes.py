"""Electric's shape protocol, so that its clients follow a table or view unchanged.

A client asks for a shape from offset -1, gets all rows as inserts, then asks again from the offset that it was given, and at
last with `live=true`, which waits until something changes. Handle and offset are opaque to it:

    GET /v1/shape?table=spend&offset=-1
        electric-handle: spend-5d1f   electric-offset: 12_0
        [{"key": ..., "value": {...}, "headers": {"operation": "insert"}}, ..., {"headers": {"control": "up-to-date"}}]
    GET /v1/shape?table=spend&handle=spend-5d1f&offset=12_0&live=true
        [{"key": ..., "value": {...}, "headers": {"operation": "delete"}}, ...]

Values are text as PostgreSQL writes them; the header `electric-schema` tells the types, and clients parse by it. A row is
identified by the primary key of its table, or by a key that the compiler has found for its view; the rows of any other view
by all of their values and, if there are several copies, by their numbers (`copies`).
A handle that this process did not give, or an offset that its log does not reach, is answered by 409, and the client starts
over. Clauses that select rows or columns are refused: define a view.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from evercurrent.data.types import Boolean, Date, Decimal, Float, Integer, Time, Timestamp, Type
from evercurrent.errors import QueryError
from evercurrent.serve.change_log import ChangeLog
from evercurrent.serve.copies import Copies, name_copies
from evercurrent.serve.encoding import json_text, json_value

if TYPE_CHECKING:
    from evercurrent.rows.subscriptions import Change
    from evercurrent.serve.database import ServedRows

LIVE_SECONDS = 20.0
"""How long a live request waits for a change."""
OFFSET = re.compile(r"(\d{1,18})_\d+")
UP_TO_DATE: dict[str, Any] = {"headers": {"control": "up-to-date"}}
REFETCH: dict[str, Any] = {"headers": {"control": "must-refetch"}}

Snapshot = Callable[["ServedRows"], tuple[int, list[Any]]]
Message = dict[str, Any]


async def shape_response(
    log: ChangeLog, key: tuple[str, ...], snapshot: Snapshot, present: int, mark: str, request: Request
) -> Response:
    """One answer of the protocol. `present` is the version of the database: what changed last may be another table."""
    for clause in ("where", "columns"):
        if request.query_params.get(clause):
            raise QueryError(f"shapes with {clause} are not supported", hint="define a view, and follow that")
    shape = Shape(log, key, mark)
    offset = request.query_params.get("offset", "-1")
    if offset == "-1":
        return await run_in_threadpool(shape.beginning, snapshot)
    found = OFFSET.fullmatch(offset)
    if request.query_params.get("handle") != shape.handle or found is None:
        return shape.refetch()
    version = int(found[1])
    if version > present:
        return shape.refetch()
    if request.query_params.get("live") == "true":
        await log.wait(version, LIVE_SECONDS)
    changes = log.since(version)
    if changes is None:
        return shape.refetch()
    return await run_in_threadpool(shape.follow_changes, changes, version)


class Shape:
    """The rows of one relation as messages of the protocol."""

    def __init__(self, log: ChangeLog, key: tuple[str, ...], mark: str) -> None:
        self.log = log
        self.fields = log.relation.schema
        self.key = key
        self.handle = f"{log.name}-{mark.lstrip('@') or 'durable'}"

    def beginning(self, snapshot: Snapshot) -> Response:
        version, rows = snapshot(self.log.relation)
        if not self.key and self.log.copies is None:
            self.log.copies = Copies(version, map(self.identity, rows))
        named = name_copies(rows, self.identity)
        return self.response(
            [*(self.message("insert", row, name) for name, row in named), UP_TO_DATE], version
        )

    def follow_changes(self, changes: Sequence[Change], version: int) -> Response:
        copies = self.log.copies
        if copies is not None:
            copies.forget_before(self.log.begins)
        if not self.key and (copies is None or version < copies.begins):
            return self.refetch()
        messages: list[Message] = []
        for change in changes:
            messages += self.list_messages(change)
            version = change.transaction
        return self.response([*messages, UP_TO_DATE], version)

    def refetch(self) -> Response:
        return Response(
            json_text([REFETCH]),
            409,
            headers={"electric-handle": self.handle, "cache-control": "no-store"},
            media_type="application/json",
        )

    def response(self, messages: list[Message], version: int) -> Response:
        columns = {f.name: self.column(f.name, f.type) for f in self.fields}
        headers = {
            "electric-handle": self.handle,
            "electric-offset": f"{version}_0",
            "electric-schema": json_text(columns).encode("ascii", "backslashreplace").decode("ascii"),
            "electric-up-to-date": "",
            "electric-cursor": str(version),
            "cache-control": "no-store",
            "access-control-expose-headers": "*",
        }
        return Response(json_text(messages), headers=headers, media_type="application/json")

    # --- rows ----------------------------------------------------------------------------------------------

    def list_messages(self, change: Change) -> Iterable[Message]:
        """The messages of one transaction. A row that is replaced under its key is an update."""
        copies = self.log.copies
        if not self.key and copies is not None:
            for operation, name, row in copies.follow(change, self.identity):
                yield self.message(operation, row, name)
            return
        deleted = {self.identity(row): row for row in change.deleted}
        inserted = {self.identity(row): row for row in change.inserted}
        for identity, row in deleted.items():
            if identity not in inserted:
                yield self.message("delete", row, identity)
        for identity, row in inserted.items():
            yield self.message("update" if identity in deleted else "insert", row, identity)

    def identity(self, row: Sequence[Any]) -> str:
        values = dict(zip((f.name for f in self.fields), row, strict=True))
        named = [values[k] for k in self.key] if self.key else list(values.values())
        return f'"public"."{self.log.name}"/{"/".join(map(quote_value, named))}'

    def message(self, operation: str, row: Sequence[Any], key: str) -> Message:
        value = {f.name: text_of(v) for f, v in zip(self.fields, row, strict=True)}
        return {"key": key, "value": value, "headers": {"operation": operation}}

    def column(self, name: str, t: Type) -> dict[str, Any]:
        found: dict[str, Any] = {"type": postgres_type(t)}
        if name in self.key:
            found["pk_index"] = self.key.index(name)
        return found


def quote_value(value: Any) -> str:
    """A value in the identity of a row, so that different rows have different identities.

    >>> quote_value('a"b'), quote_value(None), quote_value("_")
    ('"a""b"', '_', '"_"')
    """
    text = text_of(value)
    return "_" if text is None else '"' + text.replace('"', '""') + '"'


def text_of(value: Any) -> str | None:
    """A value as PostgreSQL writes it."""
    plain = json_value(value)
    match plain:
        case None | str():
            return plain
        case bool():
            return "true" if plain else "false"
        case int() | float():
            return repr(plain)
        case _:
            return json_text(plain)


def postgres_type(t: Type) -> str:
    match t:
        case Integer(bits):
            return {8: "int2", 16: "int2", 32: "int4"}.get(bits, "int8")
        case Float(bits):
            return "float4" if bits == 32 else "float8"
        case Decimal():
            return "numeric"
        case Boolean():
            return "bool"
        case Date():
            return "date"
        case Time():
            return "time"
        case Timestamp():
            return "timestamptz"
        case _:
            return "text"
