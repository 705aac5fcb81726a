"""The graph of a database: tables, what is kept of them, and the views at the end.

    table orders  ->  state orders by customer  ->  view spend

A node is a source, a table, a state, a view, a part of a view or an assertion. An edge says that a change of the first drives
a rule into the second (`change`), or that such a rule looks the first up (`lookup`). Relations of the program that hold
nothing and are no view are left out: what leads into them leads to what they lead to. The state that holds the rows of a view
is shown as the view.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import PartOf, View, is_part
from evercurrent.delta.analyses.labels import Labels
from evercurrent.delta.program import Fixpoint, Input, Keyed, Linear, Lookup, Program, Rule
from evercurrent.design.compile import ASSERTION, Design
from evercurrent.design.explain import shape
from evercurrent.design.program_parts import lineage, list_named_relations, users_of

ROWS = ".rows"
"""Ends the name of a state that holds the rows of a relation."""


@dataclass(slots=True)
class Node:
    """One thing that is kept. `steps` is how many rules and lookups the change of one row makes on its way here."""

    id: str
    kind: str
    name: str
    label: str
    detail: str = ""
    why: str = ""
    steps: int = 0
    views: tuple[str, ...] = ()
    columns: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class Graph:
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[tuple[str, str], str] = field(default_factory=dict)
    stores: dict[str, str] = field(default_factory=dict)
    """From the name of a state in its program to the node that shows it."""

    def connect(self, before: str, after: str, kind: str) -> None:
        """Adds an edge; a change that drives says more than a lookup."""
        if before != after and before in self.nodes and after in self.nodes:
            if self.edges.get((before, after)) != "change":
                self.edges[before, after] = kind


def graph_of(catalog: Catalog, design: Design, sources: Mapping[str, str] | None = None) -> Graph:
    """The graph of all definitions. `sources` says of tables that others write where they lie."""
    graph = Graph()
    for table in catalog.tables.values():
        add(graph, "table", table.name, "" if table.stored else "not stored: it forwards its changes")
        graph.nodes[f"table:{table.name}"].columns = columns_of(table.fields)
    for name, place in (sources or {}).items():
        graph.nodes[f"source:{name}"] = Node(f"source:{name}", "source", name, name, place)
        graph.connect(f"source:{name}", f"table:{name}", "change")
    for view in catalog.views.values():
        kind = "part" if is_part(view) else "view"
        add(graph, kind, view.name, describe_view(view))
        node = graph.nodes[f"{kind}:{view.name}"]
        node.columns = columns_of(view.fields)
        if view.name in design.recomputed:
            node.why = f"recomputed in full: {design.recomputed[view.name].reason}"
    for assertion in catalog.assertions.values():
        add(graph, "assertion", assertion.name, "must stay empty")
    for program in (design.program, design.later):
        Reader(graph, program, catalog).read()
    connect_others(graph, catalog, design)
    return graph


def add(graph: Graph, kind: str, name: str, detail: str) -> None:
    graph.nodes[f"{kind}:{name}"] = Node(f"{kind}:{name}", kind, name, name, detail)


def columns_of(fields: Iterable[Any]) -> list[dict[str, Any]]:
    return [{"name": f.name, "type": str(f.type), "nullable": f.nullable} for f in fields]


def describe_view(view: View) -> str:
    mode = "" if view.mode == "strict" else f", {view.mode}"
    return f"{view.language.upper() if view.language != 'python' else 'Python'}, {view.policy}{mode}"


def node_of_relation(catalog: Catalog, name: str) -> str:
    """The node of a table, view or assertion, by its name in a program."""
    if name.startswith(ASSERTION):
        return f"assertion:{name.removeprefix(ASSERTION)}"
    view = catalog.view(name)
    if view is not None:
        return f"{'part' if is_part(view) else 'view'}:{view.name}"
    table = catalog.tables.get(name.lower())
    return f"table:{table.name if table is not None else name}"


def connect_others(graph: Graph, catalog: Catalog, design: Design) -> None:
    """Connects the views that no program keeps: with what they read, and with the parts that they are kept in."""
    for view in catalog.views.values():
        if is_part(view):
            assert isinstance(view.shape, PartOf)
            graph.connect(f"part:{view.name}", f"view:{view.shape.view}", "change")
        elif view.name not in design.program.views and view.name not in design.later.views:
            for used in sorted(view.uses):
                graph.connect(node_of_relation(catalog, used), f"view:{view.name}", "change")


class Reader:
    """Adds the states and edges of one program."""

    def __init__(self, graph: Graph, program: Program, catalog: Catalog) -> None:
        self.graph, self.program, self.catalog = graph, program, catalog
        self.relations = list_named_relations(program)
        self.views: dict[str, list[str]] = {}
        for view, relation in program.views.items():
            node = node_of_relation(catalog, view)
            if node in graph.nodes:
                self.views.setdefault(relation, []).append(node)
        self.into: dict[str, list[Rule]] = {}
        for rules in program.triggers.values():
            for rule in rules:
                self.into.setdefault(rule.into, []).append(rule)
        self._anchors: dict[str, list[str]] = {}

    def read(self) -> None:
        labels, users = Labels(self.program), users_of(self.program)
        for state in self.program.states:
            owner = self.views.get(state.name.removesuffix(ROWS)) if state.name.endswith(ROWS) else None
            if owner:
                self.graph.stores[state.name] = owner[0]
                continue
            node = Node(f"state:{state.name}", "state", state.name, labels.of(state.name), why=state.why)
            node.detail = shape(state, labels)
            node.views = tuple(users.get(state.name, ()))
            node.steps = sum(map(steps_of, self.into.get(state.name, ())))
            self.graph.nodes[node.id] = node
            self.graph.stores[state.name] = node.id
        for relation in self.program.relations:
            if isinstance(relation, Fixpoint):
                node = Node(f"state:{relation.name}", "state", relation.name, "recursive rows")
                node.detail, node.why = "fixpoint", "rows of a recursion and their derivations"
                self.graph.nodes[node.id] = node
                self.graph.stores[relation.name] = node.id
        for before, after, kind in self.edges():
            self.graph.connect(before, after, kind)
        for relation_name, views in self.views.items():
            part = lineage(self.program, relation_name)
            for view in views:
                self.graph.nodes[view].steps = sum(map(steps_of, part.rules))

    def edges(self) -> Iterator[tuple[str, str, str]]:
        for name, rules in self.into.items():
            for target in self.targets(name):
                for rule in rules:
                    yield from ((a, target, kind) for a, kind in self.drivers(rule))
        for relation in self.program.relations:
            for target in self.views.get(relation.name, ()):
                if isinstance(relation, Keyed):
                    yield from ((a, target, "change") for a in self.anchors(relation.state))
            if isinstance(relation, Fixpoint):
                for loop in relation.loops:
                    for rule in self.into.get(loop.body, ()):
                        yield from ((a, f"state:{relation.name}", kind) for a, kind in self.drivers(rule))
                    for target in self.views.get(loop.name, ()):
                        yield f"state:{relation.name}", target, "change"

    def drivers(self, rule: Rule) -> Iterator[tuple[str, str]]:
        for anchor in self.anchors(rule.on):
            yield anchor, "change"
        for step in rule.steps:
            if isinstance(step, Lookup):
                yield from ((a, "lookup") for a in self.anchors(step.state))

    def targets(self, name: str) -> list[str]:
        """The nodes that a rule into this name changes."""
        if name in self.graph.stores:
            return [self.graph.stores[name]]
        return self.views.get(name, [])

    def anchors(self, name: str) -> list[str]:
        """The nodes that a state or relation is seen as; of one that is left out, those that lead into it."""
        found = self._anchors.get(name)
        if found is None:
            self._anchors[name] = []  # a relation that leads to itself
            found = self._anchors[name] = list(dict.fromkeys(self._find_anchors(name)))
        return found

    def _find_anchors(self, name: str) -> Iterator[str]:
        relation = self.relations.get(name)
        if name in self.graph.stores:
            yield self.graph.stores[name]
        elif name in self.views:
            yield self.views[name][0]
        elif isinstance(relation, Input):
            yield node_of_relation(self.catalog, name)
        elif isinstance(relation, Fixpoint):
            yield f"state:{relation.name}"
        elif isinstance(relation, Keyed):
            yield from self.anchors(relation.state)
        elif isinstance(relation, Linear):
            for rule in self.into.get(name, ()):
                yield from (a for a, _ in self.drivers(rule))


def steps_of(rule: Rule) -> int:
    """One for the rule, and one for each lookup."""
    return 1 + sum(isinstance(step, Lookup) for step in rule.steps)
