"""Live views over HTTP: what a client outside the process reads, follows and changes."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pyarrow
import pytest

import evercurrent as ec
from evercurrent.errors import QueryError
from evercurrent.serve.server import Server, serve

VIEWS = """
CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT, total DECIMAL(12,2), note STRING);
CREATE VIEW spend AS SELECT customer, SUM(total) AS total FROM orders GROUP BY customer;
CREATE VIEW notes AS SELECT note FROM orders;
"""


@pytest.fixture
def db() -> ec.Database:
    found = ec.connect()
    found.execute(VIEWS)
    found.table("orders").insert([(1, 7, "9.50", "a"), (2, 7, "3", None), (3, 8, "1", "a")])
    return found


@pytest.fixture
def server(db: ec.Database) -> Iterator[Server]:
    with serve(db, port=0) as running:
        yield running


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=10) as found:
        yield found


class Events:
    """The events of a stream, one after another."""

    def __init__(self, lines: Iterator[str]) -> None:
        self.lines = lines

    def next(self) -> tuple[str, Any, str | None]:
        kind, data, identity = "", None, None
        for line in self.lines:
            if line.startswith("event: "):
                kind = line[7:]
            elif line.startswith("data: "):
                data = json.loads(line[6:])
            elif line.startswith("id: "):
                identity = line[4:]
            elif not line and kind:
                return kind, data, identity
        raise AssertionError("the stream has ended")


@contextmanager
def following(client: httpx.Client, path: str, **headers: str) -> Iterator[Events]:
    with client.stream("GET", path, headers=headers) as response:
        assert response.status_code == 200
        yield Events(response.iter_lines())


def test_rows_as_json_csv_and_arrow(client: httpx.Client) -> None:
    found = client.get("/views/spend")
    assert found.headers["evercurrent-version"] == "1"
    content = found.json()
    assert content["columns"] == ["customer", "total"] and content["count"] == 2
    assert sorted(content["rows"], key=lambda r: r["customer"]) == [
        {"customer": 7, "total": "12.50"},
        {"customer": 8, "total": "1.00"},
    ]
    assert len(client.get("/views/spend?limit=1&offset=1").json()["rows"]) == 1
    text = client.get("/tables/orders", headers={"accept": "text/csv"}).text.splitlines()
    assert text[0] == "id,customer,total,note" and "2,7,3.00," in text
    stream = client.get("/tables/orders?format=arrow").content
    assert pyarrow.ipc.open_stream(stream).read_all().num_rows == 3


def test_what_is_there(client: httpx.Client) -> None:
    assert [v["name"] for v in client.get("/views").json()] == ["spend", "notes"]
    assert client.get("/tables").json()[0]["columns"][2] == {
        "name": "total",
        "type": "DECIMAL(12,2)",
        "nullable": True,
    }
    assert client.get("/health").json() == {"status": "ok", "version": 1}
    assert "SUM" in client.get("/views/spend/explain?stage=optimised").text.upper()
    assert "orders" in client.get('/views/spend/why?row=[7,"12.50"]').text
    metrics = client.get("/metrics").text
    assert (
        "evercurrent_version 1" in metrics and 'evercurrent_entries{kind="table",name="orders"} 3' in metrics
    )


def test_a_client_follows_changes(db: ec.Database, client: httpx.Client) -> None:
    with following(client, "/views/spend/changes?snapshot=true") as events:
        kind, data, _ = events.next()
        assert kind == "snapshot" and len(data["rows"]) == 2
        db.table("orders").insert((4, 8, "2", "b"))
        kind, data, _ = events.next()
        assert kind == "change"
        assert data["deleted"] == [{"customer": 8, "total": "1.00"}]
        assert data["inserted"] == [{"customer": 8, "total": "3.00"}]


def test_a_client_that_was_away_gets_exactly_what_it_missed(db: ec.Database, client: httpx.Client) -> None:
    """Snapshot, a break, and the rest add up to the rows, whatever happened meanwhile."""
    rows: Counter[str] = Counter()

    def take(data: Any) -> None:
        rows.subtract(json.dumps(r) for r in data.get("deleted", []))
        rows.update(json.dumps(r) for r in data.get("inserted", []) + data.get("rows", []))

    with following(client, "/views/spend/changes?snapshot=true") as events:
        _, data, last = events.next()
        take(data)
        db.table("orders").insert((10, 9, "1", None))
        _, data, last = events.next()
        take(data)
    for i in range(20):
        db.table("orders").insert((100 + i, i % 3 + 7, i + 1, None))
    db.execute("DELETE FROM orders WHERE customer = 8")
    db.table("orders").update({"id": 1}, note="only what the view does not read")
    versions = []
    with following(client, "/views/spend/changes", **{"Last-Event-ID": last or ""}) as events:
        while not versions or versions[-1] < db.version - 1:
            kind, data, _ = events.next()
            assert kind == "change"
            versions.append(data["version"])
            take(data)
    assert versions == sorted(set(versions)) and len(versions) == 21
    wanted = Counter(json.dumps(r) for r in client.get("/views/spend").json()["rows"])
    assert +rows == wanted and not -rows


def test_a_position_that_is_not_known_is_reset(db: ec.Database, client: httpx.Client, server: Server) -> None:
    for last in ("0", "1@other", "99999999999999999999999", "x"):
        with following(client, "/views/spend/changes", **{"Last-Event-ID": last}) as events:
            assert events.next()[0] == "reset"
    with serve(db, port=0) as second, httpx.Client(base_url=second.url) as other:
        with following(client, "/views/spend/changes") as events:
            _, _, last = events.next()
        with following(other, "/views/spend/changes", **{"Last-Event-ID": last or ""}) as events:
            assert events.next()[0] == "reset"


def test_the_log_is_bounded(db: ec.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    from evercurrent.serve import change_log

    monkeypatch.setattr(
        change_log.ChangeLog.__init__, "__kwdefaults__", {"most_changes": 5, "most_rows": 100}
    )
    with serve(db, port=0) as server, httpx.Client(base_url=server.url, timeout=10) as client:
        with following(client, "/views/notes/changes") as events:
            _, _, last = events.next()
        for i in range(10):
            db.table("orders").insert((1000 + i, 1, 1, "x"))
        with following(client, "/views/notes/changes", **{"Last-Event-ID": last or ""}) as events:
            assert events.next()[0] == "reset"


def test_changes_are_applied_once(db: ec.Database, client: httpx.Client) -> None:
    new = {"_change_type": "insert", "id": 50, "customer": 1, "total": "5", "note": None}
    body = {"batch": "b1", "changes": {"orders": [new]}}
    assert client.post("/changes", json=body).json() == {"version": 2, "applied": True}
    assert client.post("/changes", json=body).json() == {"version": 2, "applied": False}
    assert client.get("/tables/orders").json()["count"] == 4
    found = client.post("/query", json={"sql": "SELECT note FROM orders WHERE id = ?", "parameters": [50]})
    assert found.json()["rows"] == [{"note": None}]
    client.post("/execute", json={"sql": "CREATE VIEW n AS SELECT COUNT(*) AS n FROM orders"})
    assert client.get("/views/n").json()["rows"] == [{"n": 4}]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "message"),
    [
        ("GET", "/views/nothing", None, 404, "no view 'nothing'"),
        ("GET", "/views/spend?limit=-1", None, 400, "limit must be a whole number"),
        ("GET", "/views/spend?format=xml", None, 400, "no format"),
        ("POST", "/query", {"sql": "SELEC 1"}, 400, ""),
        ("POST", "/query", {"sql": 1}, 400, "'sql'"),
        ("POST", "/query", [], 400, "JSON object"),
        ("POST", "/query", {"sql": "DELETE FROM orders"}, 400, "not a query"),
        ("POST", "/changes", {"changes": {"orders": [{"_change_type": "insert", "id": 1}]}}, 409, "orders"),
        ("POST", "/changes", {"changes": {"nothing": []}}, 400, "nothing"),
        ("GET", "/v1/shape", None, 400, "needs the name"),
        ("GET", "/v1/shape?table=spend&where=x", None, 400, "define a view"),
    ],
)
def test_mistakes_are_answered(
    client: httpx.Client, method: str, path: str, body: Any, status: int, message: str
) -> None:
    found = client.request(method, path, json=body) if body is not None else client.request(method, path)
    assert found.status_code == status and message in found.json()["message"]
    assert client.get("/tables/orders").json()["count"] == 3


def test_no_page_of_another_site_can_change_anything(server: Server, client: httpx.Client) -> None:
    form = client.post(
        "/execute", content='{"sql": "DELETE FROM orders"}', headers={"content-type": "text/plain"}
    )
    assert form.status_code == 400 and "JSON" in form.json()["message"]
    assert client.get("/views", headers={"host": "evil.example"}).status_code == 403
    assert client.get("/tables/orders").json()["count"] == 3


def test_elsewhere_than_on_loopback_a_token_is_needed(db: ec.Database) -> None:
    with serve(db, host="0.0.0.0", port=0) as server:
        url = server.url.replace("0.0.0.0", "127.0.0.1")
        assert server.token and httpx.get(f"{url}/views").status_code == 401
        assert (
            httpx.get(f"{url}/views", headers={"authorization": f"Bearer {server.token}"}).status_code == 200
        )
        assert httpx.get(f"{url}/views?token={server.token}").status_code == 200
        assert httpx.get(f"{url}/views?token=x").status_code == 401


def test_a_server_that_only_reads(db: ec.Database) -> None:
    with serve(db, port=0, writes=False) as server:
        found = httpx.post(f"{server.url}/execute", json={"sql": "DELETE FROM orders"})
        assert found.status_code == 409 and len(db.table("orders")) == 3


def test_a_port_that_is_taken(db: ec.Database, server: Server) -> None:
    port = int(server.url.rpartition(":")[2])
    with pytest.raises(QueryError, match="cannot be used"):
        serve(db, port=port)


def test_shapes_follow_a_table_by_key_and_a_view_by_rows(db: ec.Database, client: httpx.Client) -> None:
    first = client.get("/v1/shape?table=orders&offset=-1")
    messages = first.json()
    assert messages[-1] == {"headers": {"control": "up-to-date"}}
    assert messages[0]["key"] == '"public"."orders"/"1"' and messages[0]["value"]["total"] == "9.50"
    assert json.loads(first.headers["electric-schema"])["id"] == {"type": "int8", "pk_index": 0}
    position = {"handle": first.headers["electric-handle"], "offset": first.headers["electric-offset"]}
    db.table("orders").update({"id": 1}, total="1")
    db.table("orders").delete({"id": 3})
    found = client.get("/v1/shape", params={"table": "orders", "live": "true", **position})
    assert [(m["headers"]["operation"], m["key"][-3:]) for m in found.json()[:-1]] == [
        ("update", '"1"'),
        ("delete", '"3"'),
    ]
    assert client.get("/v1/shape", params={"table": "orders", **position, "handle": "x"}).status_code == 409
    bag = client.get("/v1/shape?table=notes&offset=-1").json()
    assert sorted(m["key"] for m in bag[:-1]) == ['"public"."notes"/"a"', '"public"."notes"/_']


def test_a_shape_goes_on_when_only_other_tables_changed(db: ec.Database, client: httpx.Client) -> None:
    db.execute("CREATE TABLE other (x INT)")
    client.get("/v1/shape?table=spend&offset=-1")  # opens the log
    db.table("other").insert([(1,)])
    first = client.get("/v1/shape?table=spend&offset=-1")
    position = {"handle": first.headers["electric-handle"], "offset": first.headers["electric-offset"]}
    found = client.get("/v1/shape", params={"table": "spend", **position})
    assert found.status_code == 200 and found.json() == [{"headers": {"control": "up-to-date"}}]
    ahead = {**position, "offset": "999_0"}
    assert client.get("/v1/shape", params={"table": "spend", **ahead}).status_code == 409


def test_equal_rows_have_no_shape(db: ec.Database, client: httpx.Client) -> None:
    found = client.get("/v1/shape?table=notes&offset=-1")
    assert found.status_code == 400 and "equal rows" in found.json()["message"]


def test_a_slow_client_does_not_slow_a_commit(db: ec.Database, server: Server) -> None:
    """It asks and never reads; commits go on, and others get everything."""
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as silent:
        silent.sendall(b"GET /views/notes/changes HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        time.sleep(0.2)
        done = threading.Event()

        def commit() -> None:
            for i in range(300):
                db.table("orders").insert((5000 + i, 1, 1, "x" * 2000))
            done.set()

        thread = threading.Thread(target=commit)
        with (
            httpx.Client(base_url=server.url, timeout=20) as client,
            following(client, "/views/notes/changes") as events,
        ):
            events.next()
            thread.start()
            seen = [events.next()[1]["version"] for _ in range(300)]
        assert done.wait(10) and len(set(seen)) == 300
        thread.join()


def test_a_dropped_view_ends_its_log(db: ec.Database, client: httpx.Client) -> None:
    with following(client, "/views/notes/changes") as events:
        events.next()
    db.execute("DROP VIEW notes")
    assert client.get("/views/notes/changes").status_code == 404
    db.execute("CREATE VIEW notes AS SELECT id FROM orders")
    with following(client, "/views/notes/changes?snapshot=1") as events:
        assert events.next()[1]["rows"][0] == {"id": 1}
