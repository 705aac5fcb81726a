"""Which part of the one program keeps a view: back from its relation along rules and lookups to the tables.

lineage(program, program.views["spend"]).inputs      {"orders"}
users_of(program)                                    {"orders by customer": ["spend"]}
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from evercurrent.delta.program import Fixpoint, Input, Keyed, Linear, Lookup, Program, Relation, Rule


@dataclass(slots=True)
class Lineage:
    """Names of the relations, states and inputs that a relation depends on, and the rules between them."""

    relations: set[str] = field(default_factory=set)
    states: set[str] = field(default_factory=set)
    inputs: set[str] = field(default_factory=set)
    rules: list[Rule] = field(default_factory=list)


def lineage(program: Program, name: str) -> Lineage:
    """Everything that the relation of this name depends on."""
    into: dict[str, list[Rule]] = {}
    for rules in program.triggers.values():
        for rule in rules:
            into.setdefault(rule.into, []).append(rule)
    known = list_named_relations(program)
    result = Lineage()
    waiting = [name]
    seen: set[str] = set()
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        relation = known.get(current)
        if relation is None:
            result.states.add(current)
        else:
            result.relations.add(relation.name)
            waiting += _rests_on(relation)
            if isinstance(relation, Input):
                result.inputs.add(relation.name)
        for rule in into.get(current, ()):
            if isinstance(relation, Input):
                continue
            result.rules.append(rule)
            waiting.append(rule.on)
            waiting += [step.state for step in rule.steps if isinstance(step, Lookup)]
    return result


def find_flow(program: Program, name: str) -> set[str]:
    """Names of everything whose change changes the relation of this name by itself: back along rules, but not along lookups."""
    sources: dict[str, list[str]] = {}
    for rules in program.triggers.values():
        for rule in rules:
            sources.setdefault(rule.into, []).append(rule.on)
    known = list_named_relations(program)
    result: set[str] = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current not in result:
            result.add(current)
            relation = known.get(current)
            waiting += sources.get(current, ())
            if isinstance(relation, Keyed | Fixpoint):
                waiting += _rests_on(relation)
    return result


def list_named_relations(program: Program) -> dict[str, Relation]:
    """Every relation by every name that rules know it by: a loop's names stand for its fixpoint."""
    result: dict[str, Relation] = {}
    for relation in program.relations:
        result[relation.name] = relation
        if isinstance(relation, Fixpoint):
            for loop in relation.loops:
                result[loop.name] = result[loop.inner] = relation
    return result


def _rests_on(relation: Relation) -> list[str]:
    match relation:
        case Input():
            return []
        case Linear(state=state):
            return [] if state is None else [state]
        case Keyed(state=state):
            return [state]
        case Fixpoint(loops=loops):
            return [loop.body for loop in loops]


def users_of(program: Program) -> dict[str, list[str]]:
    """For each state, the views and assertions that depend on it."""
    return _users(program, lambda part: part.states)


def table_users(program: Program) -> dict[str, list[str]]:
    """For each input, the views and assertions that depend on it."""
    return _users(program, lambda part: part.inputs)


def fixpoint_users(program: Program) -> dict[str, list[str]]:
    """For each fixpoint, the views and assertions that depend on it."""
    names = {r.name for r in program.relations if isinstance(r, Fixpoint)}
    return _users(program, lambda part: part.relations & names)


def _users(program: Program, parts: Callable[[Lineage], set[str]]) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {}
    for view, relation in program.views.items():
        for name in sorted(parts(lineage(program, relation))):
            result.setdefault(name, []).append(view.replace("\0", " "))
    return result
