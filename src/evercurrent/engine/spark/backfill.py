"""Which part of a program computes what is new.

Law. A state's content is what its rules make of all rows of the relations upstream, fed one after another into states that
are empty at first (law P1: it is one large transaction). So what is new can be filled from any relations upstream whose
rows are stored: tables, and views that are kept already. States that exist but are looked up on the way are computed once
more, apart, because the rules must see them as they would have grown.
"""

from __future__ import annotations

from collections.abc import Collection

from evercurrent.delta.program import Fixpoint, Input, Keyed, Linear, Lookup, Program, Relation, Rule
from evercurrent.errors import UnsupportedError


def part_for(
    program: Program, states: Collection[str], relations: Collection[str], stored: Collection[str]
) -> Program:
    """The part that fills these states and lists these relations; `stored` relations become inputs of it."""
    need = Need(program, frozenset(stored))
    for name in states:
        need.state(name)
    for name in relations:
        need.relation(name)
    chosen: list[Relation] = []
    for r in program.relations:
        if r.name in need.sources and not isinstance(r, Fixpoint):
            chosen.append(r if isinstance(r, Input) else Input(r.name, r.columns))
        elif r.name in need.relations:
            chosen.append(r)
    return Program(
        tuple(chosen),
        tuple(s for s in program.states if s.name in need.states),
        {name: tuple(r for r in rules if id(r) in need.rules) for name, rules in program.triggers.items()},
    )


class Need:
    """What is needed, upstream, of what is wanted."""

    def __init__(self, program: Program, stored: frozenset[str]) -> None:
        self.program = program
        self.stored = stored
        self.states: set[str] = set()
        self.relations: set[str] = set()
        self.sources: set[str] = set()
        self.rules: dict[int, Rule] = {}
        self.by_name = {r.name: r for r in program.relations}

    def state(self, name: str) -> None:
        if name not in self.states:
            self.states.add(name)
            self.into(name)

    def into(self, target: str) -> None:
        for rules in self.program.triggers.values():
            for rule in rules:
                if rule.into == target and id(rule) not in self.rules:
                    self.rules[id(rule)] = rule
                    for step in rule.steps:
                        if isinstance(step, Lookup):
                            self.state(step.state)
                    self.relation(rule.on)

    def relation(self, name: str) -> None:
        relation = self.by_name.get(name)
        if relation is None:
            raise UnsupportedError("recursive views are not there on Spark yet")
        if name in self.sources or name in self.relations:
            return
        if isinstance(relation, Input) or name in self.stored:
            self.sources.add(name)
            return
        self.relations.add(name)
        match relation:
            case Keyed(state=state):
                self.state(state)
            case Linear(state=state):
                self.into(name)
                if state is not None:
                    self.state(state)
            case _:
                raise UnsupportedError("recursive views are not there on Spark yet")
