"""The stored rows that a change touches, in the shape in which constraints are validated.

Law (see `catalog.rules`): after a change only what it touches can violate a rule. So it is enough to hold the rows that the
rules look up: those under the keys of changed rows, the parents that inserted rows refer to, the children of deleted keys.

>>> sorted(pick_values([1], [(4, 7, "2.00"), (5, 8, "1.00")]))      # insert two orders: look up customers 7 and 8
[(7,), (8,)]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.rules import RowExists, lookup_of, positions, table_rules
from evercurrent.data.zset import Row, ZSet
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.storage.store_names import StoreName, table_store
from evercurrent.engine.spark.storage.stored_state import Store as Segments
from evercurrent.rows.store import Store


def pick_values(columns: Sequence[int], rows: Iterable[Row]) -> set[Row]:
    """The values at these positions, of each row."""
    if len(columns) == 1:
        (at,) = columns
        return {(row[at],) for row in rows}
    return set(map(itemgetter(*columns), rows))


class TouchedRows:
    """Parts of tables, read as they are needed, at one version."""

    def __init__(self, engine: Engine, catalog: Catalog, segments: Mapping[StoreName, Segments]) -> None:
        self.engine = engine
        self.catalog = catalog
        self.segments = segments
        self.stores = {key: Store(t, catalog.table) for key, t in catalog.tables.items()}
        self.known: dict[tuple[str, tuple[int, ...]], set[Row]] = {}
        self.loaded: dict[str, set[Row]] = {key: set() for key in catalog.tables}

    def load(self, table: str, columns: Sequence[int], keys: Iterable[Row]) -> None:
        """Hold the rows of a table whose columns at these positions are among the keys."""
        at = tuple(columns)
        known = self.known.setdefault((table, at), set())
        missing = set(keys) - known
        if not missing:
            return
        known |= missing
        types = [c.type for c in self.catalog.tables[table].columns]
        segments = self.segments.get(table_store(table), Segments())
        for row, weight in self.engine.find(segments, types, at, missing):
            self._hold(table, row, weight)

    def load_rows(self, table: str, rows: Iterable[Row]) -> None:
        """Holds the stored rows that share a key with these rows, or are equal to them."""
        rows = list(rows)
        declared = self.catalog.tables[table]
        keys = ([declared.primary_key] if declared.primary_key else []) + list(declared.unique)
        for key in keys:
            at = positions(declared, key.columns)
            self.load(table, at, pick_values(at, rows))
        if declared.primary_key is None:
            self.load(table, range(len(declared.columns)), rows)

    def load_all(self, deltas: Mapping[str, ZSet]) -> None:
        """Hold all that the rules for these changes look up. A key with a NULL finds nothing, a row with one does."""
        for rule in table_rules(self.catalog.tables, deltas):
            lookup = lookup_of(rule)
            changed = deltas[rule.table.name.lower()].items()
            keys = pick_values(lookup.keys, [row for row, w in changed if (w > 0) == lookup.inserted])
            if not isinstance(rule, RowExists):
                keys = {key for key in keys if None not in key}
            self.load(lookup.table.name.lower(), lookup.columns, keys)

    def _hold(self, table: str, row: Row, weight: int) -> None:
        if row in self.loaded[table]:
            return
        self.loaded[table].add(row)
        store = self.stores[table]
        if store.primary is None:
            store.rows[row] = weight
        else:
            store.rows[store.primary.key_of(row)] = row
        for index in store.keys:
            key = index.key_of(row)
            if not index.has_null(key):
                index.rows[key] = row
        for reference in store.references:
            key = reference.key_of(row)
            if not reference.has_null(key):
                reference.counts[key] = reference.counts.get(key, 0) + weight
