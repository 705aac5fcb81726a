"""How a view is kept by a database in process, as text: the stages of `design.explain`, or a summary.

explain_view(session, view, "optimised")      the plan that is maintained
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from evercurrent.algebra.show import show as show_plan
from evercurrent.calculus.nodes import Query
from evercurrent.calculus.show import show as show_query
from evercurrent.catalog.dependencies import views_under
from evercurrent.catalog.nodes import View, is_part
from evercurrent.data.showing import show_value
from evercurrent.delta.analyses.deferral import find_deferrable
from evercurrent.delta.analyses.labels import Labels
from evercurrent.delta.analyses.show import show as show_program
from evercurrent.delta.compile import compile_views
from evercurrent.delta.program import Program
from evercurrent.design.compile import can_refill, find_borrowed_tables, hybrid_relations, levels_of
from evercurrent.design.events import show_events
from evercurrent.design.explain import (
    STAGES,
    Explanation,
    amounts_text,
    costs,
    lookups_text,
    maps_text,
    orders_of,
    shape,
)
from evercurrent.design.opaque_notes import opaque_notes
from evercurrent.design.program_parts import Lineage, lineage, users_of
from evercurrent.design.window_notes import window_notes
from evercurrent.display import bytes_text
from evercurrent.engine.live.engine import LiveEngine
from evercurrent.errors import QueryError
from evercurrent.oql_views.explain import explain_family
from evercurrent.session.stats import state_sizes

if TYPE_CHECKING:
    from evercurrent.session.session import Session


def explain_view(session: Session, view: View, stage: str | None) -> Explanation:
    """The explanation of a view."""
    given: Any = stage
    if given is not None and (not isinstance(given, str) or given not in STAGES):
        raise QueryError(f"there is no stage {show_value(stage)}", hint=f"the stages are {', '.join(STAGES)}")
    if view.language == "oql" and not is_part(view):
        return Explanation(explain_family(session, view, stage, _explain_one))
    return _explain_one(session, view, stage)


def _explain_one(session: Session, view: View, stage: str | None) -> Explanation:
    if stage is None:
        return Explanation("\n".join(_summary(session, view)))
    if stage == "calculus":
        return Explanation(show_query(cast(Query, view.query)))
    design = session.maintenance.design
    if stage == "events":
        kept = None if view.name in design.recomputed else design.program_of(view.name)
        return Explanation("\n".join(show_events(view, session.catalog, kept, lookups_text)))
    if view.name in design.recomputed:
        return Explanation(
            f"view {view.name} is recomputed in full ({design.recomputed[view.name].reason}): there is no {stage}"
        )
    stages = design.stages[view.name]
    match stage:
        case "normal":
            return Explanation(show_query(stages.normal))
        case "algebra":
            return Explanation(show_plan(stages.algebra))
        case "optimised":
            return Explanation(show_plan(stages.plan))
        case "program":
            return Explanation(show_program(design.program_of(view.name), view.name))
        case _:
            return Explanation(_source(session, view))


def _source(session: Session, view: View) -> str:
    """The functions that keep this view alone; in the running engine those of all views are one."""
    design = session.maintenance.design
    plans = {name: s.plan for name, s in design.stages.items()}
    needed = {
        v.name: plans[v.name] for v in views_under(frozenset({view.name}), session.catalog) if v.name in plans
    }
    lender = None if view.name in design.lazy else session.maintenance.lender
    lent = () if lender is None else find_borrowed_tables(session.catalog)
    program = compile_views(
        needed,
        session.catalog,
        refused=design.refused,
        lent=lent,
        levels=levels_of(session.catalog),
        statistics=design.statistics,
        kept_maps=design.find_stored_maps(),
        ordered=view.name not in design.lazy,
        bounded=view.name not in design.lazy and can_refill(session.catalog),
        unbounded=design.unbounded,
    )
    engine = LiveEngine()
    engine.install(program, lambda name: (), lender=lender)
    return engine.source()


def _summary(session: Session, view: View) -> Iterator[str]:
    design = session.maintenance.design
    yield f"view {view.name} ({', '.join(f'{f.name} {f.type}' for f in view.fields)})"
    yield f"  reads   {', '.join(_read(session, name) for name in sorted(view.uses)) or 'nothing'}"
    recomputed = design.recomputed.get(view.name)
    if recomputed is not None:
        yield f"  policy  {view.policy}: recomputed in full whenever an input changes"
        yield f"  reason  {recomputed.reason} [{recomputed.code}]"
        return
    yield f"  policy  {view.policy}: updated by each change; nothing is recomputed"
    keys = design.keys.get(view.name, ())
    if keys:
        yield f"  keys    {'; '.join('(' + ', '.join(key) + ')' for key in keys)}"
    program = design.program_of(view.name)
    part = lineage(program, program.views[view.name])
    yield from _mode(session, view, program, part)
    yield from _states(session, view, program, part)
    yield from costs(program, part)
    yield from maps_text(program, part)
    yield from amounts_text(program, part, design.unbounded)
    yield from opaque_notes(design.stages[view.name].plan)
    yield from window_notes(design.stages[view.name].plan)
    yield from _assumptions(session, program, part)


def _read(session: Session, name: str) -> str:
    """A relation that a view reads, and whether it has rows of its own."""
    found = session.catalog.relation(name)
    return name if found is None or found.stored else f"{name} (not stored: it forwards its changes)"


def _mode(session: Session, view: View, program: Program, part: Lineage) -> Iterator[str]:
    """Yields when the view is updated, and what of it waits."""
    design = session.maintenance.design
    if view.mode == "lazy" and view.name in design.lazy:
        waiting = len(session.maintenance.lazy)
        yield f"  mode    lazy: everything is deferred until it is read; {waiting:,} changed rows wait now"
    elif view.mode == "lazy":
        yield "  mode    lazy, but updated at each commit: a view or an assertion that is not lazy reads it"
    elif view.mode == "hybrid":
        watched = [n for n in session.subscribers.watched if n in program.views]
        hybrid = hybrid_relations(session.catalog, program)
        waiting_for = find_deferrable(program, hybrid, [program.views[n] for n in watched]) & part.relations
        if waiting_for:
            yield f"  mode    hybrid: deferred until it is read: what follows from {', '.join(sorted(map(Labels(program).of, waiting_for)))}"
        elif view.name in watched:
            yield "  mode    hybrid, but nothing is deferred: somebody subscribes to it"
        else:
            yield "  mode    hybrid: nothing is to be deferred, values are found when it is read anyway"


def _states(session: Session, view: View, program: Program, part: Lineage) -> Iterator[str]:
    sizes = state_sizes(session, view.name)
    labels = Labels(program)
    shared = users_of(program)
    yield "  keeps"
    for state in program.states:
        if state.name in part.states:
            entries, size = sizes.get(state.name, (0, 0))
            yield f"    {labels.of(state.name)}: {shape(state, labels)}"
            others = len(shared.get(state.name, ())) - 1
            also = "".join(f"; in order of {by}" for by in orders_of(part.rules, state))
            also += f"; shared with {others} more" if others > 0 else ""
            yield f"      {entries:,} entries, {bytes_text(size)}{'; ' + state.why if state.why else ''}{also}"
    for name in sorted(part.relations & sizes.keys()):
        entries, size = sizes[name]
        yield f"    {labels.of(name)}"
        yield f"      {entries:,} entries, {bytes_text(size)}; the rows of a recursion and their derivations"


def _assumptions(session: Session, program: Program, part: Lineage) -> Iterator[str]:
    mine = [a for a in program.assumptions if a.child in part.inputs and a.parent in part.inputs]
    if mine:
        yield "  assumes"
        for a in mine:
            yield f"    {a.parent} ({', '.join(a.columns)}) does not change while rows of {a.child} refer to it"
    notes = [n for n in session.maintenance.notes if any(t in n.split() for t in part.inputs)]
    if notes:
        yield "  notes"
        for note in notes:
            yield f"    {note}"
