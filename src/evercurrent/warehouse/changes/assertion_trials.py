"""Which changes of a batch make an assertion false: found by trying.

A row that an assertion's query returns may be made of many changes, and it may take several of them together; whichever
the query, there is one question that decides: does the assertion hold with these changes and without those? So

    1. all changes of tables that no broken assertion reads are taken, and of the others none;
    2. then the others are tried in chunks, from halves down to single units (see `constraint_split`): a chunk with which all
       assertions hold is taken, another is cut in two and tried again after the rest of its size;
    3. what is left when a whole round of single units takes none is to be set aside;
    4. unless fewer will do: if it is enough to leave out, of all changes, those units whose absence alone makes fewer
       rows violate and no others, then only those are set aside (an order without lines among orders with lines).

    assertion: no customer spends more than 500; Cid has 100      +300, +200, +50 for Cid: two of them are taken, one is set aside

With what is taken every assertion holds, and after 3 with any one unit more some would not. The chunks are cut from the units in
the order of tables and of their rows' values, so the same batch always has the same answer; of two that cannot stand
together the first is likely to be taken. It takes about k log n trials to find k units among n, each a run of
the assertions' part of the program alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from evercurrent.data.order import sort_key
from evercurrent.data.zset import Row, ZSet
from evercurrent.rows.store import Store
from evercurrent.warehouse.changes.constraint_split import Aside, unit_of

TRIALS = 5_000
"""The most trials before the search is abandoned."""
UNITS = 20_000
"""Among more units none is looked for: a trial costs what a batch does."""

Unit = tuple[str, tuple[tuple[Row, int], ...]]
"""A table, and the changes that stay together."""
Violations = Callable[[Mapping[str, ZSet]], frozenset[object]]
"""All that would violate an assertion after these changes."""


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


def to_set_aside(units: Sequence[Unit], taken: Mapping[str, ZSet], violations: Violations) -> list[Unit]:
    """The units to leave out, so that with the others, and what is taken already, nothing is violated."""
    if len(units) > UNITS:
        raise TooMany
    trials = 0

    def list_asked(chosen: Sequence[Unit]) -> frozenset[object]:
        nonlocal trials
        trials += 1
        if trials > TRIALS:
            raise TooMany
        return violations(together(taken, chosen))

    refused = find_refused(units, lambda chosen: not list_asked(chosen))
    if len(refused) > 1:
        broken = list_asked(units)
        alone = [u for u in refused if list_asked([x for x in units if x is not u]) < broken]
        if alone and len(alone) < len(refused) and not list_asked([x for x in units if x not in alone]):
            return alone
    return refused


def find_refused(units: Sequence[Unit], holds: Callable[[Sequence[Unit]], bool]) -> list[Unit]:
    """Take units in chunks as long as all holds; returns those that cannot be taken."""
    current: list[Unit] = []
    waiting = [list(units)] if units else []
    while waiting:
        refused = []
        for chunk in waiting:
            if holds([*current, *chunk]):
                current += chunk
            else:
                refused.append(chunk)
        if all(len(chunk) == 1 for chunk in refused):
            if len(refused) == len(waiting):
                return [chunk[0] for chunk in refused]
            waiting = refused
        else:
            waiting = [half for chunk in refused for half in halves(chunk)]
    return []


def together(taken: Mapping[str, ZSet], chosen: Sequence[Unit]) -> dict[str, ZSet]:
    result = {table: ZSet(delta.items()) for table, delta in taken.items()}
    for table, entries in chosen:
        delta = result.setdefault(table, ZSet())
        for row, w in entries:
            delta.add(row, w)
    return {table: delta for table, delta in result.items() if delta}


def halves(chunk: list[Unit]) -> list[list[Unit]]:
    middle = (len(chunk) + 1) // 2
    return [half for half in (chunk[:middle], chunk[middle:]) if half]


def aside(units: Sequence[Unit], constraint: str, reason: str) -> list[Aside]:
    return [Aside(table, row, w, constraint, reason) for table, entries in units for row, w in entries]
