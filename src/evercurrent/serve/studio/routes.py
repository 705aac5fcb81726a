"""The page and what it asks for, under `/studio`.

GET  /studio/                            the page
GET  /studio/api/graph                   sources, tables, states and views, with sizes
GET  /studio/api/activity                what changes, as server-sent events
GET  /studio/api/rows/view/spend         a page of rows, see `pages`
GET  /studio/api/about/view/spend        columns, keys, text, stages
GET  /studio/api/why/spend?row=[7]       one step of the derivation of a row
GET  /studio/api/history/view/spend      the changes that are known
GET  /studio/api/runs                    what each batch did
POST /studio/api/console                 statements in SQL or OQL
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from dataclasses import asdict
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from evercurrent.catalog.nodes import Table, View
from evercurrent.data.types import Member
from evercurrent.design.explain import STAGES
from evercurrent.errors import QueryError
from evercurrent.rows.conversion import row_writer
from evercurrent.rows.readable import Rows
from evercurrent.serve.change_log import event_text
from evercurrent.serve.encoding import json_text, json_value
from evercurrent.serve.event_stream import ALIVE
from evercurrent.serve.relay import HEARTBEAT
from evercurrent.serve.requests import json_body, member, number
from evercurrent.serve.studio.derivation import derive
from evercurrent.serve.studio.graph import Graph, graph_of
from evercurrent.serve.studio.inspection import Inspection
from evercurrent.serve.studio.pages import MOST_ROWS, Pages, Wish
from evercurrent.serve.studio.watch import Watch

if TYPE_CHECKING:
    from evercurrent.rows.subscriptions import Change
    from evercurrent.serve.service import Service

FILES = Path(__file__).parent / "files"
NOT_BUILT = """<!doctype html><title>evercurrent studio</title><meta charset="utf-8">
<body style="font:16px system-ui;max-width:40rem;margin:4rem auto;line-height:1.5">
<h1>The page is not built</h1><p>This is a checkout of the sources. Build the page once, with node and npm:
<pre>make studio</pre><p>Installed packages contain the page.</p>"""
MOST_RESULTS = 1000
"""The most rows of a result that the console shows."""
MOST_VERSIONS = 500
"""The most versions of a relation that its history shows."""
MOST_CHANGED = 500
"""The most inserted and deleted rows of one change that are sent."""


class Studio:
    """What the routes share."""

    def __init__(self, service: Service, inspection: Inspection) -> None:
        self.service, self.inspection = service, inspection
        self.pages = Pages(inspection)
        self.watch = Watch(service.database, inspection)
        self._graph: tuple[object, Graph] | None = None

    def routes(self) -> list[Route]:
        return [
            Route("/", to_page),
            Route("/studio", to_page),
            Route("/studio/api/graph", partial(graph, self)),
            Route("/studio/api/sizes", partial(sizes, self)),
            Route("/studio/api/activity", partial(activity, self)),
            Route("/studio/api/changes/{kind}/{name}", partial(changes, self)),
            Route("/studio/api/change/{kind}/{name}/{version:int}", partial(change, self)),
            Route("/studio/api/rows/{kind}/{name}", partial(rows, self)),
            Route("/studio/api/about/{kind}/{name}", partial(about, self)),
            Route("/studio/api/history/{kind}/{name}", partial(history, self)),
            Route("/studio/api/why/{name}", partial(why, self)),
            Route("/studio/api/runs", partial(runs, self)),
            Route("/studio/api/console", partial(console, self), methods=["POST"]),
            Route("/studio/{file:path}", file),
        ]

    def graph(self) -> Graph:
        """The graph of the present definitions."""
        design = self.inspection.design
        if self._graph is None or self._graph[0] is not design:
            with self.inspection.hold():
                design = self.inspection.design
                self._graph = design, graph_of(self.inspection.catalog, design, self.inspection.sources())
        return self._graph[1]

    def sizes(self) -> dict[str, tuple[int, int | None]]:
        """Rows and bytes of all nodes. Views whose rows are found in a state have no bytes of their own."""
        graph = self.graph()
        found: dict[str, tuple[int, int | None]] = {
            graph.stores.get(name, name): size for name, size in self.inspection.sizes().items()
        }
        for node in graph.nodes.values():
            if node.kind == "view" and node.id not in found and self.is_strict(node.name):
                with self.inspection.hold():
                    found[node.id] = self.pages.count("view", node.name, self.inspection.version), None
        return found

    def is_strict(self, view: str) -> bool:
        """Whether a view can be read without making it catch up."""
        declared = self.inspection.catalog.view(view)
        return declared is not None and declared.mode == "strict" and not declared.inline

    def find_declared(self, kind: str, name: str) -> Table | View:
        exact = self.service.relation(kind, name).name
        catalog = self.inspection.catalog
        found = catalog.view(exact) if kind == "view" else catalog.tables.get(exact.lower())
        assert found is not None
        return found

    def answer(self, content: Any) -> Response:
        self.service.metrics.count_request(200)
        return Response(
            json_text(content), media_type="application/json", headers={"Cache-Control": "no-store"}
        )


def kind_of(request: Request) -> str:
    kind: str = request.path_params["kind"]
    if kind not in ("view", "table"):
        raise QueryError(f"{kind[:40]!r} is neither view nor table")
    return kind


# --- the page ----------------------------------------------------------------------------------------------


async def to_page(request: Request) -> Response:
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{request.scope.get('root_path', '')}/studio/{query}")


async def file(request: Request) -> Response:
    name = request.path_params["file"] or "index.html"
    found = FILES / name
    if not (FILES / "index.html").is_file():
        return HTMLResponse(NOT_BUILT, 200 if name == "index.html" else 404)
    if "/" in name or not found.is_file():
        return HTMLResponse("there is no such file", 404)
    policy = (
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"
    )
    return FileResponse(found, headers={"Content-Security-Policy": policy, "Cache-Control": "no-cache"})


# --- what it asks for ----------------------------------------------------------------------------------------


async def graph(studio: Studio, request: Request) -> Response:
    def read() -> dict[str, Any]:
        found, by_node = studio.graph(), studio.sizes()
        latest = studio.watch.latest
        nodes = []
        for node in found.nodes.values():
            size = by_node.get(node.id)
            version, at = latest.get(node.id, (None, None))
            more = {"rows": size[0], "bytes": size[1]} if size else {"rows": None, "bytes": None}
            nodes.append({**asdict(node), **more, "version": version, "at": at})
        edges = [{"from": a, "to": b, "kind": kind} for (a, b), kind in found.edges.items()]
        return {
            "kind": studio.inspection.kind,
            "version": studio.inspection.version,
            "writes": studio.service.writes,
            "now": time.time(),
            "nodes": nodes,
            "edges": edges,
        }

    return studio.answer(await run_in_threadpool(read))


async def sizes(studio: Studio, request: Request) -> Response:
    return studio.answer(await run_in_threadpool(studio.sizes))


async def changes(studio: Studio, request: Request) -> Response:
    kind = kind_of(request)
    declared = studio.find_declared(kind, request.path_params["name"])
    log = await run_in_threadpool(studio.service.log, kind, declared.name, asyncio.get_running_loop())

    async def stream() -> AsyncIterator[str]:
        seen = studio.inspection.version
        yield event_text("ready", {"version": seen})
        while True:
            found = log.since(seen)
            if found is None:
                yield event_text("reset", {})
                seen = log.newest
            elif found:
                for one in found:
                    yield event_text("change", show_change(one, declared.fields))
                seen = found[-1].transaction
            elif not await log.wait(seen, HEARTBEAT):
                yield ALIVE

    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return StreamingResponse(stream(), media_type="text/event-stream", headers=headers)


def show_change(change: Change, fields: tuple[Member, ...]) -> dict[str, Any]:
    """What a transaction changed in a relation; of a large change, the first rows, and how many more there are."""
    give = row_writer(fields)
    inserted = [[json_value(v) for v in give(r)] for r in islice(change.delta.insertions(), MOST_CHANGED)]
    deleted = [[json_value(v) for v in give(r)] for r in islice(change.delta.deletions(), MOST_CHANGED)]
    total = sum(abs(weight) for _, weight in change.delta.items())
    return {
        "version": change.transaction,
        "inserted": inserted,
        "deleted": deleted,
        "more": total - len(inserted) - len(deleted),
    }


async def change(studio: Studio, request: Request) -> Response:
    kind, version = kind_of(request), request.path_params["version"]
    declared = studio.find_declared(kind, request.path_params["name"])
    log = await run_in_threadpool(studio.service.log, kind, declared.name, asyncio.get_running_loop())

    def read() -> dict[str, Any]:
        found = next((c for c in log.since(version - 1) or [] if c.transaction == version), None)
        if found is None:
            raise QueryError(f"what version {version} changed in {declared.name} is not known")
        return show_change(found, declared.fields)

    return studio.answer(await run_in_threadpool(read))


async def activity(studio: Studio, request: Request) -> Response:
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return StreamingResponse(studio.watch.stream(), media_type="text/event-stream", headers=headers)


async def rows(studio: Studio, request: Request) -> Response:
    kind, name = kind_of(request), request.path_params["name"]
    declared = studio.find_declared(kind, name)
    asked = request.query_params
    wish = Wish(
        number(request, "offset", 0) or 0,
        min(number(request, "limit", 100) or 0, MOST_ROWS),
        asked.get("filter", "").strip()[:1000],
        asked.get("sort", ""),
        asked.get("descending") == "true",
        number(request, "version", None),
    )

    def earlier(version: int) -> list[Any] | None:
        log = studio.service.logs.get((kind, declared.name.lower()))
        changes = None if log is None else log.since(version)
        return None if changes is None else [c.delta for c in changes]

    return studio.answer(await run_in_threadpool(studio.pages.read, kind, declared, wish, earlier))


async def about(studio: Studio, request: Request) -> Response:
    kind = kind_of(request)
    declared = studio.find_declared(kind, request.path_params["name"])

    def read() -> dict[str, Any]:
        design = studio.inspection.design
        found: dict[str, Any] = {
            "kind": kind,
            "name": declared.name,
            "columns": [
                {"name": f.name, "type": str(f.type), "nullable": f.nullable} for f in declared.fields
            ],
        }
        if isinstance(declared, Table):
            key = declared.primary_key
            return found | {"keys": [list(key.columns)] if key is not None else []}
        stages = [s for s in STAGES if s != "source" or studio.inspection.kind != "warehouse"]
        return found | {
            "keys": [list(k) for k in design.keys.get(declared.name, ())],
            "text": declared.text,
            "language": declared.language,
            "policy": declared.policy,
            "mode": declared.mode,
            "uses": sorted(declared.uses),
            "stages": stages,
        }

    return studio.answer(await run_in_threadpool(read))


async def history(studio: Studio, request: Request) -> Response:
    """The changes of a relation that are known: those that the log of its followers has."""
    kind = kind_of(request)
    declared = studio.find_declared(kind, request.path_params["name"])
    log = await run_in_threadpool(studio.service.log, kind, declared.name, asyncio.get_running_loop())

    def read() -> dict[str, Any]:
        inspection = studio.inspection
        if inspection.durable:  # as far as versions are kept, but not without end
            studio.service.since(log, max(inspection.oldest, inspection.version - MOST_VERSIONS))
        changes = (log.since(log.begins) or [])[-MOST_VERSIONS:]
        times = {run["version"]: run["at"] for run in list(studio.watch.runs)}
        if changes:
            times |= inspection.times(changes[0].transaction)
        found = []
        for change in changes:
            weights = [w for _, w in change.delta.items()]
            inserted, deleted = sum(w for w in weights if w > 0), -sum(w for w in weights if w < 0)
            found.append([change.transaction, inserted, deleted, times.get(change.transaction)])
        return {"begins": log.begins, "version": inspection.version, "changes": found}

    return studio.answer(await run_in_threadpool(read))


async def why(studio: Studio, request: Request) -> Response:
    declared = studio.find_declared("view", request.path_params["name"])
    assert isinstance(declared, View)
    try:
        row = json.loads(request.query_params.get("row", ""))
    except (ValueError, RecursionError):
        raise QueryError("row must be a JSON array with the row's values", hint='?row=[7,"15.00"]') from None
    handle = studio.service.relation("view", declared.name)
    return studio.answer(await run_in_threadpool(derive, studio.inspection, handle, declared, row))


async def runs(studio: Studio, request: Request) -> Response:
    def read() -> dict[str, Any]:
        known = studio.inspection.runs() or list(studio.watch.runs)
        return {"kind": studio.inspection.kind, "runs": known[-MOST_RESULTS:]}

    return studio.answer(await run_in_threadpool(read))


async def console(studio: Studio, request: Request) -> Response:
    body = await json_body(request)
    text, language = member(body, "text", str), body.get("language", "sql")
    database: Any = studio.service.database

    def run() -> dict[str, Any]:
        begin = time.perf_counter()
        if language == "oql":
            studio.service.require_writes()
            result = database.oql(text)
        else:
            result = database.execute(text) if studio.service.writes else database.query(text)
        return {
            **show_result(result),
            "seconds": time.perf_counter() - begin,
            "version": studio.inspection.version,
        }

    return studio.answer(await run_in_threadpool(run))


def show_result(result: Any) -> dict[str, Any]:
    """The result of a statement, for the page."""
    if isinstance(result, Rows):
        found = result.head(MOST_RESULTS)
        return {
            "columns": [{"name": f.name, "type": str(f.type)} for f in result.schema],
            "rows": [[json_value(v) for v in row] for row in found],
            "count": len(result),
        }
    if result is None:
        return {"message": "done"}
    return {"value": json_value(result), "message": f"{result:,} rows changed" if type(result) is int else ""}
