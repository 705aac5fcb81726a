"""Where a local Spark listens. No Spark runs here."""

from __future__ import annotations

import os

import pytest

from evercurrent.engine.spark.private_session import SETTINGS, bound_to_loopback, loopback


def test_local_sessions_listen_on_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_LOCAL_IP", raising=False)
    found = loopback("local[2]")
    assert found["spark.driver.bindAddress"] == found["spark.driver.host"] == "127.0.0.1"
    with bound_to_loopback(bool(found)):
        assert os.environ["SPARK_LOCAL_IP"] == "127.0.0.1"
    assert "SPARK_LOCAL_IP" not in os.environ
    assert loopback("spark://host:7077") == {}, "executors must reach the driver"


def test_what_the_user_says_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_LOCAL_IP", "10.0.0.1")
    assert loopback("local[2]") == {}


def test_texts_are_read_with_settings_of_our_own() -> None:
    assert SETTINGS["spark.sql.variable.substitute"] == "false"
    assert SETTINGS["spark.sql.parser.escapedStringLiterals"] == "false"
