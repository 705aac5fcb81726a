"""Definitions take effect: each on its own, or all definitions of a text together, as one version.

    with together(core):
        change(core, catalog, ...)      seen by what follows in the block, and by nobody else
        change(core, catalog, ...)
                                        compiled, filled and committed once, at the end

Whatever raises before the commit has changed nothing: all definitions of a block take effect, or none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from evercurrent.catalog.catalog import Catalog
from evercurrent.design.compile import Design, compile_all
from evercurrent.engine.spark.kernel.outcome import Report
from evercurrent.engine.spark.storage.delta_tables import withdraw
from evercurrent.engine.spark.storage.snapshots import Snapshot
from evercurrent.engine.spark.storage.store_names import table_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.warehouse.core import Core, Definition, Draft, Name
from evercurrent.warehouse.deferred.deferred_relations import view_rows_store
from evercurrent.warehouse.maintenance.assertions import require_assertions
from evercurrent.warehouse.maintenance.catch_up import new_segments, version_to_build_on
from evercurrent.warehouse.maintenance.fill_stores import fill_lazy_stores, fill_stores
from evercurrent.warehouse.maintenance.publish import publish
from evercurrent.warehouse.run_log import log_definitions
from evercurrent.warehouse.version import Compiled, Version

RELATIONS = ("table", "view", "assertion")


def name_of(definition: Definition) -> Name:
    kind, name = definition["kind"], definition["name"]
    return kind, name.lower() if kind in RELATIONS else name


@contextmanager
def together(core: Core) -> Iterator[None]:
    """Commits all definitions inside as one version; inside another such block, as part of that one."""
    if core.draft is not None:
        yield
        return
    draft = core.draft = Draft(core.catalog, core.snapshot.definitions)
    try:
        yield
    finally:
        core.draft = None
    if draft.kinds:
        commit_draft(core, draft)


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
    rewritten: Mapping[str, Store] | None = None,
    followed: frozenset[str] = frozenset(),
) -> None:
    """Changes the catalog: the one way to do it. `made` are new or replaced definitions, `edited` others with new texts.

    `emptied` tables lose their rows; those that are also `rewritten` have other rows instead. `followed` are sources, by
    lower-cased names, whose rows stay, and with them the position to which they were read.
    """
    with together(core):
        draft = core.draft
        assert draft is not None
        gone = (dropped or set()) | {name_of(d) for d in made}
        left = [(edited or {}).get(name_of(d), d) for d in draft.definitions if name_of(d) not in gone]
        draft.definitions = (*left, *made)
        draft.gone |= gone
        draft.emptied |= emptied
        draft.rewritten |= rewritten or {}
        draft.followed |= followed
        draft.kinds.append(kind)
        draft.catalog = catalog


def compile_catalog(catalog: Catalog, previous: Design) -> Compiled:
    """Compiles a catalog. Nothing is assumed about the order in which parents and children are inserted."""
    pairs = frozenset((t.name, f.parent) for t in catalog.tables.values() for f in t.foreign_keys)
    return Compiled(*compile_all(catalog, previous, pairs, full=False))


# --- committing --------------------------------------------------------------------------------------------


def commit_draft(core: Core, draft: Draft) -> None:
    """Compiles a draft, fills its new stores, and commits."""
    compiled = compile_catalog(draft.catalog, core.design)
    snapshot, report = fill(core, draft, compiled)
    core.engine.sync(list(new_segments(core.snapshot, snapshot)))
    filled = list_filled_views(core.present, compiled, snapshot)
    record: dict[str, Any] = {"filled": filled}
    if draft.rewritten:
        record["altered"] = list_altered_relations(core.present, compiled, draft)
    if report is not None:
        record |= {"strategy": report.strategy, "seconds": round(report.seconds, 4)}
    kind = ", ".join(dict.fromkeys(draft.kinds))
    number = core.engine.log.commit(snapshot, core.version, kind=kind, record=record)
    before = core.present
    for name in draft.emptied:
        core.engine.forget(table_store(name))
    core.install(Version(number, compiled, snapshot))
    core.engine.folder.tidy(snapshot.files())
    forget_subscriptions(core, before)
    withdraw_views(core, before, draft)
    for name in filled:
        core.published.pop(name, None)
    publish(core)
    seconds = 0.0 if report is None else report.seconds
    log_definitions(str(core.engine.folder.root), number, kind, filled, seconds)


def fill(core: Core, draft: Draft, compiled: Compiled) -> tuple[Snapshot, Report | None]:
    """Computes the snapshot of a draft; refuses one whose assertions do not hold."""
    groups = compiled.deferred.groups if not draft.emptied else ()
    lazy, queued = version_to_build_on(core, "lazy", groups)
    present, waits = version_to_build_on(core, "hybrid", groups)
    # Of tables that are gone nothing is left to be wrong.
    emptied = frozenset(draft.emptied & compiled.catalog.tables.keys())
    filling = fill_stores(core.engine, present, compiled, emptied, draft.rewritten)
    stores, report = filling.stores, filling.report
    if compiled.design.later.views:
        own = fill_lazy_stores(core.engine, lazy, compiled, emptied, draft.rewritten)
        stores |= own.stores
        report = report or own.report
    require_assertions(core.engine, compiled, filling.outcome.deltas)
    before = core.snapshot
    lost = {name for kind, name in draft.gone if kind == "table"} - draft.followed
    cursors = {n: c for n, c in before.sources.items() if n.lower() not in lost}
    cold = {r: c for r, c in before.cold.items() if r in filling.cold}
    return Snapshot({**stores, **queued, **waits}, draft.definitions, cursors, cold, before.factors), report


def list_filled_views(before: Version, compiled: Compiled, snapshot: Snapshot) -> list[str]:
    """Returns the views whose rows were computed from the tables: what was published of them is of no use."""
    return [
        v.name
        for v in compiled.catalog.views.values()
        if before.catalog.view(v.name) is None
        or snapshot.stores.get(view_rows_store(compiled.design, v.name))
        is not before.snapshot.stores.get(view_rows_store(before.design, v.name))
    ]


def list_altered_relations(before: Version, compiled: Compiled, draft: Draft) -> list[str]:
    """Returns the tables and views whose columns are others now: what changed in them before is of other columns."""
    altered = [compiled.catalog.tables[key].name for key in draft.rewritten]
    for view in compiled.catalog.views.values():
        old = before.catalog.view(view.name)
        if old is not None and old.fields != view.fields:
            altered.append(view.name)
    return altered


def forget_subscriptions(core: Core, before: Version) -> None:
    """Ends the subscriptions to tables and views that are gone."""
    catalog = before.catalog
    for name in [*(t.name for t in catalog.tables.values()), *(v.name for v in catalog.views.values())]:
        if core.catalog.relation(name) is None:
            core.subscribers.forget(name)


def withdraw_views(core: Core, before: Version, draft: Draft) -> None:
    """Removes what is published in the warehouse of views that are no longer published there."""
    stays = {name_of(d) for d in draft.definitions if d["kind"] == "view" and d.get("publish", True) is True}
    for gone in before.definitions:
        if gone["kind"] == "view" and name_of(gone) in draft.gone and name_of(gone) not in stays:
            withdraw(core.engine.folder, gone["name"])
            core.published.pop(gone["name"], None)
