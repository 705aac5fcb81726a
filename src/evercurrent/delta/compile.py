"""Plans of views -> one maintenance program.

Every definition that the plans are cut into (see `graph`) is made into relations, states and rules; states that rules
look up are sums as well and bring rules of their own, until none is new. Then each trigger's rules are put in an order
that law L9 allows, and inputs in the order that the assumptions need: parents before children.

    SELECT customer, sum(total) ... GROUP BY customer      state orders by customer (customer; sum(total), count(total))
                                                           on orders: add to orders by customer
                                                           on spend, computed from orders by customer, for each customer
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from heapq import heappop, heappush
from itertools import islice
from types import MappingProxyType
from typing import assert_never

from evercurrent.algebra.nodes import Plan, columns
from evercurrent.catalog.catalog import Knowledge
from evercurrent.delta.analyses.finer_sums import without_coarse_sums
from evercurrent.delta.analysis import analyse
from evercurrent.delta.attributes import let_attributes_wait
from evercurrent.delta.blocks import Block
from evercurrent.delta.bounds import Bounds
from evercurrent.delta.combine import is_bare
from evercurrent.delta.definitions import Feed, FixpointOf, KeyedOf, SumOf, TableOf
from evercurrent.delta.derive import Derived, rules_for
from evercurrent.delta.graph import Graph
from evercurrent.delta.identities import by_identities, pays
from evercurrent.delta.memory import (
    DerivedRules,
    Memory,
    Options,
    Recording,
    ViewParts,
    record_view,
    tables_of,
)
from evercurrent.delta.program import (
    WEIGHT,
    Bound,
    Fixpoint,
    Input,
    Keyed,
    Linear,
    Lookup,
    Loop,
    Program,
    Relation,
    Rule,
    State,
    weight_column,
)
from evercurrent.delta.ranges import ORDERED
from evercurrent.delta.states import States
from evercurrent.delta.upkeep import Statistics
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
    hybrid: Collection[str] = (),
    changing: Collection[tuple[str, str]] = (),
    unread: Collection[str] = (),
    lent: Collection[str] = (),
    levels: Mapping[str, int] = MappingProxyType({}),
    statistics: Statistics | None = None,
    kept_maps: Collection[str] = (),
    ordered: bool = False,
    bounded: bool = False,
    unbounded: Collection[str] = (),
    memory: Memory | None = None,
) -> Program:
    """One program for all views, equal parts shared. A view may scan views that stand before it.

    `refused` are (child, parent) pairs of tables that no assumption may be made about; `changing` are such pairs whose parents
    have been seen to change. `least_fan_out` is how often lookups must fan out for a map of numbers to be kept in their place
    (see `lookups`), where `levels` do not say it for a view; with `statistics`, whether a map pays decides, and whether it is
    one of the `kept_maps`, which were chosen before. `identities` are views whose joins are kept as the identities that
    contribute to each row (see `identities`), `planted` are views of which none is; for the others it is done where it pays. Of
    `hybrid` views, changes of attributes may wait (see `attributes`). Of `unread` views only the changes are wanted. The rows of `lent` tables can be read by their keys where they are. With
    `ordered`, sums over ranges are kept for joins by inequalities (see `ranges`). With `bounded`, amounts of integers and floats
    are taken apart under bounds that the engine checks (see `bounds`), but for the amounts named in `unbounded`.

    What `memory` holds of an earlier compilation is taken over where it fits; afterwards it holds what this one has found.
    """
    graph, memory = Graph(knowledge), Memory() if memory is None else memory
    wanted = dict.fromkeys(planted, False) | dict.fromkeys(identities, True)
    options = {n: (wanted.get(n), n not in unread, n in hybrid) for n in plans}
    of_definition = add_views(graph, plans, options, levels, memory)
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
        ordered,
        statistics,
        frozenset(kept_maps),
    )
    bounds = Bounds(frozenset(tables), frozenset(unbounded)) if bounded else None
    context = (assume, *map(frozenset, (refused, changing, lent, unbounded)), ordered, bounded)
    now = tables_of(graph)
    known = memory.rules if memory.fits(context, now) else {}
    builder = Builder(graph, states, bounds, of_definition, known)
    builder.build()
    memory.context, memory.tables, memory.rules = context, now, builder.found
    return builder.program({name: graph.views[name] for name in plans})


def require_maintainable(plan: Plan, knowledge: Knowledge) -> None:
    """Raises `UnsupportedError` if no program can maintain the plan."""
    view_relation(Graph(knowledge), plan, None)


def add_views(
    graph: Graph,
    plans: Mapping[str, Plan],
    options: Mapping[str, Options],
    levels: Mapping[str, int],
    memory: Memory,
) -> dict[str, int]:
    """Adds the definitions of all views to a graph; returns the levels of maps of definitions."""
    known, memory.views = Memory(views=memory.views), {}
    found: dict[str, int] = {}
    for name, plan in plans.items():
        before = len(graph.definitions)
        memory.views[name] = add_view(graph, name, plan, options[name], known)
        if name in levels:
            found |= dict.fromkeys(islice(graph.definitions, before, None), levels[name])
    return found


def add_view(graph: Graph, name: str, plan: Plan, options: Options, memory: Memory) -> ViewParts:
    """Adds the definitions of a view to a graph: those that are known of it, or else what its plan is cut into."""
    found = memory.parts_of(name, plan, options, graph.views)
    if found is not None:
        graph.views[name] = found.add_to(graph)
        return found
    graph.touched, graph.under, graph.known, graph.fresh = {}, {}, {}, 0
    graph.views[name] = view_relation(graph, plan, *options)
    return record_view(graph, name, plan, options)


def view_relation(
    graph: Graph, plan: Plan, identities: bool | None, kept: bool = True, hybrid: bool = False
) -> str:
    """The relation that a view is: a keyed or another view's relation as it is, or a sum of blocks, kept if it is read."""
    blocks: list[Block] = graph.blocks(plan)
    if identities is not False:
        blocks = [(by_identities(graph, b) if identities or pays(graph, b) else None) or b for b in blocks]
    if hybrid:
        blocks = [let_attributes_wait(graph, b) for b in blocks]
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
    def __init__(
        self,
        graph: Graph,
        states: States,
        bounds: Bounds | None,
        levels: Mapping[str, int],
        known: Mapping[tuple[str, int], DerivedRules],
    ) -> None:
        self.graph = graph
        self.bounds = bounds
        self.levels = levels  # of definitions
        self.states = states
        self.relations: dict[str, Relation] = {}
        self.rules: dict[str, list[Derived]] = {}
        self.known = known  # the rules that were derived before, by what they are for and the level of maps
        self.found: dict[tuple[str, int], DerivedRules] = {}
        self.feed_states: dict[str, State] = {}

    def build(self) -> None:
        usual = self.states.least_fan_out
        for definition in self.graph.definitions.values():
            self.states.least_fan_out = self.levels.get(definition.name, usual)
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
            state, self.states.least_fan_out = self.states.waiting.pop()
            self.add_rules(state.feeds, state.name)

    def add_rules(self, feeds: tuple[Feed, ...], into: str) -> None:
        """Adds the rules of feeds: those that are known, if all that they depend on is unchanged; otherwise derives them."""
        level = self.states.least_fan_out
        found = self.known.get((into, level))
        if found is None or not found.recording.repeat(self.states):
            found = self.derive_rules(feeds, into)
        if self.bounds is not None:
            self.bounds.found |= found.bounds
        self.found[into, level] = found
        for relation, derived in found.rules:
            self.rules.setdefault(relation, []).append(derived)

    def derive_rules(self, feeds: tuple[Feed, ...], into: str) -> DerivedRules:
        recording = self.states.recording = Recording()
        bounds: dict[str, Bound] = {}
        rules = tuple(rule for feed in feeds for rule in self.rules_of(feed, into, bounds))
        self.states.recording = Recording()
        return DerivedRules(rules, recording, bounds)

    def rules_of(self, feed: Feed, into: str, bounds: dict[str, Bound]) -> list[tuple[str, Derived]]:
        """The rules of a feed, and the bounds that they need.

        Amounts are taken apart under bounds only where some rule reads sums for it.
        """
        if self.bounds is not None:
            own = Bounds(self.bounds.tables, self.bounds.refused)
            found = rules_for(analyse(feed, self.graph.keys, own), self.states, into)
            if not own.found or any(reads_sums(derived.rule) for _, derived in found):
                bounds |= own.found
                return found
        return rules_for(analyse(feed, self.graph.keys), self.states, into)

    def add_sum(self, name: str, own: tuple[Column, ...], feeds: tuple[Feed, ...], kept: bool) -> None:
        state = f"{name}.rows" if kept else None
        self.relations[name] = Linear(name, own, state)
        self.add_rules(feeds, name)
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
            self.add_rules(loop.feeds, loop.body)
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
        assumptions = self.states.list_assumptions()
        parents = {(a.child, a.parent) for a in assumptions}
        found = Program(
            (*parents_first(inputs, parents), *others),
            (*states, *self.feed_states.values()),
            {name: in_order(derived) for name, derived in self.rules.items()},
            views,
            assumptions,
            tuple(self.bounds.found.values()) if self.bounds is not None else (),
            tuple(self.states.choices.values()),
        )
        return without_coarse_sums(found) if self.states.ordered else found


def reads_sums(rule: Rule) -> bool:
    """Whether a rule reads what several rows have added up to, or a range of entries, whose bounds must not fail."""
    lookups = [step for step in rule.steps if isinstance(step, Lookup)]
    names = {name for step in lookups for name, _ in step.binds}
    return any(step.span is not None for step in lookups) or any(
        name in (WEIGHT, ORDERED) or name.startswith("+") for name in names
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
    """The rules of a trigger: each before the updates of states that it must see old, after those that it must see new."""
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
    after: dict[int, list[int]] = {i: [] for i in before}
    for i, earlier in before.items():
        for e in earlier:
            after[e].append(i)
    free = [i for i, earlier in before.items() if not earlier]  # a heap: of several, the first goes first
    order: list[int] = []
    while free:
        order.append(heappop(free))
        for i in after[order[-1]]:
            before[i].discard(order[-1])
            if not before[i]:
                heappush(free, i)
    if len(order) < len(derived):
        raise InternalError("the rules of a trigger have no order")
    return tuple(derived[i].rule for i in order)
