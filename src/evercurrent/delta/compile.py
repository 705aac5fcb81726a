"""Plans of views -> one maintenance program.

Every definition that the plans are cut into (see `graph`) is made into relations, states and rules; states that rules
look up are sums as well and bring rules of their own, until none is new. Then each trigger's rules are put in an order
that law L9 allows, and inputs in one that the assumptions ask for: parents before children.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import assert_never

from evercurrent.algebra.nodes import Plan, columns
from evercurrent.catalog.catalog import Knowledge
from evercurrent.delta.analysis import analyse
from evercurrent.delta.blocks import Block
from evercurrent.delta.combine import is_bare
from evercurrent.delta.definitions import Feed, FixpointOf, KeyedOf, SumOf, TableOf
from evercurrent.delta.derive import Derived, rules_for
from evercurrent.delta.graph import Graph
from evercurrent.delta.identities import by_identities, pays
from evercurrent.delta.program import (
    Fixpoint,
    Input,
    Keyed,
    Linear,
    Loop,
    Program,
    Relation,
    Rule,
    State,
    weight_column,
)
from evercurrent.delta.states import States
from evercurrent.errors import InternalError
from evercurrent.term.nodes import Column


def compile_views(
    plans: Mapping[str, Plan],
    knowledge: Knowledge,
    *,
    assume: bool = True,
    refused: Collection[tuple[str, str]] = (),
    least_fan_out: int = 3,
    identities: Collection[str] = (),
    planted: Collection[str] = (),
    changing: Collection[tuple[str, str]] = (),
    unread: Collection[str] = (),
    lent: Collection[str] = (),
) -> Program:
    """One program for all views, equal parts shared. A view may scan views that stand before it.

    `refused` are (child, parent) pairs of tables that no assumption may be made about; `changing` are such pairs whose parents
    have been seen to change. `least_fan_out` is how often lookups
    must fan out for a map of numbers to be kept in their place (see `lookups`). `identities` are views whose joins are kept as
    the identities that contribute to each row, so that a change of an attribute that is only shown is joined with those;
    `planted` are views of which none is. For the others it is done where it pays (see `identities`). Of `unread` views only
    the changes are wanted: their rows are not kept. The rows of `lent` tables can be read by their keys where they are.
    """
    graph = Graph(knowledge)
    for name, plan in plans.items():
        wanted = True if name in identities else False if name in planted else None
        graph.views[name] = view_relation(graph, plan, wanted, name not in unread)
    tables = {d.name for d in graph.definitions.values() if isinstance(d, TableOf) and d.rows is None}
    states = States(
        knowledge,
        graph.keys,
        tables,
        assume,
        frozenset(refused),
        least_fan_out,
        frozenset(changing),
        frozenset(lent),
    )
    builder = Builder(graph, states)
    builder.build()
    used = {name: graph.views[name] for name in plans}
    return builder.program(used)


def view_relation(graph: Graph, plan: Plan, identities: bool | None, kept: bool = True) -> str:
    """The relation that a view is: a keyed or another view's relation as it is, or a sum of blocks, kept if it is read."""
    blocks: list[Block] = graph.blocks(plan)
    if identities is not False:
        blocks = [(by_identities(graph, b) if identities or pays(graph, b) else None) or b for b in blocks]
    if len(blocks) == 1 and is_bare(blocks[0]):
        source = blocks[0].sources[0]
        definition = graph.definitions[source.relation]
        same = [t.name for t in blocks[0].outputs if isinstance(t, Column)] == [
            c.name for c in source.columns
        ]
        if (
            same
            and not isinstance(definition, TableOf)
            and not (isinstance(definition, SumOf) and definition.kept != kept)
        ):
            return source.relation
    return graph.sum(blocks, columns(plan), kept=kept)


