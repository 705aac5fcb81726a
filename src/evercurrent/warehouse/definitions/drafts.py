"""Definitions take effect: alone, or all those of a text together, as one version.

    with together(core):
        change(core, catalog, ...)      seen by what follows in the block, and by nobody else
        change(core, catalog, ...)
                                        compiled, filled and committed once, at the end

Whatever raises before the commit has changed nothing: of the definitions of a block there are all or none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.catalog import Catalog
from evercurrent.design.compile import Design, compile_all
from evercurrent.engine.spark.storage.delta_tables import withdraw
from evercurrent.engine.spark.storage.log import Snapshot
from evercurrent.engine.spark.storage.store_names import is_shared, later_store
from evercurrent.warehouse.deferred.catch_up import ground
from evercurrent.warehouse.deferred.deferred_relations import (
    Waiting,
    by_changes,
    later_design,
    rows_of,
)
from evercurrent.warehouse.definitions.fill_stores import fill
from evercurrent.warehouse.maintenance.publish import publish

if TYPE_CHECKING:
    from evercurrent.warehouse.core import Core

Definition = Mapping[str, Any]
Name = tuple[str, str]
"""A kind of definition and a name: of relations and assertions in lower case, of what OQL and ODL name as it is written."""
RELATIONS = ("table", "view", "assertion")


def named(definition: Definition) -> Name:
    kind, name = definition["kind"], definition["name"]
    return kind, name.lower() if kind in RELATIONS else name


@dataclass
class Draft:
    """Definitions that are not committed yet: `definitions` are all that there will be, `gone` those that were dropped or replaced."""

    before: Catalog
    definitions: tuple[Definition, ...]
    gone: set[Name] = field(default_factory=set)
    emptied: set[str] = field(default_factory=set)
    kinds: list[str] = field(default_factory=list)

    def take(
        self,
        kind: str,
        made: list[Definition],
        dropped: set[Name],
        edited: Mapping[Name, Definition],
        emptied: frozenset[str],
    ) -> None:
        gone = dropped | {named(d) for d in made}
        left = [edited.get(named(d), d) for d in self.definitions if named(d) not in gone]
        self.definitions = (*left, *made)
        self.gone |= gone
        self.emptied |= emptied
        self.kinds.append(kind)


@contextmanager
def together(core: Core) -> Iterator[None]:
    """What is defined inside is one version; inside another such block, part of that one."""
    if core.draft is not None:
        yield
        return
    draft = core.draft = Draft(core.catalog, core.snapshot.definitions)
    try:
        yield
    finally:
        catalog, core.catalog, core.draft = core.catalog, draft.before, None
    if draft.kinds:
        finish(core, catalog, draft)


class Script:
    """The statements of a text in turn: definitions that follow each other are one version, other statements see them."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.open: Any = None

    def __enter__(self) -> Script:
        return self

    def next(self, defines: bool) -> None:
        """The next statement is a definition that can be one version with others, or it is not."""
        if defines and self.open is None:
            self.open = together(self.core)
            self.open.__enter__()
        elif not defines:
            self.end(None)

    def end(self, error: BaseException | None) -> None:
        block, self.open = self.open, None
        if block is not None:
            block.__exit__(None if error is None else type(error), error, None)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        self.end(error)


def change(
    core: Core,
    catalog: Catalog,
    kind: str,
    *made: Definition,
    dropped: set[Name] | None = None,
    edited: Mapping[Name, Definition] | None = None,
    emptied: frozenset[str] = frozenset(),
) -> None:
    """The one way in which a catalog changes. `made` are new or replaced definitions, `edited` are others' with new texts."""
    with together(core):
        assert core.draft is not None
        core.draft.take(kind, list(made), dropped or set(), edited or {}, emptied)
        core.catalog = catalog


def compiled(catalog: Catalog, previous: Design) -> tuple[Catalog, Design]:
    """The program for a catalog. Nothing is assumed about the order in which parents and children come."""
    pairs = frozenset((t.name, f.parent) for t in catalog.tables.values() for f in t.foreign_keys)
    return compile_all(catalog, previous, pairs, full=False)


def finish(core: Core, catalog: Catalog, draft: Draft) -> None:
    """Compile, fill what is new, and commit."""
    catalog, design = compiled(catalog, core.design)
    waiting = Waiting(catalog, design)
    lazily, queued = ground(core, "lazy", waiting.groups if not draft.emptied else ())
    at_once, waits = ground(core, "hybrid", waiting.groups if not draft.emptied else ())
    old_definitions = core.snapshot.definitions
    # Of tables that are gone nothing is left to be wrong.
    emptied = frozenset(draft.emptied & catalog.tables.keys())
    filling = fill(at_once, catalog, design, emptied)
    stores, report = filling.stores, filling.report
    if design.later.views:
        lazy = by_changes(catalog, design)
        own = fill(lazily, lazy, later_design(design), emptied)
        stores |= {later_store(n): s for n, s in own.stores.items() if not is_shared(n)}
        report = report or own.report
    stores |= {**queued, **waits}
    old = core.catalog, core.design
    core.catalog, core.design = catalog, design
    try:
        core.require_assertions(filling.outcome.deltas)
    finally:
        core.catalog, core.design = old
    lost = {name for kind, name in draft.gone if kind == "table"}
    cursors = {n: c for n, c in core.snapshot.sources.items() if n.lower() not in lost}
    cold = {r: c for r, c in core.snapshot.cold.items() if r in filling.cold}
    snapshot = Snapshot(stores, draft.definitions, cursors, cold, core.snapshot.factors)
    known = core.snapshot.files()
    core.engine.sync(
        [s for store in stores.values() for s in store.segments if not known.issuperset(s.files)]
    )
    # Views whose rows were found anew: what was published of them is of no use.
    filled = [
        v.name
        for v in catalog.views.values()
        if core.catalog.view(v.name) is None
        or stores.get(rows_of(design, v.name)) is not core.snapshot.stores.get(rows_of(core.design, v.name))
    ]
    record: dict[str, Any] = {"filled": filled}
    if report is not None:
        record |= {"strategy": report.strategy, "seconds": round(report.seconds, 4)}
    kind = ", ".join(dict.fromkeys(draft.kinds))
    version = core.engine.log.commit(snapshot, core.version, kind=kind, record=record)
    names = [t.name for t in core.catalog.tables.values()] + [v.name for v in core.catalog.views.values()]
    for name in names:
        if catalog.relation(name) is None:
            core.subscribers.forget(name)
    core.install(version, snapshot, catalog, design)
    core.engine.folder.tidy(snapshot.files())
    stays = {named(d) for d in draft.definitions if d["kind"] == "view" and d.get("publish", True) is True}
    for gone in old_definitions:
        if gone["kind"] == "view" and named(gone) in draft.gone and named(gone) not in stays:
            withdraw(core.engine.folder, gone["name"])
            core.published.pop(gone["name"], None)
    for name in filled:
        core.published.pop(name, None)
    publish(core)
