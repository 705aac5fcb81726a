"""The stored rows that a change touches, in the shape in which constraints are judged.

Law (see `rows.constraints`): after a change only what it touches can break a constraint. So it is enough to hold the
rows under the keys of changed rows, the parents that inserted rows refer to, and the children of deleted keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter

from evercurrent.catalog.catalog import Catalog
from evercurrent.data.zset import Row, ZSet
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.storage.store_names import StoreName, table_store
from evercurrent.engine.spark.storage.stored_state import Store as Segments
from evercurrent.rows.store import Store, positions


def picked(columns: Sequence[int], rows: Iterable[Row]) -> set[Row]:
    """The values at these positions, of each row."""
    if len(columns) == 1:
        (at,) = columns
        return {(row[at],) for row in rows}
    return set(map(itemgetter(*columns), rows))


class Partial:
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
        """Hold whatever may be told apart from these rows by a key, or be equal to them."""
        rows = list(rows)
        declared = self.catalog.tables[table]
        keys = ([declared.primary_key] if declared.primary_key else []) + list(declared.unique)
        for key in keys:
            at = positions(declared, key.columns)
            self.load(table, at, picked(at, rows))
        if declared.primary_key is None:
            self.load(table, range(len(declared.columns)), rows)

    def load_all(self, deltas: Mapping[str, ZSet]) -> None:
        """Hold all that the constraints of these changes look at."""
        for table, delta in deltas.items():
            rows = [row for row, _ in delta.items()]
            self.load_rows(table, rows)
            for child, store in self.stores.items():
                for reference in store.references:
                    parent = reference.parent
                    columns = positions(self.catalog.tables[parent], reference.target.columns)
                    own = self._reference_columns(child, reference.target.columns, reference.constraint)
                    if child == table:
                        self.load(parent, columns, picked(own, rows))
                    if parent == table:
                        self.load(child, own, picked(columns, rows))

    def _reference_columns(self, child: str, target: Sequence[str], constraint: object) -> tuple[int, ...]:
        from evercurrent.catalog.nodes import ForeignKey

        assert isinstance(constraint, ForeignKey)
        pairs = {p.lower(): c for p, c in zip(constraint.parent_columns, constraint.columns, strict=True)}
        return positions(self.catalog.tables[child], [pairs[name.lower()] for name in target])

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
