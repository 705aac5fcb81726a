"""How a view is kept on Spark, as text, at every stage of its way down; and what a batch would cost, before it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from evercurrent.algebra.show import show as show_plan
from evercurrent.calculus.nodes import Query
from evercurrent.calculus.show import show as show_query
from evercurrent.catalog.nodes import View, is_part
from evercurrent.delta.show import show as show_program
from evercurrent.display import bytes_text
from evercurrent.engine.spark.engine import DRIVER_ENTRIES, SMALL_ROWS
from evercurrent.engine.spark.kept import Store
from evercurrent.engine.spark.shapes import Shape
from evercurrent.errors import QueryError
from evercurrent.explain import Explanation, lookups_text, shape
from evercurrent.session.events import show_events
from evercurrent.session.oql_explain import explain_family
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.parts import kept, stores_of
from evercurrent.warehouse.strategies import Decision, described

BATCH = 100
"""So many changed rows of every table are supposed where nothing is said."""
POLICIES = {
    "incremental": "moved by each batch; never recomputed",
    "auto": "moved by each batch or recomputed, whichever is estimated to cost less",
    "full": "recomputed by each batch that changes a table under it",
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
            return Explanation(show_program(core.program, view.name))
        case _:
            raise QueryError(f"there is no stage {stage!r}", hint=f"the stages are {', '.join(STAGES)}")


def summary(core: Core, view: View, changes: Mapping[str, int] | None) -> Iterator[str]:
    known = core.outlook.parts[view.name]
    yield f"view {view.name} ({', '.join(f'{f.name} {f.type}' for f in view.fields)})"
    yield f"  reads   {', '.join(sorted(view.uses)) or 'nothing'}"
    yield f"  policy  {view.policy}: {POLICIES[view.policy]}"
    if view.name in core.design.recomputed:
        yield f"  kept    by no program: {core.design.recomputed[view.name].reason}"
    yield (
        f"  run by  the driver alone for at most {SMALL_ROWS:,} changed rows that touch at most "
        f"{DRIVER_ENTRIES:,} entries; by Spark otherwise"
    )
    if known.under:
        supposed = changed_rows(core, changes) or {core.table(key).name: BATCH for key in sorted(known.under)}
        yield from foreseen(core.outlook.decide(core.size, supposed)[view.name], supposed)
    stored = stores_of(kept(core.program, core.catalog))
    yield "  keeps"
    for state in core.program.states:
        if state.name in known.part.states:
            made = Shape(state)
            names = (state.name, *(made.bag_store(i) for i in made.bags))
            stores = [core.snapshot.stores.get(n, Store()) for n in names]
            yield f"    {state.name}: {shape(state)}"
            size = bytes_text(sum(s.bytes for s in stores))
            segments = sum(len(s.segments) for s in stores)
            why = f"; {state.why}" if state.why else ""
            if state.name in stored:
                yield f"      {stores[0].rows:,} rows in {segments} segments, {size}{why}"
            else:
                yield f"      made and left at every recompute, not stored{why}"
    rows = core.view_segments(view.name)
    yield f"    its rows: {rows.rows:,} in {len(rows.segments)} segments, {bytes_text(rows.bytes)}"


def foreseen(d: Decision, supposed: Mapping[str, int]) -> Iterator[str]:
    """What would be done for a batch, and what it and its alternative are estimated to cost."""
    yield f"  for     {', '.join(f'{n:,} changed rows of {t}' for t, n in supposed.items())}"
    yield f"    strategy       {d.strategy} ({d.code}: {d.reason})"
    moving, again = (d.instead, d.estimate) if d.strategy == "full" else (d.estimate, d.instead)
    if d.strategy != "none":
        if moving is not None:
            yield f"    by the change  {described(moving)}"
        if again is not None:
            yield f"    from scratch   {described(again)}"


def explain_all(core: Core, changes: Mapping[str, int] | None) -> Explanation:
    """One line for each view: what a batch would cost."""
    tables = [t.name for t in core.catalog.tables.values()]
    supposed = changed_rows(core, changes) or dict.fromkeys(tables, BATCH)
    lines = [f"for {', '.join(f'{n:,} changed rows of {t}' for t, n in supposed.items()) or 'no table'}"]
    cells = [("view", "policy", "strategy", "estimate", "instead", "why")]
    for name, d in core.outlook.decide(core.size, supposed).items():
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