class Builder:
    def __init__(self, graph: Graph, states: States) -> None:
        self.graph = graph
        self.states = states
        self.relations: dict[str, Relation] = {}
        self.rules: dict[str, list[Derived]] = {}
        self.feed_states: dict[str, State] = {}

    def build(self) -> None:
        for definition in self.graph.definitions.values():
            match definition:
                case TableOf(name, own, rows):
                    self.relations[name] = Input(name, own, rows)
                case SumOf(name, own, feeds, kept):
                    self.add_sum(name, own, feeds, kept)
                case KeyedOf(name, own, state, key, function):
                    self.states.add(state)
                    self.relations[name] = Keyed(name, own, state.name, key, function)
                case FixpointOf(name):
                    self.add_fixpoint(definition)
                case _:
                    assert_never(definition)
        while self.states.waiting:
            state = self.states.waiting.pop()
            for feed in state.feeds:
                self.add_rules(feed, state.name)

    def add_rules(self, feed: Feed, into: str) -> None:
        for relation, derived in rules_for(analyse(feed, self.graph.keys), self.states, into):
            self.rules.setdefault(relation, []).append(derived)

    def add_sum(self, name: str, own: tuple[Column, ...], feeds: tuple[Feed, ...], kept: bool) -> None:
        state = f"{name}.rows" if kept else None
        self.relations[name] = Linear(name, own, state)
        for feed in feeds:
            self.add_rules(feed, name)
        if state is not None:
            unique = any(self.graph.keys.get(name, ()))
            self.feed_states[state] = State(state, own, unique=unique, why="the rows of a view")
            weight = weight_column()
            rule = Rule(name, own, weight, (), state, own, weight)
            self.rules.setdefault(name, []).insert(0, Derived(rule))

    def add_fixpoint(self, definition: FixpointOf) -> None:
        if definition.name in self.relations:
            return
        loops = []
        for loop in definition.loops:
            loops.append(Loop(loop.name, loop.columns, loop.body, loop.inner, loop.distinct))
            for feed in loop.feeds:
                self.add_rules(feed, loop.body)
        self.relations[definition.name] = Fixpoint(definition.name, tuple(loops), definition.limit)

    # --- putting it in order -------------------------------------------------------------------------------

    def program(self, views: dict[str, str]) -> Program:
        states = [
            State(
                s.name,
                s.columns,
                s.dependents,
                s.accumulators,
                s.unique,
                self.states.indexes_of(s.name),
                s.why,
            )
            for s in self.states.kept.values()
        ]
        inputs = [r for r in self.relations.values() if isinstance(r, Input)]
        others = [r for r in self.relations.values() if not isinstance(r, Input)]
        assumptions = self.states.assumed()
        parents = {(a.child, a.parent) for a in assumptions}
        return Program(
            (*parents_first(inputs, parents), *others),
            (*states, *self.feed_states.values()),
            {name: in_order(derived) for name, derived in self.rules.items()},
            views,
            assumptions,
        )


def parents_first(inputs: list[Input], pairs: set[tuple[str, str]]) -> list[Input]:
    """Inputs with every parent before its children; declared references of assumptions have no cycles."""
    done: dict[str, Input] = {}
    by_name = {i.name: i for i in inputs}

    def visit(name: str) -> None:
        if name not in done and name in by_name:
            for child, parent in sorted(pairs):
                if child == name and parent != name:
                    visit(parent)
            done[name] = by_name[name]

    for i in inputs:
        visit(i.name)
    return list(done.values())


def in_order(derived: list[Derived]) -> tuple[Rule, ...]:
    """The rules of a trigger, each before the states move that it must see old and after those it must see new."""
    movers: dict[str, list[int]] = {}
    for i, d in enumerate(derived):
        movers.setdefault(d.rule.into, []).append(i)
    before: dict[int, set[int]] = {i: set() for i in range(len(derived))}  # i -> those that go before it
    for i, d in enumerate(derived):
        for state in d.old:
            for m in movers.get(state, ()):
                before[m].add(i)
        for state in d.new:
            before[i].update(movers.get(state, ()))
    order: list[int] = []
    while len(order) < len(derived):
        free = [i for i in before if i not in order and before[i] <= set(order)]
        if not free:
            raise InternalError("the rules of a trigger have no order")
        order.append(free[0])
    return tuple(derived[i].rule for i in order)
