"""Rebuild what can be rebuilt: entries of the log, sums and mapped copies from what holds the same, states and views from the tables.

    repair_log(folder)     before a warehouse is opened: the newest entry may be what is lost
    repair(core, report)   the rest, over an open warehouse

Law. A view is its query over the tables, and a state is what the rules make of them. So if the tables of the newest version are
whole, all the rest can be computed from them: it becomes a version of its own, which changes no row.
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.engine.spark.storage.files import Folder
from evercurrent.engine.spark.storage.snapshots import Snapshot
from evercurrent.engine.spark.storage.store_names import table_of
from evercurrent.errors import StorageError
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.integrity.check import CheckReport, check, rebuild_copies, repair_files
from evercurrent.warehouse.maintenance.catch_up import new_segments
from evercurrent.warehouse.maintenance.fill_stores import fill_lazy_stores, fill_stores
from evercurrent.warehouse.maintenance.publish import publish
from evercurrent.warehouse.version import Compiled, Version

REPAIR = "REPAIR"
"""The kind of a version in which states and views were filled again."""


def repair_log(folder: Folder) -> CheckReport:
    """Write again what needs no open warehouse; returns what is damaged after it."""
    report = check(folder)
    done = repair_files(folder, report)
    if done:
        report = check(folder)
        report.repaired = done
    return report


def needs_warehouse(report: CheckReport) -> bool:
    """Whether something is left to rebuild for which the warehouse must be open."""
    return any(f.kind == "copy" or f.derived for f in report.findings)


def repair(core: Core, report: CheckReport) -> CheckReport:
    """Rebuild copies, states and views; returns what is damaged after it, and why it could not be rebuilt."""
    folder, failure = core.engine.folder, ""
    done = rebuild_copies(folder, report)
    if any(f.derived for f in report.findings):
        try:
            rebuild(core)
            done += [f.file for f in report.findings if f.derived]
        except StorageError as problem:  # a table that they are made of is damaged
            failure = str(problem)
            folder.tidy(core.snapshot.files())
    core.engine.reader.copies.clear()
    after = check(folder)
    after.repaired, after.failure = [*report.repaired, *done], failure
    return after


def rebuild(core: Core) -> None:
    """Fills all states and views from the tables, in one version."""
    before, compiled = core.present, core.present.compiled
    tables = {n: s for n, s in before.snapshot.stores.items() if table_of(n) is not None}
    empty = before.tables_only()
    empty = replace(
        empty,
        compiled=Compiled(empty.catalog, replace(empty.design, recomputed={})),
        snapshot=replace(empty.snapshot, stores=tables),
    )
    stores = fill_stores(core.engine, empty, compiled).stores
    if compiled.design.later.views:
        stores |= fill_lazy_stores(core.engine, empty, compiled).stores
    old = before.snapshot
    snapshot = Snapshot(stores, old.definitions, old.sources, {}, old.factors)
    core.engine.sync(list(new_segments(old, snapshot)))
    filled = [v.name for v in compiled.catalog.views.values()]
    number = core.engine.log.commit(snapshot, core.version, kind=REPAIR, record={"filled": filled})
    core.install(Version(number, compiled, snapshot))
    core.engine.folder.tidy(snapshot.files())
    core.published.clear()
    publish(core)
