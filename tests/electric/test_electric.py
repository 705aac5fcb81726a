"""Electric's own client and TanStack DB, unmodified, follow tables and views: `make test-electric` installs it."""

from __future__ import annotations

import json
import queue
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.serve.server import Server, serve

HERE = Path(__file__).resolve().parent
INSTALLED = HERE / "node_modules" / "@electric-sql" / "client"

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or not INSTALLED.exists(),
    reason="needs node and the npm package @electric-sql/client: run `make test-electric`",
)


@contextmanager
def following(server: Server, *tables: str, script: str = "follow.mjs") -> Iterator[queue.Queue[Any]]:
    """The rows that a client has, each time that it is up to date."""
    command = ["node", str(HERE / script), server.url, *tables]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    seen: queue.Queue[Any] = queue.Queue()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            seen.put(json.loads(line))

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        process.kill()
        process.wait()


def wait_for(seen: queue.Queue[Any], wanted: list[dict[str, Any]]) -> None:
    found: Any = None
    while found != wanted:
        found = sorted(seen.get(timeout=30), key=json.dumps)


def test_the_client_follows_a_table_and_a_view() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE orders (id BIGINT PRIMARY KEY, customer INT, paid BOOLEAN, total DOUBLE)")
    db.execute("CREATE VIEW spend AS SELECT customer, SUM(total) AS total FROM orders GROUP BY customer")
    orders = db.table("orders")
    orders.insert([(1, 7, True, 1.5), (2, 8, None, 2.5)])
    with (
        serve(db, port=0) as server,
        following(server, "orders") as table,
        following(server, "spend") as view,
    ):
        first = {"id": 1, "customer": 7, "paid": True, "total": 1.5}
        wait_for(table, [first, {"id": 2, "customer": 8, "paid": None, "total": 2.5}])
        wait_for(view, [{"customer": 7, "total": 1.5}, {"customer": 8, "total": 2.5}])
        orders.update({"id": 1}, total=4.0)
        orders.delete({"id": 2})
        orders.insert((3, 9, False, 0.5))
        wait_for(
            table,
            [{**first, "total": 4.0}, {"id": 3, "customer": 9, "paid": False, "total": 0.5}],
        )
        wait_for(view, [{"customer": 7, "total": 4.0}, {"customer": 9, "total": 0.5}])


@pytest.mark.skipif(
    not (HERE / "node_modules" / "@tanstack" / "electric-db-collection").exists(),
    reason="needs the npm packages of TanStack DB: run `make test-electric`",
)
def test_a_live_query_of_tanstack_db_follows_a_table_and_a_view() -> None:
    """Its collections sync by Electric's protocol; the join of both is its own, and stays current, too."""
    db = ec.connect()
    db.execute("CREATE TABLE customers (id INT PRIMARY KEY, name STRING NOT NULL)")
    db.execute("CREATE TABLE orders (id BIGINT PRIMARY KEY, customer INT, total INT)")
    db.execute("CREATE VIEW spend AS SELECT customer, SUM(total) AS total FROM orders GROUP BY customer")
    db.table("customers").insert([(1, "Ann"), (2, "Bob")])
    db.table("orders").insert([(10, 1, 5), (11, 2, 7)])
    with serve(db, port=0) as server, following(server, script="collection.mjs") as seen:
        wait_for(seen, [{"name": "Ann", "total": 5}, {"name": "Bob", "total": 7}])
        db.table("orders").insert([(12, 1, 3), (13, 3, 1)])
        wait_for(seen, [{"name": "Ann", "total": 8}, {"name": "Bob", "total": 7}])
        db.table("customers").insert((3, "Cid"))
        db.table("orders").delete(11)
        wait_for(seen, [{"name": "Ann", "total": 8}, {"name": "Cid", "total": 1}])
