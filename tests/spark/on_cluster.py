"""A batch on a real standalone cluster, while one of its executors is killed. A process of its own: one JVM, one context.

Run as `python -m tests.spark.on_cluster FOLDER`; prints what happened as JSON.
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
from pathlib import Path
from typing import Any

import pyspark

from evercurrent.engine.spark.private_session import local_session
from evercurrent.warehouse.database import Warehouse

ROWS = 40_000


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


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


def main(folder: Path) -> dict[str, Any]:
    port, driver = free_port(), free_port()
    address = f"spark://127.0.0.1:{port}"
    daemons = [
        started(
            folder,
            "master.Master",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--webui-port",
            str(free_port()),
        )
    ]
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
            arguments = ["--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--work-dir", str(work)]
            web = ["--webui-port", str(free_port())]
            daemons.append(started(folder, "worker.Worker", *arguments, *web, address))
        return work_on(address, driver, folder)
    finally:
        for daemon in daemons:
            os.killpg(daemon.pid, signal.SIGKILL)
            daemon.wait()


def work_on(address: str, driver: int, folder: Path) -> dict[str, Any]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = local_session(
        address,
        {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.port": str(driver),
            "spark.executor.memory": "600m",
            "spark.executor.cores": "1",
            "spark.task.maxFailures": "8",
        },
    )
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
    killed: list[int] = []

    def kill() -> None:
        """Kill an executor as soon as the batch has tasks under way."""
        tracker = spark.sparkContext.statusTracker()
        while not killed:
            stages = [tracker.getStageInfo(i) for i in tracker.getActiveStageIds()]
            if any(s is not None and s.numActiveTasks for s in stages) and executors(driver):
                victim = executors(driver)[0]
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)
            time.sleep(0.02)

    before = executors(driver)
    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    run = db.apply({"t": many}, batch="bulk")
    killer.join(5)
    again = db.apply({"t": many}, batch="bulk")
    return {
        "executors": len(before),
        "killed": len(killed),
        "strategy": sorted({v.strategy for v in run.views}),
        "jobs": run.jobs,
        "repeated": again.repeated,
        "rows": len(db.table("t")),
        "view": sorted(db.view("v").rows()),
        "verified": bool(db.verify()),
        "master": spark.sparkContext.master,
    }


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
