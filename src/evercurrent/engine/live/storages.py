"""New storages: empty ones, and those that another layout takes over.

SELECT sum(total) FROM orders      {(): [0, 0, 0]}      a scalar aggregate has its one entry from the start
... GROUP BY customer              {}
"""

from __future__ import annotations

from typing import Any

from evercurrent.engine.live.layout import Layout, Storage
from evercurrent.engine.live.runtime.aggregates import factory


def fresh(layout: Layout) -> Storage:
    """An empty storage; a scalar aggregate's has its one entry."""
    storage = Storage(layout)
    if layout.permanent:
        state = layout.state
        cell: list[Any] = [] if state.unique else [0]
        cell += [None for _ in state.dependents]
        cell += [0 if a.aggregate is None else factory(a.aggregate)() for a in state.accumulators]
        storage.paths[0][()] = cell
    return storage


def convert_storage(storage: Storage, layout: Layout) -> Storage:
    """The same entries in another layout: a scalar aggregate's one entry comes with it, or goes if it is of no weight.

    Which states are unique can depend on the other views (a second use, or another assumption): then the weight, 1, comes or goes.
    """
    other = fresh(layout)
    was_unique, is_unique = storage.layout.state.unique, layout.state.unique
    for columns, payload in storage.entries():
        if layout.permanent or storage.weight(payload):
            parts = storage.parts(payload)
            if was_unique and not is_unique:
                parts = [1, *parts]
            elif is_unique and not was_unique:
                parts = parts[1:]
            other.insert(columns, parts)
    return other
