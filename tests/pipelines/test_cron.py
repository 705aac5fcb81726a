"""Runs as cron and Airflow start them: a process, its exit code, one line of JSON, retries that count once."""

from __future__ import annotations

import fcntl
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

from tests.pipelines.project import SPEC, Project

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    "transformations/a.py": """
        from pyspark import pipelines as dp

        @dp.materialized_view
        def visits():
            return spark.read.schema("page STRING, n INT").json("{lake}")
        """,
    "transformations/b.sql": """
        CREATE MATERIALIZED VIEW pages AS SELECT page, count(*) AS visits, sum(n) AS n FROM visits GROUP BY page
        """,
}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "evercurrent.cli.main", "run", *arguments]


def run(*arguments: str, seconds: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, timeout=seconds, check=False, cwd=ROOT
    )


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    (tmp_path / "transformations").mkdir()
    file = tmp_path / "spark-pipeline.yml"
    file.write_text(SPEC.format(name="cron", folder=tmp_path))
    return file


def test_another_run_is_active(spec: Path, tmp_path: Path) -> None:
    """The answer comes before Spark is started."""
    (tmp_path / "w" / "pipeline").mkdir(parents=True)
    with (tmp_path / "w" / "pipeline" / "run.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write(json.dumps({"process": 7, "host": "here", "since": "2026-05-01 12:00:00"}))
        lock.flush()
        done = run(str(spec), "--warehouse", str(tmp_path / "w"), "--json", "--master", "no such master")
    assert done.returncode == 4
    said = "another run of this pipeline is active: process 7 on here, since 2026-05-01 12:00:00"
    assert said in done.stderr and "--wait SECONDS" in done.stderr
    answer = json.loads(done.stdout)
    assert answer["state"] == "failed" and said in answer["error"]


def test_a_completed_run_is_not_repeated(spec: Path, tmp_path: Path) -> None:
    (tmp_path / "w" / "pipeline").mkdir(parents=True)
    (tmp_path / "w" / "pipeline" / "completed.json").write_text('{"monday": "2026-05-01T12:00:00+00:00"}')
    done = run(
        str(spec), "--warehouse", str(tmp_path / "w"), "--json", "--batch", "monday", "--master", "no such"
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["state"], answer["repeated"], answer["batch"]) == ("completed", True, "monday")


def test_exit_codes(spec: Path, tmp_path: Path) -> None:
    assert run(str(spec), "--no-such-option").returncode == 2
    missing = run(str(tmp_path / "spark-pipelines.yml"), "--json")
    assert missing.returncode == 1 and json.loads(missing.stdout)["state"] == "failed"
    spec.write_text("name: [")
    broken = run(str(spec), "--json")
    assert broken.returncode == 1 and json.loads(broken.stdout)["state"] == "failed"


KILLED = """
import json, sys
from pathlib import Path
from tests.pipelines.project import Project
from tests.spark_session import small_session

Project(small_session("killed"), Path(sys.argv[1]), "cron", json.loads(sys.argv[2])).run(batch="monday")
"""


@pytest.mark.spark
@pytest.mark.slow
def test_a_run_that_is_killed_is_repeated_and_counts_once(spark: Any, tmp_path: Path) -> None:
    lake, folder = tmp_path / "lake", tmp_path / "project"
    lake.mkdir()
    for n in range(3):
        (lake / f"{n}.json").write_text("".join(f'{{"page": "/{i % 4}", "n": {i}}}\n' for i in range(500)))
    files = {path: text.replace("{lake}", str(lake)) for path, text in FILES.items()}
    project = Project(spark, folder, "cron", files)
    try:
        first = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(folder), json.dumps(files)], cwd=ROOT, start_new_session=True
        )
        log = folder / "storage" / "evercurrent" / "_log"
        limit = time.monotonic() + 120
        while first.poll() is None and not (log.is_dir() and any(log.iterdir())):
            assert time.monotonic() < limit
            time.sleep(0.02)
        time.sleep(0.3)
        assert first.poll() is None, "it ended before it was killed"
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
        wanted = Counter({(f"/{k}", 375, sum(3 * i for i in range(500) if i % 4 == k)): 1 for k in range(4)})
        again = project.run(batch="monday")
        assert again.state == "completed" and not again.repeated
        assert project.rows("pages") == wanted and sum(project.rows("visits").values()) == 1_500
        assert project.run(batch="monday").repeated
        (lake / "3.json").write_text('{"page": "/0", "n": 1}\n')
        assert project.run(batch="monday").repeated and project.rows("pages") == wanted
        assert project.run(batch="tuesday").datasets[-1].rows_changed == 2
    finally:
        project.close()
