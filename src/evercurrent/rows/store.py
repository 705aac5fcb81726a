"""The rows of one table, as committed, with what its constraints look up.

    orders (id PRIMARY KEY, customer REFERENCES customers)      rows {1: (1, 7)}, counts {7: 1}

A table with a primary key is a dictionary from key to row, any other one from row to count. Beside it stand an index
for each UNIQUE constraint (key to row; a key with a NULL is in none), one for each CREATE INDEX (`secondary_index`) and, for
each FOREIGN KEY, the number of rows that refer to each parent key. A key of one column is the bare value, of several a tuple.

A table that is not stored keeps none of this.

Rows that came as columns stay columns (`columns`: an Arrow table with arrays for its keys) until somebody asks for one
of these dictionaries: they are filled then, once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.nodes import ForeignKey, Table, Unique
from evercurrent.catalog.rules import UniqueKey, positions, references_of, unique_keys
from evercurrent.data.zset import Row, ZSet
from evercurrent.engine.live.memory import sparing
from evercurrent.rows.patch import Patch, count_patch
from evercurrent.rows.secondary_index import SecondaryIndex

if TYPE_CHECKING:
    from evercurrent.engine.columnar.table import ArrowRows, ColumnTable
    from evercurrent.rows.pending import Pending

KeyOf = Callable[[Row], Any]
"""From a row to its key."""


@dataclass(slots=True, eq=False)
class KeyIndex:
    """A declared key, and the row under each of its values."""

    constraint: Unique
    positions: tuple[int, ...]
    columns: frozenset[int]  # the positions as a set
    key_of: KeyOf
    held: dict[Any, Row]
    store: Store | None = None

    @property
    def rows(self) -> dict[Any, Row]:
        if self.store is not None and self.store.columns is not None:
            self.store.to_rows()
        return self.held

    @rows.setter
    def rows(self, rows: dict[Any, Row]) -> None:
        self.held = rows

    @property
    def wide(self) -> bool:
        return len(self.constraint.columns) > 1

    def has_null(self, key: Any) -> bool:
        return has_null(key, self.wide)

    def select_keyed_rows(self, rows: Sequence[Row]) -> list[Row]:
        """Those of the rows that have a key: one without NULL."""
        key_of, wide = self.key_of, self.wide
        return [row for row in rows if not has_null(key_of(row), wide)]


@dataclass(slots=True, eq=False)
class Reference:
    """A foreign key, and how many rows refer to each key of the parent (in the parent's order of columns)."""

    constraint: ForeignKey
    parent: str  # the lower-cased name of the parent
    place: int  # where the key that it refers to stands in `Store.declared` of the parent
    key_of: KeyOf
    wide: bool
    held: dict[Any, int]
    store: Store
    positions: tuple[int, ...]  # where its columns stand in a row of the child

    @property
    def counts(self) -> dict[Any, int]:
        if self.store.columns is not None:
            self.store.to_rows()
        return self.held

    def has_null(self, key: Any) -> bool:
        return has_null(key, self.wide)

    def keys(self, rows: Iterable[Row]) -> set[Any]:
        """The keys to which these rows refer."""
        found = set(map(self.key_of, rows))
        return {key for key in found if None not in key} if self.wide else found - {None}

    def patch(self, weights: Mapping[Row, int]) -> Patch:
        """The patch of the counts for these rows."""
        patch = count_patch(self.counts, weights, self.key_of)
        if self.wide:
            patch.after = {key: count for key, count in patch.after.items() if None not in key}
        else:
            patch.after.pop(None, None)
        return patch


def has_null(key: Any, wide: bool) -> bool:
    return None in key if wide else key is None


def key_function(table: Table, columns: Sequence[str]) -> KeyOf:
    return itemgetter(*positions(table, columns))


def _key_index(rule: UniqueKey, rows: dict[Any, Row], store: Store) -> KeyIndex:
    at = rule.columns
    return KeyIndex(rule.key, at, frozenset(at), itemgetter(*at), rows, store)


class ColumnRows(ZSet):
    """Rows that are columns, and become a dictionary when it is asked for."""

    __slots__ = ("_made", "source")

    def __init__(self, source: ArrowRows) -> None:
        self.source = source
        self._made: dict[Row, int] | None = None

    def sample(self, count: int) -> list[Row]:
        """Returns about `count` rows, from all parts of the table."""
        return self.source.every(max(1, len(self.source) // count))

    @property
    def weights(self) -> dict[Row, int]:  # type: ignore[override]
        if self._made is None:
            self._made = {}
            for row, weight in self.source.items():
                self._made[row] = self._made.get(row, 0) + weight
        return self._made


class Store:
    """The committed rows of one table and its indexes. Only patches change them."""

    __slots__ = (
        "columns", "declared", "held", "indexes", "keys", "pinned", "plan", "primary", "references", "stored",
        "table",
    )  # fmt: skip

    def __init__(self, table: Table, parents: Callable[[str], Table | None]) -> None:
        self.table = table
        self.stored = table.stored
        self.held: dict[Any, Any] = {}
        self.columns: ColumnTable | None = None
        """The rows as columns; the dictionaries are empty then."""
        self.plan: Any = None  # how columns are read and checked (`session.bulk`)
        self.pinned = False  # whether somebody holds one of the dictionaries for longer than a transaction
        self.primary: KeyIndex | None = None
        self.keys: list[KeyIndex] = []
        self.references: list[Reference] = []
        self.indexes: list[SecondaryIndex] = []
        self.declared: list[KeyIndex | None] = [None]
        """The index of the primary key, if there is one, and then those of the others."""
        if not table.stored:
            return
        for rule in unique_keys(table):
            if rule.place == 0:
                self.primary = _key_index(rule, self.held, self)
            else:
                self.keys.append(_key_index(rule, {}, self))
        self.declared = [self.primary, *self.keys]
        for reference in references_of(table, parents):
            at, parent = reference.columns, reference.parent.name.lower()
            self.references.append(
                Reference(
                    reference.constraint,
                    parent,
                    reference.parent_place,
                    itemgetter(*at),
                    len(at) > 1,
                    {},
                    self,
                    at,
                )
            )

    def with_foreign_keys(self, table: Table, parents: Callable[[str], Table | None]) -> Store:
        """The same rows for a table that differs in its foreign keys alone."""
        result = Store(table, parents)
        self.to_rows()
        result.held, result.indexes = self.held, self.indexes
        for mine, index in zip(self.declared, result.declared, strict=True):
            if mine is not None and index is not None:
                index.held = mine.held
        contents = self.contents().weights
        for reference in result.references:
            reference.patch(contents).apply()
        return result

    # --- rows and columns ----------------------------------------------------------------------------------

    @property
    def rows(self) -> dict[Any, Any]:
        if self.columns is not None:
            self.to_rows()
        return self.held

    def _fill(self, made: ColumnTable) -> None:
        rows = [row for row, _ in made.rows().items()]
        if self.primary is None:
            counts: dict[Any, int] = {}
            for row in rows:
                counts[row] = counts.get(row, 0) + 1
            self.held.clear()
            self.held.update(counts)
        for index in self.declared:
            if index is not None:
                keyed = rows if index is self.primary else index.select_keyed_rows(rows)
                index.held.clear()
                index.held.update(zip(map(index.key_of, keyed), keyed, strict=True))
        for reference in self.references:
            counted: dict[Any, int] = {}
            for key in map(reference.key_of, rows):
                counted[key] = counted.get(key, 0) + 1
            reference.held.clear()
            reference.held.update((k, n) for k, n in counted.items() if not reference.has_null(k))

    def to_rows(self) -> None:
        """Fills the dictionaries from the columns. Idempotent."""
        made = self.columns
        if made is None:
            return
        with sparing.without_collector(len(made)):
            self._fill(made)
        self.columns = None

    def to_columns(self, columns: ColumnTable) -> None:
        """Lets columns hold the rows, and empties the dictionaries."""
        self.columns = columns
        held = [i.held for i in self.declared if i is not None] + [r.held for r in self.references]
        for dictionary in (self.held, *held):
            dictionary.clear()

    def pin(self) -> None:
        """Keeps the rows in dictionaries from now on: somebody holds one of them."""
        self.to_rows()
        self.pinned = True

    def pending(self) -> Pending:
        """What a transaction lays over the rows."""
        from evercurrent.rows.pending import Pending

        return Pending(self)

    def may_refer(self, reference: ForeignKey) -> bool:
        """Whether rows must be assumed to refer to every parent, because references are not counted here."""
        return False

    def __iter__(self) -> Iterator[Row]:
        """Every row, as often as it is there."""
        if self.columns is not None:
            yield from (row for row, _ in self.columns.rows().items())
            return
        if self.primary is not None:
            yield from self.rows.values()
        else:
            for row, count in self.rows.items():
                for _ in range(count):
                    yield row

    def __len__(self) -> int:
        if self.columns is not None:
            return len(self.columns)
        return len(self.rows) if self.primary is not None else sum(self.rows.values())

    def entry_count(self) -> int:
        """How many distinct rows there are, or a few more."""
        return len(self.held) if self.columns is None else len(self.columns)

    def count(self, row: Row) -> int:
        """How often the row is there."""
        if self.primary is None:
            found: int = self.rows.get(row, 0)
            return found
        return 1 if self.rows.get(self.primary.key_of(row)) == row else 0

    def find_appearing(self, weights: Mapping[Row, int]) -> list[Row]:
        """Those rows of a change that are inserted and not there yet."""
        if self.primary is not None:
            return [row for row, weight in weights.items() if weight > 0]
        return [row for row, weight in weights.items() if weight > 0 and row not in self.rows]

    def find_vanishing(self, weights: Mapping[Row, int]) -> list[Row]:
        """Those rows of a change of which none is left."""
        if self.primary is not None:
            return [row for row, weight in weights.items() if weight < 0]
        return [row for row, weight in weights.items() if weight < 0 and self.rows.get(row, 0) + weight <= 0]

    def contents(self) -> ZSet:
        """All rows as a Z-set of its own."""
        if self.columns is not None:
            return ColumnRows(self.columns.rows())
        result = ZSet()
        result.weights = dict.fromkeys(self.rows.values(), 1) if self.primary is not None else dict(self.rows)
        return result

    def index_at(self, columns: Set[int]) -> KeyIndex | None:
        """The index of the key whose columns stand at exactly these positions."""
        for index in self.declared:
            if index is not None and columns == index.columns:
                return index
        return None
