"""What somebody subscribes to, found once for a catalog and a set of names: commits ask for it every time.

watching.relations      the views and assertions whose changes a transaction must report
watching.writers        for each name, the function from internal rows to those of users
watching.keys           for each name, the columns by which an old and a new row are paired
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evercurrent.catalog.catalog import Catalog
from evercurrent.data.zset import Row, ZSet
from evercurrent.design.compile import Design, assertion_key
from evercurrent.design.row_keys import row_key
from evercurrent.rows.conversion import row_writer
from evercurrent.rows.subscriptions import Change

Writer = Callable[[Row], Row]


class Watching:
    """The names of a catalog that somebody subscribes to."""

    __slots__ = ("catalog", "has_oql", "keys", "names", "relations", "writers")

    def __init__(self, catalog: Catalog, names: frozenset[str], design: Design) -> None:
        self.catalog, self.names = catalog, names
        self.has_oql = any(v.language == "oql" for v in catalog.views.values())
        self.relations = self._relations()
        self.writers: dict[str, Writer] = {}
        self.keys: dict[str, tuple[int, ...]] = {}
        for name in names:
            if catalog.relation(name) is not None:
                self.writers[name] = row_writer(catalog.fields_of(name))
                self.keys[name] = row_key(catalog, design, name)

    def _relations(self) -> tuple[str, ...]:
        names = self.names
        if self.has_oql:
            from evercurrent.oql_views.changes import relations_of_view

            names = names.union(*(relations_of_view(self.catalog, name) for name in names))
        views = [v.name for v in self.catalog.views.values() if v.name in names]
        return (*views, *(assertion_key(a.name) for a in self.catalog.assertions.values()))

    def changes(
        self, tables: Mapping[str, ZSet], views: Mapping[str, ZSet], number: int
    ) -> dict[str, Change]:
        """What a transaction changed of what is watched, for its subscribers."""
        found = {}
        for name, write in self.writers.items():
            delta = views.get(name)
            if delta is None:
                delta = tables.get(name)
            if delta is not None:
                found[name] = Change(name, delta, number, write, self.keys[name])
        return found
