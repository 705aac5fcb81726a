"""What the page of the studio reads: the graph, pages of rows, derivations, history, the console."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

import evercurrent as ec
from evercurrent.serve.server import serve
from evercurrent.serve.studio.graph import graph_of
from evercurrent.serve.studio.pages import condition_of

DEFINITIONS = """
CREATE TABLE customers (id BIGINT PRIMARY KEY, name STRING NOT NULL, city STRING);
CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT NOT NULL REFERENCES customers (id), total DECIMAL(12,2));
CREATE TABLE edges (a BIGINT, b BIGINT);
CREATE VIEW spend AS
SELECT c.id, c.city, SUM(o.total) AS total FROM orders o JOIN customers c ON c.id = o.customer GROUP BY c.id, c.city;
CREATE VIEW by_city AS SELECT city, SUM(total) AS total FROM spend GROUP BY city;
CREATE VIEW ranked AS SELECT id, total FROM orders ORDER BY total DESC LIMIT 3;
CREATE VIEW paths AS WITH RECURSIVE p (a, b) AS (
    SELECT a, b FROM edges UNION SELECT p.a, e.b FROM p JOIN edges e ON p.b = e.a) SELECT a, b FROM p;
CREATE ASSERTION positive CHECK (NOT EXISTS (SELECT 1 FROM orders WHERE total < 0));
"""


@pytest.fixture
def db() -> ec.Database:
    found = ec.connect()
    found.execute(DEFINITIONS)
    found.table("customers").insert([(1, "Ann", "York"), (2, "Bob", "Leeds"), (3, "Cid", None)])
    found.table("orders").insert([(1, 1, "10"), (2, 1, "5.50"), (3, 2, "200"), (4, 3, "7")])
    return found


@pytest.fixture
def client(db: ec.Database) -> Iterator[httpx.Client]:
    with serve(db, port=0) as server, httpx.Client(base_url=f"{server.url}/studio/api", timeout=10) as found:
        yield found


def rows(client: httpx.Client, path: str) -> list[list[Any]]:
    found = client.get(f"/rows/{path}")
    assert found.status_code == 200, found.text
    return list(found.json()["rows"])


def test_the_graph_leads_from_every_table_to_the_views_that_read_it(db: ec.Database) -> None:
    session = db._session
    graph = graph_of(session.catalog, session.maintenance.design)
    after: dict[str, set[str]] = {}
    for before, target in graph.edges:
        after.setdefault(before, set()).add(target)

    def reached(start: str) -> set[str]:
        seen, waiting = {start}, [start]
        while waiting:
            for node in after.get(waiting.pop(), ()):
                if node not in seen:
                    seen.add(node)
                    waiting.append(node)
        return {n for n in seen if n.startswith(("view:", "assertion:"))}

    assert reached("table:orders") == {"view:spend", "view:by_city", "view:ranked", "assertion:positive"}
    assert reached("table:customers") == {"view:spend", "view:by_city"}
    assert reached("table:edges") == {"view:paths"}
    kept = [n for n in graph.nodes.values() if n.kind == "state"]
    assert {s.name for s in session.maintenance.design.program.states} <= {*graph.stores}
    assert all(n.why for n in kept)
    assert all(any(n.id in edge for edge in graph.edges) for n in kept)


def test_the_graph_says_how_large_everything_is(client: httpx.Client) -> None:
    nodes = {n["id"]: n for n in client.get("/graph").json()["nodes"]}
    assert nodes["table:orders"]["rows"] == 4 and nodes["table:orders"]["bytes"] > 0
    assert nodes["view:spend"]["rows"] == 3 and nodes["view:by_city"]["rows"] == 3
    assert nodes["view:ranked"]["steps"] > 0


def test_pages_are_filtered_and_sorted(client: httpx.Client) -> None:
    by_id = [[1, "York", "15.50"], [2, "Leeds", "200.00"], [3, None, "7.00"]]
    assert sorted(rows(client, "view/spend")) == by_id
    assert rows(client, "view/spend?sort=id") == by_id
    assert rows(client, "view/spend?sort=total&descending=true&limit=2") == [by_id[1], by_id[0]]
    assert rows(client, "view/spend?sort=id&offset=1&limit=1") == [by_id[1]]
    assert rows(client, "view/spend?filter=city:or") == [by_id[0]]
    assert rows(client, "view/spend?filter=city=NULL") == [by_id[2]]
    assert rows(client, "view/spend?sort=id&filter=total>=15.5") == by_id[:2]
    assert rows(client, "view/spend?filter=leeds") == [by_id[1]]
    assert rows(client, "view/ranked") == [[3, "200.00"], [1, "10.00"], [4, "7.00"]]
    assert client.get("/rows/view/spend?sort=nothing").status_code == 400


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("b", ["ab", "bb"]),
        ("s:B", ["ab", "bb"]),
        ("s=ab", ["ab"]),
        ("s!=ab", ["bb", "cc"]),
        ("a s:b", ["ab"]),
        ("x:1", []),
    ],
)
def test_filters(text: str, kept: list[str]) -> None:
    from evercurrent.data.types import STRING, Member

    keep = condition_of(text, (Member("s", STRING),))
    assert keep is not None
    assert [row[0] for row in [("ab",), ("bb",), ("cc",)] if keep(row)] == kept


def test_earlier_versions_are_those_of_the_log(db: ec.Database, client: httpx.Client) -> None:
    wanted = {db.version: sorted(rows(client, "view/spend"))}
    assert client.get("/history/view/spend").json()["changes"] == []  # from here on they are kept
    for statement in (
        "INSERT INTO orders VALUES (5, 2, 1)",
        "DELETE FROM orders WHERE customer = 3",
        "UPDATE orders SET total = 11 WHERE id = 1",
    ):
        db.execute(statement)
        wanted[db.version] = sorted([i, c, str(t)] for i, c, t in db.view("spend").rows())
    for version, found in wanted.items():
        assert sorted(rows(client, f"view/spend?version={version}")) == found
    history = client.get("/history/view/spend").json()
    assert [c[:3] for c in history["changes"]] == [
        [v, i, d] for v, (i, d) in zip(sorted(wanted)[1:], [(1, 1), (0, 1), (1, 1)], strict=True)
    ]
    change = client.get(f"/change/view/spend/{db.version - 1}").json()
    assert change == {"version": db.version - 1, "inserted": [], "deleted": [[3, None, "7.00"]], "more": 0}


def test_a_derivation_goes_one_step_at_a_time(client: httpx.Client) -> None:
    def step(view: str, row: list[Any]) -> dict[str, Any]:
        return dict(client.get(f"/why/{view}", params={"row": json.dumps(row)}).json())

    (first,) = step("by_city", ["York", "15.50"])["relations"]
    assert (first["name"], first["kind"], first["rows"]) == ("spend", "view", [[1, "York", "15.50"]])
    second = {r["name"]: r for r in step("spend", first["rows"][0])["relations"]}
    assert (
        second["orders"]["rows"] == [[1, 1, "10.00"], [2, 1, "5.50"]] and second["orders"]["kind"] == "table"
    )
    assert second["customers"]["rows"] == [[1, "Ann", "York"]]
    assert client.get("/why/by_city", params={"row": '["Paris", 1]'}).status_code == 400


def test_the_console_answers_and_points_at_mistakes(db: ec.Database, client: httpx.Client) -> None:
    def run(text: str, language: str = "sql") -> httpx.Response:
        return client.post("/console", json={"text": text, "language": language})

    found = run("SELECT id FROM orders WHERE total > 9 ORDER BY id").json()
    assert found["rows"] == [[1], [3]] and found["columns"] == [{"name": "id", "type": "BIGINT"}]
    assert run("INSERT INTO edges VALUES (1, 2), (2, 3)").status_code == 200
    assert sorted(db.view("paths").rows()) == [(1, 2), (1, 3), (2, 3)]
    problem = run("SELECT id,\n  totl FROM orders")
    assert problem.status_code == 400
    assert problem.json()["place"] == {"start": 13, "end": 17, "line": 2, "column": 3}
    assert "^^^^" in problem.json()["excerpt"]
    assert run("select o.total from o in orders where o.id = 1", "oql").json()["value"] == ["10.00"]


def test_who_only_reads_cannot_change_by_the_console(db: ec.Database) -> None:
    with serve(db, port=0, writes=False) as server, httpx.Client(base_url=server.url) as client:
        refused = client.post("/studio/api/console", json={"text": "DELETE FROM orders"})
        assert refused.status_code == 400 and len(db.table("orders")) == 4
        refused = client.post("/studio/api/console", json={"text": "define x as 1", "language": "oql"})
        assert refused.status_code in (400, 409) and "x" not in db.views
        answered = client.post("/studio/api/console", json={"text": "SELECT COUNT(*) AS n FROM orders"})
        assert answered.json()["rows"] == [[4]]


def test_the_page_needs_no_token_and_what_it_reads_does(db: ec.Database) -> None:
    with serve(db, port=0, token="secret") as server, httpx.Client(base_url=server.url) as client:
        assert client.get("/studio/").status_code == 200
        assert client.get("/studio/api/graph").status_code == 401
        assert client.get("/studio/api/graph?token=secret").status_code == 200
        assert client.get("/studio/../views").status_code == 401
        assert client.get("/studio/%2e%2e/%2e%2e/pages.py").status_code in (401, 404)
        assert server.page.endswith("/studio/?token=secret")
