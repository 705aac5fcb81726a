"""How a view is maintained on Spark, as text, at every stage of its compilation; and what a batch would cost, before it runs.

    db.explain(changes={"orders": 1000})
    for 1,000 changed rows of orders
      view   policy       strategy  estimate                          instead ...
      spend  incremental  keyed     0.00 s for 65.1 KB by the driver  0.00 s for 68.8 KB by the driver ...

With a stage (`db.view("spend").explain("algebra")`) it shows what the compiler has made of the view there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never, cast

from evercurrent.algebra.show import show as show_plan
from evercurrent.calculus.nodes import Query
from evercurrent.calculus.show import show as show_query
from evercurrent.catalog.nodes import View, is_part
from evercurrent.delta.analyses.labels import Labels
from evercurrent.delta.analyses.show import show as show_program
from evercurrent.delta.program import Keyed
from evercurrent.design.events import show_events
from evercurrent.design.explain import Explanation, lookups_text, shape
from evercurrent.display import bytes_text
from evercurrent.engine.spark.engine import BATCH_ENTRIES, SMALL_ROWS
from evercurrent.engine.spark.storage.file_schema import Shape
from evercurrent.engine.spark.storage.store_names import later_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.tasks.merging import HERE_ROWS
from evercurrent.errors import QueryError
from evercurrent.oql_views.explain import explain_family
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.planning.estimates import Place
from evercurrent.warehouse.planning.experience import Cold
from evercurrent.warehouse.planning.strategies import Batch, Decision, circumstances, describe_estimate
from evercurrent.warehouse.program_parts import select_stored_part, stores_of

BATCH = 100
"""How many changed rows of every table are assumed if the user does not say."""
POLICIES = {
    "incremental": "updated by each batch; never recomputed",
    "auto": "updated by each batch or recomputed, whichever is estimated to cost less",
    "full": "recomputed by each batch that changes a table under it",
}
WAYS: dict[str, str] = {
    "rules": "by the change",
    "sql": "by Spark's SQL",
    "fill": "by a fill",
    "evaluator": "by evaluation",
}
COPIES = {
    "copy=True": "it was declared with copy=True",
    "quarantine": "rows of it can be quarantined",
    "delta": "it was declared before there were references",
    "iceberg": "it was declared before there were references",
    "parquet": "a folder of files does not tell its past",
    "files": "a folder of files does not tell its past",
    "table": "the catalog does not tell the past of this table",
}
"""Why the rows of a source are in the warehouse."""
STAGES = ("calculus", "events", "normal", "algebra", "optimised", "program")


def explain_view(
    core: Core, view: View, stage: str | None, changes: Mapping[str, int] | None = None
) -> Explanation:
    if view.language == "oql" and not is_part(view):
        return Explanation(
            explain_family(core, view, stage, lambda core, one, stage: explain_one(core, one, stage, changes))
        )
    return explain_one(core, view, stage, changes)


def explain_one(core: Core, view: View, stage: str | None, changes: Mapping[str, int] | None) -> Explanation:
    """The explanation of a view, or of one of the parts that it is kept in."""
    if stage is None:
        return Explanation("\n".join(summary(core, view, changes)))
    if stage == "events":
        program = None if view.name in core.design.recomputed else core.design.program_of(view.name)
        return Explanation("\n".join(show_events(view, core.catalog, program, lookups_text)))
    if view.query is None and stage in STAGES:
        raise QueryError(
            f"view {view.name} has no {stage}: {core.design.recomputed[view.name].reason}",
            hint="Spark computes it by its own SQL, from the text of its definition",
        )
    if view.name in core.design.recomputed and stage != "calculus":
        raise QueryError(
            f"view {view.name} has no {stage}: {core.design.recomputed[view.name].reason}",
            hint="it is evaluated as its calculus says; stage='calculus' shows that",
        )
    if stage == "calculus":
        return Explanation(show_query(cast(Query, view.query)))
    stages = core.design.stages[view.name]
    match stage:
        case "normal":
            return Explanation(show_query(stages.normal))
        case "algebra":
            return Explanation(show_plan(stages.algebra))
        case "optimised":
            return Explanation(show_plan(stages.plan))
        case "program":
            return Explanation(show_program(core.design.program_of(view.name), view.name))
        case _:
            raise QueryError(f"there is no stage {stage!r}", hint=f"the stages are {', '.join(STAGES)}")


def summary(core: Core, view: View, changes: Mapping[str, int] | None) -> Iterator[str]:
    known = core.present.outlook.parts[view.name]
    yield f"view {view.name} ({', '.join(f'{f.name} {f.type}' for f in view.fields)})"
    yield f"  reads   {', '.join(sorted(view.uses)) or 'nothing'}"
    yield from where_rows_are(core, known.under)
    yield f"  policy  {view.policy}: {POLICIES[view.policy]}"
    yield from when(core, view)
    if view.name in core.design.recomputed:
        by = "Spark's own SQL" if view.query is None else "no program"
        yield f"  kept    by {by}: {core.design.recomputed[view.name].reason}"
    yield (
        f"  run by  the driver alone for at most {SMALL_ROWS:,} changed rows that touch at most "
        f"{BATCH_ENTRIES:,} entries; by tasks of the executors otherwise"
    )
    if known.under:
        assumed = count_changed_rows(core, changes) or {
            core.table(key).name: BATCH for key in sorted(known.under)
        }
        decision = decide(core, assumed)[view.name]
        yield from describe_decision(decision, assumed)
        if changes:
            yield from describe_steps(core, view, decision, assumed)
    program = core.design.program_of(view.name)
    apart = view.name in core.design.lazy
    stored = stores_of(program if apart else select_stored_part(program, core.catalog, core.snapshot.cold))
    labels = Labels(program)
    yield "  keeps"
    for state in program.states:
        if state.name in known.part.states:
            names = Shape(state).stores
            stores = [core.snapshot.stores.get(later_store(n) if apart else n, Store()) for n in names]
            yield f"    {labels.of(state.name)}: {shape(state, labels)}"
            size = bytes_text(sum(s.bytes for s in stores))
            segments = sum(len(s.segments) for s in stores)
            why = f"; {state.why}" if state.why else ""
            if state.name in stored:
                yield f"      {stores[0].rows:,} rows in {segments} segments, {size}{why}"
            else:
                yield f"      {explain_absence(core, view)}{why}"
    rows = core.present.view_rows(view.name)
    yield f"    its rows: {rows.rows:,} in {len(rows.segments)} segments, {bytes_text(rows.bytes)}"


def where_rows_are(core: Core, tables: Iterable[str]) -> Iterator[str]:
    """Of each source under a view: whether its rows are in the warehouse, and why."""
    for key in sorted(tables):
        about = next(
            (d["source"] for d in core.definitions if d["kind"] == "table" and d["name"].lower() == key), None
        )
        if not about:
            continue
        store, name = core.present.table_rows(key), core.catalog.tables[key].name
        cursor = core.snapshot.sources.get(name, {})
        if about.get("kept") == "reference":
            at = next((f"{word} {cursor[word]}" for word in ("version", "snapshot") if word in cursor), "")
            reached = (
                f"at {at}: {store.rows:,} rows, {bytes_text(store.bytes)} there" if at else "not read yet"
            )
            yield f"          {name}: by reference, {reached}; nothing is kept here"
        else:
            why = COPIES.get(about.get("why", ""), COPIES[about["format"]])
            yield f"          {name}: a copy of {store.rows:,} rows, {bytes_text(store.bytes)}: {why}"


def when(core: Core, view: View) -> Iterator[str]:
    """Returns when a view that is not strict is updated, and how much of it is deferred."""
    group = core.present.deferred.by_view.get(view.name)
    waits = 0 if group is None else group.rows(core.snapshot)
    watched = view.name in core.subscribers.watched
    match view.mode:
        case "strict":
            return
        case "lazy" | "hybrid" if group is not None and watched:
            yield f"  mode    {view.mode}, but updated by each batch: somebody subscribes to it"
        case "lazy" if group is not None:
            yield f"  mode    lazy: everything is deferred until it is read; {waits:,} changed rows wait now"
        case "lazy" if view.policy == "full" or view.name in core.design.recomputed:
            yield "  mode    lazy, but recomputed by each batch that changes a table under it, as its policy says"
        case "lazy":
            yield "  mode    lazy, but updated by each batch: a view or an assertion that is not lazy reads it"
        case "hybrid" if group is not None:
            own = group.held & core.present.outlook.parts[view.name].part.relations
            yield f"  mode    hybrid: deferred until it is read: {', '.join(sorted(own))}, and what follows from them"
            yield f"          {waits:,} entries of states wait now"
        case "hybrid":
            yield "  mode    hybrid, but nothing is deferred: nothing is derived by key for it alone, incrementally"
        case _:
            assert_never(view.mode)


def explain_absence(core: Core, view: View) -> str:
    """Why a state is not stored."""
    cold = core.snapshot.cold.get(core.present.program.views.get(view.name, ""))
    if cold is None:
        return "not stored: a recompute needs no state"
    return f"cold: not stored since a batch was recomputed; {Cold.of_json(cold).spent:.1f} s were spent for want of it"


def describe_decision(d: Decision, assumed: Mapping[str, int]) -> Iterator[str]:
    """What would be done for a batch, and what it and its alternative are estimated to cost."""
    yield f"  for     {', '.join(f'{n:,} changed rows of {t}' for t, n in assumed.items())}"
    yield f"    strategy       {d.strategy} ({d.code}: {d.reason})"
    for way, estimate in d.ways.items():
        yield f"    {WAYS[way]:<14} {describe_estimate(estimate)}"
    if not d.ways and d.strategy != "none":
        yield f"    {WAYS[d.way]:<14} {describe_estimate(d.estimate)}"


def describe_steps(core: Core, view: View, d: Decision, assumed: Mapping[str, int]) -> Iterator[str]:
    """Where each step of an update would run, and why."""
    if d.way != "rules" or view.name in core.design.lazy:
        return
    version = core.present
    around = circumstances(core.engine, version.snapshot)
    expected = Batch(version.outlook, version.size, assumed, around).expected
    known = version.outlook.parts[view.name]
    program = core.design.program
    labels = Labels(program)
    changed = sum(n for table, n in assumed.items() if table.lower() in known.under)
    yield "    steps"
    for r in known.relations:
        if isinstance(r, Keyed):
            rows = expected.added.get(r.state, 0.0)
            if rows:
                where = place_of(d.estimate.place, rows, changed)
                yield f"      the groups of {labels.of(r.state)}: about {rows:,.0f} entries are touched; {where}"
        for rule in program.triggers.get(r.name, ()):
            rows = expected.rows.get(r.name, 0.0)
            if rows and id(rule) in {id(x) for x in known.part.rules}:
                where = place_of(d.estimate.place, rows, changed)
                yield f"      from {labels.of(r.name)} to {labels.of(rule.into)}: about {rows:,.0f} rows; {where}"


def place_of(place: Place, rows: float, changed: int) -> str:
    """Returns where a step over `rows` rows runs, and why, in words."""
    match place:
        case "driver":
            return "by the driver: the changed rows, and what they touch, are few"
        case "tasks" if rows <= HERE_ROWS:
            return f"in the driver's process: at most {HERE_ROWS:,} rows"
        case "tasks" if changed > SMALL_ROWS:
            return f"by tasks: {changed:,} changed rows are more than {SMALL_ROWS:,}"
        case "tasks":
            return f"by tasks: more than {BATCH_ENTRIES:,} entries are touched"
        case "jobs":
            return "by jobs over whole states: tasks do not serve"
        case _:
            assert_never(place)


def decide(core: Core, changed: Mapping[str, int]) -> dict[str, Decision]:
    """Returns what would be done for every view."""
    version = core.present
    return version.outlook.decide(version.size, changed, circumstances(core.engine, version.snapshot))


def explain_all(core: Core, changes: Mapping[str, int] | None) -> Explanation:
    """One line for each view: what a batch would cost."""
    tables = [t.name for t in core.catalog.tables.values()]
    assumed = count_changed_rows(core, changes) or dict.fromkeys(tables, BATCH)
    lines = [f"for {', '.join(f'{n:,} changed rows of {t}' for t, n in assumed.items()) or 'no table'}"]
    cells = [("view", "policy", "strategy", "estimate", "instead", "why")]
    for name, d in decide(core, assumed).items():
        chosen = "" if d.strategy == "none" else describe_estimate(d.estimate)
        other = "" if d.instead is None else describe_estimate(d.instead)
        cells.append((name, core.view(name).policy, d.strategy, chosen, other, f"{d.code}: {d.reason}"))
    wide = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines += ["  " + "  ".join(c.ljust(w) for c, w in zip(row, wide, strict=True)).rstrip() for row in cells]
    return Explanation("\n".join(lines))


def count_changed_rows(core: Core, changes: Mapping[str, int] | None) -> dict[str, int]:
    """The numbers of changed rows, by the tables' own names."""
    found = {core.table(name).name: rows for name, rows in (changes or {}).items()}
    for table, rows in found.items():
        if rows < 0:
            raise QueryError(
                f"{rows!r} is no number of changed rows of {table}", hint="explain(changes={'t': 100})"
            )
    return found
