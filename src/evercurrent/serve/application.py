"""The routes, as one Starlette application.

    GET  /health                         is it there, and at which version
    GET  /metrics                        counters, for Prometheus
    GET  /views, /tables                 names and columns
    GET  /views/spend                    rows: JSON, CSV or Arrow (`?format=` or Accept), `?limit=`, `?offset=`
    GET  /views/spend/changes            changes as server-sent events; `Last-Event-ID`, `?since=`, `?snapshot=true`
    GET  /views/spend/explain            how it is kept; `?stage=program`
    GET  /views/spend/why?row=[7]        the rows of tables that a row comes from
    POST /query      {"sql": ...}        one query, answered once
    POST /execute    {"sql": ...}        statements
    POST /changes    {"changes": {...}}  change feeds, in one transaction; with "batch", counted once
    GET  /v1/shape?table=spend           Electric's shape protocol

The same under `/tables/...` for tables. It can be mounted into another application:

    app = FastAPI()
    app.mount("/live", evercurrent.serve.application.application(db))
"""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
from collections import OrderedDict
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from evercurrent.errors import (
    ConflictError,
    ConstraintError,
    EvercurrentError,
    InternalError,
    QueryError,
    StorageError,
    TransactionError,
)
from evercurrent.serve.access import Access
from evercurrent.serve.change_log import ChangeLog, event_text
from evercurrent.serve.encoding import csv_text, json_row, json_text
from evercurrent.serve.event_stream import read_position, stream_events
from evercurrent.serve.metrics import Metrics, metric_lines
from evercurrent.serve.requests import json_body, member, number, wanted_format
from evercurrent.serve.shapes import shape_response

if TYPE_CHECKING:
    from evercurrent.serve.database import ServedDatabase, ServedRows

REMEMBERED_BATCHES = 100_000
VERSION_HEADER = "Evercurrent-Version"


class Unknown(QueryError):
    """There is no table or view of this name."""


class Service:
    """What the routes share: the database, and a log of changes for each relation that somebody follows."""

    def __init__(self, database: ServedDatabase, *, writes: bool) -> None:
        self.database = database
        self.writes = writes
        self.metrics = Metrics()
        # Versions of a database in memory begin again with every process; the mark tells them apart.
        durable = bool(getattr(database, "is_durable", False))
        self.mark = "" if durable else f"@{secrets.token_hex(4)}"
        self.logs: dict[tuple[str, str], ChangeLog] = {}
        self.batches: OrderedDict[str, int] = OrderedDict()
        self._lock = threading.Lock()

    # --- reading -------------------------------------------------------------------------------------------

    def relation(self, kind: str, name: str) -> ServedRows:
        """The table or view of a name, in any case."""
        names = self.database.views if kind == "view" else self.database.tables
        found = next((n for n in names if n.lower() == name.lower()), None)
        if found is None:
            raise Unknown(f"there is no {kind} {name[:100]!r}", hint=f"GET /{kind}s lists them")
        handle = self.database.view(found) if kind == "view" else self.database.table(found)
        return cast("ServedRows", handle)

    def snapshot(self, relation: ServedRows) -> tuple[int, list[Any]]:
        """All rows, and the version that they are of."""
        with self.database.transaction():
            return self.database.version, relation.rows()

    def log(self, kind: str, name: str, loop: asyncio.AbstractEventLoop) -> ChangeLog:
        """The log of a relation's changes; opened for the first who follows it, and kept from then on."""
        relation = self.relation(kind, name)
        with self._lock:
            key = (kind, name.lower())
            found = self.logs.get(key)
            if found is None or found.loop is not loop or not found.subscription.active:
                if found is not None:
                    found.close()
                found = self.logs[key] = ChangeLog(self.database, name, relation, loop)
            return found

    # --- writing -------------------------------------------------------------------------------------------

    def require_writes(self) -> None:
        if not self.writes:
            raise TransactionError("this server only reads", hint="serve with writes=True")

    def apply(self, changes: dict[str, Any], batch: str | None) -> dict[str, Any]:
        """Applies change feeds in one transaction. A batch that was applied already changes nothing."""
        self.require_writes()
        with self._lock:
            if batch is not None and batch in self.batches:
                return {"version": self.batches[batch], "applied": False}
            self.database.apply(changes)
            version = self.database.version
            if batch is not None:
                self.batches[batch] = version
                while len(self.batches) > REMEMBERED_BATCHES:
                    self.batches.popitem(last=False)
            return {"version": version, "applied": True}

    def close(self) -> None:
        for log in self.logs.values():
            log.close()


