"""Change capture from end to end while drivers and the broker are killed: nothing is lost, nothing is doubled.

    changes of a table -> topic `orders` -> warehouse, view `spend` -> topic `spend`

The changes are written twice now and then, as connectors do after a restart of their own.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evercurrent.warehouse.database import Warehouse
from tests.kafka.broker import Broker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
KILLS = int(os.environ.get("EVERCURRENT_KAFKA_KILLS", "3"))
SEED = int(os.environ.get("EVERCURRENT_SEED", "1"))


class Shop:
    """A table that changes, and the messages that say so."""

    def __init__(self) -> None:
        self.rows: dict[int, dict[str, int]] = {}
        self.chance = random.Random(SEED)

    def changes(self, number: int) -> list[tuple[bytes | None, bytes | None]]:
        found = [self.change() for _ in range(number)]
        if self.chance.random() < 0.5:
            found += found[-20:]  # the last ones again, in their order
        return [m for messages in found for m in messages]

    def change(self) -> list[tuple[bytes | None, bytes | None]]:
        kind = self.chance.choice("cccuud")
        if kind == "c" or not self.rows:
            id, before = len(self.rows) + self.chance.randrange(1_000_000), None
            while id in self.rows:
                id += 1
        else:
            id = self.chance.choice(list(self.rows))
            before = self.rows[id]
        key = json.dumps({"id": id}).encode()
        if kind == "d" and before is not None:
            del self.rows[id]
            return [(key, json.dumps({"op": "d", "before": before, "after": None}).encode()), (key, None)]
        self.rows[id] = {"id": id, "customer": self.chance.randrange(20), "total": self.chance.randrange(100)}
        value = {"op": "c" if before is None else "u", "before": before, "after": self.rows[id]}
        return [(key, json.dumps(value).encode())]


def start_driver(folder: Path, broker: Broker) -> subprocess.Popen[str]:
    driver = subprocess.Popen(
        [sys.executable, "-m", "tests.kafka.driver", str(folder), broker.servers],
        stdout=subprocess.PIPE,
        stderr=(folder / "driver.log").open("a"),
        cwd=ROOT,
        text=True,
        start_new_session=True,  # the driver and its JVM are killed together
    )
    assert driver.stdout is not None
    assert driver.stdout.readline().strip() == "begin", (folder / "driver.log").read_text()[-3000:]
    return driver


def read_versions(driver: subprocess.Popen[str], number: int) -> None:
    assert driver.stdout is not None
    for _ in range(number):
        assert driver.stdout.readline(), "the driver has ended"


def test_killed_in_mid_stream(broker: Broker, tmp_path: Path, spark: SparkSession) -> None:
    shop = Shop()
    broker.create("orders", 3)
    broker.produce("orders", shop.changes(400))
    for kill in range(KILLS):
        driver = start_driver(tmp_path, broker)
        broker.produce("orders", shop.changes(300))
        read_versions(driver, 2)
        if kill % 2:
            broker.kill()
            time.sleep(shop.chance.uniform(0, 2))
            broker.start()
            broker.produce("orders", shop.changes(100))
        time.sleep(shop.chance.uniform(0, 4))
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
    driver = start_driver(tmp_path, broker)
    broker.produce("orders", shop.changes(100))
    (tmp_path / "stop").touch()
    driver.communicate(timeout=300)
    assert driver.returncode == 0, (tmp_path / "driver.log").read_text()[-3000:]

    db = Warehouse(spark, tmp_path / "w")
    wanted = sorted(tuple(row.values()) for row in shop.rows.values())
    assert sorted(db.table("orders").rows()) == wanted
    assert db.verify()
    batches = [r.batch for r in db.history() if r.batch]
    assert len(batches) == len(set(batches)) > KILLS
    held: dict[bytes, Any] = {}
    seen: Counter[Any] = Counter()
    for message in broker.read("spend"):
        if message.value() is None:
            continue
        value = json.loads(message.value())
        assert held.get(message.key()) == value["before"], "each change begins where the one before has ended"
        held[message.key()] = value["after"]
        seen[message.key(), value["source"]["version"]] += 1
    assert max(seen.values()) == 1, "no change came twice"
    rows = [(v["customer"], v["n"], v["total"]) for v in held.values() if v is not None]
    assert sorted(rows) == sorted(db.view("spend").rows())
