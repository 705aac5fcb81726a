"""Which part of a program computes the states that are new.

Law. A state's content is what its rules make of all rows of the relations upstream, fed one relation after another into
states that are empty at first (law P1: it is one large transaction). So a new state can be filled from the rows of any
relations upstream that can be listed: inputs, kept linear relations, keyed relations, fixpoints that are there already.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from evercurrent.delta.program import Fixpoint, Input, Keyed, Linear, Lookup, Program, Relation, Rule
from evercurrent.engine.live.plan import inside


@dataclass(frozen=True, slots=True)
class Part:
    """A sub-program whose inputs are the relations to be listed."""

    program: Program
    sources: tuple[str, ...]


def part_for(
    program: Program, states: Collection[str], fixpoints: Collection[str], listed: Collection[str]
) -> Part:
    """The part that fills the given states and fixpoints; `listed` are the derived relations that can be listed."""
    closure = _Closure(program, frozenset(listed))
    for name in states:
        closure.want_state(name)
    for name in fixpoints:
        closure.want(name)
    relations: list[Relation] = []
    for r in program.relations:
        if isinstance(r, Fixpoint):
            for loop in r.loops:
                if loop.name in closure.sources:
                    relations.append(Input(loop.name, loop.columns))
            if r.name in closure.relations:
                relations.append(r)
        elif r.name in closure.sources:
            relations.append(Input(r.name, r.columns))
        elif r.name in closure.relations:
            relations.append(r)
    part = Program(
        tuple(relations),
        tuple(s for s in program.states if s.name in closure.states),
        {name: tuple(r for r in rules if r in closure.rules) for name, rules in program.triggers.items()},
    )
    return Part(part, tuple(r.name for r in relations if isinstance(r, Input)))


class _Closure:
    """What is needed, upstream, of what is wanted."""

    def __init__(self, program: Program, listed: frozenset[str]) -> None:
        self.program = program
        self.listed = listed
        self.states: set[str] = set()
        self.relations: set[str] = set()
        self.sources: set[str] = set()
        self.rules: set[Rule] = set()
        self.by_name: dict[str, Relation] = {}
        self.within: dict[str, Fixpoint] = {}
        for r in program.relations:
            self.by_name[r.name] = r
            if isinstance(r, Fixpoint):
                for loop in r.loops:
                    self.by_name[loop.name] = r
                    self.within[loop.inner] = self.within[loop.body] = r
                for b in inside(program, r):
                    self.within[b.name] = r

    def want_state(self, name: str) -> None:
        if name not in self.states:
            self.states.add(name)
            self.want_rules(name)

    def want_rules(self, into: str) -> None:
        for rules in self.program.triggers.values():
            for rule in rules:
                if rule.into == into and rule not in self.rules:
                    self.rules.add(rule)
                    for step in rule.steps:
                        if isinstance(step, Lookup):
                            self.want_state(step.state)
                    self.want(rule.on)

    def want(self, name: str) -> None:
        if name in self.within:
            self.want_loop(self.within[name])
        if name not in self.by_name or name in self.sources:
            return
        relation = self.by_name[name]
        if isinstance(relation, Input) or (name in self.listed and name not in self.within):
            self.sources.add(name)
            return
        match relation:
            case Fixpoint():
                self.want_loop(relation)
            case Keyed(state=state):
                self.relations.add(name)
                self.want_state(state)
            case Linear():
                if name not in self.relations:
                    self.relations.add(name)
                    self.want_rules(name)

    def want_loop(self, fixpoint: Fixpoint) -> None:
        if fixpoint.name in self.relations:
            return
        self.relations.add(fixpoint.name)
        for loop in fixpoint.loops:
            self.want_rules(loop.body)
        # Rules inside the loop fill the states that other rules inside it look up.
        for b in inside(self.program, fixpoint):
            self.want(b.name)
