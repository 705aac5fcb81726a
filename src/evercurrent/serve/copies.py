"""Names for equal rows: the first copy of a row has its identity as its name, the others have numbers besides.

    notes holds "a" twice           public.notes/"a"   public.notes/"a"#1
    one of them is deleted          delete public.notes/"a"#1
    it is inserted again            insert public.notes/"a"#1

Law. At every version a client that took the rows of some version and the messages after it has, for a row that is there n times,
exactly the names 0 to n-1. For this the number of copies before each change must be known: it is counted from the version at
which the first client came, change after change, and the names of each change are kept as long as the change is.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evercurrent.rows.subscriptions import Change

Named = tuple[str, str, Any]
"""An operation, the name of a copy, and the row."""


class Copies:
    """The copies of all rows of one relation since a version. `identified` are its rows then, each with its identity."""

    def __init__(self, version: int, identities: Iterable[str]) -> None:
        self.begins = self.version = version
        self.counts = Counter(identities)
        self.named: dict[int, list[Named]] = {}
        self._lock = threading.Lock()

    def follow(self, change: Change, identity: Any) -> list[Named]:
        """The names of what a change deleted and inserted. Changes come in order; one that was seen has the same names again."""
        with self._lock:
            if change.transaction > self.version:
                self.named[change.transaction] = list(self._name(change, identity))
                self.version = change.transaction
            return self.named.get(change.transaction, [])

    def _name(self, change: Change, identity: Any) -> Iterable[Named]:
        for row in change.deleted:
            key = identity(row)
            self.counts[key] -= 1
            yield "delete", copy_name(key, self.counts[key]), row
            if not self.counts[key]:
                del self.counts[key]
        for row in change.inserted:
            key = identity(row)
            yield "insert", copy_name(key, self.counts[key]), row
            self.counts[key] += 1

    def forget_before(self, version: int) -> None:
        """Forgets the names of changes that the log does not have any more."""
        with self._lock:
            for old in [v for v in self.named if v <= version]:
                del self.named[old]
            self.begins = max(self.begins, version)


def copy_name(identity: str, number: int) -> str:
    return f"{identity}#{number}" if number else identity


def name_copies(rows: Sequence[Any], identity: Any) -> list[tuple[str, Any]]:
    """All rows with the names of their copies.

    >>> name_copies(["a", "b", "a"], lambda row: row)
    [('a', 'a'), ('b', 'b'), ('a#1', 'a')]
    """
    seen: Counter[str] = Counter()
    found = []
    for row in rows:
        key = identity(row)
        found.append((copy_name(key, seen[key]), row))
        seen[key] += 1
    return found
