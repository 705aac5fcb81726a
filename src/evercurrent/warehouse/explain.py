"""How a view is kept on Spark, as text, at every stage of its way down; and what a batch would cost, before it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never, cast

from evercurrent.algebra.show import show as show_plan
from evercurrent.calculus.nodes import Query
from evercurrent.calculus.show import show as show_query
from evercurrent.catalog.nodes import View, is_part
from evercurrent.delta.analyses.labels import Labels
from evercurrent.delta.analyses.show import show as show_program
from evercurrent.design.events import show_events
from evercurrent.design.explain import Explanation, lookups_text, shape
from evercurrent.display import bytes_text
from evercurrent.engine.spark.engine import BATCH_ENTRIES, SMALL_ROWS
from evercurrent.engine.spark.storage.file_schema import Shape
from evercurrent.engine.spark.storage.store_names import later_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import QueryError
from evercurrent.oql_views.explain import explain_family
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.planning.experience import Cold
from evercurrent.warehouse.planning.strategies import Decision, circumstances, described
from evercurrent.warehouse.program_parts import stored_part, stores_of

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
    yield f"  policy  {view.policy}: {POLICIES[view.policy]}"
    yield from when(core, view)
    if view.name in core.design.recomputed:
        yield f"  kept    by no program: {core.design.recomputed[view.name].reason}"
    yield (
        f"  run by  the driver alone for at most {SMALL_ROWS:,} changed rows that touch at most "
        f"{BATCH_ENTRIES:,} entries; by Spark otherwise"
    )
    if known.under:
        assumed = changed_rows(core, changes) or {core.table(key).name: BATCH for key in sorted(known.under)}
        yield from describe_decision(decide(core, assumed)[view.name], assumed)
    program = core.design.program_of(view.name)
    apart = view.name in core.design.lazy
    stored = stores_of(program if apart else stored_part(program, core.catalog, core.snapshot.cold))
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
                yield f"      {left_out(core, view)}{why}"
    rows = core.present.view_rows(view.name)
    yield f"    its rows: {rows.rows:,} in {len(rows.segments)} segments, {bytes_text(rows.bytes)}"


def when(core: Core, view: View) -> Iterator[str]:
    """When a view that is not strict moves, and what of it waits."""
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


def left_out(core: Core, view: View) -> str:
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
        yield f"    {WAYS[way]:<14} {described(estimate)}"
    if not d.ways and d.strategy != "none":
        yield f"    {WAYS[d.way]:<14} {described(d.estimate)}"


def decide(core: Core, changed: Mapping[str, int]) -> dict[str, Decision]:
    """Returns what would be done for every view."""
    version = core.present
    return version.outlook.decide(version.size, changed, circumstances(core.engine, version.snapshot))


def explain_all(core: Core, changes: Mapping[str, int] | None) -> Explanation:
    """One line for each view: what a batch would cost."""
    tables = [t.name for t in core.catalog.tables.values()]
    assumed = changed_rows(core, changes) or dict.fromkeys(tables, BATCH)
    lines = [f"for {', '.join(f'{n:,} changed rows of {t}' for t, n in assumed.items()) or 'no table'}"]
    cells = [("view", "policy", "strategy", "estimate", "instead", "why")]
    for name, d in decide(core, assumed).items():
        chosen = "" if d.strategy == "none" else described(d.estimate)
        other = "" if d.instead is None else described(d.instead)
        cells.append((name, core.view(name).policy, d.strategy, chosen, other, f"{d.code}: {d.reason}"))
    wide = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines += ["  " + "  ".join(c.ljust(w) for c, w in zip(row, wide, strict=True)).rstrip() for row in cells]
    return Explanation("\n".join(lines))


def changed_rows(core: Core, changes: Mapping[str, int] | None) -> dict[str, int]:
    """The numbers of changed rows, by the tables' own names."""
    found = {core.table(name).name: rows for name, rows in (changes or {}).items()}
    for table, rows in found.items():
        if rows < 0:
            raise QueryError(
                f"{rows!r} is no number of changed rows of {table}", hint="explain(changes={'t': 100})"
            )
    return found
