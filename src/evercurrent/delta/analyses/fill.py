"""The part of a program that fills new states and relations.

Law. A state's content is what its rules make of all rows of the relations upstream, fed one relation after another into
states that are empty at first (law L9: it is one large transaction). So what is new can be filled from any relations
upstream whose rows can be listed: tables, and relations whose rows are stored already. States that exist but are looked up
on the way are computed once more, apart, because the rules must see them as they would have grown.

    orders -> spend -> cities, spend listed      the part for cities starts from spend; orders are not read
"""

from __future__ import annotations

from collections.abc import Collection
from typing import assert_never

from evercurrent.delta.analyses.loops import inside
from evercurrent.delta.program import Fixpoint, Input, Keyed, Linear, Lookup, Program, Relation


def part_for(
    program: Program, states: Collection[str], relations: Collection[str], listed: Collection[str]
) -> Program:
    """The part that fills these states and makes these relations; `listed` ones become inputs of it if they are needed.

    A fixpoint is named by its own name or by one of its relations.
    """
    need = Need(program, frozenset(listed))
    for name in states:
        need.state(name)
    for name in relations:
        need.relation(name)
    chosen: list[Relation] = []
    for r in program.relations:
        if isinstance(r, Fixpoint):
            chosen += [Input(x.name, x.columns) for x in r.loops if x.name in need.sources]
            chosen += [r] if r.name in need.relations else []
        elif r.name in need.sources:
            chosen.append(r if isinstance(r, Input) else Input(r.name, r.columns))
        elif r.name in need.relations:
            chosen.append(r)
    return Program(
        tuple(chosen),
        tuple(s for s in program.states if s.name in need.states),
        {name: tuple(r for r in rules if id(r) in need.rules) for name, rules in program.triggers.items()},
        bounds=program.bounds,
    )


class Need:
    """What is needed, upstream, of what is wanted."""

    def __init__(self, program: Program, listed: frozenset[str]) -> None:
        self.program = program
        self.listed = listed
        self.states: set[str] = set()
        self.relations: set[str] = set()
        self.sources: set[str] = set()
        self.rules: set[int] = set()
        self.by_name: dict[str, Relation] = {r.name: r for r in program.relations}
        self.within: dict[str, Fixpoint] = {}
        for r in program.relations:
            if isinstance(r, Fixpoint):
                self.by_name |= dict.fromkeys([x.name for x in r.loops], r)
                self.within |= dict.fromkeys([n for x in r.loops for n in (x.inner, x.body)], r)
                self.within |= dict.fromkeys([b.name for b in inside(program, r)], r)

    def state(self, name: str) -> None:
        if name not in self.states:
            self.states.add(name)
            self.into(name)

    def into(self, target: str) -> None:
        for rules in self.program.triggers.values():
            for rule in rules:
                if rule.into == target and id(rule) not in self.rules:
                    self.rules.add(id(rule))
                    for step in rule.steps:
                        if isinstance(step, Lookup):
                            self.state(step.state)
                    self.relation(rule.on)

    def relation(self, name: str) -> None:
        if name in self.within:
            self.loop(self.within[name])
        if name not in self.by_name or name in self.sources or name in self.relations:
            return
        relation = self.by_name[name]
        if isinstance(relation, Input) or (name in self.listed and name not in self.within):
            self.sources.add(name)
            return
        match relation:
            case Fixpoint():
                self.loop(relation)
            case Keyed(state=state):
                self.relations.add(name)
                self.state(state)
            case Linear(state=state):
                self.relations.add(name)
                self.into(name)
                if state is not None:
                    self.state(state)
            case _:
                assert_never(relation)

    def loop(self, fixpoint: Fixpoint) -> None:
        if fixpoint.name not in self.relations:
            self.relations.add(fixpoint.name)
            for loop in fixpoint.loops:
                self.into(loop.body)
            # Rules inside the loop fill the states that other rules inside it look up.
            for r in inside(self.program, fixpoint):
                self.relation(r.name)
