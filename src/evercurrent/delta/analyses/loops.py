"""What of a program lies inside a fixpoint, and what reaches it from outside.

The deltas of a loop's relations (`inner`) drive rules, those fill states and relations, and in the end bodies gain and lose
derivations: everything on the way is updated in every iteration. A derivation that reads nothing of the loop cannot support
itself; engines count those apart.

    path(a, b) :- edge(a, b)                   from outside: it reads nothing of the loop
    path(a, c) :- path(a, b), edge(b, c)       inside
"""

from __future__ import annotations

from evercurrent.delta.program import Fixpoint, Keyed, Linear, Lookup, Program, Relation
from evercurrent.errors import UnsupportedError


def inside(program: Program, fixpoint: Fixpoint) -> list[Linear | Keyed]:
    """Relations between a loop's deltas and its bodies: they run in every iteration."""
    reached = {loop.inner for loop in fixpoint.loops}
    bodies = {loop.body for loop in fixpoint.loops}
    between = {r.name: r for r in program.relations if isinstance(r, Linear | Keyed)}
    by_state: dict[str, list[str]] = {}
    for r in between.values():
        if isinstance(r, Keyed):
            by_state.setdefault(r.state, []).append(r.name)
    frontier = list(reached)
    while frontier:
        for rule in program.triggers.get(frontier.pop(), ()):
            for name in [rule.into, *by_state.get(rule.into, ())]:
                if name in between and name not in reached and name not in bodies:
                    reached.add(name)
                    frontier.append(name)
    return [r for name, r in between.items() if name in reached]


def delta_names(relation: Relation) -> tuple[str, ...]:
    """The names under which rules see a relation's delta."""
    return tuple(loop.name for loop in relation.loops) if isinstance(relation, Fixpoint) else (relation.name,)


def linear_inside(program: Program, fixpoint: Fixpoint) -> list[Linear]:
    """The same for an engine that runs only linear relations in a loop."""
    found = []
    for r in inside(program, fixpoint):
        if not isinstance(r, Linear):
            raise UnsupportedError(
                "GROUP BY, window functions and DISTINCT inside a recursion are not supported on Spark yet",
                hint="run the view in process (evercurrent.connect()), or move the operation out of the recursive query",
            )
        found.append(r)
    return found


def outside_rules(program: Program) -> set[int]:
    """The rules (by identity) into a loop's bodies that read nothing of the loop: not its deltas, not its states."""
    found: set[int] = set()
    for fixpoint in program.relations:
        if not isinstance(fixpoint, Fixpoint):
            continue
        bodies = {loop.body for loop in fixpoint.loops}
        names = {loop.inner for loop in fixpoint.loops} | {r.name for r in inside(program, fixpoint)}
        within = {rule.into for name in names for rule in program.triggers.get(name, ())}
        for name, rules in program.triggers.items():
            if name not in names:
                found.update(
                    id(rule)
                    for rule in rules
                    if rule.into in bodies
                    and not any(isinstance(step, Lookup) and step.state in within for step in rule.steps)
                )
    return found
