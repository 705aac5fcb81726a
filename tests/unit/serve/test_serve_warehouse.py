"""A warehouse, served: rows, changes of every driver, derivations, runs. Batches of this size need no Spark."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

import evercurrent as ec
from evercurrent.engine.spark import engine
from evercurrent.serve import following as following_module
from evercurrent.serve.server import Server, serve
from evercurrent.warehouse.database import Warehouse
from tests.unit.serve.test_serve import ShapeClient, following

DEFINITIONS = """
CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT NOT NULL, total DECIMAL(12,2), note STRING);
CREATE VIEW spend AS SELECT customer, SUM(total) AS total FROM orders GROUP BY customer;
CREATE VIEW notes AS SELECT note FROM orders;
"""


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(engine, "private", lambda spark: None)
    monkeypatch.setattr(following_module, "PAUSE", 0.05)
    monkeypatch.setattr(following_module.Following.__init__, "__defaults__", (0.05,))
    return tmp_path / "warehouse"


@pytest.fixture
def db(path: Path) -> Warehouse:
    found = Warehouse(None, path, progress=False)
    found.execute(DEFINITIONS)
    found.table("orders").insert([(1, 7, "9.50", "a"), (2, 7, "3", None), (3, 8, "1", "a")])
    return found


@pytest.fixture
def server(db: Warehouse) -> Iterator[Server]:
    with serve(db, port=0) as running:
        yield running


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=20) as found:
        yield found


def test_rows_of_tables_and_views(db: Warehouse, client: httpx.Client) -> None:
    found = client.get("/views/spend")
    assert found.headers["evercurrent-version"] == str(db.version)
    rows = sorted(found.json()["rows"], key=lambda r: r["customer"])
    assert rows == [{"customer": 7, "total": "12.50"}, {"customer": 8, "total": "1.00"}]
    assert "orders" in client.get('/views/spend/why?row=[7,"12.50"]').text
    assert "strategy" in client.get("/views/spend/explain").text
    metrics = client.get("/metrics").text
    assert 'evercurrent_entries{kind="table",name="orders"} 3' in metrics


def test_versions_of_other_drivers_are_followed(db: Warehouse, path: Path, client: httpx.Client) -> None:
    other = Warehouse(None, path, progress=False)
    with following(client, "/views/spend/changes?snapshot=true") as events:
        assert events.next()[0] == "snapshot"
        other.table("orders").insert((4, 8, "2", "b"))
        kind, data, identity = events.next()
        assert (kind, data["version"], identity) == ("change", other.version, str(other.version))
        assert data["inserted"] == [{"customer": 8, "total": "3.00"}]
    assert client.get("/health").json()["version"] == other.version


def test_a_client_goes_on_after_the_server_was_started_again(db: Warehouse, path: Path) -> None:
    with serve(db, port=0) as first, httpx.Client(base_url=first.url, timeout=20) as client:
        with following(client, "/views/spend/changes") as events:
            _, _, last = events.next()
        shape = ShapeClient(client, "spend")
    db.table("orders").insert((4, 9, "2", "b"))
    again = Warehouse(None, path, progress=False)
    again.table("orders").insert((5, 9, "1", "b"))
    with serve(again, port=0) as second, httpx.Client(base_url=second.url, timeout=20) as client:
        with following(client, "/views/spend/changes", **{"Last-Event-ID": last or ""}) as events:
            assert events.next()[1]["inserted"] == [{"customer": 9, "total": "2.00"}]
            assert events.next()[1]["inserted"] == [{"customer": 9, "total": "3.00"}]
        shape.client = client
        shape.read()
        assert shape.operations[-2:] == ["insert", "update"]


def test_batches_are_remembered_by_the_warehouse(db: Warehouse, path: Path, client: httpx.Client) -> None:
    body = {"batch": "b1", "changes": {"orders": [{"_change_type": "delete", "id": 1}]}}
    assert client.post("/changes", json=body).json()["applied"] is True
    assert client.post("/changes", json=body).json()["applied"] is False
    with serve(Warehouse(None, path, progress=False), port=0) as second:
        assert httpx.post(f"{second.url}/changes", json=body).json()["applied"] is False


def test_the_studio_shows_a_warehouse(db: Warehouse, client: httpx.Client) -> None:
    graph = client.get("/studio/api/graph").json()
    nodes = {n["id"]: n for n in graph["nodes"]}
    assert graph["kind"] == "warehouse"
    assert nodes["table:orders"]["rows"] == 3 and nodes["view:spend"]["rows"] == 2
    assert nodes["view:spend"]["bytes"] > 0
    before = db.version
    db.execute("DELETE FROM orders WHERE customer = 8")
    rows = "/studio/api/rows/view/spend?sort=customer"
    assert client.get(rows).json()["rows"] == [[7, "12.50"]]
    assert client.get(f"{rows}&version={before}").json()["rows"] == [[7, "12.50"], [8, "1.00"]]
    (step,) = client.get("/studio/api/why/spend", params={"row": json.dumps([7, "12.50"])}).json()[
        "relations"
    ]
    assert [row[0] for row in step["rows"]] == [1, 2]
    runs = client.get("/studio/api/runs").json()["runs"]
    assert all("views" in run and "rows_in" in run for run in runs)  # of definitions, too
    assert runs[-1]["version"] == db.version and runs[-1]["rows_in"] == {"orders": 1}
    assert {v["view"] for v in runs[-1]["views"]} == {"spend", "notes"}
    assert all(v["strategy"] and v["reason"] for v in runs[-1]["views"])
    history = client.get("/studio/api/history/view/spend").json()
    assert [c[:3] for c in history["changes"]][-1] == [db.version, 0, 1] and history["begins"] < before


def test_a_file_is_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following_module.Following.__init__, "__defaults__", (0.05,))
    with closing(ec.connect(tmp_path / "shop.db")) as db:
        db.execute(DEFINITIONS)
        db.table("orders").insert((1, 7, "9.50", "a"))
        with serve(db, port=0) as server, httpx.Client(base_url=server.url, timeout=20) as client:
            assert client.get("/studio/api/graph").json()["kind"] == "file"
            with following(client, "/views/spend/changes") as events:
                _, _, last = events.next()
            assert last == str(db.version)
            body: dict[str, Any] = {
                "batch": "b",
                "changes": {"orders": [{"_change_type": "delete", "id": 1}]},
            }
            assert client.post("/changes", json=body).json()["applied"] is True
    with closing(ec.connect(tmp_path / "shop.db")) as db, serve(db, port=0) as server:
        assert httpx.post(f"{server.url}/changes", json=body).json()["applied"] is False
        assert httpx.get(f"{server.url}/views/spend").json()["rows"] == []
