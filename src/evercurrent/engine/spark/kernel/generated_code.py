"""Generated functions of the driver, compiled once for what they are made of.

Rules, states and functions of a program are the same objects from one transaction to the next, so they are identified by
identity: comparing them by value would walk through all of their terms. The cache holds a reference to them, so that their
identity is never reused for another object.

>>> rule = object()
>>> first = compile_once((rule,), ("loop",), lambda source: ["compiled"])
>>> compile_once((rule,), ("loop",), lambda source: ["compiled"]) is first
True
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from evercurrent.term.emit.load import forget, load
from evercurrent.term.emit.writer import Namespace, Writer
from evercurrent.term.function_table import NAMES

KEPT = 2_000
"""The most pieces that stay compiled; the oldest are dropped first."""

T = TypeVar("T")


class Source:
    """Source under construction, with the names that functions of terms use."""

    def __init__(self) -> None:
        self.writer = Writer()
        self.namespace = Namespace()
        for name, value in NAMES.items():
            self.namespace.define(name, value)
        self.filename = ""

    def load(self, title: str) -> dict[str, Any]:
        self.filename = load(self.writer.text(), self.namespace.objects, title)
        return self.namespace.objects


_lock = threading.RLock()  # transactions of several warehouses may run at once
_known: OrderedDict[tuple[Hashable, ...], tuple[tuple[object, ...], Source, Any]] = OrderedDict()


def compile_once(made_of: tuple[object, ...], how: tuple[Hashable, ...], make: Callable[[Source], T]) -> T:
    """What `make` returns for these objects; `how` tells apart what else it depends on."""
    key = (*map(id, made_of), *how)
    with _lock:
        found = _known.get(key)
        if found is None:
            source = Source()
            found = _known[key] = (made_of, source, make(source))
            if len(_known) > KEPT:
                forget(_known.popitem(last=False)[1][1].filename)
        else:
            _known.move_to_end(key)
    made: T = found[2]
    return made
