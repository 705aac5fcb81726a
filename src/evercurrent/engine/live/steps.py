"""What is known of rules before they are written: what steps read and bind, and in which order they run.

    look up items by order, where o.paid      runs as: where o.paid, look up items by order

A step that cannot fan out runs before one that can, if its columns are bound and it cannot fail.
"""

from __future__ import annotations

from collections.abc import Mapping

from evercurrent.delta.program import WEIGHT, Explode, Lookup, Rule, Step
from evercurrent.delta.terms import list_bound, read_by
from evercurrent.engine.live.layout import Layout
from evercurrent.term.failing import can_fail
from evercurrent.term.nodes import Call, Column, Literal, Term
from evercurrent.term.walk import columns_of

# --- the order of steps ------------------------------------------------------------------------------------


def schedule_steps(rule: Rule, layouts: Mapping[str, Layout]) -> list[Step]:
    """The steps, with what cannot fan out moved before what can, as far as its columns allow.

    Joins and filters commute. What might fail is not moved: a row that is filtered out must not fail.
    """
    done: list[Step] = []
    waiting = list(rule.steps)
    needs = {id(s): _find_needed(s, layouts) for s in waiting}
    bound = {c.name for c in rule.binds} | {rule.weight.name}
    while waiting:
        step = waiting[0]
        if step_fans_out(step, layouts):
            step = next((s for s in waiting if (n := needs[id(s)]) is not None and n <= bound), step)
        waiting = [s for s in waiting if s is not step]
        done.append(step)
        bound |= {c.name for c in list_bound(step)}
    return done


def _find_needed(step: Step, layouts: Mapping[str, Layout]) -> set[str] | None:
    """The columns that a step needs before it can run earlier than its place; None if it has to stay there."""
    terms = read_by(step)
    if step_fans_out(step, layouts) or any(map(can_fail, terms)):
        return None
    return {c.name for t in terms for c in columns_of(t)}


# --- what is known before anything is written --------------------------------------------------------------


def fans_out(rule: Rule, layouts: Mapping[str, Layout]) -> bool:
    """Whether one row of the delta can produce several rows."""
    return any(step_fans_out(step, layouts) for step in rule.steps)


def reads_range(rule: Rule) -> bool:
    """Whether a rule looks up the entries of a range."""
    return any(isinstance(step, Lookup) and step.span is not None for step in rule.steps)


def step_fans_out(step: Step, layouts: Mapping[str, Layout]) -> bool:
    if isinstance(step, Explode):
        return True
    if not isinstance(step, Lookup) or step.present or step.absent or step.outer:
        return False
    if step.span is not None:
        return True
    layout = layouts[step.state]
    path = layout.path(name for name, _ in step.match)
    complete = layout.covers(layout.position(name) for name, _ in step.match)
    return not complete and (path.kind != "single" or not step.match)


def constant_count(rule: Rule, weight: int, layouts: Mapping[str, Layout]) -> int | None:
    """The weight of a rule's result for a row of this weight, where that is constant."""
    known = {rule.weight.name: weight}
    for step in rule.steps:
        if isinstance(step, Lookup) and layouts[step.state].state.unique:
            known.update({column.name: 1 for name, column in step.binds if name == WEIGHT})

    def evaluate(t: Term) -> int | None:
        match t:
            case Literal(value):
                return int(value)
            case Column(name):
                return known.get(name)
            case Call("ring_mul", args):
                result = 1
                for a in args:
                    factor = evaluate(a)
                    if factor is None:
                        return None
                    result *= factor
                return result
            case _:
                return None

    return evaluate(rule.count)
