"""What a thousand clients that follow a view cost a commit: `python -m bench.serve_clients`.

Commits of one row, one after another, with no client and with a thousand. The clients are in another process, since they
stand for other machines; every one of them must have received every change.
"""

from __future__ import annotations

import multiprocessing
import socket
import statistics
import sys
import time
from multiprocessing.connection import Connection

import evercurrent as ec
from evercurrent.serve.server import serve

CLIENTS = 1000
COMMITS = 400
PAUSE = 0.005
"""Between two commits: a busy application, not a loop that does nothing else."""


def follow(port: int, clients: int, wanted: int, pipe: Connection) -> None:
    """Opens the streams, says so, reads until every stream has shown the last version, and says how many have."""
    import selectors

    chosen = selectors.DefaultSelector()
    text: dict[socket.socket, bytearray] = {}
    for _ in range(clients):
        one = socket.create_connection(("127.0.0.1", port))
        one.sendall(b"GET /views/spend/changes HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        one.setblocking(False)
        chosen.register(one, selectors.EVENT_READ)
        text[one] = bytearray()
    ready: set[socket.socket] = set()
    told, complete = False, set()
    end = time.monotonic() + 120
    while len(complete) < clients and time.monotonic() < end:
        for key, _ in chosen.select(1):
            one = key.fileobj
            assert isinstance(one, socket.socket)
            text[one] += one.recv(1 << 16)
            if one not in ready and b"event: ready" in text[one]:
                ready.add(one)
            if text[one].count(b"event: change") >= wanted:
                complete.add(one)
        if not told and len(ready) == clients:
            pipe.send("ready")
            told = True
    pipe.send(len(complete))


def commits(db: ec.Database, first: int) -> float:
    """The median seconds of a commit."""
    orders = db.table("orders")
    taken = []
    for i in range(COMMITS):
        begin = time.perf_counter()
        orders.insert((first + i, i % 50, 1))
        taken.append(time.perf_counter() - begin)
        time.sleep(PAUSE)
    return statistics.median(taken)


def main() -> int:
    db = ec.connect()
    db.execute("CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT, total BIGINT)")
    db.execute("CREATE VIEW spend AS SELECT customer, SUM(total) AS total FROM orders GROUP BY customer")
    with serve(db, port=0) as server:
        port = int(server.url.rpartition(":")[2])
        commits(db, 0)
        alone = commits(db, 10_000)
        ours, theirs = multiprocessing.get_context("spawn").Pipe()
        process = multiprocessing.get_context("spawn").Process(
            target=follow, args=(port, CLIENTS, COMMITS, theirs)
        )
        process.start()
        assert ours.recv() == "ready"
        followed = commits(db, 20_000)
        complete = ours.recv()
        process.join()
    print(f"a commit alone                 {alone * 1e6:8.1f} us (median of {COMMITS})")
    print(f"with {CLIENTS} clients             {followed * 1e6:8.1f} us, {followed / alone:.2f} times")
    print(f"clients that got every change  {complete} of {CLIENTS}")
    return 0 if complete == CLIENTS else 1


if __name__ == "__main__":
    sys.exit(main())
