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

import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.lookup import require_table, require_view
from evercurrent.catalog.nodes import Table, View
from evercurrent.data.types import Type
from evercurrent.data.zset import ZSet
from evercurrent.delta.program import Fixpoint, Input, Linear, Program
from evercurrent.engine.spark.backfill import part_for
from evercurrent.engine.spark.engine import Engine, Report
from evercurrent.engine.spark.files import EMPTY, Segment
from evercurrent.engine.spark.fixpoint import loop_stores
from evercurrent.engine.spark.kept import Store
from evercurrent.engine.spark.log import Snapshot
from evercurrent.engine.spark.run import Outcome
from evercurrent.engine.spark.shapes import Shape
from evercurrent.errors import ConstraintError, QueryError
from evercurrent.session.compile import ASSERTION, Design
from evercurrent.session.constraints import children_of, examine
from evercurrent.session.rows import RowReader, give_rows
from evercurrent.session.rules import SAMPLE, RowRules
from evercurrent.term.evaluate import compile_term
from evercurrent.warehouse.partial import Partial, table_store
from evercurrent.warehouse.record import RunRecord, ViewRun

Deltas = dict[str, ZSet]
"""Net changes, by lower-cased names of tables."""


class Core:
    """The state behind a database on Spark."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.lock = threading.RLock()
        self.version = 0
        self.snapshot = Snapshot()
        self.catalog = Catalog()
        self.design = Design()
        self.readers: dict[str, RowReader] = {}
        self.rules: dict[str, RowRules] = {}
        self.published: dict[str, int] = {}  # the version at which each view is known to be published

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

    def rows_store(self, relation: str, program: Program | None = None) -> str:
        """The store that holds the rows of a relation that is a view."""
        for r in (program or self.program).relations:
            if r.name == relation and isinstance(r, Linear) and r.state is not None:
                return r.state
        return f"rows\0{relation}"

    def view_segments(self, name: str, snapshot: Snapshot | None = None) -> Store:
        """The segments of a view, by its exact name."""
        store = self.rows_store(self.program.views[name])
        return (snapshot or self.snapshot).stores.get(store, Store())

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
        """Judge the constraints of a change that is in the driver's hands."""
        partial.load_all(deltas)
        examine(partial.stores, self.rules, deltas, children_of(partial.stores))

    def commit_rows(self, deltas: Deltas, partial: Partial, batch: str | None = None) -> RunRecord:
        """Commit a change that is in the driver's hands."""
        begin = time.perf_counter()
        self.examine(deltas, partial)
        checked = time.perf_counter()
        inputs = {
            key: self.engine.write_rows(table_store(key), self.table_types(key), list(delta.items()))
            for key, delta in deltas.items()
        }
        return self.commit(inputs, batch, begin, {"constraints": checked - begin})

    def commit(
        self,
        inputs: Mapping[str, Segment],
        batch: str | None,
        begin: float,
        steps: dict[str, float],
        sources: Mapping[str, Any] | None = None,
    ) -> RunRecord:
        """Commit changes of tables that lie in segments and satisfy all constraints."""
        names = {self.catalog.tables[key].name: s for key, s in inputs.items() if s.rows}
        outcome, report = self.engine.run(self.program, self.snapshot.stores, names)
        steps = {**steps, "program": report.seconds}
        self.require_assertions(outcome)
        added = self.added(inputs, outcome)
        snapshot = self.snapshot.plus(added)
        if sources is not None:
            snapshot = replace(snapshot, sources=sources)
        changes = self.view_changes(outcome)
        moment = time.perf_counter()
        self.engine.sync([*added.values()])
        record = self.record(inputs, outcome, report, batch, steps, begin)
        self.version = self.engine.log.commit(
            snapshot,
            self.version,
            kind="batch",
            batch=batch,
            changes={**changes, **{table_store(k): s for k, s in inputs.items() if s.rows}},
            record=record.to_json(),
        )
        self.snapshot = snapshot
        mentioned = snapshot.files() | {f for segment in changes.values() for f in segment.files}
        self.engine.folder.tidy(mentioned)
        steps["commit"] = time.perf_counter() - moment
        return replace(record, version=self.version, seconds=time.perf_counter() - begin, steps=steps)

    def added(self, inputs: Mapping[str, Segment], outcome: Outcome) -> dict[str, Segment]:
        """The segments that a transaction adds to stores."""
        added = {table_store(key): s for key, s in inputs.items() if s.rows}
        added |= {name: s for name, s in outcome.stores.items() if s.rows}
        linear = {r.name for r in self.program.relations if isinstance(r, Linear) and r.state is not None}
        for name, relation in self.program.views.items():
            segment = outcome.deltas.get(relation, EMPTY)
            if relation not in linear and segment.rows and not name.startswith(ASSERTION):
                added[f"rows\0{relation}"] = segment
        return added

    def view_changes(self, outcome: Outcome) -> dict[str, Segment]:
        return {
            name: outcome.deltas[relation]
            for name, relation in self.program.views.items()
            if outcome.deltas.get(relation, EMPTY).rows and not name.startswith(ASSERTION)
        }

    def record(
        self,
        inputs: Mapping[str, Segment],
        outcome: Outcome,
        report: Report,
        batch: str | None,
        steps: Mapping[str, float],
        begin: float,
    ) -> RunRecord:
        views = tuple(
            ViewRun(name, report.strategy, report.reason, outcome.deltas.get(relation, EMPTY).rows)
            for name, relation in self.program.views.items()
            if not name.startswith(ASSERTION)
        )
        taken = {self.catalog.tables[k].name: s.rows for k, s in inputs.items() if s.rows}
        seconds = time.perf_counter() - begin
        return RunRecord(
            self.version + 1, batch, False, taken, views, report.read_bytes, report.jobs, seconds, steps
        )

    def require_assertions(self, outcome: Outcome) -> None:
        """Refuse a change that breaks an assertion, with a sample of the rows that do."""
        for assertion in self.catalog.assertions.values():
            relation = self.program.views[ASSERTION + assertion.name]
            segment = outcome.deltas.get(relation, EMPTY)
            if segment.rows:
                types = [f.type for f in assertion.fields]
                rows = [row for row, w in self.engine.rows(Store((segment,)), types) if w > 0]
                shown = give_rows(assertion.fields, rows[:SAMPLE])
                more = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
                raise ConstraintError(
                    f"assertion {assertion.name} does not hold: {shown[0]!r}{more}",
                    constraint=assertion.name,
                    rows=shown,
                    count=len(rows),
                    hint="nothing was changed",
                )

    # --- another catalog -----------------------------------------------------------------------------------

    def fill(
        self, catalog: Catalog, design: Design, emptied: frozenset[str]
    ) -> tuple[dict[str, Store], Report | None, Outcome]:
        """The stores of another design: kept ones as they are, new ones computed from what is stored.

        `emptied` are tables that begin anew: nothing that was made of the old rows can be kept.
        """
        program = design.program
        old = {} if emptied else {s.name: s for s in self.program.states}
        kept = {
            s.name
            for s in program.states
            if s.name in old
            and (s.columns, s.dependents, s.accumulators)
            == (old[s.name].columns, old[s.name].dependents, old[s.name].accumulators)
        }
        listed = set() if emptied else set(self.program.views.values())
        stores: dict[str, Store] = {}
        for key in catalog.tables:
            name = table_store(key)
            if key not in emptied and name in self.snapshot.stores:
                stores[name] = self.snapshot.stores[name]
        for state in program.states:
            if state.name in kept:
                shape = Shape(state)
                for store in (state.name, *(shape.bag_store(i) for i in shape.bags)):
                    if store in self.snapshot.stores:
                        stores[store] = self.snapshot.stores[store]
        loops: set[str] = (
            set() if emptied else {r.name for r in self.program.relations if isinstance(r, Fixpoint)}
        )
        new_loops: list[str] = []
        for r in program.relations:
            if isinstance(r, Fixpoint):
                if r.name not in loops:
                    new_loops += [loop.name for loop in r.loops]
                for store, _ in loop_stores(r):
                    if r.name in loops and store in self.snapshot.stores:
                        stores[store] = self.snapshot.stores[store]
        wanted = []
        for relation in dict.fromkeys(program.views.values()):
            store = self.rows_store(relation, program)
            if relation in listed and (store in kept or store.startswith("rows\0")):
                if store in self.snapshot.stores:
                    stores[store] = self.snapshot.stores[store]
            else:
                wanted.append(relation)
        new = [s.name for s in program.states if s.name not in kept]
        stored = {
            r
            for r in listed
            if r in set(program.views.values())
            and (self.rows_store(r, program) in kept or self.rows_store(r, program).startswith("rows\0"))
        }
        if not new and not wanted and not new_loops:
            return stores, None, Outcome()
        part = part_for(program, new, [*wanted, *new_loops], stored - set(new_loops))
        inputs = {
            r.name: self.contents(r, catalog, stores, program) for r in part.relations if isinstance(r, Input)
        }
        outcome, report = self.engine.run(part, {}, inputs, beginning=True)
        for name, segment in outcome.stores.items():
            own = name.split("\0")[0]
            if (own in new or (own in new_loops and "\0" in name)) and segment.rows:
                stores[name] = Store((segment,))
        for relation in wanted:
            store = self.rows_store(relation, program)
            segment = outcome.deltas.get(relation, EMPTY)
            if store.startswith("rows\0") and segment.rows:
                stores[store] = Store((segment,))
        return stores, report, outcome

    def contents(self, r: Input, catalog: Catalog, stores: Mapping[str, Store], program: Program) -> Segment:
        """All rows of an input of a part."""
        types = [c.type for c in r.columns]
        if r.rows is not None:
            return self.engine.write_rows(f"{r.name}\0constant", types, [(row, 1) for row in r.rows])
        if catalog.table(r.name) is not None:
            name = table_store(r.name)
        else:
            name = self.rows_store(r.name, program)
        return self.engine.whole(name, stores.get(name, Store()), types)

    def install(self, version: int, snapshot: Snapshot, catalog: Catalog, design: Design) -> None:
        """Be at this version from now on."""
        self.version, self.snapshot, self.catalog, self.design = version, snapshot, catalog, design
        from evercurrent.warehouse.definitions import defaults

        self.readers = {key: RowReader(t, defaults(t)) for key, t in catalog.tables.items()}
        self.rules = {
            key: RowRules(
                t, lambda table, check: compile_term(check.condition, [c.name for c in table.columns])
            )
            for key, t in catalog.tables.items()
        }


def require_own(core: Core, table: str) -> None:
    """Refuse to change a table that others write."""
    for d in core.snapshot.definitions:
        if d.get("source") and d["name"].lower() == table:
            raise QueryError(
                f"{d['name']} is a source: others write it", hint="db.refresh() takes its changes in"
            )
