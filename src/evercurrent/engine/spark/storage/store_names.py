"""Names of stores: the one place that knows how they are spelled.

A warehouse keeps Z-sets in *stores*. A version of it maps the name of each store to its segments, so the spelling is part of
the format on disk and must not change. `S` is a state, `L` a relation of a recursion, `G` a group of views that wait together:

    table, T            the rows of a table            S             the entries of a state
    aside, T            its quarantined rows           S, bag2       the values of its third accumulator
    view, V             rows of a view without program L, counts     how many derivations each row has
    rows, R             rows of a relation             L, outside    how many of them read nothing of the recursion
    queued, G, T        changes that a lazy view has not read yet
    waits, G, S         changes that a hybrid view has not read yet
    later, (a store)    a store of the program of the lazy views

The parts are separated by a NUL, which no name of a user or of a program contains. All other names are of *scratch* stores:
no version mentions them, and they only say what a file on its way to another store is for.

>>> table_store("Orders")
'table\\x00orders'
>>> table_of(table_store("Orders")), table_of(bag_store("s1", 0)), owner_of(bag_store("s1", 0))
('orders', None, 's1')
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NewType

from evercurrent.delta.program import Fixpoint, Loop

StoreName = NewType("StoreName", str)
QueueMark = NewType("QueueMark", str)
"""How the names of all queues of a group begin."""

SEPARATOR = "\0"
TABLES = ("table", "aside")
SHARED = (*TABLES, "view")
LATER = f"later{SEPARATOR}"
DELTA = f"{SEPARATOR}delta"
UNSORTED = f"{SEPARATOR}unsorted"

Scratch = Literal[
    "apart",  # entries of a state that is not kept
    "change",  # the difference of old rows and new ones
    "constant",  # the rows of a constant input
    "delta",  # the change of a relation within a transaction
    "held",  # the stored rows of a source
    "joined",  # rows of a join that several stores read
    "keys",  # the keys of the groups that a transaction touches
    "load",  # rows of a source's files
    "net",  # recent segments, added up
    "outside",  # derivations that read nothing of a recursion
    "pending",  # what a transaction has changed so far
    "staging",  # rows of a user's frame, before they are checked
    "unsorted",  # rows before they are sorted
    "whole",  # a store as one segment
]


def join(*parts: str) -> StoreName:
    return StoreName(SEPARATOR.join(parts))


# --- what a version mentions -------------------------------------------------------------------------------


def table_store(name: str) -> StoreName:
    """Names the store of a table's rows."""
    return join("table", name.lower())


def aside_store(name: str) -> StoreName:
    """Names the store of a table's quarantined rows."""
    return join("aside", name.lower())


def view_store(name: str) -> StoreName:
    """Names the store of the rows of a view that no program keeps."""
    return join("view", name.lower())


def relation_store(relation: str) -> StoreName:
    """Names the store of the rows of a relation that are in none of its program's states."""
    return join("rows", relation)


def state_store(state: str) -> StoreName:
    """Names the store of a state's entries."""
    return StoreName(state)


def bag_store(state: str, i: int) -> StoreName:
    """Names the store of the argument values of a state's accumulator at position `i`."""
    return join(state, f"bag{i}")


def counts_store(loop: Loop) -> StoreName:
    """Names the store that counts the derivations of each row."""
    return join(loop.name, "counts")


def outside_store(loop: Loop) -> StoreName:
    """Names the store that counts the derivations that read nothing of the recursion."""
    return join(loop.name, "outside")


def loop_stores(fixpoint: Fixpoint) -> Iterator[tuple[StoreName, Loop]]:
    """Yields the stores of a recursion, each with its relation."""
    for loop in fixpoint.loops:
        yield counts_store(loop), loop
        yield outside_store(loop), loop


def queue_mark(kind: Literal["queued", "waits"], group: str) -> QueueMark:
    """Returns how the names of a group's queues begin; `group` is one of its relations."""
    return QueueMark(join(kind, group, ""))


def queue_store(mark: QueueMark, store: str) -> StoreName:
    """Names the queue of a group for a store or an input."""
    return StoreName(mark + store)


def later_store(store: StoreName) -> StoreName:
    """Names a store of the lazy views' program as a version lists it."""
    return StoreName(LATER + store)


# --- scratch stores ----------------------------------------------------------------------------------------


def scratch_store(name: str, purpose: Scratch, detail: str = "") -> StoreName:
    """Names a store that no version mentions."""
    return join(name, purpose + detail)


def delta_store(relation: str) -> StoreName:
    """Names the scratch store of a relation's delta."""
    return scratch_store(relation, "delta")


# --- what a name says --------------------------------------------------------------------------------------


def is_delta(store: StoreName) -> bool:
    return store.endswith(DELTA)


def is_unsorted(store: StoreName) -> bool:
    return store.endswith(UNSORTED)


def relation_of(store: StoreName) -> str:
    """Returns the relation of a delta's store."""
    return store.removesuffix(DELTA)


def parts_of(store: StoreName) -> tuple[str, str]:
    """Returns the first part of a name and the rest, which is empty for the entries of a state."""
    first, _, rest = store.partition(SEPARATOR)
    return first, rest


def owner_of(store: StoreName) -> str:
    """Returns the state or relation that a store of a program belongs to."""
    return parts_of(store)[0]


def table_of(store: StoreName) -> str | None:
    """Returns the table whose rows, or quarantined rows, a store holds."""
    first, rest = parts_of(store)
    return rest if first in TABLES else None


def is_shared(store: StoreName) -> bool:
    """Whether a store holds rows of a table, or of a view that no program keeps: every program reads the same one."""
    first, rest = parts_of(store)
    return bool(rest) and first in SHARED


def without_later(store: StoreName) -> StoreName | None:
    """Returns the name that the lazy views' own program has for a store; None if the store is not one of its stores."""
    return StoreName(store.removeprefix(LATER)) if store.startswith(LATER) else None
