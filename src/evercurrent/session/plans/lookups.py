"""Finds the rows of stored tables by keys and indexes, as committed or as the open transaction has them.

    Lookups(session, pending=True).parts(plan)      {"orders\\0part 0": ZSet({(7, 3, 950): 1})}

Inside a transaction, what an index of the committed rows returns is corrected by the pending change of the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from evercurrent.calculus.evaluate import evaluate
from evercurrent.data.zset import Row, ZSet
from evercurrent.design.access_paths import AccessPlan, IndexShape, Lookup
from evercurrent.rows.pending import Pending
from evercurrent.rows.secondary_index import Bound, SecondaryIndex
from evercurrent.rows.store import KeyIndex, Store
from evercurrent.term.evaluate import Environment, compile_in

if TYPE_CHECKING:
    from evercurrent.session.session import Session

SCAN = 4
"""A lookup of more than one key for each of this number of rows reads the whole table instead."""

Variables = Mapping[str, Any]


def shapes_of(session: Session, name: str) -> list[IndexShape]:
    """What a relation can be looked up by: the keys and indexes of a stored table."""
    key = name.lower()
    store = session.stores.get(key)
    if type(store) is not Store or not store.stored or key in session.forwarded:
        return []
    found = []
    for place, index in enumerate(store.declared):
        if index is not None:
            kind = "primary key" if place == 0 else f"unique key {index.constraint.name}"
            found.append(IndexShape(kind, _names(store, index.positions), place))
    for place, secondary in enumerate(store.indexes):
        columns = _names(store, secondary.positions)
        found.append(IndexShape(f"index {secondary.name}", columns, place, prefix=True))
    return found


def size_of(session: Session, name: str) -> int:
    """How many different rows a stored table has; -1, if it is none."""
    store = session.stores.get(name.lower())
    return store.entry_count() if type(store) is Store and store.stored else -1


def _names(store: Store, positions: Iterable[int]) -> tuple[str, ...]:
    return tuple(store.table.columns[i].name for i in positions)


class Lookups:
    """Lookups over one state of the tables."""

    def __init__(self, session: Session, pending: bool) -> None:
        self.session = session
        self.transaction = session.transaction if pending else None

    def parts(self, plan: AccessPlan, parameters: Variables | None = None) -> dict[str, ZSet]:
        """Returns the rows of every part of a plan."""
        found = {name: evaluate(query, lambda _: (), parameters) for name, query in plan.computed.items()}
        for lookup in plan.lookups:
            found[lookup.part] = self._part(lookup, found, parameters or {})
        return found

    def whole(self, table: str) -> ZSet:
        """All rows of a table."""
        return (
            self.session.table_rows(table) if self.transaction is None else self.session.pending_rows(table)
        )

    def _part(self, lookup: Lookup, found: dict[str, ZSet], parameters: Variables) -> ZSet:
        key = lookup.table.lower()
        store = self.session.stores[key]
        pending = self.transaction.pending_change(key) if self.transaction is not None else None
        bindings: Iterable[Variables] = [parameters]
        if lookup.driver is not None:
            variable, part = lookup.driver
            if part not in found:
                found[part] = self.whole(part)
            rows = found[part]
            if len(rows) * SCAN > store.entry_count():
                return self.whole(key)
            bindings = ({**parameters, variable: row} for row, _ in rows.items())
        result = ZSet()
        for values in dict.fromkeys(key for b in bindings for key in _keys(lookup, b)):
            for row in find_rows(store, pending, lookup, *values):
                result.weights[row] = store.count(row) if pending is None else pending.count(row)
        return result


Values = tuple[Row, Bound | None, Bound | None]


def _keys(lookup: Lookup, variables: Variables) -> Iterator[Values]:
    """The values that are looked up, for one binding of variables; NULL equals nothing."""
    env = Environment({}, variables)
    columns = [[compile_in(term)(env) for term in terms] for terms in lookup.equal]
    limits: list[Bound | None] = []
    for limit in (lookup.low, lookup.high):
        value = None if limit is None else (compile_in(limit[0])(env), limit[1])
        if value is not None and value[0] is None:
            return
        limits.append(value)
    for prefix in product(*columns):
        if None not in prefix:
            yield prefix, limits[0], limits[1]


def find_rows(
    store: Store, pending: Pending | None, lookup: Lookup, prefix: Row, low: Bound | None, high: Bound | None
) -> list[Row]:
    """The rows of a table under a key, or in a range of an index."""
    if not lookup.index.prefix:
        index = store.declared[lookup.index.place]
        assert index is not None
        return find_key(index, pending, prefix if index.wide else prefix[0])
    secondary = store.indexes[lookup.index.place]
    if low is None and high is None:
        rows = secondary.find(prefix)
    else:
        rows = secondary.find_range(prefix, low, high)
    if pending is None:
        return list(rows)
    stay = [row for row in rows if pending.count(row) > 0]
    return stay + [
        row for row in _find_inserted(secondary, pending, prefix, low, high) if not store.count(row)
    ]


def find_key(index: KeyIndex, pending: Pending | None, key: Any) -> list[Row]:
    """The rows under a declared key."""
    if pending is not None:
        return pending.find(index, key)
    row = index.rows.get(key)
    return [] if row is None else [row]


def _find_inserted(
    index: SecondaryIndex, pending: Pending, prefix: Row, low: Bound | None, high: Bound | None
) -> list[Row]:
    """The pending rows under a prefix of an index, in a range of its next column."""
    positions = index.positions[: len(prefix)]
    if positions:
        key_of = itemgetter(*positions)
        key = prefix if len(prefix) > 1 else prefix[0]
        rows = pending.find_inserted(f"{index.name}\0{len(prefix)}", key_of, key)
    else:
        rows = [row for row, weight in pending.delta.items() if weight > 0]
    if low is None and high is None:
        return rows
    at = index.positions[len(prefix)]
    return [row for row in rows if row[at] is not None and _is_within(row[at], low, high)]


def _is_within(value: Any, low: Bound | None, high: Bound | None) -> bool:
    if low is not None and (value < low[0] or (value == low[0] and not low[1])):
        return False
    return high is None or not (value > high[0] or (value == high[0] and not high[1]))
