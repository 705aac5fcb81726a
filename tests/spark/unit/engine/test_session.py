"""Where a local Spark listens, and what its executors see. No Spark runs here."""

from __future__ import annotations

import os

import pytest

import evercurrent as ec
from evercurrent.engine.spark.private_session import SETTINGS, bind_to_loopback, loopback


def test_local_sessions_listen_on_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_LOCAL_IP", raising=False)
    found = loopback("local[2]")
    assert found["spark.driver.bindAddress"] == found["spark.driver.host"] == "127.0.0.1"
    with bind_to_loopback(bool(found)):
        assert os.environ["SPARK_LOCAL_IP"] == "127.0.0.1"
    assert "SPARK_LOCAL_IP" not in os.environ
    assert loopback("spark://host:7077") == {}, "executors must reach the driver"


def test_what_the_user_says_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_LOCAL_IP", "10.0.0.1")
    assert loopback("local[2]") == {}


def test_texts_are_read_with_settings_of_our_own() -> None:
    assert SETTINGS["spark.sql.variable.substitute"] == "false"
    assert SETTINGS["spark.sql.parser.escapedStringLiterals"] == "false"


class FakeContext:
    """A cluster of four tasks, of which some see a folder."""

    master, defaultParallelism = "spark://host:7077", 2

    def __init__(self, seen: list[bool]) -> None:
        self.seen = seen

    def parallelize(self, paths: list[str], tasks: int) -> FakeContext:
        assert len(paths) == tasks == 4
        return self

    def map(self, function: object) -> FakeContext:
        return self

    def collect(self) -> list[bool]:
        return self.seen


def test_executors_that_do_not_see_the_folder_are_noticed() -> None:
    from types import SimpleNamespace

    from evercurrent.engine.spark.private_session import require_shared

    require_shared(SimpleNamespace(sparkContext=FakeContext([True] * 4)), "/data/w")  # type: ignore[arg-type]
    with pytest.raises(ec.StorageError, match="/data/w is not there on 1 of 4 tasks"):
        require_shared(
            SimpleNamespace(sparkContext=FakeContext([True, False, True, True])),  # type: ignore[arg-type]
            "/data/w",
        )
