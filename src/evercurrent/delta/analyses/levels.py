"""Which relations and states of a program can be computed together.

The level of an input is 0; that of a relation or a state is one more than the highest among the relations whose rules
add to it. Law L9 requires that relations are updated one after another, each after what it is computed from. It does not fix
the order otherwise: a rule sees whatever was updated before it and is seen by whatever is updated after it. So relations are
processed level by level, and all that is added on the way to a level is computed by one job.

    level 0    orders, customers
    level 1    spend (from orders), the state customers by id
    level 2    total by city (from spend and customers)
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from evercurrent.delta.analyses.loops import inside
from evercurrent.delta.program import Fixpoint, Input, Keyed, Linear, Program, Relation


@dataclass(frozen=True)
class Level:
    relations: tuple[Relation, ...]
    states: tuple[str, ...]


def feeders(program: Program) -> dict[str, set[str]]:
    """For each state and linear relation, the relations whose rules add to it."""
    result: dict[str, set[str]] = {}
    for source, rules in program.triggers.items():
        for rule in rules:
            result.setdefault(rule.into, set()).add(source)
    return result


def inner_relations(program: Program) -> dict[str, Fixpoint]:
    """Names that live inside a loop: what is seen of loop relations there, and what lies between that and the bodies."""
    result: dict[str, Fixpoint] = {}
    for r in program.relations:
        if isinstance(r, Fixpoint):
            for loop in r.loops:
                result[loop.inner] = r
            result |= {x.name: r for x in inside(program, r)}
    return result


def levels(program: Program) -> list[Level]:
    """All levels from 0 on. Relations inside loops are left to their loop."""
    fed = feeders(program)
    inner = inner_relations(program)
    known: dict[str, int] = {}

    def source_level(name: str) -> int:
        return known[inner[name].name] if name in inner else known.get(name, 0)

    def find_level(name: str, besides: Collection[str] = ()) -> int:
        return 1 + max((source_level(s) for s in fed.get(name, ()) if s not in besides), default=-1)

    for r in program.relations:
        if r.name in inner:
            continue
        match r:
            case Input(name):
                known[name] = 0
            case Linear(name):
                known[name] = max(1, find_level(name))
            case Keyed(name, state=s):
                known[name] = max(1, find_level(s))
            case Fixpoint(name, loops):
                own = {n for n, f in inner.items() if f is r}
                known[name] = max([1, *(find_level(n, own) for n in (*own, *(x.body for x in loops)))])
                known |= {loop.name: known[name] for loop in loops}
    states = {s.name: max(1, find_level(s.name)) for s in program.states}
    top = max([0, *known.values(), *states.values()])
    return [
        Level(
            tuple(r for r in program.relations if r.name not in inner and known[r.name] == i),
            tuple(n for n, level in states.items() if level == i),
        )
        for i in range(top + 1)
    ]
