"""Changes of views in topics: each version once, whoever is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evercurrent.errors import ConflictError, StorageError
from evercurrent.warehouse.database import Warehouse
from tests.kafka.broker import Broker

SCHEMA = """
CREATE TABLE t (id INT PRIMARY KEY, k INT, x DECIMAL(8,2));
CREATE VIEW sums AS SELECT k, count(*) AS n, sum(x) AS total FROM t GROUP BY k;
CREATE VIEW copies AS SELECT k FROM t
"""


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of this size need no Spark."""
    monkeypatch.setattr("evercurrent.engine.spark.engine.private", lambda spark: None)


def applied(broker: Broker, topic: str) -> Counter[Any]:
    """The rows that a reader of a topic has in the end; it refuses to delete what it has not."""
    rows: Counter[Any] = Counter()
    for message in broker.read(topic):
        if message.value() is None:
            continue
        value = json.loads(message.value())
        for side, sign in (("before", -1), ("after", 1)):
            if value[side] is not None:
                row = json.dumps(value[side])
                rows[row] += sign
                assert rows[row] >= 0, "a row was deleted that is not there"
    return +rows


def wanted(db: Warehouse, view: str) -> Counter[Any]:
    names = [f.name for f in db.view(view).schema]
    return Counter(
        json.dumps({n: v if isinstance(v, int) else str(v) for n, v in zip(names, row, strict=True)})
        for row in db.view(view).rows()
    )


def test_rows_and_then_changes(broker: Broker, tmp_path: Path) -> None:
    db = Warehouse(None, tmp_path / "w")
    db.execute(SCHEMA)
    db.table("t").insert([(1, 1, "1.50"), (2, 1, "2.00"), (3, 2, "3.00")])
    for view in ("sums", "copies"):
        sink = db.kafka_sink(view, servers=broker.servers, topic=f"first.{view}", partitions=3)
        assert sink.version is None
        assert sink.send() == (2 if view == "sums" else 3)
        assert sink.send() == 0
        assert applied(broker, f"first.{view}") == wanted(db, view)
        db.execute(
            "UPDATE t SET x = x + 1 WHERE id = 2; DELETE FROM t WHERE id = 3; INSERT INTO t VALUES (4, 7, 1)"
        )
        assert sink.send() > 0
        assert sink.version is not None and sink.version <= db.version
        assert applied(broker, f"first.{view}") == wanted(db, view)
        again = db.kafka_sink(view, servers=broker.servers, topic=f"first.{view}")
        assert again.send() == 0, "another sink begins where the topic is"
        db.execute("DELETE FROM t WHERE id = 4; INSERT INTO t VALUES (3, 2, 3)")
        with pytest.raises(StorageError, match="taken over"):
            sink.send()
        assert again.send() > 0
        assert applied(broker, f"first.{view}") == wanted(db, view)


def test_operations_of_a_view_with_a_key(broker: Broker, tmp_path: Path) -> None:
    db = Warehouse(None, tmp_path / "w")
    db.execute(SCHEMA)
    sink = db.kafka_sink("sums", servers=broker.servers, topic="ops")
    sink.send()
    for text in ("INSERT INTO t VALUES (1, 1, 1)", "UPDATE t SET x = 2", "DELETE FROM t"):
        db.execute(text)
        sink.send()
    found = [(json.loads(m.key()), m.value() and json.loads(m.value())["op"]) for m in broker.read("ops")]
    assert found == [({"k": 1}, "c"), ({"k": 1}, "u"), ({"k": 1}, "d"), ({"k": 1}, None)]


def test_a_topic_that_does_not_fit(broker: Broker, tmp_path: Path) -> None:
    db = Warehouse(None, tmp_path / "w")
    db.execute(SCHEMA)
    db.execute("INSERT INTO t VALUES (1, 1, 1)")
    sink = db.kafka_sink("sums", servers=broker.servers, topic="fit")
    sink.send()
    other = Warehouse(None, tmp_path / "other")
    other.execute(SCHEMA)
    with pytest.raises(ConflictError, match="another warehouse needs another topic"):
        other.kafka_sink("sums", servers=broker.servers, topic="fit").send()
    db.execute("DROP VIEW sums; CREATE VIEW sums AS SELECT k, count(*) AS n FROM t GROUP BY k")
    with pytest.raises(StorageError, match="new topic"):
        db.kafka_sink("sums", servers=broker.servers, topic="fit").send()


SENDER = """
import sys
from evercurrent.engine.spark import engine
engine.private = lambda spark: None
from evercurrent.warehouse.database import Warehouse
from evercurrent.warehouse.sinks import kafka

kafka.TRANSACTION_MESSAGES = 5
db = Warehouse(None, sys.argv[1])
sink = db.kafka_sink("sums", servers=sys.argv[2], topic="killed", partitions=2)
print("begin", flush=True)
at = db.table("t")
n = len(at)
while n < int(sys.argv[3]):
    db.table("t").insert([(n, n % 5, 1), (n + 1, n % 3, 2)])
    n += 2
    print(sink.send(), flush=True)
sink.send()
print("end", flush=True)
"""


def test_senders_that_are_killed(broker: Broker, tmp_path: Path) -> None:
    """Every change is in the topic once, though senders die at any moment and the broker is killed in between."""
    import random

    chance = random.Random(1)
    db = Warehouse(None, tmp_path / "w")
    db.execute(SCHEMA)
    rows, deaths, ended = 400, 0, False
    root = Path(__file__).resolve().parents[2]
    for _ in range(60):
        sender = subprocess.Popen(
            [sys.executable, "-c", SENDER, str(tmp_path / "w"), broker.servers, str(rows)],
            stdout=subprocess.PIPE,
            cwd=root,
            text=True,
        )
        assert sender.stdout is not None
        if sender.stdout.readline().strip() == "begin" and deaths < 12:
            time.sleep(chance.uniform(0.05, 1.5))
            os.kill(sender.pid, signal.SIGKILL)
            sender.wait()
            deaths += 1
            if deaths in (4, 8):
                broker.kill()
                broker.start()
            continue
        ended = sender.stdout.read().strip().endswith("end")
        assert sender.wait(300) == 0
        if ended:
            break
    assert ended and deaths >= 8, deaths
    db.reload()
    assert applied(broker, "killed") == wanted(db, "sums")
    assert len(db.table("t")) >= rows
    seen = Counter(
        (m.key(), json.loads(m.value())["source"]["version"]) for m in broker.read("killed") if m.value()
    )
    assert max(seen.values()) == 1, "a version has one message for a key, and it came once"
