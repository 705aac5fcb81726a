"""The stages of a run, in the order of dependencies.

Spark runs streams, sinks and what was not captured as soon as what they read is up to date. Then one refresh of the warehouse
updates all captured datasets that read only what is up to date, and their tables are written.

    raw (streaming table) -> spend (captured) -> scored (not captured)       Spark: raw; warehouse: spend; Spark: scored
"""

from __future__ import annotations

import time
from pathlib import Path

from evercurrent.engine.spark.declarative import flows, tables
from evercurrent.engine.spark.declarative.definitions import Name, Output, show
from evercurrent.engine.spark.declarative.leaves import Input
from evercurrent.engine.spark.declarative.resolution import Query, Resolver
from evercurrent.engine.spark.doors.plans import create_view, frame_of_plan
from evercurrent.errors import EvercurrentError, UnsupportedError
from evercurrent.frontend.sql.spark_text import quote_name
from evercurrent.pipelines.capture import Captured
from evercurrent.pipelines.preparation import Plan, Run
from evercurrent.pipelines.publish import Notes, is_current, publish
from evercurrent.pipelines.records import DatasetRun
from evercurrent.statements.run_record import RunRecord
from evercurrent.warehouse.database import Warehouse
from evercurrent.warehouse.definitions.drafts import together
from evercurrent.warehouse.definitions.publishing import publish_nowhere


def perform(run: Run, plan: Plan) -> None:
    folder = run.options.warehouse or run.spec.warehouse
    with run.step("open"):
        run.db = Warehouse(run.spark, folder, progress=False)
    notes = Notes(Path(folder) / "pipeline")
    stages = Stages(run, plan, notes)
    with run.step("create"):
        stages.create_tables()
        stages.drop_unused()
    waiting = [n for n in plan.resolver.order]
    while waiting:
        by_spark = [n for n in waiting if n not in plan.capturing.captured and stages.is_ready(n)]
        for name in by_spark:
            stages.run_by_spark(name)
        maintained = stages.ready_views(waiting)
        if maintained:
            stages.maintain(maintained)
        done = {*by_spark, *maintained}
        assert done, waiting
        waiting = [n for n in waiting if n not in done]
    run.record.version = run.db.version


