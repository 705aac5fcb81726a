"""Live views over HTTP: what a client outside the process reads, follows and changes."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
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


def wait_until(holds: Callable[[], bool], seconds: float = 10) -> None:
    """What another process reports arrives a little later."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


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


@pytest.mark.parametrize("rows", [40, 4_000])
def test_pages_are_the_rows_piece_by_piece(rows: int) -> None:
    """Kept as dictionaries and as columns; with equal rows; of tables with a key and without one, and of views of each kind."""
    db = ec.connect()
    db.execute(
        """
        CREATE TABLE t (id BIGINT PRIMARY KEY, g BIGINT, s STRING); CREATE TABLE plain (g BIGINT);
        CREATE VIEW linear AS SELECT g % 7 AS g FROM t;
        CREATE VIEW grouped AS SELECT g, COUNT(*) AS n, MAX(s) AS s FROM t GROUP BY g;
        CREATE VIEW total AS SELECT COUNT(*) AS n FROM t;
        CREATE VIEW ordered AS SELECT id FROM t ORDER BY id DESC LIMIT 30;
        CREATE TEMPORARY VIEW written_out AS SELECT id FROM t WHERE id < 20
        """
    )
    ids = list(range(rows))
    db.table("t").insert(
        pyarrow.table({"id": ids, "g": [i % (rows // 2) for i in ids], "s": [f"s{i % 5}" for i in ids]})
    )
    db.table("plain").insert(pyarrow.table({"g": [i % 9 for i in ids]}))
    assert (db._session.stores["t"].columns is not None) == (rows > 40)
    with serve(db, port=0) as server, httpx.Client(base_url=server.url, timeout=60) as client:
        for kind, name in [
            *(("tables", n) for n in ("t", "plain")),
            *(("views", n) for n in ("linear", "grouped", "total", "ordered", "written_out")),
        ]:
            wanted = client.get(f"/{kind}/{name}").json()
            size = max(7, wanted["count"] // 5)
            pages = [
                client.get(f"/{kind}/{name}?limit={size}&offset={at}").json()
                for at in range(0, wanted["count"] + 1, size)
            ]
            assert {p["count"] for p in pages} == {wanted["count"]}, name
            found = [row for p in pages for row in p["rows"]]
            if name == "ordered":
                assert found == wanted["rows"]
            assert Counter(map(repr, found)) == Counter(map(repr, wanted["rows"])), name
            stream = client.get(f"/{kind}/{name}?format=arrow&limit=3&offset=1").content
            assert pyarrow.ipc.open_stream(stream).read_all().to_pylist() == found[1:4], name


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


def test_a_transaction_does_not_stay_open_between_requests(client: httpx.Client, db: ec.Database) -> None:
    for text, status in (
        ("BEGIN", 409),
        ("BEGIN; DELETE FROM orders", 409),
        ("BEGIN; DELETE FROM orders; INSERT INTO orders VALUES (1 / 0, 1, 1, NULL)", 400),
    ):
        found = client.post("/execute", json={"sql": text})
        assert found.status_code == status
        feed = [{"_change_type": "insert", "id": 4, "customer": 9, "total": 1}]
        assert client.post("/changes", json={"changes": {"orders": feed}}).status_code == 200
        assert len(db.table("orders")) == 4
        db.table("orders").delete(4)
    whole = client.post("/execute", json={"sql": "BEGIN; DELETE FROM orders WHERE id = 1; COMMIT"})
    assert whole.status_code == 200 and len(db.table("orders")) == 2


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


class ShapeClient:
    """Follows a shape as Electric's client does: rows by their keys."""

    def __init__(self, client: httpx.Client, table: str) -> None:
        self.client, self.table = client, table
        self.rows: dict[str, dict[str, Any]] = {}
        self.position: dict[str, str] = {"offset": "-1"}
        self.operations: list[str] = []
        self.read()

    def read(self) -> None:
        found = self.client.get("/v1/shape", params={"table": self.table, **self.position})
        assert found.status_code == 200, found.text
        for message in found.json()[:-1]:
            operation = message["headers"]["operation"]
            self.operations.append(operation)
            if operation == "delete":
                del self.rows[message["key"]]
            else:
                assert (message["key"] in self.rows) == (operation == "update")
                self.rows[message["key"]] = message["value"]
        self.position = {
            "handle": found.headers["electric-handle"],
            "offset": found.headers["electric-offset"],
        }

    def bag(self) -> Counter[str]:
        return Counter(json.dumps(row) for row in self.rows.values())


def test_a_shape_follows_equal_rows(db: ec.Database, client: httpx.Client) -> None:
    """At every moment, clients that came at any time have every row as often as it is there."""
    chosen = random.Random(5)
    followers = [ShapeClient(client, "notes")]
    assert len(followers[0].rows) == 3
    present = {1, 2, 3}
    for step in range(60):
        with db.transaction():
            for _ in range(chosen.randint(1, 4)):
                if present and chosen.random() < 0.45:
                    order = chosen.choice(sorted(present))
                    present.discard(order)
                    db.table("orders").delete({"id": order})
                else:
                    order = 100 + step * 10 + chosen.randint(0, 9)
                    if order not in present:
                        present.add(order)
                        db.table("orders").insert((order, 1, 1, chosen.choice(["a", "b", None])))
        if step % 20 == 7:
            followers.append(ShapeClient(client, "notes"))
        for follower in chosen.sample(followers, chosen.randint(0, len(followers))):
            follower.read()
            assert follower.bag() == Counter(json.dumps({"note": n}) for (n,) in db.view("notes").rows())
    assert len(followers) == 4


def test_a_shape_of_a_view_with_a_key_updates_rows(db: ec.Database, client: httpx.Client) -> None:
    db.execute("CREATE VIEW totals AS SELECT id, total FROM orders WHERE total > 2")
    follower = ShapeClient(client, "totals")
    db.table("orders").update({"id": 1}, total="12")
    follower.operations.clear()
    follower.read()
    assert follower.operations == ["update"]
    assert follower.rows['"public"."totals"/"1"'] == {"id": "1", "total": "12.00"}


def test_different_rows_have_different_identities_in_a_shape(db: ec.Database, client: httpx.Client) -> None:
    db.execute("CREATE TABLE pairs (a STRING, b STRING)")
    db.table("pairs").insert(
        [('x"/"y', "z"), ("x", 'y"/"z'), (None, "_"), ("_", None), ("a", "b#1"), ("a", "b")]
    )
    db.table("pairs").insert([("a", "b")])
    assert len(ShapeClient(client, "pairs").rows) == 7


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


def test_a_client_that_does_not_read_falls_behind_alone(
    db: ec.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waits for it is bounded. When it reads at last, it is told to start over, and its stream ends."""
    from evercurrent.serve import change_log, relay

    monkeypatch.setattr(relay, "KEPT_BYTES", 1_000_000)
    monkeypatch.setattr(
        change_log.ChangeLog.__init__, "__kwdefaults__", {"most_changes": 20, "most_rows": 10_000}
    )
    with serve(db, port=0) as server:
        host, port = server.url.removeprefix("http://").split(":")
        silent = socket.socket()
        silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        silent.connect((host, int(port)))
        silent.sendall(b"GET /views/notes/changes HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        with httpx.Client(base_url=server.url, timeout=20) as client:
            with following(client, "/views/notes/changes") as events:
                events.next()
                for i in range(0, 120, 5):
                    for j in range(5):  # half of what the other process keeps: who reads misses nothing
                        db.table("orders").insert((5000 + i + j, 1, 1, "x" * 100_000))
                    assert [events.next()[0] for _ in range(5)] == ["change"] * 5
            (log,) = server._service.logs.values()
            assert len(log.changes) == 20
        silent.settimeout(10)
        text = bytearray()
        while chunk := silent.recv(1 << 20):
            text += chunk
        silent.close()
        assert text.count(b"event: change") < 120
        assert text.endswith(b"0\r\n\r\n") and b"event: reset" in text[-200:]


def test_the_death_of_the_relay_hurts_nobody(db: ec.Database) -> None:
    """Its clients lose their connections, come again with the last id, and have missed nothing; commits go on."""
    with serve(db, port=0) as server, httpx.Client(base_url=server.url, timeout=20) as client:
        with following(client, "/views/notes/changes") as events:
            events.next()
            db.table("orders").insert((5000, 1, 1, "x"))
            _, change, last = events.next()
            assert last is not None
            relay = server._service.relay
            assert relay is not None and relay.pid is not None
            os.kill(relay.pid, signal.SIGKILL)
            with pytest.raises((httpx.HTTPError, AssertionError)):
                events.next()
        db.table("orders").insert((5001, 1, 1, "y"))
        with following(client, "/views/notes/changes", **{"Last-Event-ID": last}) as events:
            assert events.next()[1]["version"] == change["version"] + 1
            db.table("orders").insert((5002, 1, 1, "z"))
            assert events.next()[1]["version"] == change["version"] + 2
            wait_until(lambda: "evercurrent_streams 1\n" in client.get("/metrics").text)
        process = server._service.relay
        assert process is not None and process.pid is not None
        pid = process.pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_quiet_clients_are_told_that_the_server_is_alive(
    db: ec.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evercurrent.serve import relay

    monkeypatch.setattr(relay, "HEARTBEAT", 0.05)
    with (
        serve(db, port=0) as server,
        httpx.Client(base_url=server.url, timeout=10) as client,
        client.stream("GET", "/views/spend/changes") as response,
    ):
        assert ": alive" in (line for line in response.iter_lines())


def test_fastapi_mounts_the_application(db: ec.Database) -> None:
    fastapi = pytest.importorskip("fastapi")
    uvicorn = pytest.importorskip("uvicorn")
    from evercurrent.serve.application import application
    from evercurrent.serve.server import open_socket

    app = fastapi.FastAPI()

    @app.get("/own")
    def own() -> dict[str, int]:
        return {"orders": len(db.table("orders"))}

    app.mount("/live", application(db))
    sock, port = open_socket("127.0.0.1", 0)
    running = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.01)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=10, follow_redirects=True) as client:
            assert client.get("/own").json() == {"orders": 3}
            assert client.get("/live/views/spend").json()["count"] == 2
            assert client.get("/live/").url.path == "/live/studio/"
            assert client.get("/live/studio/api/graph").json()["version"] == 1
            with following(client, "/live/views/spend/changes?snapshot=true") as events:
                events.next()
                db.table("orders").insert((4, 8, "2", "b"))
                assert events.next()[1]["inserted"] == [{"customer": 8, "total": "3.00"}]
    finally:
        running.should_exit = running.force_exit = True
        thread.join(10)


def test_a_dropped_view_ends_its_log(db: ec.Database, client: httpx.Client) -> None:
    with following(client, "/views/notes/changes") as events:
        events.next()
    db.execute("DROP VIEW notes")
    assert client.get("/views/notes/changes").status_code == 404
    db.execute("CREATE VIEW notes AS SELECT id FROM orders")
    with following(client, "/views/notes/changes?snapshot=1") as events:
        assert events.next()[1]["rows"][0] == {"id": 1}


def test_tools_for_language_models(db: ec.Database, client: httpx.Client) -> None:
    def ask(method: str, **params: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": 3, "method": method, "params": params}
        found = client.post("/mcp", json=body).json()
        assert (found["jsonrpc"], found["id"]) == ("2.0", 3)
        return found.get("result", found.get("error"))

    def call(name: str, **arguments: Any) -> tuple[str, bool]:
        found = ask("tools/call", name=name, arguments=arguments)
        return found["content"][0]["text"], found["isError"]

    begun = ask("initialize", protocolVersion="2025-03-26", capabilities={}, clientInfo={})
    assert begun["protocolVersion"] == "2025-03-26" and "tools" in begun["capabilities"]
    notified = client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert notified.status_code == 202 and not notified.content
    assert [t["name"] for t in ask("tools/list")["tools"]] == ["list", "query", "explain", "why"]
    assert "view spend (customer BIGINT, total DECIMAL(22,2))" in call("list")[0]
    rows = json.loads(call("query", sql="SELECT id FROM orders ORDER BY id")[0])
    assert rows == {"count": 3, "rows": [{"id": 1}, {"id": 2}, {"id": 3}]}
    assert "policy" in call("explain", view="spend")[0]
    assert "orders" in call("why", view="spend", row=[7, "12.50"])[0]
    text, failed = call("query", sql="SELECT idd FROM orders")
    assert failed and "^^^" in text
    assert call("query", sql="DELETE FROM orders")[1] and len(db.table("orders")) == 3
    assert call("nothing")[1] and ask("nothing")["code"] == -32601
