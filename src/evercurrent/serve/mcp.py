"""Tools for language models, by the Model Context Protocol over HTTP: list, query, explain, why.

    POST /mcp {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
               "params": {"name": "query", "arguments": {"sql": "SELECT * FROM spend"}}}
    answer     {"jsonrpc": "2.0", "id": 1, "result": {"content": [...]}}

Every request is answered on its own, as JSON: there are no sessions and no streams. The tools only read.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, cast

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from evercurrent.errors import EvercurrentError
from evercurrent.serve.encoding import json_row, json_text
from evercurrent.serve.requests import json_body, member

if TYPE_CHECKING:
    from evercurrent.serve.service import Service

PROTOCOL = "2025-06-18"
MOST_ROWS = 200
"""The most rows of a query that are returned."""


def tool(name: str, what: str, needed: tuple[str, ...] = (), **arguments: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": arguments, "required": list(needed)}
    return {"name": name, "description": what, "inputSchema": schema, "annotations": {"readOnlyHint": True}}


TEXT = {"type": "string"}
TOOLS = [
    tool("list", "The tables and views, with their columns and types."),
    tool("query", "The rows of a SELECT over tables and views, in Spark's SQL.", ("sql",), sql=TEXT),
    tool(
        "explain",
        "How a view is kept: what is stored, why, and what a change costs. A stage shows one step of its compilation.",
        ("view",),
        view=TEXT,
        stage=TEXT,
    ),
    tool(
        "why",
        "The rows of tables that a row of a view comes from. The row is a list of its values, in the order of the columns.",
        ("view", "row"),
        view=TEXT,
        row={"type": "array"},
    ),
]


async def mcp(service: Service, request: Request) -> Response:
    """One message of the protocol."""
    body = await json_body(request)
    method, identity = member(body, "method", str), body.get("id")
    if identity is None:  # a notification has no answer
        return Response(status_code=202)
    parameters = body.get("params") or {}
    match method:
        case "initialize":
            result: Any = {
                "protocolVersion": parameters.get("protocolVersion", PROTOCOL),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "evercurrent", "version": version("evercurrent")},
            }
        case "ping":
            result = {}
        case "tools/list":
            result = {"tools": TOOLS}
        case "tools/call":
            result = await run_in_threadpool(call, service, parameters)
        case _:
            problem = {"code": -32601, "message": f"there is no method {method[:100]}"}
            return answer({"jsonrpc": "2.0", "id": identity, "error": problem})
    service.metrics.count_request(200)
    return answer({"jsonrpc": "2.0", "id": identity, "result": result})


def answer(content: dict[str, Any]) -> Response:
    return Response(json_text(content), media_type="application/json")


def call(service: Service, parameters: dict[str, Any]) -> dict[str, Any]:
    """Calls a tool. A mistake is a result, so that the model reads what to do."""
    name, given = parameters.get("name"), parameters.get("arguments") or {}
    found = RUN.get(name) if isinstance(name, str) else None
    try:
        text = found(service, given) if found is not None else f"there is no tool {name!r}"
        failed = found is None
    except EvercurrentError as problem:
        text, failed = str(problem), True
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def list_relations(service: Service, given: dict[str, Any]) -> str:
    lines = []
    for kind, names in (("table", service.database.tables), ("view", service.database.views)):
        for name in names:
            columns = ", ".join(f"{f.name} {f.type}" for f in service.relation(kind, name).schema)
            lines.append(f"{kind} {name} ({columns})")
    return "\n".join(lines)


def query(service: Service, given: dict[str, Any]) -> str:
    result = service.database.query(member(given, "sql", str))
    columns = [f.name for f in result.schema]
    rows = [json_row(columns, row) for row in result.head(MOST_ROWS)]
    return json_text({"count": len(result), "rows": rows})


def explain(service: Service, given: dict[str, Any]) -> str:
    view = cast(Any, service.relation("view", member(given, "view", str)))
    return str(view.explain(member(given, "stage", str, needed=False)))


def why(service: Service, given: dict[str, Any]) -> str:
    view = cast(Any, service.relation("view", member(given, "view", str)))
    return str(view.why(tuple(member(given, "row", list))))


RUN: dict[str, Callable[[Service, dict[str, Any]], str]] = {
    "list": list_relations,
    "query": query,
    "explain": explain,
    "why": why,
}