class Stages:
    """The stages of a run: `done` are the datasets that are up to date."""

    def __init__(self, run: Run, plan: Plan, notes: Notes) -> None:
        assert run.db is not None
        self.run, self.plan, self.notes, self.db = run, plan, notes, run.db
        self.spark = run.spark
        self.outputs = run.definitions.outputs
        self.done: set[Name] = set()
        self.real = Resolver(run.spark, run.definitions, run.home, real=True)
        self.tables: dict[Name, tables.StoredTable] = {}
        self.stale: set[Name] = set()

    def inputs_of(self, name: Name) -> set[Name]:
        return {i for q in self.plan.resolver.queries[name] for i in q.inputs}

    def is_ready(self, name: Name) -> bool:
        return self.inputs_of(name) <= self.done

    def ready_views(self, waiting: list[Name]) -> list[Name]:
        """The captured datasets that read only what is up to date, or each other."""
        found: list[Name] = []
        for name in waiting:
            if name in self.plan.capturing.captured and self.inputs_of(name) <= {*self.done, *found}:
                found.append(name)
        return found

    def create_tables(self) -> None:
        """Creates the tables that are missing; one whose columns have changed is created again."""
        for name in self.plan.resolver.order:
            output = self.outputs[name]
            if not output.is_stored:
                continue
            schema = self.plan.resolver.schema_of(output)
            found = tables.find(self.spark, name)
            if found is not None and not tables.same_columns(found.schema, schema):
                self.drop_changed(output)
                found = None
            if found is None:
                tables.create(self.spark, output, schema, self.notes.of(name).get("location"))
                found = tables.find(self.spark, name)
                assert found is not None
            if self.notes.of(name).get("location") is None:
                self.notes.put(name, {"location": found.location})
            self.tables[name] = found

    def drop_changed(self, output: Output) -> None:
        """Drops a table whose columns are no longer those of its dataset."""
        name = output.name
        if output.kind == "streaming table" and name not in self.plan.selection.full:
            raise UnsupportedError(
                f"the columns of the streaming table {show(name)} have changed",
                hint=f"--full-refresh {show(name)} empties it and reads its sources again",
            )
        tables.drop(self.spark, name)
        flows.remove_checkpoints(self.spark, self.run.spec.storage, name)
        self.notes.put(name, {})

    # --- by Spark ------------------------------------------------------------------------------------------

    def run_by_spark(self, name: Name) -> None:
        output, line = self.outputs[name], self.plan.lines[name]
        self.done.add(name)
        if name not in self.plan.selection:
            return
        begin = time.perf_counter()
        queries = self.real.resolve(name)
        if output.kind == "view":
            tables.create_view(self.spark, output, queries[0].text or "")
        elif output.kind == "materialized view":
            self.recompute(output, queries[0], line)
        elif output.kind in ("streaming table", "sink"):
            self.stream(output, queries, line)
        self.real.clear()
        line.seconds = time.perf_counter() - begin

    def recompute(self, output: Output, query: Query, line: DatasetRun) -> None:
        flows.recompute(self.spark, output, query)
        line.way = "recomputed"
        line.rows_changed = flows.count_rows(self.spark, output.name, self.tables[output.name].folder)

    def stream(self, output: Output, queries: list[Query], line: DatasetRun) -> None:
        if output.name in self.plan.selection.full:
            flows.remove_checkpoints(self.spark, self.run.spec.storage, output.name)
            if output.is_stored:
                tables.truncate(self.spark, output.name)
        line.way = "streamed"
        stored = self.tables.get(output.name)
        own_files = stored if stored is not None and stored.folder is not None and len(queries) > 1 else None
        line.rows_in = sum(
            flows.run_stream(self.spark, output, q, self.run.spec.storage, own_files) for q in queries
        )
        line.rows_changed = line.rows_in
        if not line.rows_in:
            line.way = "unchanged"

    # --- by the warehouse ----------------------------------------------------------------------------------

    def drop_unused(self) -> None:
        """Drops views and sources of earlier runs that the pipeline does not have any more."""
        captured = self.plan.capturing.captured.values()
        needed = {
            "view": {c.view.lower() for c in captured},
            "table": {i.name.lower() for c in captured for i in c.inputs},
        }
        for kind, name in self.notes.made:
            if name not in needed[kind]:
                self.drop(kind, name)
        made = [(kind, name) for kind, names in needed.items() for name in sorted(names)]
        self.notes.put_made(made)

    def drop(self, kind: str, name: str) -> None:
        self.db.execute(f"DROP {kind.upper()} IF EXISTS {quote_name(name)} CASCADE")

    def maintain(self, names: list[Name]) -> None:
        """One refresh of the warehouse, and the tables of its views."""
        self.done.update(names)
        if not any(n in self.plan.selection for n in names):
            self.stale.update(names)  # not looked at
            return
        captured = [self.plan.capturing.captured[n] for n in names]
        with self.run.step("sources"):
            for found in {i.name: i for c in captured for i in c.inputs}.values():
                self.declare(found)
        full = {i.name for c in captured if c.output.name in self.plan.selection.full for i in c.inputs}
        with self.run.step("refresh"):
            record = self.db.refresh(full=full)
        self.run.record.notes.extend(record.notes)
        with self.run.step("define"):
            filled = self.define_all(captured)
        for c in captured:
            self.bring_to_table(c, record, c.output.name in filled)

    def bring_to_table(self, captured: Captured, record: RunRecord, filled: bool) -> None:
        """Publishes a view; if it reads a dataset whose table is behind its view, Spark computes it from the tables, as a partial run does."""
        name = captured.output.name
        if name not in self.plan.selection:
            if not is_current(self.db._core, self.notes, captured.view, self.tables[name]):
                self.stale.add(name)
        elif self.inputs_of(name) & self.stale:
            line = self.plan.lines[name]
            self.notes.put(name, {"location": self.tables[name].location})
            self.run_by_spark(name)
            line.reason = "a dataset that it reads was not selected"
            self.stale.add(name)
        else:
            self.publish(captured, record, filled)

    def declare(self, found: Input) -> None:
        """Declares a source; one whose columns have changed is declared again."""
        catalog = self.db._core.catalog
        if catalog.view(found.name) is not None:
            self.drop("view", found.name)
        known = catalog.tables.get(found.name.lower())
        if known is not None:
            there = {c.name.lower(): str(c.type) for c in found.columns}
            if any(there.get(c.name.lower()) != str(c.type) for c in known.columns):
                self.drop("table", found.name)
        if found.path is not None:
            self.db.source(found.name, format="files", path=found.path, options=dict(found.options))
            return
        if found.plan is not None:
            create_view(frame_of_plan(self.spark, found.plan), str(found.table))
        self.db.source(found.name, table=found.table)

    def define_all(self, captured: list[Captured]) -> set[Name]:
        """Brings all definitions to the present ones, as one version: tables are scanned once for all of them. Returns what changed."""
        core = self.db._core
        with core.lock:
            with together(core):  # what is recomputed in full is dropped first: nothing of it is used again
                for c in captured:
                    if c.output.name in self.plan.selection.full and core.catalog.view(c.view) is not None:
                        self.drop("view", c.view)
            with together(core):
                return {c.output.name for c in captured if self.define(c)}

    def define(self, captured: Captured) -> bool:
        """Brings the definition of a view to the present one; returns whether it has changed."""
        core = self.db._core
        known = {(d["kind"], d["name"].lower()): d for d in core.definitions}
        if ("table", captured.view.lower()) in known:
            self.drop("table", captured.view)
        before = known.get(("view", captured.view.lower()))
        policy = self.run.options.policy
        if before is not None and (before["text"], before["policy"]) == (captured.text, policy):
            return False
        if before is not None:
            try:
                self.db.replace_view(captured.text, policy=policy)
                return True
            except EvercurrentError:  # a view over it cannot follow; it is defined again in its turn
                self.drop("view", captured.view)
        self.db.execute(captured.text, policy=policy)
        publish_nowhere(core, captured.view)
        return True

    def publish(self, captured: Captured, record: RunRecord, filled: bool) -> None:
        name, line = captured.output.name, self.plan.lines[captured.output.name]
        begin = time.perf_counter()
        view = self.db._core.view(captured.view)
        with self.run.step("publish"):
            changed = publish(self.db._core, self.spark, self.notes, view, self.tables[name], filled)
        line.seconds += time.perf_counter() - begin
        done = next((v for v in record.views if v.view.lower() == captured.view.lower()), None)
        if done is not None:
            line.strategy, line.rows_in = done.strategy, done.rows_in
            line.reason = line.reason or done.reason
            line.seconds += done.seconds
        line.way = way_of(line.strategy, filled, changed)
        line.rows_changed = (
            changed if changed is not None else self.db._core.present.view_rows(view.name).rows
        )


def way_of(strategy: str, filled: bool, changed: int | None) -> str:
    if filled:
        return "filled"
    if changed == 0:
        return "unchanged"
    return "recomputed" if strategy == "full" else "incremental"
