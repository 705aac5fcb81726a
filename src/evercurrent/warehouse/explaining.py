"""How a view is kept on Spark, as text, at every stage of its way down."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from evercurrent.algebra.show import show as show_plan
from evercurrent.calculus.nodes import Query
from evercurrent.calculus.show import show as show_query
from evercurrent.catalog.nodes import View
from evercurrent.delta.show import show as show_program
from evercurrent.display import bytes_text
from evercurrent.engine.spark.engine import DRIVER_ENTRIES, SMALL_ROWS
from evercurrent.engine.spark.kept import Store
from evercurrent.engine.spark.shapes import Shape
from evercurrent.errors import QueryError
from evercurrent.explain import Explanation, shape
from evercurrent.session.lineage import lineage
from evercurrent.warehouse.core import Core

STAGES = ("calculus", "normal", "algebra", "optimised", "program")


def explain_view(core: Core, view: View, stage: str | None) -> Explanation:
    if stage is None:
        return Explanation("\n".join(summary(core, view)))
    stages = core.design.stages[view.name]
    match stage:
        case "calculus":
            return Explanation(show_query(cast(Query, view.query)))
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


def summary(core: Core, view: View) -> Iterator[str]:
    yield f"view {view.name} ({', '.join(f'{f.name} {f.type}' for f in view.fields)})"
    yield f"  reads   {', '.join(sorted(view.uses)) or 'nothing'}"
    yield f"  policy  {view.policy}: moved by each batch; nothing is recomputed"
    yield (
        f"  run by  the driver alone for at most {SMALL_ROWS:,} changed rows that touch at most "
        f"{DRIVER_ENTRIES:,} entries; by Spark otherwise"
    )
    part = lineage(core.program, core.program.views[view.name])
    yield "  keeps"
    for state in core.program.states:
        if state.name in part.states:
            made = Shape(state)
            names = (state.name, *(made.bag_store(i) for i in made.bags))
            stores = [core.snapshot.stores.get(n, Store()) for n in names]
            yield f"    {state.name}: {shape(state)}"
            size = bytes_text(sum(s.bytes for s in stores))
            segments = sum(len(s.segments) for s in stores)
            why = f"; {state.why}" if state.why else ""
            yield f"      {stores[0].rows:,} rows in {segments} segments, {size}{why}"
