"""About how many bytes dictionaries take, by a sample of their entries; and how they are kept from the garbage collector.

>>> table_bytes({n: (n, "x") for n in range(1000)}) > sys.getsizeof({}) + 1000 * sys.getsizeof((0, "x"))
True
"""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from time import perf_counter
from typing import Any

from evercurrent.engine.live.storages import Storage

SAMPLE = 64


def storage_bytes(storage: Storage) -> int:
    shared = storage.layout.payload == "cell"
    total = table_bytes(storage.paths[0])
    for path in storage.paths[1:]:
        total += table_bytes(path, payloads=not shared)
    return total


def estimate_entries(storages: Iterable[Storage]) -> int:
    """About how many entries dictionaries hold, by a sample of their buckets: the collector asks while they change."""
    total = 0
    for path in (s.paths[0] for s in storages if s.loan is None):
        sample = list(islice(path.values(), SAMPLE))
        entries = sum(len(held) if type(held) is dict else 1 for held in sample)
        total += entries * len(path) // max(1, len(sample))
    return total


def table_bytes(table: dict[Any, Any], payloads: bool = True) -> int:
    """The dictionary, and its keys and values by a sample."""
    total = sys.getsizeof(table)
    sizes = []
    for key, value in table.items():
        sizes.append(value_bytes(key) + (value_bytes(value) if payloads or type(value) is dict else 0))
        if len(sizes) == SAMPLE:
            break
    return total + (sum(sizes) * len(table) // len(sizes) if sizes else 0)


def value_bytes(value: Any) -> int:
    """A value and what it holds; small integers and the singletons are shared by all."""
    if value is None or isinstance(value, bool) or (isinstance(value, int) and -5 <= value <= 256):
        return 0
    size = sys.getsizeof(value)
    if isinstance(value, tuple | list):
        return size + sum(map(value_bytes, value))
    if isinstance(value, dict):
        return table_bytes(value)
    counted = getattr(value, "bytes", None)
    return size + (counted() if callable(counted) else 0)


# --- the cyclic garbage collector ---------------------------------------------------------------------------

MANY = 50_000
"""Rows or entries that the collector would take noticeable time to look at."""

LONG = 0.005
"""Seconds of a full collection after which what has survived it is set aside."""


class Sparing:
    """Keeps Python's cyclic collector away from rows and states, which hold no cycles: a full collection of a million takes a third of a second.

    `gc.freeze` sets all objects aside that there are; they are freed as ever when nobody refers to them, and only cycles among
    them wait. It is called after many rows were made at once, and after a full collection that took long: then nothing that
    is set aside is garbage. When a database is dropped, everything is returned to the collector, which finds its cycles.
    """

    def __init__(self) -> None:
        self.counts: dict[int, Callable[[], int]] = {}  # for each database, how much it holds
        self.start = 0.0

    def after(self, entries: int) -> None:
        """Sets everything aside, if so many rows or entries were made."""
        if entries >= MANY and self.counts and gc.isenabled():
            gc.freeze()

    @contextmanager
    def without_collector(self, entries: int) -> Iterator[None]:
        """Lets so many rows or entries be made without the collector, since they hold no cycles."""
        if not gc.isenabled():
            yield
            return
        try:
            gc.disable()
            yield
            if entries >= MANY and self.counts:
                gc.freeze()  # before the collector runs again: all of them are new
        finally:
            gc.enable()

    def watch(self, database: object, count: Callable[[], int]) -> None:
        """Spares the rows and states of a database until it is dropped. `count` returns how many there are."""
        if not self.counts:
            gc.callbacks.append(self._notice)
        self.counts[id(database)] = count
        weakref.finalize(database, self._forget, id(database)).atexit = False

    def _forget(self, database: int) -> None:
        count = self.counts.pop(database)
        if not self.counts:
            gc.callbacks.remove(self._notice)
        if count() >= MANY:
            gc.unfreeze()

    def _notice(self, phase: str, info: dict[str, int]) -> None:
        """Called by the collector, before and after it has run."""
        if info["generation"] < 2:
            return
        if phase == "start":
            self.start = perf_counter()
        elif perf_counter() - self.start >= LONG and any(c() >= MANY for c in self.counts.values()):
            gc.freeze()


sparing = Sparing()
