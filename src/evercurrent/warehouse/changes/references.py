"""Sources whose rows are not stored here: their keys, checked on what passes by, and what is done where their past is lost.

A key of such a source is an assumption. It is checked

    on all rows         when they are first read
    in each change      no two inserted rows have the same key, unless as many are deleted
    in states           where a view has a state with the key, no row has a key that is there already

A duplicate that comes later, in a change of its own, under a key that no state has, is not noticed.

    lost history        `refill` goes on from the present version of a source: what depends on it is filled again, and the
                        changes of views are the differences of their rows
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pyarrow
import pyarrow.compute

from evercurrent.catalog.nodes import Table
from evercurrent.catalog.rules import NotNull, UniqueKey, find_references_to, key_rules, positions
from evercurrent.data.types import Type
from evercurrent.data.zset import Row
from evercurrent.design.compile import ASSERTION
from evercurrent.engine.spark.engine import SMALL_BYTES, SMALL_ROWS
from evercurrent.engine.spark.intake.constraint_jobs import wrong_keys
from evercurrent.engine.spark.kernel.constraint_precheck import add_up, names_of
from evercurrent.engine.spark.storage.entry_reader import filterable
from evercurrent.engine.spark.storage.file_schema import Shape, W, row_schema
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.snapshots import Snapshot
from evercurrent.engine.spark.storage.store_names import StoreName, scratch_store, table_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.subtraction import difference
from evercurrent.engine.spark.translate.types import arrow_schema, internal
from evercurrent.rows.violations import SAMPLE, constraint_error
from evercurrent.statements.run_record import RunRecord, ViewRun
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.maintenance.assertions import require_assertions
from evercurrent.warehouse.maintenance.catch_up import new_segments
from evercurrent.warehouse.maintenance.commit import follow_up
from evercurrent.warehouse.maintenance.fill_stores import fill_lazy_stores, fill_stores
from evercurrent.warehouse.maintenance.notifications import find_subscribed_changes
from evercurrent.warehouse.version import Version


def has_children(core: Core, key: str) -> bool:
    """Whether rows of other tables refer to this one."""
    return any(True for _ in find_references_to(core.catalog.tables, key))


def validate_key(core: Core, key: str, change: Segment, *, whole: bool = False) -> None:
    """Raises ConstraintError if a change of a table that is not stored here violates its key, as far as can be seen.

    `whole`: the change is all that there will be, whatever states say.
    """
    table = core.catalog.tables[key]
    if table.primary_key is None or not change.rows:
        return
    core.progress.stage("checking constraints")
    at = positions(table, table.primary_key.columns)
    small = change.rows <= SMALL_ROWS and change.bytes <= SMALL_BYTES
    if small and all(filterable(table.columns[i].type) for i in at):
        validate_small(core, table, at, change, whole)
    else:
        validate_large(core, table, at, change)


def validate_small(core: Core, table: Table, at: tuple[int, ...], change: Segment, whole: bool) -> None:
    """The same for a change that the driver holds."""
    own, types = names_of(at), [c.type for c in table.columns]
    schema = arrow_schema(row_schema(types))
    rows = core.engine.folder.table(change, pyarrow.schema([schema.field(n) for n in (*own, W)]))
    for i in at:
        if rows.column(f"c{i}").null_count:
            wrong = pyarrow.compute.is_null(rows.column(f"c{i}"))
            raise key_error(core, table, change, NotNull(table, i), at, rows.filter(wrong).select(own))
    sums = add_up(rows, own)
    inserted = add_up(rows.filter(pyarrow.compute.greater(rows.column(W), 0)), own).select(own)
    twice = sums.filter(pyarrow.compute.greater(sums.column(W), 1))
    for known in () if whole else weights_in_states(core, table, at, inserted):
        if twice.num_rows:
            break
        together = add_up(pyarrow.concat_tables([sums.select([*own, W]), known.select([*own, W])]), own)
        together = together.join(inserted, own, join_type="left semi")
        twice = together.filter(pyarrow.compute.greater(together.column(W), 1))
    if twice.num_rows:
        raise key_error(core, table, change, unique_rule(table), at, twice.select(own))


def validate_large(core: Core, table: Table, at: tuple[int, ...], change: Segment) -> None:
    """The same for a change that only Spark holds; states are not asked."""
    own = names_of(at)
    found = wrong_keys(core.engine, change, [c.type for c in table.columns], own, SAMPLE)
    if not found.num_rows:
        return
    for i in at:
        if found.column(f"c{i}").null_count:
            wrong = pyarrow.compute.is_null(found.column(f"c{i}"))
            raise key_error(core, table, change, NotNull(table, i), at, found.filter(wrong).select(own))
    raise key_error(core, table, change, unique_rule(table), at, found.select(own))


def unique_rule(table: Table) -> UniqueKey:
    return next(r for r in key_rules(table) if isinstance(r, UniqueKey) and r.place == 0)


def key_error(
    core: Core,
    table: Table,
    change: Segment,
    rule: UniqueKey | NotNull,
    at: tuple[int, ...],
    keys: pyarrow.Table,
) -> Exception:
    """The error, with some of the changed rows that have these keys."""
    types: list[Type] = [c.type for c in table.columns]
    wanted = {tuple(internal(types[i], r[f"c{i}"]) for i in at) for r in keys.slice(0, SAMPLE).to_pylist()}
    found = core.engine.find(Store((change,)), types, at, wanted, all_of=True)
    rows: list[Row] = [row for row, w in found for _ in range(w)]
    return constraint_error(rule, rows or [row for row, _ in found], hint="nothing was changed")


def weights_in_states(
    core: Core, table: Table, at: tuple[int, ...], keys: pyarrow.Table
) -> Iterator[pyarrow.Table]:
    """What states that have the key say of it: for each state, how many rows there are under the keys."""
    program = core.present.program
    states = {s.name: s for s in program.states}
    for rule in program.triggers.get(table.name, ()):
        state = states.get(rule.into)
        if state is None or rule.steps or rule.count != rule.weight:
            continue
        places = {term: j for j, term in enumerate(rule.columns)}
        wanted = [places.get(rule.binds[i]) for i in at]
        if None in wanted or len(state.columns) != len(at):
            continue
        store = core.snapshot.stores.get(Shape(state).store, Store())
        named = [f"c{j}" for j in wanted]
        own = names_of(at)
        types = [c.type for c in state.columns]
        found = core.engine.reader.columns(
            store, types, named, keys.select(own).rename_columns(named), [*named, W]
        )
        yield found.rename_columns([*own, W])


# --- lost history ------------------------------------------------------------------------------------------


def refill(
    core: Core,
    references: Mapping[str, Segment],
    sources: Mapping[str, Any],
    batch: str | None,
    begin: float,
) -> RunRecord:
    """One version in which these tables are what their sources hold now, and everything that depends on them is filled again."""
    for key, segment in references.items():
        validate_key(core, key, segment, whole=True)
    engine, before, compiled = core.engine, core.snapshot, core.present.compiled
    stores = dict(before.stores)
    for key, segment in references.items():
        stores[table_store(key)] = Store((segment,) if segment.rows else ())
    tables = Version(core.version, compiled, replace(before, stores=stores)).tables_only()
    filling = fill_stores(engine, tables, compiled)
    require_assertions(engine, compiled, filling.outcome.deltas)
    filled = dict(filling.stores)
    if compiled.design.later.views:
        filled |= fill_lazy_stores(engine, tables, compiled).stores
    left = {name: s for name, s in filled.items() if s.segments}
    snapshot = Snapshot(left, before.definitions, dict(sources), {}, before.factors)
    after = core.present.with_snapshot(core.version, snapshot)
    changed = dict(view_changes(core, core.present, after))
    notices = find_subscribed_changes(core, changed, core.version + 1)
    with core.previewing(snapshot):
        core.subscribers.before(notices)
    engine.sync(list(new_segments(before, snapshot)))
    runs = tuple(
        ViewRun(name, "full", "lost", "a source no longer tells its past", 0, s.rows)
        for name, s in changed.items()
    )
    rows = {core.catalog.tables[key].name: s.rows for key, s in references.items()}
    record = RunRecord(core.version + 1, batch, rows_in=rows, views=runs, seconds=time.perf_counter() - begin)
    number = engine.log.commit(
        snapshot, core.version, kind="batch", batch=batch, changes=changed, record=record.to_json()
    )
    core.present = after.with_snapshot(number, snapshot)
    core.uncommitted.clear()
    core.unnotified.append(notices)
    engine.folder.tidy(snapshot.files() | {f for s in changed.values() for f in s.files})
    for view in core.catalog.views.values():
        core.published.pop(view.name, None)
    return follow_up(core, replace(record, version=number))


def view_changes(core: Core, old: Version, new: Version) -> Iterator[tuple[str, Segment]]:
    """What the stored rows of views differ in."""
    for view in new.catalog.views.values():
        if view.inline or view.name.startswith(ASSERTION):
            continue
        types = [f.type for f in view.fields]
        then, now = old.view_rows(view.name), new.view_rows(view.name)
        name: StoreName = scratch_store(view.name, "change")
        rows = core.engine.whole(scratch_store(view.name, "whole"), now, types) if now.segments else EMPTY
        segment = difference(core.engine, name, then, rows, types)
        if segment.rows:
            yield view.name, segment
