"""One version of a warehouse as a value: its definitions, their program, and the stores that hold its rows.

    version = Version.of(7, catalog, design, snapshot)
    version.table_rows("orders")              the store of a table's rows
    version.with_snapshot(8, after)           the next version: the same definitions, other stores

Nothing here changes. Whatever follows from the catalog and the design alone (strategies, deferred relations, row readers, row
rules) is computed once, when it is first needed, and shared by all versions with the same definitions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.lookup import require_table, require_view
from evercurrent.catalog.nodes import Table, View
from evercurrent.data.types import Type
from evercurrent.delta.program import Program
from evercurrent.design.compile import Design
from evercurrent.engine.spark.storage.snapshots import Snapshot
from evercurrent.engine.spark.storage.store_names import StoreName, is_shared, table_store, without_later
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import QueryError
from evercurrent.rows.conversion import RowReader
from evercurrent.rows.row_rules import RowRules
from evercurrent.statements.definition import readers_of, rules_of
from evercurrent.warehouse.deferred.deferred_relations import (
    DeferredRelations,
    lazy_catalog,
    lazy_design,
    view_rows_store,
)
from evercurrent.warehouse.planning.estimates import Size
from evercurrent.warehouse.planning.strategies import Outlook


@dataclass(frozen=True)
class Compiled:
    """A catalog with its design, and what follows from both."""

    catalog: Catalog
    design: Design

    @property
    def program(self) -> Program:
        return self.design.program

    @cached_property
    def outlook(self) -> Outlook:
        """What can be said of all views before a batch is known."""
        return Outlook(self.catalog, self.design)

    @cached_property
    def deferred(self) -> DeferredRelations:
        """The relations that are updated when somebody reads them."""
        return DeferredRelations(self.catalog, self.design)

    @cached_property
    def readers(self) -> dict[str, RowReader]:
        """The readers of users' rows, by lower-cased names of tables."""
        return readers_of(self.catalog)

    @cached_property
    def rules(self) -> dict[str, RowRules]:
        """What every row of a table must satisfy on its own, by lower-cased names of tables."""
        return rules_of(self.catalog)

    def lazy_part(self) -> Compiled:
        """The lazy views and their program, as if they were all that there is."""
        return Compiled(lazy_catalog(self.catalog, self.design), lazy_design(self.design))

    def tables_only(self) -> Compiled:
        """The same catalog with an empty program."""
        empty = Program((), ())
        return Compiled(self.catalog, replace(self.design, program=empty, later=empty, lazy=frozenset()))


NO_DEFINITIONS = Compiled(Catalog(), Design())


@dataclass(frozen=True)
class Version:
    """A version: its number, its definitions (compiled) and its stores."""

    number: int = 0
    compiled: Compiled = NO_DEFINITIONS
    snapshot: Snapshot = Snapshot()  # noqa: RUF009 (a frozen value)

    @staticmethod
    def of(number: int, catalog: Catalog, design: Design, snapshot: Snapshot) -> Version:
        return Version(number, Compiled(catalog, design), snapshot)

    def with_snapshot(self, number: int, snapshot: Snapshot) -> Version:
        """Returns a version with the same definitions."""
        return Version(number, self.compiled, snapshot)

    # --- definitions ---------------------------------------------------------------------------------------

    @property
    def catalog(self) -> Catalog:
        return self.compiled.catalog

    @property
    def design(self) -> Design:
        return self.compiled.design

    @property
    def program(self) -> Program:
        return self.compiled.design.program

    @property
    def outlook(self) -> Outlook:
        return self.compiled.outlook

    @property
    def deferred(self) -> DeferredRelations:
        return self.compiled.deferred

    @property
    def definitions(self) -> tuple[Mapping[str, Any], ...]:
        return self.snapshot.definitions

    def table(self, name: str) -> Table:
        return require_table(self.catalog, name)

    def view(self, name: str) -> View:
        return require_view(self.catalog, name)

    def table_types(self, name: str) -> list[Type]:
        return [c.type for c in self.table(name).columns]

    def is_source(self, table: str) -> bool:
        """Whether others write a table, by its lower-cased name."""
        return any(d.get("source") and d["name"].lower() == table for d in self.definitions)

    def require_own(self, table: str) -> None:
        """Refuses to change a table that others write."""
        if self.is_source(table):
            name = self.catalog.tables[table].name
            raise QueryError(f"{name} is a source: others write it", hint="db.refresh() takes its changes in")

    # --- stores --------------------------------------------------------------------------------------------

    def table_rows(self, name: str) -> Store:
        """Returns the store of a table's rows."""
        return self.snapshot.stores.get(table_store(name), Store())

    def view_rows(self, name: str) -> Store:
        """Returns the stored rows of a view, by its exact name; those of a deferred view may be behind."""
        return self.snapshot.stores.get(view_rows_store(self.design, name), Store())

    def is_reference(self, name: str) -> bool:
        """Whether the rows of a table are read where others write them."""
        return self.table_rows(name).elsewhere

    def size(self, store: StoreName) -> Size:
        found = self.snapshot.stores.get(store, Store())
        return Size(found.rows, found.bytes)

    # --- parts of it ---------------------------------------------------------------------------------------

    def lazy_part(self) -> Version:
        """The lazy views with their own stores, over the same tables."""
        before = self.snapshot
        own = {own: s for n, s in before.stores.items() if (own := without_later(n)) is not None}
        shared = {n: s for n, s in before.stores.items() if is_shared(n)}
        snapshot = Snapshot({**shared, **own}, before.definitions, before.sources)
        return Version(self.number, self.compiled.lazy_part(), snapshot)

    def tables_only(self) -> Version:
        """The tables, without anything that is kept of views."""
        before = self.snapshot
        stores = {n: s for n, s in before.stores.items() if is_shared(n)}
        snapshot = Snapshot(stores, before.definitions, before.sources)
        return Version(self.number, self.compiled.tables_only(), snapshot)
