"""The catalog: names, dependence, and knowledge about relations.

Names are kept as declared and found whatever their case, as Spark finds them. A catalog is changed by replacing it:
`with_table` and similar methods return a new one, so that a statement that fails halfway has changed nothing.

>>> from evercurrent.catalog.nodes import TableColumn, Unique
>>> from evercurrent.data.types import INT
>>> orders = Table("Orders", (TableColumn("id", INT, False),), Unique("pk", ("id",)))
>>> catalog = Catalog().with_table(orders)
>>> catalog.table("ORDERS").name, catalog.keys_of("orders")
('Orders', (('id',),))
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

from evercurrent.catalog.classes import Schema
from evercurrent.catalog.nodes import Assertion, ForeignKey, Index, Table, View
from evercurrent.data.types import Member


class Knowledge(Protocol):
    """What the compiler may ask about a relation, by its exact name."""

    def fields_of(self, relation: str) -> tuple[Member, ...]: ...

    def keys_of(self, relation: str) -> tuple[tuple[str, ...], ...]:
        """Sets of fields that no two rows share (and that are not NULL): declared keys, and for views derived ones."""
        ...

    def references_of(self, relation: str) -> tuple[ForeignKey, ...]: ...


@dataclass(frozen=True, slots=True)
class Catalog:
    """All names of a database. Keys of the dictionaries are lower-cased names."""

    tables: dict[str, Table] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    assertions: dict[str, Assertion] = field(default_factory=dict)
    view_keys: dict[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    schema: Schema = field(default_factory=Schema)
    """The classes; the tables of their objects (`extents`) stand among the tables."""
    macros: dict[str, str] = field(default_factory=dict)
    """Definitions with parameters, by exact name: the text of each."""
    aliases: dict[str, str] = field(default_factory=dict)
    """Classes by the names that imports have given them."""
    objects: dict[str, str] = field(default_factory=dict)
    """Names that are bound to objects, and the classes of these."""
    indexes: dict[str, Index] = field(default_factory=dict)
    """The indexes that were created, by lower-cased name."""

    def table(self, name: str) -> Table | None:
        return self.tables.get(name.lower())

    def view(self, name: str) -> View | None:
        return self.views.get(name.lower())

    def relation(self, name: str) -> Table | View | None:
        return self.table(name) or self.view(name)

    def with_table(self, table: Table) -> Catalog:
        return replace(self, tables={**self.tables, table.name.lower(): table})

    def with_view(self, view: View, keys: tuple[tuple[str, ...], ...] = ()) -> Catalog:
        name = view.name.lower()
        return replace(self, views={**self.views, name: view}, view_keys={**self.view_keys, name: keys})

    def with_assertion(self, assertion: Assertion) -> Catalog:
        return replace(self, assertions={**self.assertions, assertion.name.lower(): assertion})

    def with_index(self, index: Index) -> Catalog:
        return replace(self, indexes={**self.indexes, index.name.lower(): index})

    def without_index(self, name: str) -> Catalog:
        return replace(self, indexes={k: v for k, v in self.indexes.items() if k != name.lower()})

    def without_indexes_of(self, table: str) -> Catalog:
        left = {k: v for k, v in self.indexes.items() if v.table.lower() != table.lower()}
        return self if len(left) == len(self.indexes) else replace(self, indexes=left)

    # --- Knowledge -----------------------------------------------------------------------------------------

    def fields_of(self, relation: str) -> tuple[Member, ...]:
        found = self.relation(relation)
        assert found is not None, relation
        return found.fields

    def keys_of(self, relation: str) -> tuple[tuple[str, ...], ...]:
        table = self.table(relation)
        if table is None:
            return self.view_keys.get(relation.lower(), ())
        keys = [table.primary_key.columns] if table.primary_key else []
        nullable = {c.name for c in table.columns if c.nullable}
        keys += [u.columns for u in table.unique if not nullable & set(u.columns)]
        return tuple(keys)

    def references_of(self, relation: str) -> tuple[ForeignKey, ...]:
        table = self.table(relation)
        return table.foreign_keys if table else ()
