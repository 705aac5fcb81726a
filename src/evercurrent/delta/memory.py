"""What was compiled before: a new view costs what is new in it.

A view's definitions depend on its plan, on the relations that the views under it are, and on what is known of its tables. The
rules into a relation or state depend on its definition, which its name says, and on the answers to questions about everything
else: whether parents may be assumed not to change, and whether a map pays. Both are kept with what they depend on, and are
taken over where that is as it was.

    CREATE VIEW a ...; CREATE VIEW b ...        the second statement derives the rules of b alone

Law. A program that is compiled with a memory does what one that is compiled without it does. (Columns inside its rules may have
other names, if a view that shared a definition was dropped.)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from evercurrent.algebra.nodes import Plan
from evercurrent.delta.definitions import Definition, Keys, StateOf, TableOf
from evercurrent.delta.program import Bound, MapChoice

if TYPE_CHECKING:
    from evercurrent.delta.derive import Derived
    from evercurrent.delta.graph import Graph
    from evercurrent.delta.states import States

Pair = tuple[str, str]

Options = tuple[bool | None, bool, bool]
"""Whether the joins of a view are kept as identities, whether its rows are kept, and whether attributes may wait."""


class Question(Protocol):
    """Whether a state that saves lookups is to be kept. What it depends on may change, so it can be asked again."""

    def answer(self, states: States) -> tuple[bool | None, MapChoice | None]:
        """The answer, with figures if it was found by figures; None if it cannot be found any more."""
        ...


@dataclass(frozen=True, slots=True)
class ViewParts:
    """What a view was cut into: every definition that it needs, in order, and the relation that it is."""

    plan: Plan
    options: Options
    under: Mapping[str, str]  # the views that it scans, and the relations that they were
    definitions: tuple[tuple[str, Definition, Keys], ...]
    relation: str

    def add_to(self, graph: Graph) -> str:
        for name, definition, keys in self.definitions:
            graph.definitions.setdefault(name, definition)
            graph.keys.setdefault(name, keys)
        return self.relation


@dataclass(slots=True)
class Recording:
    """What the derivation of some rules has asked of `States` and added to it, in order."""

    states: list[StateOf] = field(default_factory=list)
    indexes: list[tuple[str, tuple[str, ...], bool]] = field(default_factory=list)
    orders: list[tuple[Pair, bool | frozenset[str]]] = field(default_factory=list)
    """(child, parent): whether assumptions put the child first already; or the columns of which one was made then."""
    questions: list[tuple[Question, bool]] = field(default_factory=list)

    def repeat(self, states: States) -> bool:
        """Adds what was added, if everything that was asked has the same answer now; whether it has."""
        pairs = set(states.assumptions)
        for (child, parent), found in self.orders:
            if not isinstance(found, bool):
                pairs.add((child, parent))
            elif leads_to(pairs, parent, child) != found:
                return False
        answers = [question.answer(states) for question, _ in self.questions]
        if [found for found, _ in answers] != [found for _, found in self.questions]:
            return False
        states.choices.update((choice.name, choice) for _, choice in answers if choice is not None)
        for state in self.states:
            states.add(state)
        for index in self.indexes:
            states.index(*index)
        for pair, found in self.orders:
            if not isinstance(found, bool):
                states.assumptions.setdefault(pair, set()).update(found)
        return True


@dataclass(frozen=True, slots=True)
class DerivedRules:
    """The rules into a relation or a state, each with the relation that drives it, and what they depend on."""

    rules: tuple[tuple[str, Derived], ...]
    recording: Recording
    bounds: Mapping[str, Bound]


@dataclass(slots=True)
class Memory:
    """What one compilation has found, for the next one."""

    context: object = None
    tables: Mapping[str, object] = field(default_factory=dict)
    views: dict[str, ViewParts] = field(default_factory=dict)
    rules: dict[tuple[str, int], DerivedRules] = field(default_factory=dict)  # by name and level of maps

    def fits(self, context: object, tables: Mapping[str, object]) -> bool:
        """Whether it was found in the same context, and all tables that it knows are as they were."""
        return self.context == context and all(tables.get(n, t) == t for n, t in self.tables.items())

    def parts_of(self, name: str, plan: Plan, options: Options, views: Mapping[str, str]) -> ViewParts | None:
        found = self.views.get(name)
        if found is None or found.plan is not plan or found.options != options:
            return None
        return found if all(views.get(n) == r for n, r in found.under.items()) else None


def record_view(graph: Graph, name: str, plan: Plan, options: Options) -> ViewParts:
    """The parts of a view that was just added to a graph."""
    definitions = tuple((n, graph.definitions[n], graph.keys[n]) for n in graph.touched)
    under = {n: r for n, r in graph.under.items() if n != r}  # without relations that were made to be scanned
    return ViewParts(plan, options, under, definitions, graph.views[name])


def tables_of(graph: Graph) -> dict[str, object]:
    """All that is known of the tables of a graph, to be compared."""
    known = graph.knowledge
    return {
        d.name: (d, graph.keys[d.name], known.references_of(d.name))
        for d in graph.definitions.values()
        if isinstance(d, TableOf) and d.rows is None
    }


def leads_to(pairs: Collection[Pair], child: str, ancestor: str) -> bool:
    """Whether assumptions of (child, parent) put the ancestor before the child."""
    return child == ancestor or any(
        leads_to(pairs, parent, ancestor) for c, parent in tuple(pairs) if c == child and parent != child
    )
