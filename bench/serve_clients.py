"""What a thousand clients that follow a view cost a commit: `python -m bench.serve_clients`.

Commits of one row, one after another: with no client, with one, and with a thousand, in turns, so that whatever else the
machine does falls on all of them; into a database in memory, and into files of each durability. The clients are in another
process, since they stand for other machines; every one of them must have received every change. Two figures: the seconds that a
commit takes, and the CPU seconds of the thread that commits.
"""

from __future__ import annotations

import argparse
import multiprocessing
import socket
import statistics
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

import evercurrent as ec
from evercurrent.serve.server import serve

CLIENTS = (0, 1, 1000)
KINDS = ("memory", "normal", "full")
COMMITS = 200
PAUSE = 0.005
"""Between two commits: a busy application, not a loop that does nothing else."""


def follow(port: int, clients: int, wanted: int, pipe: Connection) -> None:
    """Opens the streams, says so, reads until every stream has shown the last version, and says how many have."""
    import selectors

    chosen = selectors.DefaultSelector()
    seen: dict[socket.socket, int] = {}
    ready: set[socket.socket] = set()
    for _ in range(clients):
        one = socket.create_connection(("127.0.0.1", port))
        one.sendall(b"GET /views/spend/changes HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        one.setblocking(False)
        chosen.register(one, selectors.EVENT_READ)
        seen[one] = 0
    told, complete = False, set()
    end = time.monotonic() + 120
    while len(complete) < clients and time.monotonic() < end:
        for key, _ in chosen.select(1):
            one = key.fileobj
            assert isinstance(one, socket.socket)
            text = one.recv(1 << 18)
            if b"event: ready" in text:
                ready.add(one)
            seen[one] += text.count(b"\nevent: change\n")
            if seen[one] >= wanted:
                complete.add(one)
        if not told and len(ready) == clients:
            pipe.send("ready")
            told = True
    pipe.send(len(complete))


def commits(db: ec.Database, first: int) -> list[tuple[float, float]]:
    """The seconds of each commit, and the CPU seconds of the thread that made it."""
    orders = db.table("orders")
    taken = []
    for i in range(COMMITS):
        begin, cpu = time.perf_counter(), time.thread_time()
        orders.insert((first + i, i % 50, 1))
        taken.append((time.perf_counter() - begin, time.thread_time() - cpu))
        time.sleep(PAUSE)
    return taken


def followed(kind: str, clients: int) -> tuple[list[tuple[float, float]], int]:
    """Commits to a new database that so many clients follow, and how many of them got every change."""
    with tempfile.TemporaryDirectory() as folder:
        path = None if kind == "memory" else Path(folder) / "shop.db"
        db = ec.connect() if path is None else ec.connect(path, durability=kind)
        db.execute("CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT, total BIGINT)")
        db.execute("CREATE VIEW spend AS SELECT customer, SUM(total) AS total FROM orders GROUP BY customer")
        with db, serve(db, port=0) as server:
            commits(db, 0)
            if not clients:
                return commits(db, 10_000), 0
            ours, theirs = multiprocessing.get_context("spawn").Pipe()
            process = multiprocessing.get_context("spawn").Process(
                target=follow, args=(int(server.url.rpartition(":")[2]), clients, COMMITS, theirs)
            )
            process.start()
            assert ours.recv() == "ready"
            taken = commits(db, 10_000)
            complete = ours.recv()
            process.join()
            return taken, complete


def measure(kind: str, turns: int) -> bool:
    taken: dict[int, list[tuple[float, float]]] = {n: [] for n in CLIENTS}
    complete = dict.fromkeys(CLIENTS, 0)
    for _ in range(turns):
        for clients in CLIENTS:
            found, got = followed(kind, clients)
            taken[clients] += found
            complete[clients] += got
    alone = [statistics.median(column) for column in zip(*taken[0], strict=True)]
    print(f"{kind}: medians of {len(taken[0])} commits")
    for clients, found in taken.items():
        wall, cpu = (statistics.median(column) for column in zip(*found, strict=True))
        slow = statistics.quantiles([w for w, _ in found], n=20)[18]
        print(
            f"{clients:5} clients: {wall * 1e6:7.1f} us ({wall / alone[0]:.2f} times; 95 of 100 within "
            f"{slow * 1e6:7.1f}), CPU {cpu * 1e6:6.1f} us ({cpu / alone[1]:.2f} times); "
            f"{complete[clients]} of {clients * turns} got every change",
            flush=True,
        )
    return all(complete[n] == n * turns for n in CLIENTS)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--kinds", nargs="*", default=KINDS, choices=KINDS)
    given = parser.parse_args()
    return 0 if all([measure(kind, given.turns) for kind in given.kinds]) else 1


if __name__ == "__main__":
    sys.exit(main())