def application(
    database: ServedDatabase,
    *,
    token: str | None = None,
    hosts: tuple[str, ...] | None = None,
    writes: bool = True,
) -> Starlette:
    """The application for a database. `hosts` are the names that requests may call it by (None: any)."""
    service = Service(database, writes=writes)
    routes = [
        Route("/health", partial(health, service)),
        Route("/metrics", partial(metrics, service)),
        Route("/query", partial(query, service), methods=["POST"]),
        Route("/execute", partial(execute, service), methods=["POST"]),
        Route("/changes", partial(apply_changes, service), methods=["POST"]),
        Route("/v1/shape", partial(shape, service)),
    ]
    for kind in ("view", "table"):
        routes += [
            Route(f"/{kind}s", partial(relations, service, kind)),
            Route(f"/{kind}s/{{name}}", partial(rows, service, kind)),
            Route(f"/{kind}s/{{name}}/changes", partial(changes, service, kind)),
        ]
    routes += [
        Route("/views/{name}/explain", partial(explain, service)),
        Route("/views/{name}/why", partial(why, service)),
    ]
    app = Starlette(
        routes=routes,
        middleware=[Middleware(Access, token=token, hosts=hosts)],
        exception_handlers={EvercurrentError: partial(refuse, service)},
    )
    app.state.service = service
    return app


# --- answers -----------------------------------------------------------------------------------------------


def status_of(problem: Exception) -> int:
    match problem:
        case Unknown():
            return 404
        case ConstraintError() | ConflictError() | TransactionError():
            return 409
        case StorageError() | InternalError():
            return 500
        case _:
            return 400


async def refuse(service: Service, request: Request, problem: Exception) -> Response:
    """An error, as JSON: what went wrong, where, and what to do."""
    status = status_of(problem)
    service.metrics.count_request(status)
    content = {"error": type(problem).__name__, "message": str(problem)}
    hint = getattr(problem, "hint", None)
    return JSONResponse(content | ({"hint": hint} if hint else {}), status)


def answer(service: Service, text: str | bytes, media: str, version: int | None = None) -> Response:
    service.metrics.count_request(200)
    headers = {} if version is None else {VERSION_HEADER: str(version)}
    return Response(text, media_type=media, headers=headers)


def answer_json(service: Service, content: Any, version: int | None = None) -> Response:
    return answer(service, json_text(content), "application/json", version)


async def health(service: Service, request: Request) -> Response:
    return answer_json(service, {"status": "ok", "version": service.database.version})


async def relations(service: Service, kind: str, request: Request) -> Response:
    def listed() -> list[dict[str, Any]]:
        names = service.database.views if kind == "view" else service.database.tables
        found = []
        for name in names:
            fields = service.relation(kind, name).schema
            columns = [{"name": f.name, "type": str(f.type), "nullable": f.nullable} for f in fields]
            found.append({"name": name, "columns": columns})
        return found

    return answer_json(service, await run_in_threadpool(listed), service.database.version)


async def rows(service: Service, kind: str, request: Request) -> Response:
    relation = service.relation(kind, request.path_params["name"])
    wanted = wanted_format(request)
    limit, offset = number(request, "limit", None), number(request, "offset", 0) or 0

    def read() -> tuple[int, bytes | str, str]:
        columns = [f.name for f in relation.schema]
        if wanted == "arrow":
            with service.database.transaction():
                version, table = service.database.version, relation.arrow()
            return version, arrow_stream(table.slice(offset, limit)), "application/vnd.apache.arrow.stream"
        version, found = service.snapshot(relation)
        page = list(islice(found, offset, None if limit is None else offset + limit))
        if wanted == "csv":
            return version, csv_text(columns, page), "text/csv; charset=utf-8"
        content = {
            "version": version,
            "columns": columns,
            "count": len(found),
            "rows": [json_row(columns, row) for row in page],
        }
        return version, json_text(content), "application/json"

    version, text, media = await run_in_threadpool(read)
    return answer(service, text, media, version)


def arrow_stream(table: Any) -> bytes:
    import pyarrow

    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


