"""Kills PostgreSQL, and the writer that follows it, at random instants; nothing is lost, doubled or half there.

    python -m tests.postgres --kills 150 --server-kills 50

The rows of PostgreSQL are a function of the number of transactions that it holds. The writer is a child of `fork` that refreshes in a loop.
After each kill the file is opened: it holds what PostgreSQL held after some number of transactions, never fewer than before. Then it is
refreshed, and holds what PostgreSQL holds.
"""

from __future__ import annotations

import os
import random
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg

import evercurrent as ec
from evercurrent.errors import StorageError
from tests.postgres.cluster import Cluster

ACCOUNTS = 6
KEPT = 15
"""Rows of the ledger that stay."""


@dataclass
class Tally:
    """What a campaign has seen."""

    writer_kills: int = 0
    server_kills: int = 0
    transactions: int = 0


class Model:
    """What PostgreSQL holds after so many transactions."""

    def __init__(self) -> None:
        self.done = 0
        self.accounts = dict.fromkeys(range(ACCOUNTS), 100)
        self.ledger: dict[int, int] = {}

    def go_to(self, number: int) -> None:
        while self.done < number:
            self.done += 1
            source, target, amount = drawn(self.done)
            self.accounts[source] -= amount
            self.accounts[target] += amount
            self.ledger[self.done] = amount
            self.ledger.pop(self.done - KEPT, None)


def drawn(number: int) -> tuple[int, int, int]:
    draw = random.Random(number)
    source, target = draw.sample(range(ACCOUNTS), 2)
    return source, target, draw.randrange(1, 50)


def prepare(cluster: Cluster) -> None:
    cluster.execute("CREATE TABLE accounts (id int PRIMARY KEY, balance numeric(12,2))")
    cluster.execute("CREATE TABLE ledger (id bigint PRIMARY KEY, amount int)")
    cluster.execute("INSERT INTO accounts SELECT i, 100 FROM generate_series(0, %s) i", ACCOUNTS - 1)


def work(cluster: Cluster, draw: random.Random) -> None:
    """Some transactions; ends early if the server is gone."""
    with suppress(psycopg.Error), psycopg.connect(cluster.address, connect_timeout=5) as connection:
        found = connection.execute("SELECT coalesce(max(id), 0) FROM ledger").fetchone()
        assert found is not None
        for number in range(found[0] + 1, found[0] + 1 + draw.randrange(1, 12)):
            source, target, amount = drawn(number)
            connection.execute("UPDATE accounts SET balance = balance - %s WHERE id = %s", (amount, source))
            connection.execute("INSERT INTO ledger VALUES (%s, %s)", (number, amount))
            connection.execute("UPDATE accounts SET balance = balance + %s WHERE id = %s", (amount, target))
            connection.execute("DELETE FROM ledger WHERE id = %s", (number - KEPT,))
            connection.commit()


def open_file(cluster: Cluster, path: Path) -> ec.Database:
    db = ec.connect(path, durability="normal")
    if "total" not in db.views:
        for table in ("accounts", "ledger"):
            db.source(table, postgres=cluster.address)
        db.execute("CREATE VIEW total AS SELECT SUM(balance) AS total FROM accounts")
        db.execute(
            "CREATE VIEW amounts AS SELECT amount % 5 AS kind, COUNT(*) AS n, MAX(id) AS last FROM ledger GROUP BY amount % 5"
        )
    return db


def follow(cluster: Cluster, path: Path) -> None:
    """The writer: refreshes until it is killed."""
    db = open_file(cluster, path)
    for table in ("accounts", "ledger"):
        while True:
            try:
                db.source(table, postgres=cluster.address)
                break
            except StorageError:
                time.sleep(0.01)
    while True:
        try:
            db.refresh()
        except StorageError:  # the server is gone for a while
            time.sleep(0.01)


def check(db: ec.Database, model: Model) -> None:
    """The file holds what PostgreSQL held after some number of transactions, not fewer than before."""
    ledger = dict(db.table("ledger").rows())
    number = max(ledger, default=0)
    assert number >= model.done, "committed changes are lost"
    model.go_to(number)
    assert ledger == model.ledger
    assert {i: int(b) for i, b in db.table("accounts").rows()} == model.accounts
    assert db.view("total").rows() == [(ACCOUNTS * 100,)]
    assert db.verify()


def run(cluster: Cluster, path: Path, kills: int, server_kills: int, seed: int) -> Tally:
    draw, tally, model = random.Random(seed), Tally(), Model()
    prepare(cluster)
    open_file(cluster, path).close()
    turns = ["writer"] * kills + ["server"] * server_kills
    draw.shuffle(turns)
    for turn in turns:
        child = os.fork()
        if not child:
            try:
                follow(cluster, path)
            finally:
                os._exit(1)
        try:
            work(cluster, draw)
            time.sleep(draw.random() * 0.1)
            if turn == "server":
                tally.server_kills += 1
                cluster.kill()
                cluster.start()
                work(cluster, draw)
                time.sleep(draw.random() * 0.2)
        finally:
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), "the writer has failed"
        tally.writer_kills += 1
        with open_file(cluster, path) as db:
            assert not db.read_only
            check(db, model)
            for table in ("accounts", "ledger"):
                db.source(table, postgres=cluster.address)
            db.refresh()
            (last,) = cluster.execute("SELECT coalesce(max(id), 0) FROM ledger")[0]
            check(db, model)
            assert model.done == last, "changes of PostgreSQL are missing"
            assert len(cluster.execute("SELECT 1 FROM pg_replication_slots")) == 2
        tally.transactions = model.done
    return tally
