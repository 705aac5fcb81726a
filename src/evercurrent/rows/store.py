"""The rows of one table, as committed, with what its constraints look up.

    orders (id PRIMARY KEY, customer REFERENCES customers)      rows {1: (1, 7)}, counts {7: 1}

A table with a primary key is a dictionary from key to row, any other one from row to count. Beside it stand an index
for each UNIQUE constraint (key to row; a key with a NULL is in none) and, for each FOREIGN KEY, the number of rows that
refer to each parent key. A key of one column is the bare value, of several a tuple.

A table that is not stored keeps none of this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.nodes import ForeignKey, Table, Unique
from evercurrent.catalog.rules import UniqueKey, positions, references_of, unique_keys
from evercurrent.data.zset import Row, ZSet
from evercurrent.rows.patch import Patch, count_patch

if TYPE_CHECKING:
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
    rows: dict[Any, Row]

    @property
    def wide(self) -> bool:
        return len(self.constraint.columns) > 1

    def has_null(self, key: Any) -> bool:
        return has_null(key, self.wide)

    def keyed_rows(self, rows: Sequence[Row]) -> list[Row]:
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
    counts: dict[Any, int]

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


def _key_index(rule: UniqueKey, rows: dict[Any, Row]) -> KeyIndex:
    at = rule.columns
    return KeyIndex(rule.key, at, frozenset(at), itemgetter(*at), rows)


class Store:
    """The committed rows of one table and its indexes. Only patches and `load` change them."""

    __slots__ = ("declared", "keys", "primary", "references", "rows", "stored", "table")

    def __init__(self, table: Table, parents: Callable[[str], Table | None]) -> None:
        self.table = table
        self.stored = table.stored
        self.rows: dict[Any, Any] = {}
        self.primary: KeyIndex | None = None
        self.keys: list[KeyIndex] = []
        self.references: list[Reference] = []
        self.declared: list[KeyIndex | None] = [None]
        """The index of the primary key, if there is one, and then those of the others."""
        if not table.stored:
            return
        for rule in unique_keys(table):
            if rule.place == 0:
                self.primary = _key_index(rule, self.rows)
            else:
                self.keys.append(_key_index(rule, {}))
        self.declared = [self.primary, *self.keys]
        for reference in references_of(table, parents):
            at, parent = reference.columns, reference.parent.name.lower()
            self.references.append(
                Reference(
                    reference.constraint, parent, reference.parent_place, itemgetter(*at), len(at) > 1, {}
                )
            )

    def with_foreign_keys(self, table: Table, parents: Callable[[str], Table | None]) -> Store:
        """The same rows for a table that differs in its foreign keys alone."""
        result = Store(table, parents)
        result.rows, result.keys = self.rows, self.keys
        result.primary, result.declared = self.primary, self.declared
        contents = self.contents().weights
        for reference in result.references:
            reference.patch(contents).apply()
        return result

    def pending(self) -> Pending:
        """What a transaction lays over the rows."""
        from evercurrent.rows.pending import Pending

        return Pending(self)

    def may_refer(self, reference: ForeignKey) -> bool:
        """Whether rows must be taken to refer to every parent, because who refers to what is not counted here."""
        return False

    def __iter__(self) -> Iterator[Row]:
        """Every row, as often as it is there."""
        if self.primary is not None:
            yield from self.rows.values()
        else:
            for row, count in self.rows.items():
                for _ in range(count):
                    yield row

    def __len__(self) -> int:
        return len(self.rows) if self.primary is not None else sum(self.rows.values())

    def count(self, row: Row) -> int:
        """How often the row is there."""
        if self.primary is None:
            found: int = self.rows.get(row, 0)
            return found
        return 1 if self.rows.get(self.primary.key_of(row)) == row else 0

    def contents(self) -> ZSet:
        """All rows as a Z-set of its own."""
        result = ZSet()
        result.weights = dict.fromkeys(self.rows.values(), 1) if self.primary is not None else dict(self.rows)
        return result

    def index_at(self, columns: Set[int]) -> KeyIndex | None:
        """The index of the key whose columns stand at exactly these positions."""
        for index in self.declared:
            if index is not None and columns == index.columns:
                return index
        return None