async def changes(service: Service, kind: str, request: Request) -> Response:
    name = request.path_params["name"]
    log = await run_in_threadpool(service.log, kind, name, asyncio.get_running_loop())
    last = request.headers.get("last-event-id") or request.query_params.get("since")
    snapshot = request.query_params.get("snapshot", "").lower() in ("1", "true", "yes")

    def begin() -> tuple[int | None, str]:
        """The version that the client has when the stream has begun, and how it begins."""
        with service.database.transaction():
            version = service.database.version
            found = log.relation.rows() if snapshot and last is None else []
        if last is not None:
            seen = read_position(last, service.mark)
            if seen is None or seen > version or log.since(seen) is None:
                return None, event_text("reset", {"version": version}, f"{version}{service.mark}")
            return seen, ": continued\n\n"
        identity = f"{version}{service.mark}"
        if snapshot:
            content = {"version": version, "rows": [log.item(row) for row in found]}
            return version, event_text("snapshot", content, identity)
        return version, event_text("ready", {"version": version}, identity)

    seen, first = await run_in_threadpool(begin)

    async def stream() -> Any:
        service.metrics.streams += 1
        try:
            async for text in stream_events(log, seen, service.mark, first):
                yield text
        finally:
            service.metrics.streams -= 1

    service.metrics.count_request(200)
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return StreamingResponse(stream(), media_type="text/event-stream", headers=headers)


async def explain(service: Service, request: Request) -> Response:
    view = cast(Any, service.relation("view", request.path_params["name"]))
    text = await run_in_threadpool(lambda: str(view.explain(request.query_params.get("stage"))))
    return answer(service, text, "text/plain; charset=utf-8")


async def why(service: Service, request: Request) -> Response:
    view = cast(Any, service.relation("view", request.path_params["name"]))
    try:
        row = json.loads(request.query_params.get("row", ""))
    except (ValueError, RecursionError):
        raise QueryError("row must be a JSON array with the row's values", hint='?row=[7,"15.00"]') from None
    values = [row] if isinstance(row, list | dict) else [[row]]
    found = await run_in_threadpool(
        lambda: str(view.why(*(tuple(v) if isinstance(v, list) else v for v in values)))
    )
    return answer(service, found, "text/plain; charset=utf-8")


async def query(service: Service, request: Request) -> Response:
    body = await json_body(request)
    sql, parameters = member(body, "sql", str), body.get("parameters")

    def run() -> dict[str, Any]:
        result = service.database.query(sql, parameters)
        columns = [f.name for f in result.schema]
        return {"columns": columns, "rows": [json_row(columns, row) for row in result.rows()]}

    return answer_json(service, await run_in_threadpool(run), service.database.version)


async def execute(service: Service, request: Request) -> Response:
    service.require_writes()
    body = await json_body(request)
    sql, parameters = member(body, "sql", str), body.get("parameters")
    result = await run_in_threadpool(lambda: service.database.execute(sql, parameters))
    return answer_json(service, {"result": repr(result), "version": service.database.version})


async def apply_changes(service: Service, request: Request) -> Response:
    body = await json_body(request)
    feeds, batch = member(body, "changes", dict), member(body, "batch", str, needed=False)
    return answer_json(service, await run_in_threadpool(service.apply, feeds, batch))


async def shape(service: Service, request: Request) -> Response:
    name = request.query_params.get("table")
    if not name:
        raise QueryError("a shape needs the name of a table or view", hint="/v1/shape?table=NAME&offset=-1")
    kind = "view" if any(name.lower() == v.lower() for v in service.database.views) else "table"
    log = await run_in_threadpool(service.log, kind, name, asyncio.get_running_loop())
    found = await shape_response(log, service.snapshot, service.database.version, service.mark, request)
    service.metrics.count_request(found.status_code)
    return found


async def metrics(service: Service, request: Request) -> Response:
    counted = service.metrics
    lines: list[str] = []

    def add(name: str, kind: str, what: str, samples: list[tuple[dict[str, str], float]]) -> None:
        lines.extend(metric_lines(f"evercurrent_{name}", kind, what, samples))

    logs = [({"kind": kind, "name": log.name}, log) for (kind, _), log in service.logs.items()]
    add("version", "gauge", "Version of the database.", [({}, service.database.version)])
    add("streams", "gauge", "Clients that follow changes.", [({}, counted.streams)])
    by_status = [({"status": str(s)}, float(n)) for s, n in sorted(counted.requests.items())]
    add("requests_total", "counter", "Requests answered.", by_status)
    add(
        "changes_total",
        "counter",
        "Transactions that changed a relation.",
        [(x, log.seen) for x, log in logs],
    )
    add("log_rows", "gauge", "Changed rows kept for clients.", [(x, log.rows) for x, log in logs])
    stats = getattr(service.database, "stats", None)
    if stats is not None:
        sizes = (await run_in_threadpool(stats)).sizes
        named = [({"kind": s.kind, "name": s.name}, s) for s in sizes]
        add("entries", "gauge", "Entries of a table or state.", [(x, s.entries) for x, s in named])
        add("bytes", "gauge", "Bytes of a table or state, about.", [(x, s.bytes) for x, s in named])
    return PlainTextResponse("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")
