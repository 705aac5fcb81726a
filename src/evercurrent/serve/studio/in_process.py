"""What the studio reads of a database in process.

>>> import evercurrent as ec
>>> db = ec.connect()
>>> _ = db.execute("CREATE TABLE t (n BIGINT); INSERT INTO t VALUES (1), (2)")
>>> inspection = InProcess(db)
>>> inspection.kind, inspection.version, inspection.page("table", "t", 0, 1)
('memory', 1, ([(1,)], 2))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from itertools import islice
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.catalog import Catalog
from evercurrent.data.zset import Row
from evercurrent.design.compile import Design
from evercurrent.design.why import Contents
from evercurrent.engine.live.columns import page_of_columns
from evercurrent.errors import UnsupportedError
from evercurrent.serve.studio.inspection import Entries, repeat_rows
from evercurrent.session.stats import container_bytes
from evercurrent.session.why import contents_of

if TYPE_CHECKING:
    from evercurrent.session.session import Session


class InProcess:
    """A database in process."""

    def __init__(self, database: Any) -> None:
        self.database = database
        self.session: Session = database._session
        self.durable = database.path is not None
        self.kind = "file" if self.durable else "memory"
        self.look: Callable[[], object] | None = database.refresh if database.read_only else None

    @property
    def oldest(self) -> int:
        return 0 if self.durable else self.session.number

    def times(self, first: int) -> Mapping[int, float]:
        return {}

    def hold(self) -> AbstractContextManager[Any]:
        return self.session.lock

    @property
    def version(self) -> int:
        return self.session.number

    @property
    def catalog(self) -> Catalog:
        return self.session.catalog

    @property
    def design(self) -> Design:
        return self.session.maintenance.design

    def sources(self) -> Mapping[str, str]:
        return {}

    def sizes(self) -> Mapping[str, tuple[int, int]]:
        with self.session.lock:
            maintenance = self.session.maintenance
            found = {
                f"table:{s.table.name}": (len(s), container_bytes(s.rows))
                for s in self.session.stores.values()
                if s.table.stored
            }
            found |= {
                f"view:{name}": (len(rows), container_bytes(rows.weights))
                for name, rows in maintenance.full.items()
            }
            return found | maintenance.engine.sizes() | maintenance.lazy.engine.sizes()

    def entries(self, kind: str, name: str, version: int | None = None) -> Entries:
        if version is not None:
            raise UnsupportedError(f"{name}: a database in process keeps no earlier versions")
        if kind == "table":
            return self.session.table_rows(name).items()
        maintenance = self.session.maintenance
        relation = maintenance.design.program.views.get(name)
        if name in maintenance.full or name in maintenance.design.lazy or relation is None:
            return self.session.view_rows(name).items()
        return maintenance.engine.rows(relation)  # without a copy: a page of it may be all that is read

    def page(self, kind: str, name: str, offset: int, limit: int) -> tuple[list[Row], int | None]:
        if kind == "table":
            store = self.session.stores[name.lower()]
            if store.stored and store.columns is None:
                return list(islice(store, offset, offset + limit)), len(store)
            if store.stored and store.columns is not None and store.primary is not None:
                part = store.columns.rows().part(offset, limit)
                return [row for row, _ in part.items()], len(store)
        maintenance = self.session.maintenance
        relation = maintenance.design.program.views.get(name)
        if kind == "view" and relation is not None and name not in maintenance.full:
            if name not in maintenance.design.lazy and relation in maintenance.engine.core.listed:
                core = maintenance.engine.core
                core.flush()
                found = page_of_columns(core.columns, relation, offset, limit)
                if found is not None:
                    return found
        return list(islice(repeat_rows(self.entries(kind, name)), offset, offset + limit)), None

    def contents(self, view: str) -> Contents:
        return contents_of(self.session)

    def runs(self) -> list[dict[str, Any]]:
        return []
