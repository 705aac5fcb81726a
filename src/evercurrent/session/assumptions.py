"""Whether a transaction breaks what the program assumes.

A program may assume that the rows of a parent do not change in certain columns while rows of a child refer to them
(`delta.program.Assumption`). A transaction breaks this if it takes a parent row out and puts another one in under the
same key, different in one of those columns, and some child that was there before and stays refers to it. Foreign keys
already exclude that a parent comes late or goes early.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evercurrent.data.zset import Row, ZSet
from evercurrent.delta.program import Assumption
from evercurrent.errors import UnsupportedError
from evercurrent.session.store import Reference, Store, key_function, parent_key, positions


def broken(
    assumptions: Iterable[Assumption], deltas: Mapping[str, ZSet], stores: Mapping[str, Store]
) -> frozenset[tuple[str, str]]:
    """The (child, parent) pairs whose assumption the net change breaks; the mappings are by lower-cased names."""
    result = set()
    for assumption in assumptions:
        delta = deltas.get(assumption.parent.lower())
        if delta is not None and _is_broken(assumption, delta, deltas, stores):
            result.add((assumption.child, assumption.parent))
    return frozenset(result)


def _is_broken(
    assumption: Assumption, delta: ZSet, deltas: Mapping[str, ZSet], stores: Mapping[str, Store]
) -> bool:
    parent, child = stores[assumption.parent.lower()], stores[assumption.child.lower()]
    watched = positions(parent.table, assumption.columns)
    child_delta = deltas.get(assumption.child.lower())
    for constraint in child.table.foreign_keys:
        if constraint.parent.lower() != assumption.parent.lower():
            continue
        key = parent_key(parent.table, constraint)
        if key is None:
            continue
        changed = _changed_keys(delta, key_function(parent.table, key.columns), watched)
        if not changed:
            continue
        if child.may_refer(constraint):
            return True
        reference = next((r for r in child.references if r.constraint == constraint), None)
        if reference is None:
            raise UnsupportedError(
                f"{parent.table.name} was declared to change only while no row of {child.table.name} refers to it, "
                f"and {child.table.name} or {parent.table.name} is not stored, so this cannot be known",
                hint=f"make both tables stored, or declare {child.table.name} without the FOREIGN KEY",
            )
        if any(_staying(reference, key, child_delta) for key in changed):
            return True
    return False


def _changed_keys(delta: ZSet, key_of: Any, watched: tuple[int, ...]) -> list[Any]:
    """The keys whose row is replaced by one that differs in a watched column."""
    gone: dict[Any, Row] = {key_of(row): row for row, weight in delta.items() if weight < 0}
    result = []
    for row, weight in delta.items():
        if weight > 0:
            old = gone.get(key_of(row))
            if old is not None and any(old[i] != row[i] for i in watched):
                result.append(key_of(row))
    return result


def _staying(reference: Reference, key: Any, delta: ZSet | None) -> bool:
    """Whether rows that referred to the key before the transaction do so all through it."""
    count = reference.counts.get(key, 0)
    if count and delta is not None:
        count += sum(w for row, w in delta.items() if w < 0 and reference.key_of(row) == key)
    return count > 0
