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
    POST /mcp                            tools for language models

The same under `/tables/...` for tables. It can be mounted into another application:

    app = FastAPI()
    app.mount("/live", evercurrent.serve.application.application(db))
"""

from __future__ import annotations

import asyncio
import json
from functools import partial
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
from evercurrent.serve.handover import Followed
from evercurrent.serve.mcp import mcp
from evercurrent.serve.metrics import metric_lines
from evercurrent.serve.requests import find_format, json_body, member, number
from evercurrent.serve.service import Service, Unknown
from evercurrent.serve.shapes import shape_response
from evercurrent.serve.studio.routes import Studio

if TYPE_CHECKING:
    from evercurrent.serve.database import ServedDatabase

VERSION_HEADER = "Evercurrent-Version"


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
        *Studio(service, service.inspection).routes(),
        Route("/health", partial(health, service)),
        Route("/metrics", partial(metrics, service)),
        Route("/query", partial(query, service), methods=["POST"]),
        Route("/execute", partial(execute, service), methods=["POST"]),
        Route("/changes", partial(apply_changes, service), methods=["POST"]),
        Route("/v1/shape", partial(shape, service)),
        Route("/mcp", partial(mcp, service), methods=["POST"]),
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
    content: dict[str, Any] = {"error": type(problem).__name__, "message": str(problem)}
    hint, place = getattr(problem, "hint", None), getattr(problem, "place", None)
    if hint:
        content["hint"] = hint
    if place is not None:
        content["place"] = {
            "start": place.start,
            "end": place.end,
            "line": place.line,
            "column": place.column,
        }
        content["excerpt"] = place.excerpt()
    content["what"] = getattr(problem, "message", str(problem))
    return JSONResponse(content, status)


def answer(service: Service, text: str | bytes, media: str, version: int | None = None) -> Response:
    service.metrics.count_request(200)
    headers = {} if version is None else {VERSION_HEADER: str(version)}
    return Response(text, media_type=media, headers=headers)


def answer_json(service: Service, content: Any, version: int | None = None) -> Response:
    return answer(service, json_text(content), "application/json", version)


async def health(service: Service, request: Request) -> Response:
    return answer_json(service, {"status": "ok", "version": service.database.version})


async def relations(service: Service, kind: str, request: Request) -> Response:
    def list_relations() -> list[dict[str, Any]]:
        names = service.database.views if kind == "view" else service.database.tables
        found = []
        for name in names:
            fields = service.relation(kind, name).schema
            columns = [{"name": f.name, "type": str(f.type), "nullable": f.nullable} for f in fields]
            found.append({"name": name, "columns": columns})
        return found

    return answer_json(service, await run_in_threadpool(list_relations), service.database.version)


async def rows(service: Service, kind: str, request: Request) -> Response:
    relation = service.relation(kind, request.path_params["name"])
    wanted = find_format(request)
    limit, offset = number(request, "limit", None), number(request, "offset", 0) or 0

    def read() -> tuple[int, bytes | str, str]:
        columns = [f.name for f in relation.schema]
        if wanted == "arrow":
            version, table = service.arrow_page(kind, relation, offset, limit)
            return version, arrow_stream(table), "application/vnd.apache.arrow.stream"
        version, page, count = service.page(kind, relation, offset, limit)
        if wanted == "csv":
            return version, csv_text(columns, page), "text/csv; charset=utf-8"
        content = {
            "version": version,
            "columns": columns,
            "count": count,
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
        with service.inspection.hold():
            version = service.database.version
            found = log.relation.rows() if snapshot and last is None else []
        if last is not None:
            seen = read_position(last, service.mark)
            if seen is None or seen > version or service.since(log, seen) is None:
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
    if seen is not None and "evercurrent.transport" in request.scope:
        headers["Content-Type"] = "text/event-stream; charset=utf-8"
        relay = service.relay_on(asyncio.get_running_loop())
        return cast(Response, Followed(relay, log, seen, first, headers))
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
    result = await run_in_threadpool(service.execute, sql, parameters)
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
    key = service.key(kind, log.relation)
    present = service.database.version
    await run_in_threadpool(shape_past, service, log, request)
    found = await shape_response(log, key, service.snapshot, present, service.mark, request)
    service.metrics.count_request(found.status_code)
    return found


def shape_past(service: Service, log: ChangeLog, request: Request) -> None:
    """Reaches back to the version of a client that has a shape from before this process."""
    offset = request.query_params.get("offset", "-1").partition("_")[0]
    if offset.isascii() and offset.isdigit() and len(offset) < 19 and int(offset) <= service.database.version:
        service.since(log, int(offset))


async def metrics(service: Service, request: Request) -> Response:
    counted = service.metrics
    lines: list[str] = []

    def add(name: str, kind: str, what: str, samples: list[tuple[dict[str, str], float]]) -> None:
        lines.extend(metric_lines(f"evercurrent_{name}", kind, what, samples))

    logs = [({"kind": kind, "name": log.name}, log) for (kind, _), log in service.logs.items()]
    add("version", "gauge", "Version of the database.", [({}, service.database.version)])
    add(
        "streams",
        "gauge",
        "Clients that follow changes.",
        [({}, counted.streams + (service.relay.clients if service.relay is not None else 0))],
    )
    by_status = [({"status": str(s)}, float(n)) for s, n in sorted(counted.requests.items())]
    add("requests_total", "counter", "Requests answered.", by_status)
    add(
        "changes_total",
        "counter",
        "Transactions that changed a relation.",
        [(x, log.seen) for x, log in logs],
    )
    add("log_rows", "gauge", "Changed rows kept for clients.", [(x, log.rows) for x, log in logs])
    sizes = await run_in_threadpool(service.inspection.sizes)
    named = [(labels_of(name), size) for name, size in sizes.items()]
    add("entries", "gauge", "Entries of a table, view or state.", [(x, s[0]) for x, s in named])
    add("bytes", "gauge", "Bytes of a table, view or state, about.", [(x, s[1]) for x, s in named])
    return PlainTextResponse("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")


def labels_of(name: str) -> dict[str, str]:
    """The labels of something that has a size: tables and views say what they are, states are the others."""
    kind, colon, rest = name.partition(":")
    return (
        {"kind": kind, "name": rest}
        if colon and kind in ("table", "view")
        else {"kind": "state", "name": name}
    )
