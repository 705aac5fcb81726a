"""What of a design waits until somebody reads, and under which names it lies meanwhile.

    lazy      the views have a program of their own, `later`; nothing of it runs at a commit
              queued\\0T       what has come to its input T since it last ran
              later\\0S        its store S: as it was then
    hybrid    the states of a keyed relation move with every batch, the relation and what follows from it do not
              waits\\0S        what has come to the store S since somebody last read: part of S, and listed a second time
              waits\\0rows     what other sources have moved of a view's rows meanwhile: not told to anyone yet

What is listed twice are the same files, so to wait costs nothing. All of it is part of the snapshot of a version: a batch is
in these stores exactly if it is in the tables, and who reads a version finds there what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from evercurrent.catalog.catalog import Catalog
from evercurrent.delta.program import Fixpoint, Input, Keyed, Program
from evercurrent.engine.live.defer import deferred, downstream
from evercurrent.engine.spark.files import EMPTY, Segment
from evercurrent.engine.spark.fixpoint import loop_stores
from evercurrent.engine.spark.log import Snapshot
from evercurrent.engine.spark.shapes import Schema, Shape, row_schema
from evercurrent.session.compile import Design, hybrid_relations
from evercurrent.warehouse.parts import policies, rows_store, view_store

if TYPE_CHECKING:
    from evercurrent.warehouse.core import Core
    from evercurrent.warehouse.moving import Moved

Kind = Literal["lazy", "hybrid"]
QUEUED, LATER, WAITS = "queued\0", "later\0", "waits\0"


class Waiting:
    """What waits, as far as the definitions say."""

    def __init__(self, catalog: Catalog, design: Design) -> None:
        self.catalog = catalog
        self.design = design
        program = design.program
        hybrid = {
            r
            for r in hybrid_relations(catalog, program)
            if set(policies(program, catalog, r)) == {"incremental"}  # others may be made anew by any batch
        }
        self.held = deferred(program, hybrid, (), last=True)
        self.behind: set[str] = set().union(*(downstream(program, k) for k in self.held))
        self.views = {name: r for name, r in program.views.items() if r in self.behind}
        self.fed = {rule.into for name in self.behind for rule in program.triggers.get(name, ())}
        self.inputs = [r for r in design.later.relations if isinstance(r, Input) and r.rows is None]

    def kind(self, view: str) -> Kind | None:
        """In which way a view, by its exact name, may be behind."""
        if view in self.design.lazy:
            return "lazy"
        return "hybrid" if view in self.views else None

    def is_like(self, other: Waiting, kind: Kind) -> bool:
        """Whether the same is kept in the same way of what waits like this."""
        own, theirs = self.design, other.design
        if kind == "lazy":
            return own.lazy == theirs.lazy and own.later == theirs.later
        return self.held == other.held and own.program == theirs.program

    @property
    def states(self) -> dict[str, Schema]:
        """The stores of the relations that are held."""
        program = self.design.program
        names = {r.state for r in program.relations if isinstance(r, Keyed) and r.name in self.held}
        found: dict[str, Schema] = {}
        for state in program.states:
            if state.name in names:
                shape = Shape(state)
                found[state.name] = shape.schema
                found |= {shape.bag_store(i): shape.bag_schema(i) for i in shape.bags}
        return found

    @property
    def rows(self) -> dict[str, Schema]:
        """The stores of rows of hybrid views, by relation."""
        program = self.design.program
        types = {
            r.name: [c.type for c in r.columns] for r in program.relations if not isinstance(r, Fixpoint)
        }
        for r in program.relations:
            if isinstance(r, Fixpoint):
                types |= {loop.name: [c.type for c in loop.columns] for loop in r.loops}
        return {r: row_schema(types[r]) for r in dict.fromkeys(self.views.values())}

    def schemas(self) -> dict[str, Schema]:
        """The stores that are there beside those of the program, each with its columns."""
        found = {WAITS + store: schema for store, schema in self.states.items()}
        for relation, schema in self.rows.items():
            found[WAITS + rows_store(self.design.program, relation)] = schema
        for r in self.inputs:
            found[QUEUED + r.name.lower()] = row_schema([c.type for c in r.columns])
        found |= {LATER + name: schema for name, schema in program_schemas(self.design.later).items()}
        return found


def program_schemas(program: Program) -> dict[str, Schema]:
    """The stores of a program, each with its columns: states, bags, loops and the rows of relations."""
    found: dict[str, Schema] = {}
    for state in program.states:
        shape = Shape(state)
        found[state.name] = shape.schema
        found |= {shape.bag_store(i): shape.bag_schema(i) for i in shape.bags}
    for r in program.relations:
        if isinstance(r, Fixpoint):
            for store, loop in loop_stores(r):
                found[store] = found[f"rows\0{loop.name}"] = row_schema([c.type for c in loop.columns])
        else:
            found[f"rows\0{r.name}"] = row_schema([c.type for c in r.columns])
    return found


def is_behind(snapshot: Snapshot, kind: Kind) -> bool:
    """Whether something waits."""
    mark = QUEUED if kind == "lazy" else WAITS
    return any(name.startswith(mark) and s.segments for name, s in snapshot.stores.items())


def rows_behind(snapshot: Snapshot, kind: Kind) -> int:
    """How many entries wait, not netted."""
    mark = QUEUED if kind == "lazy" else WAITS
    return sum(s.rows for name, s in snapshot.stores.items() if name.startswith(mark))


def later_design(design: Design) -> Design:
    """The program of the lazy views as a design of its own: of what they read no rows are kept."""
    program = replace(design.later, views={n: r for n, r in design.later.views.items() if n in design.lazy})
    return replace(design, program=program, later=Program((), ()), lazy=frozenset())


def by_changes(catalog: Catalog, design: Design) -> Catalog:
    """The catalog as the program of the lazy views has it: what they read moves by the net change, whatever its policy."""
    own = {
        k: replace(v, policy="incremental") for k, v in catalog.views.items() if v.name in design.later.views
    }
    return replace(catalog, views={**catalog.views, **own})


def is_shared(store: str) -> bool:
    """Whether a store holds rows of a table, or of a view that no program keeps: those are there once."""
    return store.startswith(("table\0", "aside\0", "view\0"))


def later(core: Core, snapshot: Snapshot) -> Core:
    """A warehouse in which lazy views are all that there is, over the tables of a snapshot."""
    from evercurrent.warehouse.core import Core as Apart

    made = Apart(core.engine)
    made.progress = core.progress
    made.version = core.version
    made.catalog = by_changes(core.waiting.catalog, core.waiting.design)
    made.design = later_design(core.waiting.design)
    own = {n.removeprefix(LATER): s for n, s in snapshot.stores.items() if n.startswith(LATER)}
    shared = {n: s for n, s in snapshot.stores.items() if is_shared(n)}
    made.snapshot = Snapshot({**shared, **own}, snapshot.definitions, snapshot.sources)
    return made


def bare(core: Core) -> Core:
    """A warehouse in which no view is kept, over the present tables."""
    from evercurrent.warehouse.core import Core as Apart

    made = Apart(core.engine)
    made.progress = core.progress
    made.version = core.version
    made.catalog = core.waiting.catalog
    made.design = replace(
        core.waiting.design, program=Program((), ()), later=Program((), ()), lazy=frozenset()
    )
    stores = {n: s for n, s in core.snapshot.stores.items() if is_shared(n)}
    made.snapshot = Snapshot(stores, core.snapshot.definitions, core.snapshot.sources)
    return made


def put_by(core: Core, inputs: Mapping[str, Segment], moved: Moved) -> None:
    """Let what a batch has brought to those who wait lie for them; a view that has moved by half has not changed yet."""
    waiting = core.waiting
    program = waiting.design.program
    changes = {core.catalog.tables[key].name: s for key, s in inputs.items() if s.rows}
    changes |= {name: s for name, s in moved.views.items() if name in waiting.design.recomputed}
    for r in waiting.inputs:
        if r.name in changes:
            moved.added[QUEUED + r.name.lower()] = changes[r.name]
    for store in waiting.states:
        if store in moved.added:
            moved.added[WAITS + store] = moved.added[store]
    for name, relation in waiting.views.items():
        half = moved.views.pop(name, EMPTY)
        if half.rows:
            moved.added[WAITS + rows_store(program, relation)] = half


def rows_of(design: Design, view: str) -> str:
    """The store that holds the rows of a view, by its exact name."""
    if view in design.lazy:
        return LATER + rows_store(design.later, design.later.views[view])
    relation = design.program.views.get(view)
    return view_store(view) if relation is None else rows_store(design.program, relation)
