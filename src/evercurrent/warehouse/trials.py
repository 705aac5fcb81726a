"""Which changes of a batch make an assertion false: found by trying.

A row that an assertion's query returns may be made of many changes, and it may take several of them together; whichever
the query, there is one question that decides: does the assertion hold with these changes and without those? So

    1. all changes of tables that no broken assertion reads are taken, and of the others none;
    2. then the others are tried in chunks, from halves down to single units (see `judging`): a chunk with which all
       assertions hold is taken, another is cut in two and tried again after the rest of its size;
    3. what is left when a whole round of single units takes none is set aside.

With what is taken every assertion holds, and with any one unit more some would not. The chunks are cut from the units in
the order of tables and of their rows' values, so the same batch always gives the same answer; the first of two that cannot
stand together is likely to be the one that is taken. It takes about k log n trials to find k units among n, each a run of
the assertions' part of the program alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from evercurrent.data.order import sort_key
from evercurrent.data.zset import Row, ZSet
from evercurrent.session.store import Store
from evercurrent.warehouse.judging import Aside, unit_of

TRIALS = 5_000
"""After so many it is given up."""

Unit = tuple[str, tuple[tuple[Row, int], ...]]
"""A table, and the changes that stay together."""
Holds = Callable[[Mapping[str, ZSet]], bool]


class TooMany(Exception):
    """The changes to blame cannot be found in reasonable time."""


def units_of(stores: Mapping[str, Store], deltas: Mapping[str, ZSet]) -> list[Unit]:
    """The units of a batch, in order."""
    result: list[Unit] = []
    for table in sorted(deltas):
        keys = [sort_key(c.type) for c in stores[table].table.columns]
        found: dict[object, list[tuple[Row, int]]] = {}
        for row, w in sorted(
            deltas[table].items(), key=lambda e: tuple(k(v) for k, v in zip(keys, e[0], strict=True))
        ):
            found.setdefault(unit_of(stores[table], row), []).append((row, w))
        result += [(table, tuple(entries)) for entries in found.values()]
    return result


def largest(units: Sequence[Unit], taken: Mapping[str, ZSet], holds: Holds) -> list[Unit]:
    """Add as many of the units as may be to what is taken; gives those that may not."""
    current = {table: ZSet(delta.items()) for table, delta in taken.items()}
    trials = 0

    def accepts(chunk: Sequence[Unit]) -> bool:
        nonlocal current, trials
        trials += 1
        if trials > TRIALS:
            raise TooMany
        grown = {table: ZSet(delta.items()) for table, delta in current.items()}
        for table, entries in chunk:
            for row, w in entries:
                grown.setdefault(table, ZSet()).add(row, w)
        if holds({table: delta for table, delta in grown.items() if delta}):
            current = grown
            return True
        return False

    waiting = [list(units)] if units else []
    while waiting:
        refused = [chunk for chunk in waiting if not accepts(chunk)]
        if all(len(chunk) == 1 for chunk in refused):
            if len(refused) == len(waiting):
                return [chunk[0] for chunk in refused]
            waiting = refused
        else:
            waiting = [half for chunk in refused for half in halves(chunk)]
    return []


def halves(chunk: list[Unit]) -> list[list[Unit]]:
    middle = (len(chunk) + 1) // 2
    return [half for half in (chunk[:middle], chunk[middle:]) if half]


def aside(units: Sequence[Unit], constraint: str, reason: str) -> list[Aside]:
    return [Aside(table, row, w, constraint, reason) for table, entries in units for row, w in entries]
