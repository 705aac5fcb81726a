"""Python's collector of cycles, called rarely while very many rows are made.

The collector looks at new objects after every few hundred of them, and again and again at those that survive. A transaction on
the driver makes hundreds of thousands of tuples, which live until it ends and hold no cycles: the collector would take half of
its time.

>>> with rare_collection():
...     gc.get_threshold()[0]
500000
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG = 500_000
"""The collector runs after this number of new objects. Users' functions may make cycles, so it must run at some time."""


class _Collector:
    """The process has one collector, and transactions of several threads may run at once."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inside = 0
        self.before = gc.get_threshold()

    def enter(self) -> None:
        with self.lock:
            self.inside += 1
            if self.inside == 1:
                self.before = gc.get_threshold()
                if 0 < self.before[0] < YOUNG:  # zero: whoever runs this process has turned it off
                    gc.set_threshold(YOUNG, *self.before[1:])

    def leave(self) -> None:
        with self.lock:
            self.inside -= 1
            if not self.inside:
                gc.set_threshold(*self.before)


_collector = _Collector()


@contextmanager
def rare_collection() -> Iterator[None]:
    """Within this the collector waits for `YOUNG` objects; afterwards it is as it was."""
    _collector.enter()
    try:
        yield
    finally:
        _collector.leave()
