"""A warehouse over Spark Connect, against a server from the pip-installed PySpark: what the client of `client` reports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("grpc", reason="Spark Connect needs grpcio")
pytest.importorskip("moto")

from tests.spark.connect.server import connect_server
from tests.spark.stores.s3_server import s3_server

pytestmark = pytest.mark.spark
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the client has seen, by step."""
    folder = tmp_path_factory.mktemp("connect")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SPARK_")}
    with s3_server() as endpoint, connect_server(folder / "server.log", sys.executable) as address:
        done = subprocess.run(
            [
                sys.executable,
                "-W",
                "error::DeprecationWarning",
                "-m",
                "tests.spark.connect.client",
                address,
                str(folder),
            ],
            capture_output=True,
            check=False,
            text=True,
            cwd=ROOT,
            env={
                **environment,
                "TEST_S3": endpoint,
                "XDG_CACHE_HOME": str(folder / "cache"),
                "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
            },
            timeout=1200,
        )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert done.returncode == 0, done.stderr[-3000:]
    return {line["step"]: line["found"] for line in lines}


def test_loading_and_views(report: dict[str, Any]) -> None:
    assert report["load_and_views"] == {"rows": 1000, "jobs": True, "spend": 7}


def test_batches_queries_and_verify(report: dict[str, Any]) -> None:
    found = report["batches"]
    totals = {c: sum(i for i in range(1000) if i % 7 == c and i != 1) for c in range(7)}
    totals[0] += 5
    totals[1] += 7
    assert {c: float(t) for c, t, _ in found["spend"]} == totals
    assert (
        found["repeated"]
        and found["jobs"]
        and found["query"] == [[2]]
        and found["verified"]
        and found["own"] == 1
    )


def test_frames_belong_to_the_session_of_the_user(report: dict[str, Any]) -> None:
    assert report["frames"] == {"n": 1001, "feed": ["delete", "insert"], "big": 6}


def test_sources(report: dict[str, Any]) -> None:
    assert report["sources"] == {
        "first": [[1, 2], [2, 1]],
        "then": [[1, 1], [2, 2]],
        "rows_in": 2,
        "files": 5,
        "catalogued": [[7, "a"]],
        "verified": True,
    }


def test_publishing(report: dict[str, Any]) -> None:
    assert report["publishing"] == [7, 8, True]


def test_threads_share_a_warehouse(report: dict[str, Any]) -> None:
    assert report["threads"] == {"rows": 12, "problems": [], "versions": True}


def test_the_session_of_the_user_keeps_its_settings(report: dict[str, Any]) -> None:
    assert report["settings"] == [
        "Asia/Tokyo",
        ["mine"],
        "true",
        3,
        "TransactionError: this database is closed",
    ]


def test_records(report: dict[str, Any]) -> None:
    assert report["records"]["views"] == ["big", "hashed", "spend"] and report["records"]["same"]


def test_a_warehouse_on_s3(report: dict[str, Any]) -> None:
    assert report["object_store"] == {
        "jobs": True,
        "frame": 299,
        "feed": 2,
        "verified": True,
        "repeated": True,
        "by tasks": [[0, 100], [1, 99], [2, 99]],
        "checked": True,
        "published": [99, 99, 100],
    }


def test_sources_on_s3(report: dict[str, Any]) -> None:
    assert report["store_sources"] == {
        "view": [[1, 1], [2, 2]],
        "rows": [[2, 1], [3, 2], [9, 2]],
        "published": 2,
        "verified": True,
    }


def test_what_cannot_work_is_refused_with_a_reason(report: dict[str, Any]) -> None:
    assert report["refusals"]["stream"].startswith(
        "UnsupportedError: db.stream is not possible over Spark Connect: Spark would run every micro-batch in the server"
    )
    assert report["refusals"]["folder"].startswith(
        "StorageError: the server of Spark Connect does not see the folder"
    )
