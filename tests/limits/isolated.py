"""A function run in a process of its own, which is killed if it takes too long or too much memory.

A signal cannot stop a long call in C (a regular expression, a huge power), and a test that hangs stops the whole suite.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from evercurrent import EvercurrentError, InternalError

SECONDS = 60
"""Far more than any case needs, on a machine that does much else."""

BYTES = 4 << 30


def outcome(case: Callable[[], Any], seconds: float = SECONDS) -> Any:
    """What the function returns, or the EvercurrentError that it raises; anything else fails the test."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_run, args=(case, theirs))
    child.start()
    theirs.close()
    try:
        began = time.monotonic()
        if not ours.poll(seconds):
            raise AssertionError(f"it took more than {time.monotonic() - began:.0f} seconds")
        try:
            kind, value = ours.recv()
        except EOFError:
            raise AssertionError(f"the process ended with {child.exitcode}") from None
    finally:
        child.kill()
        child.join()
    if kind == "leak":
        raise AssertionError(value)
    return value


def _run(case: Callable[[], Any], answer: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    try:
        result = ("value", case())
    except InternalError as bug:
        result = ("leak", f"an internal error: {bug}")
    except EvercurrentError as refusal:
        result = ("error", (type(refusal).__name__, str(refusal)))
    except BaseException as leak:
        result = ("leak", f"{type(leak).__name__}: {leak}"[:2000])
    answer.send(result)
    answer.close()
