"""Sessions of our own beside a session of Spark Connect: they are closed, also by a program that forgets to."""

from __future__ import annotations

import gc
import subprocess
import sys
from typing import Any

from evercurrent.engine.spark.doors.connect import ConnectDoor


class Client:
    def __init__(self) -> None:
        self.calls: list[str] = []
        self.is_closed = False

    def release_session(self) -> None:
        self.calls.append("release")

    def close(self) -> None:
        self.calls.append("close")
        self.is_closed = True


class Session:
    """What a door asks of a session."""

    def __init__(self) -> None:
        self.client = Client()

    def newSession(self) -> Any:
        return Session()


def test_a_forgotten_session_is_closed_once() -> None:
    made = ConnectDoor(Session()).new_session()
    client = made.client
    del made
    gc.collect()
    assert client.calls == ["close"]  # the server may be gone, and a call would wait for it


def test_a_closed_session_is_not_closed_again() -> None:
    made = ConnectDoor(Session()).new_session()
    client = made.client
    ConnectDoor(made).close_session()
    del made
    gc.collect()
    assert client.calls == ["release", "close"]


FORGETS = """
import sys
from tests.spark.unit.engine.test_connect_sessions import Client, ConnectDoor, Session
Client.close = lambda self: print("closed, and the interpreter is gone:", sys.is_finalizing())
made = ConnectDoor(Session()).new_session()
"""


def test_a_program_that_ends_closes_its_sessions_before_the_interpreter_goes() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORGETS], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout == "closed, and the interpreter is gone: False\n", done.stderr
