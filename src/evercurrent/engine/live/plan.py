"""The part of a program that has to run, given which relations are watched.

A relation is *followed* if it is watched or one of its rules is of use; a rule is of use if it adds to a state, to
the body of a fixpoint, or to a relation that is followed. A keyed relation that nobody follows keeps only its cells: no
touched keys are noted and nothing is finalized until it is read.

    spend by customer, without subscribers      on orders: add to orders by customer; no stage for spend
    spend by customer, watched                  the same, and for each touched customer: f(new group) - f(old group)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from evercurrent.delta.analyses.loops import delta_names, inside, outside_rules
from evercurrent.delta.program import (
    Fixpoint,
    Input,
    Keyed,
    Linear,
    Loop,
    Program,
    Relation,
    Rule,
)


@dataclass(frozen=True, slots=True)
class Plan:
    """The rules that run for each relation's delta, and the relations that are followed."""

    program: Program
    rules: dict[str, tuple[Rule, ...]]
    followed: frozenset[str]


def ends_in_states(plan: Plan, table: str) -> bool:
    """Whether nothing follows from a change of an input but additions to states."""
    moved, _ = reachable(plan, table)
    return not any(plan.rules.get(r.name) or not isinstance(r, Keyed) for r in moved)


def loops_of(program: Program) -> Iterator[Loop]:
    for r in program.relations:
        if isinstance(r, Fixpoint):
            yield from r.loops


def plan_for(program: Program, watched: Collection[str]) -> Plan:
    states = {s.name for s in program.states}
    useful = states | {loop.body for loop in loops_of(program)} | set(watched)
    rules: dict[str, tuple[Rule, ...]] = {}
    inner = {loop.inner for loop in loops_of(program)}

    from_outside = outside_rules(program)

    def settle(name: str) -> None:
        rules[name] = tuple(
            replace(r, into=outside(r.into)) if id(r) in from_outside else r
            for r in program.triggers.get(name, ())
            if r.into in useful
        )
        if rules[name] and name not in inner:
            useful.add(name)

    # Later relations are made of earlier ones; rules inside a loop may reach back, so this is repeated.
    names = [name for r in program.relations for name in delta_names(r)] + sorted(inner)
    size = -1
    while size != len(useful):
        size = len(useful)
        for name in reversed(names):
            settle(name)
    return Plan(program, rules, frozenset(useful - states))


def outside(body: str) -> str:
    """Where the derivations are gathered that read nothing of the loop."""
    return f"{body} from outside"


def only_inside(program: Program, fixpoint: Fixpoint) -> set[str] | None:
    """The states that rules inside the loop fill, if no other rule adds to them; None if one does."""
    names = {loop.inner for loop in fixpoint.loops} | {r.name for r in inside(program, fixpoint)}
    states = {s.name for s in program.states}
    filled = {r.into for n in names for r in program.triggers.get(n, ()) if r.into in states}
    elsewhere = {r.into for n, rs in program.triggers.items() if n not in names for r in rs}
    return None if filled & elsewhere or inside(program, fixpoint) else filled


def reachable(plan: Plan, start: str, waiting: Collection[str] = ()) -> tuple[list[Relation], list[Rule]]:
    """The relations that a delta of `start` can change, in order, and all rules that can run by it.

    What is `waiting` is not updated now, nor is what only depends on it.
    """
    names, rules = {start}, []
    frontier = [start]
    by_state: dict[str, list[str]] = {}
    loops: dict[str, Fixpoint] = {}
    for r in plan.program.relations:
        if isinstance(r, Keyed):
            by_state.setdefault(r.state, []).append(r.name)
        elif isinstance(r, Fixpoint):
            loops.update({name: r for loop in r.loops for name in (loop.body, outside(loop.body))})
    while frontier:
        for rule in plan.rules.get(frontier.pop(), ()):
            rules.append(rule)
            moved = [
                n
                for n in (rule.into, *by_state.get(rule.into, ()))
                if n in plan.followed and n not in waiting
            ]
            if rule.into in loops:
                moved += [n for loop in loops[rule.into].loops for n in (loop.name, loop.inner)]
            for name in moved:
                if name not in names:
                    names.add(name)
                    frontier.append(name)
    derived = [r for r in plan.program.relations if not isinstance(r, Input)]
    return [r for r in derived if any(n in names for n in delta_names(r))], rules


def find_listable(program: Program) -> set[str]:
    """The relations whose rows can be listed."""
    return {
        name
        for r in program.relations
        for name in ([loop.name for loop in r.loops] if isinstance(r, Fixpoint) else [r.name])
        if not isinstance(r, Input) and not (isinstance(r, Linear) and r.state is None)
    }
