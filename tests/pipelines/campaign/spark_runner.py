"""Spark's own runner, in a process of its own: commands come as lines of JSON, answers go as lines of JSON.

    {"sql": "CREATE DATABASE p"}                  {"rows": []}
    {"run": "project/spark-pipeline.yml"}         {"seconds": 2.1}

It starts a local Connect server as `spark-pipelines` does, and calls the functions of its command `run`. One server for all runs:
the times are those of runs, not of starting Spark.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


class SparkRunner:
    """The process, as the tests see it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.log = (folder / "spark_runner.log").open("w")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.pipelines.campaign.spark_runner", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env={**os.environ, "PYSPARK_PYTHON": sys.executable},
            cwd=Path(__file__).resolve().parents[3],
        )

    def ask(self, **command: Any) -> Any:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith(MARK):
                answer = json.loads(line.removeprefix(MARK))
                assert "error" not in answer, answer["error"]
                return answer
        raise AssertionError(f"Spark's runner has ended; see {self.log.name}")

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(60)
        self.log.close()


MARK = "answer: "


def serve(folder: str) -> None:
    from pyspark.pipelines import cli
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.config("spark.api.mode", "connect")
        .config("spark.master", "local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.connect.grpc.binding.address", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", f"{folder}/spark-warehouse")
        .getOrCreate()
    )
    for line in sys.stdin:
        command = json.loads(line)
        try:
            # A session of its own, as `spark-pipelines` has: what another one remembers of tables may be out of date.
            session = spark.newSession()
            if "sql" in command:
                rows = [tuple(map(str, row)) for row in session.sql(command["sql"]).collect()]
                answer: dict[str, Any] = {"rows": rows}
            else:
                answer = {"seconds": run(cli, session, Path(command["run"]), command)}
        except Exception as problem:
            answer = {"error": f"{type(problem).__name__}: {problem}"}
        print(MARK + json.dumps(answer), flush=True)
    spark.stop()


def run(cli: Any, spark: Any, file: Path, command: dict[str, Any]) -> float:
    begin = time.perf_counter()
    spec = cli.load_pipeline_spec(file)
    graph = cli.create_dataflow_graph(spark, spec.catalog, spec.database, spec.configuration)
    cli.register_definitions(file, cli.SparkConnectGraphElementRegistry(spark, graph), spec, spark, graph)
    options = {"full_refresh": [], "full_refresh_all": False, "refresh": [], "dry": False}
    options |= {k: v for k, v in command.items() if k in options}
    cli.handle_pipeline_events(cli.start_run(spark, graph, storage=spec.storage, **options))
    return time.perf_counter() - begin


if __name__ == "__main__":
    serve(sys.argv[1])
