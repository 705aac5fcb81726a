"""Tables of a Hive catalog as sources, and tables of a pipeline in it: what the program of `hive` reports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.spark
ROOT = Path(__file__).resolve().parents[3]
ALL = "files changed: all rows now against all rows"
CONTENT = "the table's content against all rows"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the program has seen, by step. It compares rows with Spark's own SQL itself."""
    folder = tmp_path_factory.mktemp("hive")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SPARK_")}
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.catalogs.hive", str(folder)],
        capture_output=True,
        check=False,
        text=True,
        cwd=folder,
        env={**environment, "PYTHONPATH": path},
        timeout=1200,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert done.returncode == 0, done.stderr[-3000:]
    return {line["step"]: line["found"] for line in lines}


def test_only_new_files_of_sparks_own_tables_are_read(report: dict[str, Any]) -> None:
    found = report["sources"]["appended"]
    assert found["rows"] == {"parted": 2, "native": 2, "lines": 2}
    assert found["notes"] == {"parted": ALL, "native": "2 new files", "lines": CONTENT}


def test_partitions_that_are_overwritten_dropped_and_elsewhere(report: dict[str, Any]) -> None:
    found = report["sources"]
    assert found["overwritten"]["rows"] == {"parted": 5, "native": 5, "lines": 5}
    assert found["elsewhere"]["rows"] == {"parted": 1, "native": 1, "lines": 1}
    assert found["elsewhere"]["notes"] == {"parted": ALL, "native": ALL, "lines": CONTENT}
    assert found["nothing"]["rows"] == {}


def test_a_table_without_a_past_is_a_copy_and_says_so(report: dict[str, Any]) -> None:
    assert any("parted: a copy of" in line for line in report["sources"]["kept"])


def test_tables_of_a_pipeline_are_in_hive_and_updated(report: dict[str, Any]) -> None:
    assert report["a_pipeline"] == {
        "ways": [["filled", "filled"], ["incremental", "incremental"]],
        "catalog": "spark_catalog",
        "provider": "parquet",
    }
