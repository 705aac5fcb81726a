"""What of a program has to run, given who looks on.

A relation is *followed* if somebody watches it or one of its rules is of use; a rule is of use if it adds to a state, to
the body of a fixpoint, or to a relation that is followed. A keyed relation that nobody follows keeps only its cells: no
touched keys are noted and nothing is finalized until it is read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from evercurrent.delta.analyses.loops import delta_names, inside, outside_rules
from evercurrent.delta.derive import PADDED
from evercurrent.delta.program import (
    Fixpoint,
    Input,
    Keyed,
    Loop,
    Program,
    Relation,
    Rule,
)
from evercurrent.term.nodes import Call, Literal, Term


@dataclass(frozen=True, slots=True)
class Plan:
    """The rules that run for each relation's delta, and the relations that are followed."""

    program: Program
    rules: dict[str, tuple[Rule, ...]]
    followed: frozenset[str]


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
    """The relations that a delta of `start` can move, in order, and all rules that can run by it.

    What is `waiting` does not move now, nor does what can only move by it.
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


def sign_of(rule: Rule) -> int:
    """-1 if the rule deletes for inserted rows (the padding of an outer join), else 1."""

    def sign(t: Term) -> int:
        match t:
            case Literal(int(value)):
                return -1 if value < 0 else 1
            case Call("ring_mul", args):
                result = 1
                for a in args:
                    result *= sign(a)
                return result
            case _:
                return 1

    return sign(rule.count)


def in_turn(rules: tuple[Rule, ...]) -> list[tuple[Rule, int]]:
    """Rules with the sign of the rows that they run for (0: all), so that deletions are processed before insertions (law L10).

    A rule that deletes for inserted rows stands, for inserted rows, right before the rule for the same delta, and no
    earlier: what it takes away is what the rules before have brought (law L11: weights and sums are zero together).
    """
    result: list[tuple[Rule, int]] = []
    i = 0
    while i < len(rules):
        run = [rules[i]]
        while i + len(run) < len(rules) and rules[i + len(run)].into == rules[i].into:
            run.append(rules[i + len(run)])
        i += len(run)
        takers = [r for r in run if sign_of(r) < 0]
        if not takers or len(takers) == len(run):
            result += [(r, 0) for r in run]
            continue
        givers = [r for r in run if sign_of(r) > 0]
        deltas = [_delta(r) for r in givers]
        lost = [r for r in takers if _delta(r) not in deltas]
        result += [(r, 1) for r in lost]
        for k, giver in enumerate(givers):
            own = [r for r in takers if _delta(r) == deltas[k]]
            if deltas[k] not in deltas[:k]:
                result += [(r, 1) for r in own]
            result.append((giver, 0))
            if deltas[k] not in deltas[k + 1 :]:
                result += [(r, -1) for r in own]
        result += [(r, -1) for r in lost]
    return result


def _delta(rule: Rule) -> tuple[str, ...]:
    """Which occurrence of its relation a rule starts from, by the names of its columns."""
    return tuple(c.name.removesuffix(PADDED) for c in rule.binds)
