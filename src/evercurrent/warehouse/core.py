"""The present version of a warehouse, and the one way in which it changes: commit.

    the net change of each table
      -> constraints                      (`partial`; ConstraintError)
      -> the program, over Spark or by the driver   (`engine.spark`)
      -> assertions                       (a change of one that is not empty: ConstraintError)
      -> the commit                       (one link in the log decides; ConflictError)
      -> publishing                       (can be repeated)

Whatever raises before the commit leaves nothing behind but files that no version mentions.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.lookup import require_table, require_view
from evercurrent.catalog.nodes import Table, View
from evercurrent.catalog.rules import positions
from evercurrent.data.collections import UNDEFINED
from evercurrent.data.types import Type
from evercurrent.data.zset import ZSet
from evercurrent.delta.program import Program
from evercurrent.design.compile import ASSERTION, Design
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.storage.entry_reader import TooLarge
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.log import Snapshot
from evercurrent.engine.spark.storage.store_names import StoreName, table_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import EvaluationError, QueryError, TransactionError
from evercurrent.locking.lock import Hold, Lock
from evercurrent.rows.constraints import children_of, validate
from evercurrent.rows.conversion import RowReader
from evercurrent.rows.row_rules import RowRules
from evercurrent.rows.subscriptions import Change, Subscribers
from evercurrent.session.session import broken_assertion
from evercurrent.statements.definition import readers_of, rules_of
from evercurrent.statements.run_record import RunRecord, ViewRun
from evercurrent.term.handed_over import HandedOver
from evercurrent.warehouse.changes.touched_rows import Partial
from evercurrent.warehouse.deferred.catch_up import current, moved_for_watchers, new_segments, with_watched
from evercurrent.warehouse.deferred.deferred_relations import Waiting, put_by, rows_of
from evercurrent.warehouse.definitions.called_functions import require_functions
from evercurrent.warehouse.maintenance.blame import blame_batch
from evercurrent.warehouse.maintenance.notifications import changes_of
from evercurrent.warehouse.maintenance.progress import Progress
from evercurrent.warehouse.maintenance.retry import again
from evercurrent.warehouse.maintenance.run_costs import experience, view_runs
from evercurrent.warehouse.maintenance.update import Moved, move
from evercurrent.warehouse.planning.estimates import Size
from evercurrent.warehouse.planning.experience import Cold
from evercurrent.warehouse.planning.strategies import Around, Outlook, recomputed

if TYPE_CHECKING:
    from evercurrent.warehouse.definitions.drafts import Draft

Deltas = dict[str, ZSet]
"""Net changes, by lower-cased names of tables."""


class Core:
    """The state behind a database on Spark."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.progress = Progress(engine.session)
        self._lock = Lock(self.settle_first)
        self._looked_from: Snapshot | None = (
            None  # what was current before subscribers looked at what is about to be
        )
        self.version = 0
        self.snapshot = Snapshot()
        self.catalog = Catalog()
        self.design = Design()
        self.readers: dict[str, RowReader] = {}
        self.rules: dict[str, RowRules] = {}
        self.outlook = Outlook(self.catalog, self.design)
        self.waiting = Waiting(self.catalog, self.design)
        self.aside: dict[str, tuple[Snapshot, Snapshot]] = {}  # a snapshot, and what readers see of it
        # objects, for those who are told of changes
        self.handle: Callable[[int], Any] = lambda oid: UNDEFINED
        self.subscribers = Subscribers()
        self.untold: deque[dict[str, Change]] = deque()
        self.committing = False
        self.publish_to: tuple[Path, ...] = ()  # folders outside the warehouse that views may be published in
        self.unconfirmed: set[str] = set()  # views that are not published for want of such a folder
        self.functions = HandedOver()  # what the program lets definitions call
        self.draft: Draft | None = None  # definitions that are not committed yet
        self.published: dict[str, int] = {}  # the version at which each view is known to be published

    @property
    def lock(self) -> Hold:
        """What `with core.lock:` takes: nobody else is inside."""
        return self._lock.hold()

    def current_hold(self) -> Hold:
        """The hold that owns the lock."""
        return self._lock.last()

    @property
    def definitions(self) -> tuple[Mapping[str, Any], ...]:
        """All definitions, with those that are not committed yet."""
        return self.snapshot.definitions if self.draft is None else self.draft.definitions

    @property
    def program(self) -> Program:
        return self.design.program

    # --- names ---------------------------------------------------------------------------------------------

    def table(self, name: str) -> Table:
        return require_table(self.catalog, name)

    def view(self, name: str) -> View:
        return require_view(self.catalog, name)

    # --- where things are stored ---------------------------------------------------------------------------

    def table_types(self, name: str) -> list[Type]:
        return [c.type for c in self.table(name).columns]

    def table_segments(self, name: str, snapshot: Snapshot | None = None) -> Store:
        return (snapshot or self.snapshot).stores.get(table_store(name), Store())

    def view_segments(self, name: str, snapshot: Snapshot | None = None) -> Store:
        """The segments of a view, by its exact name. At the present version, what has waited for a reader is worked off."""
        found = current(self, name) if snapshot is None else snapshot
        return found.stores.get(rows_of(self.design, name), Store())

    def named_segments(self, name: str) -> tuple[Store, list[Type]]:
        """The segments and types of a table or view, by name."""
        view = self.catalog.view(name)
        if view is not None:
            return self.view_segments(view.name), [f.type for f in view.fields]
        return self.table_segments(name), self.table_types(name)

    # --- one transaction -----------------------------------------------------------------------------------

    def partial(self) -> Partial:
        return Partial(self.engine, self.catalog, self.snapshot.stores)

    def examine(self, deltas: Deltas, partial: Partial) -> None:
        """Validates a change that is in the driver's hands."""
        self.progress.stage("checking constraints")
        try:
            partial.load_all(deltas)
        except (
            TooLarge
        ):  # few changes, but many rows that they are validated with: children of one parent, say
            from evercurrent.warehouse.changes import bulk

            return bulk.validate(self, self.written(deltas))
        validate(partial.stores, self.rules, deltas, children_of(partial.stores))

    def written(self, deltas: Deltas) -> dict[str, Segment]:
        """Changes of tables as segments."""
        return {
            key: self.engine.write_rows(table_store(key), self.table_types(key), list(delta.items()))
            for key, delta in deltas.items()
        }

    def commit_rows(self, deltas: Deltas, partial: Partial, batch: str | None = None) -> RunRecord:
        """Commit a change that is in the driver's hands."""
        begin = time.perf_counter()
        self.examine(deltas, partial)
        checked = time.perf_counter()
        inputs = self.written(deltas)
        return self.commit(inputs, batch, begin, {"constraints": checked - begin})

    @again
    def commit(
        self,
        inputs: Mapping[str, Segment],
        batch: str | None,
        begin: float,
        steps: dict[str, float],
        sources: Mapping[str, Any] | None = None,
        *,
        beside: Mapping[StoreName, Segment] | None = None,
        quarantined: Mapping[str, int] | None = None,
    ) -> RunRecord:
        """Commit changes of tables that lie in segments and satisfy all constraints.

        `beside` are segments for stores that no program reads; `quarantined` says how many changes were set aside.
        """
        judged = self.engine.reader.read_bytes - self.engine.reader.marked
        try:
            moved, runs = self.moved(inputs)
        except EvaluationError as error:
            raise blame_batch(self, error, inputs) from error
        moved.added |= beside or {}
        steps = {**steps, "program": sum(r.seconds for r in moved.reports.values())}
        self.require_assertions(moved.deltas)
        snapshot = moved.snapshot(self.snapshot)
        if sources is not None:
            snapshot = replace(snapshot, sources=sources)
        snapshot, watched = with_watched(self, snapshot)
        runs = tuple(moved_for_watchers(r, watched) for r in runs)
        changes = {name: s for name, s in moved.views.items() if not name.startswith(ASSERTION)} | watched
        listed: dict[str, Segment] = {**changes, **{table_store(k): s for k, s in inputs.items() if s.rows}}
        told = changes_of(self, listed, self.version + 1)
        with self.looking_at(snapshot):
            self.subscribers.before(told)
        self.progress.stage("committing")
        moment = time.perf_counter()
        self.engine.sync(list(new_segments(self.snapshot, snapshot)))
        record = replace(
            self.record(inputs, moved, runs, batch, steps, begin, judged),
            quarantined={self.catalog.tables[key].name: n for key, n in (quarantined or {}).items()},
        )
        self.version = self.engine.log.commit(
            snapshot,
            self.version,
            kind="batch",
            batch=batch,
            changes=listed,
            record=record.to_json(),
        )
        self.snapshot = snapshot
        self.untold.append(told)
        mentioned = snapshot.files() | {f for segment in changes.values() for f in segment.files}
        self.engine.folder.tidy(mentioned)
        steps["commit"] = time.perf_counter() - moment
        return replace(record, version=self.version, seconds=time.perf_counter() - begin, steps=steps)

    @contextmanager
    def looking_at(self, snapshot: Snapshot) -> Iterator[None]:
        """Read what is about to be committed; nothing can be changed meanwhile."""
        self._looked_from = self.snapshot
        try:
            self.snapshot, self.committing = snapshot, True
            yield
        finally:
            self.settle_first()

    def settle_first(self) -> None:
        """Puts back what was current before somebody looked ahead. Runs when the lock is taken, too. Idempotent."""
        before = self._looked_from
        if before is not None:
            self.snapshot, self.committing = before, False
            self._looked_from = None

    def require_idle(self) -> None:
        """Refuse changes by those who are asked before a commit."""
        if self.committing:
            raise TransactionError(
                "a subscriber that is called before the commit cannot change the database",
                hint='subscribe with when="after": what it changes then is the next version',
            )

    def tell(self) -> tuple[str, ...]:
        """Notify subscribers of the versions that they have not heard of; returns what they have raised."""
        problems: list[str] = []
        while self.untold:
            problems += self.subscribers.after(self.untold.popleft())
        return tuple(problems)

    def moved(self, inputs: Mapping[str, Segment]) -> tuple[Moved, tuple[ViewRun, ...]]:
        """Run a change through all views; nothing of it is known to anyone yet."""
        require_functions(self.catalog, self.functions, (key for key, s in inputs.items() if s.rows))
        changed = {self.catalog.tables[key].name: s.rows for key, s in inputs.items()}
        decisions = self.outlook.decide(self.size, changed, self.around())
        outside = [d.view for d in decisions.values() if d.relation is None and d.strategy == "full"]
        moved = move(self, inputs, recomputed(decisions), outside)
        put_by(self, inputs, moved)
        runs = view_runs(self, decisions, moved, changed)
        moved.factors = experience(self.snapshot.factors, decisions, runs)
        return moved, runs

    def around(self) -> Around:
        """What decisions depend on beside sizes."""
        engine, here = self.engine, self.engine.session is not None
        return Around(
            engine.session.sparkContext.defaultParallelism if here else 1,
            sql=here and engine.strategy != "driver",
            driver=engine.strategy != "spark",
            cold={r: Cold.of_json(c) for r, c in self.snapshot.cold.items()},
            factors=self.snapshot.factors,
        )

    def size(self, store: StoreName) -> Size:
        found = self.snapshot.stores.get(store, Store())
        return Size(found.rows, found.bytes)

    def record(
        self,
        inputs: Mapping[str, Segment],
        moved: Moved,
        views: tuple[ViewRun, ...],
        batch: str | None,
        steps: Mapping[str, float],
        begin: float,
        judged: int,
    ) -> RunRecord:
        """What was done; `judged` bytes were read before the views moved."""
        taken = {self.catalog.tables[k].name: s.rows for k, s in inputs.items() if s.rows}
        by = {"driver": "the driver", "spark": "Spark", "sql": "Spark's SQL"}
        reports = moved.reports.values()
        notes = tuple(f"{what} by {by[r.strategy]}: {r.reason}" for what, r in moved.reports.items())
        return RunRecord(
            self.version + 1,
            batch,
            False,
            taken,
            views,
            judged + sum(r.read_bytes for r in reports),
            sum(r.jobs for r in reports),
            time.perf_counter() - begin,
            steps,
            notes,
        )

    def require_assertions(self, deltas: Mapping[str, Segment]) -> None:
        """Refuse a change that breaks an assertion, with a sample of the rows that do."""
        for assertion in self.catalog.assertions.values():
            relation = self.program.views[ASSERTION + assertion.name]
            segment = deltas.get(relation, EMPTY)
            if segment.rows:
                types = [f.type for f in assertion.fields]
                rows = [row for row, w in self.engine.rows(Store((segment,)), types) if w > 0]
                raise broken_assertion(assertion, rows)

    # --- another catalog -----------------------------------------------------------------------------------

    def install(self, version: int, snapshot: Snapshot, catalog: Catalog, design: Design) -> None:
        """Be at this version from now on."""
        self.version, self.snapshot, self.catalog, self.design = version, snapshot, catalog, design
        self.outlook = Outlook(catalog, design)
        self.waiting = Waiting(catalog, design)
        self.aside.clear()
        for key, t in catalog.tables.items():
            if t.primary_key:
                types = [c.type for c in t.columns]
                self.engine.declare(table_store(key), types, positions(t, t.primary_key.columns))
        self.readers, self.rules = readers_of(catalog), rules_of(catalog)


def is_source(core: Core, table: str) -> bool:
    """Whether others write a table, by its lower-cased name."""
    return any(d.get("source") and d["name"].lower() == table for d in core.definitions)


def require_own(core: Core, table: str) -> None:
    """Refuse to change a table that others write."""
    if is_source(core, table):
        name = core.catalog.tables[table].name
        raise QueryError(f"{name} is a source: others write it", hint="db.refresh() takes its changes in")
