"""What the studio reads of a warehouse on Spark: sizes of stores, rows at any kept version, what each batch did.

    OnSpark(db).sources()                              {'orders': 'delta /lake/orders'}
    OnSpark(db).page("view", "spend", 0, 100)          the first 100 rows

Rows are read by the driver, from the files of the version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from itertools import islice
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.catalog import Catalog
from evercurrent.data.types import Type
from evercurrent.data.zset import Row
from evercurrent.design.compile import Design
from evercurrent.design.why import Contents
from evercurrent.engine.spark.storage.file_schema import Shape
from evercurrent.engine.spark.storage.store_names import later_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.serve.studio.inspection import Entries, repeat_rows
from evercurrent.serve.studio.stored_pages import StoredPages, open_pages
from evercurrent.statements.run_record import RunRecord
from evercurrent.warehouse.maintenance.catch_up import relation_rows
from evercurrent.warehouse.why import contents

if TYPE_CHECKING:
    from evercurrent.warehouse.database import Warehouse


COUNTED_ENTRIES = 20_000
"""A store of more entries is not added up to say how many rows it has; its entries are counted."""
KEPT_PAGES = 8
"""Of so many relations it is kept where their rows are."""


class OnSpark:
    """A warehouse."""

    kind = "warehouse"
    durable = True

    def __init__(self, database: Warehouse) -> None:
        self.database = database
        self.core = database._core
        self.look: Callable[[], object] | None = self.go_to_newest
        self._counts: dict[str, tuple[Store, int]] = {}
        self._pages: dict[str, tuple[Store, StoredPages | None]] = {}

    @property
    def oldest(self) -> int:
        return max(0, min(self.core.engine.log.list_snapshots(), default=self.version) - 1)

    def times(self, first: int) -> Mapping[int, float]:
        log = self.core.engine.log
        return {version: log.entry(version).at for version in range(max(1, first), self.version + 1)}

    def hold(self) -> AbstractContextManager[Any]:
        return self.core.lock

    def go_to_newest(self) -> None:
        """Reloads if another driver has committed."""
        if self.core.engine.log.latest() > self.core.version:
            with self.core.lock:
                if self.core.transaction is None:
                    self.database.reload()

    @property
    def version(self) -> int:
        return self.core.version

    @property
    def catalog(self) -> Catalog:
        return self.core.catalog

    @property
    def design(self) -> Design:
        return self.core.design

    def sources(self) -> Mapping[str, str]:
        found = {}
        for d in self.core.present.definitions:
            source = d.get("source")
            if source:
                place = source.get("path") or source.get("table") or ""
                found[d["name"]] = f"{source.get('format') or ''} {place}".strip()
        return found

    def sizes(self) -> Mapping[str, tuple[int, int]]:
        present = self.core.present
        found: dict[str, tuple[int, int]] = {}
        for table in present.catalog.tables.values():
            store = present.table_rows(table.name)
            types = [c.type for c in table.columns]
            found[f"table:{table.name}"] = (self.count_rows(f"table:{table.name}", store, types), store.bytes)
        for view in present.catalog.views.values():
            store = present.view_rows(view.name)
            types = [f.type for f in view.fields]
            found[f"view:{view.name}"] = (self.count_rows(f"view:{view.name}", store, types), store.bytes)
        for program, later in ((present.design.program, False), (present.design.later, True)):
            for state in program.states:
                names = [later_store(n) if later else n for n in Shape(state).stores]
                stores = [present.snapshot.stores.get(n, Store()) for n in names]
                found[state.name] = (stores[0].rows if stores else 0, sum(s.bytes for s in stores))
        return found

    def count_rows(self, name: str, store: Store, types: list[Type]) -> int:
        """How many rows a store has. What recent batches have deleted is an entry, too: small stores are added up.

        Each store is added up once: a version that changes it has another one.
        """
        if len(store.segments) <= 1 or store.rows > COUNTED_ENTRIES:
            return store.rows
        known = self._counts.get(name)
        if known is None or known[0] is not store:
            with (
                self.core.lock
            ):  # a batch that runs changes no store before it commits: then this is known already
                rows = sum(weight for _, weight in self.core.engine.rows(store, types))
            known = self._counts[name] = (store, rows)
        return known[1]

    def entries(self, kind: str, name: str, version: int | None = None) -> Entries:
        if kind == "view" and self.core.view(name).inline:
            return [(row, 1) for row in self.database._target.view_rows(name, False)]
        if version is None:
            store, types = relation_rows(self.core, name)
            pages = self.pages(name, store, types)
            if pages is not None:
                return pages.entries()
        else:
            handle: Any = self.database.view(name) if kind == "view" else self.database.table(name)
            store = handle._segments(version)
            types = [f.type for f in handle.schema]
        return self.core.engine.rows(store, types)

    def page(self, kind: str, name: str, offset: int, limit: int) -> tuple[list[Row], int | None]:
        if kind == "table" or not self.core.view(name).inline:
            pages = self.pages(name, *relation_rows(self.core, name))
            if pages is not None:
                return pages.page(offset, limit), pages.count
        return list(islice(repeat_rows(self.entries(kind, name)), offset, offset + limit)), None

    def pages(self, name: str, store: Store, types: list[Type]) -> StoredPages | None:
        """The pages of a relation, of which the latest are kept: what they have found out holds as long as the store."""
        known = self._pages.pop(name, None)
        if known is None or known[0] is not store:
            known = store, open_pages(self.core.engine, store, types)
        self._pages[name] = known
        if len(self._pages) > KEPT_PAGES:
            del self._pages[next(iter(self._pages))]
        return known[1]

    def contents(self, view: str) -> Contents:
        return contents(self.core, self.core.view(view))

    def runs(self) -> list[dict[str, Any]]:
        found = []
        for entry in self.core.engine.log.entries():
            record = RunRecord.of_json(entry.version, entry.batch, entry.record).to_json()
            about = {"version": entry.version, "at": entry.at, "kind": entry.kind, "batch": entry.batch}
            found.append({**record, **about})
        return found
