"""Views that wait together: those that share a state, or one of which another is made of.

Different groups share no deferred work, so each is brought up to date on its own: whoever reads a view pays for what
belongs to it, and for no other view.

    lazy      the parts of the program `later` that the views rest on, joined where they have a state or relation in common
    hybrid    what follows from each keyed relation that is held, joined likewise

Each group has queues of its own. They list the same files, so a table under many groups is not stored more often.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from evercurrent.data.types import Type
from evercurrent.delta.analyses.deferral import downstream
from evercurrent.delta.analyses.fill import part_for
from evercurrent.delta.program import Fixpoint, Input, Keyed, Program
from evercurrent.design.compile import Design
from evercurrent.engine.spark.storage.file_schema import Schema, Shape, row_schema
from evercurrent.engine.spark.storage.snapshots import Snapshot
from evercurrent.engine.spark.storage.store_names import QueueMark, StoreName, queue_mark, queue_store
from evercurrent.warehouse.program_parts import rows_store

Kind = Literal["lazy", "hybrid"]
MARKS: dict[Kind, Literal["queued", "waits"]] = {"lazy": "queued", "hybrid": "waits"}


@dataclass(frozen=True)
class Group:
    """`views` by their exact names; `program` is their own (lazy) or the one of all (hybrid)."""

    kind: Kind
    views: tuple[str, ...]
    program: Program
    held: frozenset[str] = frozenset()  # keyed relations that are not updated at a commit

    @property
    def mark(self) -> QueueMark:
        """How the names of its queues begin."""
        return queue_mark(MARKS[self.kind], min(self.program.views[v] for v in self.views))

    def queue(self, name: str) -> StoreName:
        """What has come to a store, or to an input, since somebody last read."""
        return queue_store(self.mark, name.lower() if self.kind == "lazy" else name)

    def waits(self, snapshot: Snapshot) -> bool:
        """Whether something does."""
        return any(s.segments for n, s in snapshot.stores.items() if n.startswith(self.mark))

    def rows(self, snapshot: Snapshot) -> int:
        """How many rows wait, not netted."""
        return sum(s.rows for n, s in snapshot.stores.items() if n.startswith(self.mark))

    @cached_property
    def inputs(self) -> list[Input]:
        """What a lazy group has queues of."""
        if self.kind == "hybrid":
            return []
        return [r for r in self.program.relations if isinstance(r, Input) and r.rows is None]

    @cached_property
    def relations(self) -> dict[str, list[str]]:
        """The views that each relation is."""
        found: dict[str, list[str]] = {}
        for view in self.views:
            found.setdefault(self.program.views[view], []).append(view)
        return found

    @cached_property
    def fed(self) -> set[str]:
        """The states to which something is added when the deferred relations are updated."""
        behind = set().union(*(downstream(self.program, k) for k in self.held))
        return {rule.into for name in behind for rule in self.program.triggers.get(name, ())}

    @cached_property
    def states(self) -> dict[StoreName, Schema]:
        """The stores of the relations that are held."""
        names = {r.state for r in self.program.relations if isinstance(r, Keyed) and r.name in self.held}
        found: dict[StoreName, Schema] = {}
        for state in self.program.states:
            if state.name in names:
                found |= Shape(state).schemas
        return found

    def schemas(self) -> Iterator[tuple[StoreName, Schema]]:
        """Its queues, each with its columns."""
        for r in self.inputs:
            yield self.queue(r.name), row_schema([c.type for c in r.columns])
        for store, schema in self.states.items():
            yield self.queue(store), schema
        for relation, types in row_types(self.program).items() if self.kind == "hybrid" else ():
            if relation in self.relations:
                yield self.queue(rows_store(self.program, relation)), row_schema(types)


def row_types(program: Program) -> dict[str, list[Type]]:
    """The types of the columns of every relation."""
    found: dict[str, list[Type]] = {}
    for r in program.relations:
        for one in r.loops if isinstance(r, Fixpoint) else (r,):
            found[one.name] = [c.type for c in one.columns]
    return found


def lazy_groups(design: Design) -> tuple[Group, ...]:
    program = design.later
    views = {n: r for n, r in program.views.items() if n in design.lazy}
    parts = {}
    for name, relation in views.items():
        part = part_for(program, (), [relation], ())
        own = {r.name for r in part.relations if not isinstance(r, Input)} | {s.name for s in part.states}
        parts[name] = own | {relation}
    groups = []
    for names in connect(parts):
        part = part_for(program, (), list(dict.fromkeys(views[n] for n in names)), ())
        groups.append(Group("lazy", names, replace(part, views={n: views[n] for n in names})))
    return tuple(groups)


def hybrid_groups(program: Program, held: frozenset[str]) -> tuple[Group, ...]:
    behind = {k: downstream(program, k) for k in sorted(held)}
    groups = []
    for keyed in connect(behind):
        follows = set().union(*(behind[k] for k in keyed))
        views = tuple(n for n, r in program.views.items() if r in follows)
        groups.append(Group("hybrid", views, program, frozenset(keyed)))
    return tuple(groups)


def connect(parts: dict[str, set[str]]) -> list[tuple[str, ...]]:
    """The names whose sets are connected, together.

    >>> connect({"a": {"x", "y"}, "b": {"z"}, "c": {"y", "u"}})
    [('b',), ('a', 'c')]
    """
    found: list[tuple[tuple[str, ...], set[str]]] = []
    for name, own in parts.items():
        near = [g for g in found if g[1] & own]
        found = [g for g in found if not g[1] & own]
        names: Iterable[str] = (n for g in near for n in g[0])
        found.append(((*names, name), own.union(*(g[1] for g in near))))
    return [names for names, _ in found]
