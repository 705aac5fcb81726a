"""Hybrid views: collections are updated at the commit, derived values when they are read.

A keyed relation turns touched groups into rows: sums become values, and values decide conditions further down. If only
hybrid views without subscribers depend on it, its stage can wait: the touched keys are noted with the output that was last
delivered, and the stage runs when one of the views is read, once for however many changes.

Law. Waiting changes no answer. By law L9 a rule sees every state as it is when its turn comes, and the delta of a join is
right for whatever order its sides are updated in; `f(new group) - f(last delivered)` is the sum of the deltas that were left
out. A transaction that is undone may leave a key noted: its group is then as it was delivered, and has no delta.

    orders -> spend by customer -> total by city      both views hybrid: the stage of spend can wait
                                                      total by city strict: nothing can wait
"""

from __future__ import annotations

from collections.abc import Collection

from evercurrent.delta.analyses.loops import delta_names, inside
from evercurrent.delta.program import Finalize, Fixpoint, Keyed, Program


def lone_rows(program: Program) -> frozenset[str]:
    """Scalar aggregates that others are made of: one row each, however many changes there are.

    The fast triggers let them wait: a read costs one row of each, and a change costs nothing.
    """
    at_once = _inside_loops(program)
    return frozenset(
        r.name
        for r in program.relations
        if isinstance(r, Keyed)
        and isinstance(r.function, Finalize)
        and r.function.scalar
        and r.name not in at_once
        and program.triggers.get(r.name)
    )


def _inside_loops(program: Program) -> set[str]:
    return {b.name for r in program.relations if isinstance(r, Fixpoint) for b in inside(program, r)}


def find_deferrable(
    program: Program, hybrid: Collection[str], watched: Collection[str], *, last: bool = False
) -> frozenset[str]:
    """The keyed relations whose stages can wait; `hybrid` are the relations of hybrid views.

    With `last`, those that nothing follows from wait too: where rows are stored, not to make them is a gain.
    """
    if not hybrid:
        return frozenset()
    needed = {*watched, *(r for r in program.views.values() if r not in hybrid)}
    at_once = _inside_loops(program)
    return frozenset(
        r.name
        for r in program.relations
        if isinstance(r, Keyed)
        and r.name not in at_once
        and (program.triggers.get(r.name) or last)
        and not (downstream(program, r.name) & needed)
    )


def show_attributes(program: Program, waiting: Collection[str]) -> frozenset[str]:
    """Those of the waiting relations that show the attributes of rows, by key: only their changes wait, as in `attributes`."""
    states = {s.name: s for s in program.states}
    return frozenset(
        r.name
        for r in program.relations
        if isinstance(r, Keyed)
        and r.name in waiting
        and isinstance(r.function, Finalize)
        and states[r.state].unique
        and states[r.state].dependents
        and not states[r.state].accumulators
    )


def downstream(program: Program, name: str) -> set[str]:
    """The relation and everything that its delta can change."""
    of_state: dict[str, list[str]] = {}
    loops: dict[str, Fixpoint] = {}
    for r in program.relations:
        if isinstance(r, Keyed):
            of_state.setdefault(r.state, []).append(r.name)
        elif isinstance(r, Fixpoint):
            loops.update({loop.body: r for loop in r.loops})
    found, waiting = {name}, [name]
    while waiting:
        for rule in program.triggers.get(waiting.pop(), ()):
            moved = [rule.into, *of_state.get(rule.into, ())]
            if rule.into in loops:
                moved += [
                    n for n in (*delta_names(loops[rule.into]), *(x.inner for x in loops[rule.into].loops))
                ]
            for other in moved:
                if other not in found:
                    found.add(other)
                    waiting.append(other)
    return found
