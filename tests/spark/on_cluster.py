"""A batch on a real standalone cluster, while one of its executors is killed. A process of its own: one JVM, one context.

Run as `python -m tests.spark.on_cluster FOLDER [KILLS]`; prints what happened as JSON. After the batch by jobs come batches by
tasks until so many executors have been killed, each in the middle of one.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark

from evercurrent.engine.spark import engine
from evercurrent.engine.spark.intake import frames
from evercurrent.engine.spark.private_session import local_session
from evercurrent.warehouse.changes import apply
from evercurrent.warehouse.database import Warehouse
from tests.loopback import free_port
from tests.spark.dying import die_with_parent

ROWS = 40_000


def started(folder: Path, name: str, *arguments: str) -> subprocess.Popen[bytes]:
    """A daemon of Spark, from the installed package."""
    home = Path(pyspark.__file__).parent
    environment = {**os.environ, "SPARK_DAEMON_MEMORY": "256m", "SPARK_LOCAL_IP": "127.0.0.1"}
    return subprocess.Popen(
        [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments],
        stdout=(folder / f"{name.partition('.')[0]}{len(arguments)}.log").open("ab"),
        stderr=subprocess.STDOUT,
        env=environment,
        start_new_session=True,
        preexec_fn=die_with_parent,  # noqa: PLW1509 -- no other thread runs yet
    )


def executors(driver: int) -> list[int]:
    """The processes of the executors of the driver at this port: they are told its address."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            whole = b" ".join(words)
            if b"CoarseGrainedExecutorBackend" in whole and f":{driver}".encode() in whole:
                found.append(int(entry.name))
    return found


@contextmanager
def two_workers(folder: Path, memory: str = "1g") -> Iterator[str]:
    """A standalone cluster on this machine: a master, whose address it returns, and two workers with a core each."""
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    web = ("--webui-port", str(free_port()))
    daemons = [started(folder, "master.Master", "--host", "127.0.0.1", "--port", str(port), *web)]
    try:
        deadline = time.time() + 120
        while True:
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert time.time() < deadline, "the master does not answer"
            time.sleep(0.2)
        for i in range(2):
            work = folder / f"worker{i}"
            work.mkdir()
            arguments = ["--host", "127.0.0.1", "--cores", "1", "--memory", memory, "--work-dir", str(work)]
            web = ("--webui-port", str(free_port()))
            daemons.append(started(folder, "worker.Worker", *arguments, *web, address))
        yield address
    finally:
        for daemon in daemons:
            os.killpg(daemon.pid, signal.SIGKILL)
            daemon.wait()


def cluster_session(address: str, driver: int, memory: str = "600m") -> Any:
    """A session on the cluster, whose driver listens at this port."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    return local_session(
        address,
        {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.port": str(driver),
            "spark.executor.memory": memory,
            "spark.executor.cores": "1",
            "spark.task.maxFailures": "8",
        },
    )


def main(folder: Path, kills: int) -> dict[str, Any]:
    with two_workers(folder) as address:
        driver = free_port()
        return work_on(cluster_session(address, driver), driver, folder, kills)


@contextmanager
def dying_executor(spark: Any, driver: int, killed: list[int]) -> Iterator[None]:
    """While a batch runs, an executor is killed as soon as tasks are under way."""
    over = threading.Event()

    def kill() -> None:
        tracker = spark.sparkContext.statusTracker()
        while not over.is_set():
            stages = [tracker.getStageInfo(i) for i in tracker.getActiveStageIds()]
            if any(s is not None and s.numActiveTasks for s in stages) and executors(driver):
                victim = executors(driver)[0]
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)
                return
            time.sleep(0.02)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    try:
        yield
    finally:
        over.set()
        killer.join(5)


def replaced(spark: Any, number: int) -> Any:
    """A batch that gives every row of `t` another number: a deletion and an insertion for each."""
    old, new = value_of(number - 1), value_of(number)
    key = ("id", "CAST(id % 5 AS INT) AS k")
    rows = spark.range(0, ROWS, numPartitions=4)
    gone = rows.selectExpr(*key, f"CAST({old} AS INT) AS x", "'delete' AS _change_type")
    return gone.unionAll(rows.selectExpr(*key, f"CAST({new} AS INT) AS x", "'insert' AS _change_type"))


def value_of(number: int) -> str:
    return f"(id + {number} * 7) % 100"


def expected(number: int) -> list[tuple[str, int, int]]:
    """The rows of the view after so many batches."""
    names = ((1, "one"), (2, "two"), (3, "three"))
    sums = {name: sum((i + number * 7) % 100 for i in range(k, ROWS, 5)) for k, name in names}
    return sorted((name, ROWS // 5, total) for name, total in sums.items())


def work_on(spark: Any, driver: int, folder: Path, kills: int) -> dict[str, Any]:
    db = Warehouse(spark, folder / "w", strategy="spark")
    db._core.engine.strategy = "driver"
    db.execute(
        "CREATE TABLE t (id BIGINT PRIMARY KEY, k INT, x INT);"
        "CREATE TABLE u (k INT, name STRING);"
        "INSERT INTO u VALUES (1, 'one'), (2, 'two'), (3, 'three');"
        "CREATE VIEW v AS SELECT u.name, count(*) AS n, sum(t.x) AS s FROM t JOIN u ON t.k = u.k GROUP BY u.name"
    )
    db._core.engine.strategy = "spark"
    columns = ("id", "CAST(id % 5 AS INT) AS k", "CAST(id % 100 AS INT) AS x", "'insert' AS _change_type")
    many = spark.range(0, ROWS, numPartitions=4).selectExpr(*columns)
    before = executors(driver)
    killed: list[int] = []
    with dying_executor(spark, driver, killed):
        run = db.apply({"t": many}, batch="bulk")
    again = db.apply({"t": many}, batch="bulk")
    db._core.engine.strategy = "tasks"
    engine.FORCED_SLICE = 20_000
    frames.SMALL_ROWS = apply.SMALL_ROWS = 1_000  # executors take the changes in
    notes: set[str] = set()
    for number in range(1, kills + 1):
        while len(executors(driver)) < 2:
            time.sleep(0.1)  # the worker starts another one
        changes = replaced(spark, number)
        with dying_executor(spark, driver, killed):
            notes.update(db.apply({"t": changes}, batch=f"replaced {number}").notes)
        assert db.apply({"t": changes}, batch=f"replaced {number}").repeated
        assert sorted(db.view("v").rows()) == expected(number), f"after batch {number}"
    return {
        "executors": len(before),
        "killed": len(killed),
        "strategy": sorted({v.strategy for v in run.views}),
        "jobs": run.jobs,
        "repeated": again.repeated,
        "rows": len(db.table("t")),
        "view": sorted(db.view("v").rows()),
        "verified": bool(db.verify()),
        "notes": sorted(notes),
        "master": spark.sparkContext.master,
    }


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)))
