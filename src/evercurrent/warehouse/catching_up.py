"""Reading what has waited: lazy and hybrid views are brought to the present version, once for however many batches.

    lazy      the queues of the inputs, netted, are one transaction of the views' own program (law 7: composition)
    hybrid    for the keys of what was added to a state since the last reader: f(now) - f(then), then = now - what was added;
              and on from there by the rules, over the other states as they are now (law P1: the order of sides is free)

What comes of it is a version of its own, which changes no table: the queues are empty in it, and the changes of the views are
listed there. Who cannot commit it sees the same rows without: a subscriber before the commit, a driver that another one has
overtaken, whoever reads an earlier version. A batch in which somebody watches such a view works it off as part of itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from evercurrent.data.zset import ZSet
from evercurrent.delta.program import Input, Keyed, Program
from evercurrent.engine.spark.engine import DRIVER_ENTRIES, Report
from evercurrent.engine.spark.files import EMPTY, Segment
from evercurrent.engine.spark.kept import Store
from evercurrent.engine.spark.log import Snapshot
from evercurrent.engine.spark.negation import less
from evercurrent.engine.spark.run import Outcome
from evercurrent.errors import ConflictError, EvaluationError
from evercurrent.session.compile import Design
from evercurrent.session.lazy import used_columns
from evercurrent.session.oql_changes import relations_of_view
from evercurrent.warehouse.monitors import changes_of, missed
from evercurrent.warehouse.parts import rows_store, stores_of
from evercurrent.warehouse.record import RunRecord, ViewRun
from evercurrent.warehouse.waiting import (
    LATER,
    QUEUED,
    WAITS,
    Kind,
    Waiting,
    bare,
    is_behind,
    later,
    later_design,
    rows_behind,
)

if TYPE_CHECKING:
    from evercurrent.warehouse.core import Core

KINDS: tuple[Kind, ...] = ("lazy", "hybrid")
CATCH_UP = "CATCH UP"
"""The kind of a version that only works off what has waited."""
COMPACT = "COMPACT"
"""The kind of a version that only merges segments."""

P = ParamSpec("P")
T = TypeVar("T")


@dataclass
class Caught:
    """A snapshot in which nothing waits, and what the views have changed by on the way to it."""

    snapshot: Snapshot
    views: dict[str, Segment] = field(default_factory=dict)
    taken: dict[str, int] = field(default_factory=dict)  # netted rows, by what they waited for
    report: Report | None = None


# --- for readers -------------------------------------------------------------------------------------------


def current(core: Core, view: str) -> Snapshot:
    """The snapshot in which a view, by its exact name, is what its query says."""
    kind = core.waiting.kind(view)
    return core.snapshot if kind is None else settled(core, kind)


def ground(core: Core, kind: Kind, unchanged: bool) -> tuple[Core, dict[str, Store]]:
    """What a new catalog can take over, and what goes on waiting in it because nothing there is `unchanged` by it.

    Otherwise what waits is worked off first. Where it cannot be, the tables alone are taken over: so a view whose values
    cannot be found (they overflow, say) can be dropped.
    """
    waits: dict[str, Store] = {}
    if unchanged:
        mark = QUEUED if kind == "lazy" else WAITS
        waits = {n: s for n, s in core.snapshot.stores.items() if n.startswith(mark)}
    else:
        try:
            settled(core, kind)
        except EvaluationError:
            return bare(core), {}
    return (core if kind == "hybrid" else later(core, core.snapshot)), waits


def settled(core: Core, kind: Kind) -> Snapshot:
    """The present snapshot, without anything of this kind that waits; committed, if it can be."""
    with core.lock:
        if not is_behind(core.snapshot, kind):
            return core.snapshot
        alone = core.committing or core.engine.log.latest() != core.version
        known = core.aside.get(kind)
        if alone and known is not None and known[0] is core.snapshot:
            return known[1]
        folder = core.engine.folder
        others, folder.made = folder.made, []  # files of who reads: not ours to tidy
        try:
            begin = time.perf_counter()
            caught = caught_up(core, core.snapshot, kind)
            if not alone:
                try:
                    return commit(core, kind, caught, begin)
                except ConflictError:
                    pass  # another driver was quicker, perhaps by the same
            core.aside[kind] = core.snapshot, caught.snapshot
            folder.made = []  # they may be read for long; vacuum removes them
            return caught.snapshot
        finally:
            folder.tidy(set())
            folder.made = others


def rows_at(core: Core, view: str, version: int, snapshot: Snapshot) -> Store:
    """The rows that a view had at a version, whether somebody read it then or not."""
    same = snapshot.definitions == core.snapshot.definitions
    if same and not any(is_behind(snapshot, kind) for kind in KINDS):
        return core.view_segments(view, snapshot)
    from evercurrent.warehouse.core import Core as Apart
    from evercurrent.warehouse.definitions import catalog_of
    from evercurrent.warehouse.drafts import compiled

    made = Apart(core.engine)
    made.progress = core.progress
    made.version, made.snapshot, made.committing = version, snapshot, True
    made.catalog, made.design = compiled(catalog_of(snapshot), Design())
    made.waiting = Waiting(made.catalog, made.design)
    return made.view_segments(view)


def commit(core: Core, kind: Kind, caught: Caught, begin: float) -> Snapshot:
    from evercurrent.warehouse.publish import publish

    core.engine.sync(list(new_segments(core.snapshot, caught.snapshot)))
    told = changes_of(core, caught.views, core.version + 1)
    record = recorded(core, kind, caught, begin)
    core.version = core.engine.log.commit(
        caught.snapshot, core.version, kind=CATCH_UP, changes=caught.views, record=record.to_json()
    )
    core.snapshot = caught.snapshot
    core.untold.append(told)
    listed = {f for segment in caught.views.values() for f in segment.files}
    core.engine.folder.tidy(caught.snapshot.files() | listed)
    publish(core)
    return core.snapshot


def again(method: Callable[Concatenate[Core, P], T]) -> Callable[Concatenate[Core, P], T]:
    """Repeat a commit that another driver was quicker than, if that one has changed nothing of what this one rests on."""

    @wraps(method)
    def committed(core: Core, /, *args: P.args, **options: P.kwargs) -> T:
        while True:
            try:
                return method(core, *args, **options)
            except ConflictError:
                if not followed(core):
                    raise

    return committed


def followed(core: Core) -> bool:
    """Go to the newest version, if all that lies between is upkeep: no table and no definition has changed by it."""
    log = core.engine.log
    newest = log.latest()
    between = [log.entry(v) for v in range(core.version + 1, newest + 1)]
    if not between or any(e.kind not in (CATCH_UP, COMPACT) for e in between):
        return False
    before, core.version, core.snapshot = core.version, newest, log.snapshot(newest)
    core.untold.extend(missed(core, before))
    return True


def new_segments(before: Snapshot, after: Snapshot) -> Iterable[Segment]:
    known = before.files()
    return (s for x in after.stores.values() for s in x.segments if not known.issuperset(s.files))


def recorded(core: Core, kind: Kind, caught: Caught, begin: float) -> RunRecord:
    waited, left = rows_behind(core.snapshot, kind), sum(caught.taken.values())
    left_over = f", {left} were left of them" if kind == "lazy" else ""
    runs = tuple(
        ViewRun(v.name, "delta", "read", "what has waited is worked off", left, changed.rows)
        for v in core.waiting.catalog.views.values()
        if (changed := caught.views.get(v.name, EMPTY)).rows
    )
    report = caught.report
    return RunRecord(
        core.version + 1,
        rows_in=caught.taken if kind == "lazy" else {},
        views=runs,
        bytes_read=0 if report is None else report.read_bytes,
        jobs=0 if report is None else report.jobs,
        seconds=time.perf_counter() - begin,
        notes=(f"{kind} views: {waited} rows have waited{left_over}",),
    )


def with_watched(core: Core, snapshot: Snapshot) -> tuple[Snapshot, dict[str, Segment]]:
    """A snapshot that is about to be committed with what somebody watches brought up to date; the changes of that."""
    changes: dict[str, Segment] = {}
    watched = {r for name in core.subscribers.watched for r in relations_of_view(core.catalog, name)}
    for kind in KINDS:
        if any(core.waiting.kind(r) == kind for r in watched) and is_behind(snapshot, kind):
            caught = caught_up(core, snapshot, kind)
            snapshot, changes = caught.snapshot, {**changes, **caught.views}
    return snapshot, changes


def moved_for_watchers(run: ViewRun, changes: Mapping[str, Segment]) -> ViewRun:
    """What a record says of a view that would have waited."""
    if run.view not in changes:
        return run
    rows = changes[run.view].rows
    return replace(
        run, strategy="delta", code="watched", reason="somebody subscribes to it", rows_changed=rows
    )


# --- the work ----------------------------------------------------------------------------------------------


def caught_up(core: Core, snapshot: Snapshot, kind: Kind) -> Caught:
    """Work off what waits in a snapshot; nothing of it is known to anyone yet."""
    core.progress.stage(f"bringing {kind} views up to date")
    return lazily(core, snapshot) if kind == "lazy" else partly(core, snapshot)


def lazily(core: Core, snapshot: Snapshot) -> Caught:
    """The views of the program `later`, by the net change of its inputs."""
    waiting = core.waiting
    program = later_design(waiting.design).program
    stores = {n: s for n, s in snapshot.stores.items() if not n.startswith(QUEUED)}
    inputs: dict[str, Segment] = {}
    for r in waiting.inputs:
        queue = snapshot.stores.get(QUEUED + r.name.lower(), Store())
        net = netted(core, program, r, queue)
        if net.rows:
            inputs[r.name] = net
    result = Caught(snapshot, taken={name: s.rows for name, s in inputs.items()})
    if inputs:
        own = {n.removeprefix(LATER): s for n, s in stores.items() if n.startswith(LATER)}
        outcome, result.report = core.engine.run(program, own, inputs)
        added = dict(outcome.stores)
        states = stores_of(program)
        for name, relation in program.views.items():
            delta = outcome.deltas.get(relation, EMPTY)
            if delta.rows:
                result.views[name] = delta
                if rows_store(program, relation) not in states:
                    added[rows_store(program, relation)] = delta
        for name, segment in added.items():
            stores[LATER + name] = stores.get(LATER + name, Store()).plus(segment)
    result.snapshot = replace(snapshot, stores={n: s for n, s in stores.items() if s.segments})
    return result


def netted(core: Core, program: Program, r: Input, queue: Store) -> Segment:
    """What is left of a queue. Rows are told apart by the columns that the program uses: a change of others is none."""
    name, types = QUEUED + r.name.lower(), [c.type for c in r.columns]
    used = used_columns(program, r.name)
    if len(used) == len(types) or queue.rows > DRIVER_ENTRIES or core.engine.strategy == "spark":
        return core.engine.whole(name, queue, types)
    net = ZSet()
    for row, weight in core.engine.rows(queue, types):
        net.add(tuple(v if i in used else None for i, v in enumerate(row)), weight)
    return core.engine.write_rows(name, types, list(net.items()))


def partly(core: Core, snapshot: Snapshot) -> Caught:
    """The keyed relations that were held, and what follows from them."""
    waiting = core.waiting
    program = waiting.design.program
    waits = {n.removeprefix(WAITS): s for n, s in snapshot.stores.items() if n.startswith(WAITS)}
    stores = {n: s for n, s in snapshot.stores.items() if not n.startswith(WAITS)}
    seeds = {store: waits[store] for store in waiting.states if store in waits}
    then = {
        store: less(core.engine, store, stores.get(store, Store()), seeds[store], schema)
        for store, schema in waiting.states.items()
        if store in seeds
    }
    outcome, report = Outcome(), None
    if seeds:
        others = frozenset(r.name for r in program.relations if isinstance(r, Keyed)) - waiting.held
        outcome, report = core.engine.run(program, {**stores, **then}, {}, held=others, seeds=seeds)
    for store, segment in outcome.stores.items():
        if store not in seeds:
            stores[store] = stores.get(store, Store()).plus(segment)
        elif store.split("\0")[0] in waiting.fed:  # the segment holds what has waited too
            stores[store] = then[store].plus(segment)
    result = Caught(snapshot, taken={n: s.rows for n, s in seeds.items() if "\0" not in n}, report=report)
    own = stores_of(program)
    for relation in dict.fromkeys(waiting.views.values()):
        names = [n for n, r in waiting.views.items() if r == relation]
        delta = outcome.deltas.get(relation, EMPTY)
        store = rows_store(program, relation)
        if delta.rows and store not in own:
            stores[store] = stores.get(store, Store()).plus(delta)
        half = waits.get(store, Store()).segments
        if half:
            both = Store((), (*half, delta) if delta.rows else half)
            types = [f.type for f in waiting.catalog.fields_of(names[0])]
            delta = core.engine.whole(f"{store}\0change", both, types)
        if delta.rows:
            result.views |= dict.fromkeys(names, delta)
    result.snapshot = replace(snapshot, stores={n: s for n, s in stores.items() if s.segments})
    return result
