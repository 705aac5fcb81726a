"""What of a design waits until somebody reads, and under which names it lies meanwhile.

    lazy      the views have a program of their own, `later`; nothing of it runs at a commit
              queued\\0G\\0T     what has come to the input T since somebody last read a view of the group G
              later\\0S         its store S: as it was then
    hybrid    the states of a keyed relation move with every batch, the relation and what follows from it do not
              waits\\0G\\0S      what has come to the store S since then: part of S, and listed a second time
              waits\\0G\\0rows   what other sources have moved of a view's rows meanwhile: not told to anyone yet

What is listed twice are the same files, so to wait costs nothing. All of it is part of the snapshot of a version: a batch is
in these stores exactly if it is in the tables, and who reads a version finds there what is missing.
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.catalog.catalog import Catalog
from evercurrent.delta.analyses.deferral import find_deferrable
from evercurrent.delta.program import Fixpoint, Program
from evercurrent.design.compile import Design, hybrid_relations
from evercurrent.engine.spark.storage.file_schema import Schema, Shape, row_schema
from evercurrent.engine.spark.storage.store_names import (
    StoreName,
    later_store,
    loop_stores,
    relation_store,
    view_store,
)
from evercurrent.warehouse.deferred.groups import Kind, hybrid_groups, lazy_groups, row_types
from evercurrent.warehouse.program_parts import policies, rows_store


class DeferredRelations:
    """The groups of views that are deferred, as far as the definitions say."""

    def __init__(self, catalog: Catalog, design: Design) -> None:
        self.catalog = catalog
        self.design = design
        program = design.program
        hybrid = {
            r
            for r in hybrid_relations(catalog, program)
            if set(policies(program, catalog, r)) == {"incremental"}  # others may be recomputed by any batch
        }
        self.held = find_deferrable(program, hybrid, (), last=True)
        self.groups = (*lazy_groups(design), *hybrid_groups(program, self.held))
        self.by_view = {name: group for group in self.groups for name in group.views}

    def kind(self, view: str) -> Kind | None:
        """In which way a view, by its exact name, may be behind."""
        return self.by_view[view].kind if view in self.by_view else None

    def schemas(self) -> dict[StoreName, Schema]:
        """The stores that are there beside those of the program, each with its columns."""
        found = {name: schema for group in self.groups for name, schema in group.schemas()}
        return found | {
            later_store(name): schema for name, schema in program_schemas(self.design.later).items()
        }


def program_schemas(program: Program) -> dict[StoreName, Schema]:
    """The stores of a program, each with its columns: states, bags, loops and the rows of relations."""
    found: dict[StoreName, Schema] = {}
    for state in program.states:
        found |= Shape(state).schemas
    for r in program.relations:
        if isinstance(r, Fixpoint):
            found |= {store: row_schema([c.type for c in loop.columns]) for store, loop in loop_stores(r)}
    found |= {relation_store(name): row_schema(types) for name, types in row_types(program).items()}
    return found


def lazy_design(design: Design) -> Design:
    """The program of the lazy views as a design of its own: of what they read no rows are kept."""
    program = replace(design.later, views={n: r for n, r in design.later.views.items() if n in design.lazy})
    return replace(design, program=program, later=Program((), ()), lazy=frozenset())


def lazy_catalog(catalog: Catalog, design: Design) -> Catalog:
    """The catalog as the program of the lazy views has it: what they read is updated by the net change, whatever its policy."""
    own = {
        k: replace(v, policy="incremental") for k, v in catalog.views.items() if v.name in design.later.views
    }
    return replace(catalog, views={**catalog.views, **own})


def view_rows_store(design: Design, view: str) -> StoreName:
    """The store that holds the rows of a view, by its exact name."""
    if view in design.lazy:
        return later_store(rows_store(design.later, design.later.views[view]))
    relation = design.program.views.get(view)
    return view_store(view) if relation is None else rows_store(design.program, relation)
