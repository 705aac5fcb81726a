"""Which part of the program updates its stores by the delta, and which is recomputed.

Law. Let F be the relations of the views that a batch recomputes in full. They are cut out of the program: for whatever
reads them they are inputs, whose change is `new rows - old rows`. What is needed by the other views and by assertions,
down to F and the tables, is the part that is *updated*: its stores get segments added. What only F needs is *recomputed*
from the tables as they are after the batch, exactly as a new view is filled; its stores are replaced. So no store is ever
stale: in every version each store holds what the rules derive from the tables of that version.

    orders -> spend -> best, and the batch recomputes spend       updated: best, by the change of spend
                                                                  recomputed: spend and its state `orders by customer`

A view of the policy `full` is in F whenever it is touched, so what only such views need is not kept at all. The same holds
for a while of views whose states are *cold* (`planning.experience.Cold`): a batch has recomputed them by Spark's SQL, which
computes rows and no states. A version says which relations are cold, so a store that is not kept is known to be absent, and is
not taken for an empty one: `stateless_relations` names them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from evercurrent.catalog.catalog import Catalog
from evercurrent.delta.analyses.fill import part_for
from evercurrent.delta.program import Fixpoint, Linear, Program
from evercurrent.engine.spark.storage.file_schema import Shape
from evercurrent.engine.spark.storage.store_names import StoreName, loop_stores, relation_store, state_store


def stores_of(program: Program) -> set[StoreName]:
    """The names of the stores in which a program keeps its states and loops (not the rows of views)."""
    names: set[StoreName] = set()
    for state in program.states:
        names |= set(Shape(state).stores)
    for r in program.relations:
        if isinstance(r, Fixpoint):
            names |= {store for store, _ in loop_stores(r)}
    return names


def rows_store(program: Program, relation: str) -> StoreName:
    """The store that holds the rows of a relation that is a view: a state of its own rows, or one beside the states."""
    for r in program.relations:
        if r.name == relation and isinstance(r, Linear) and r.state is not None:
            return state_store(r.state)
    return relation_store(relation)


def always_full(program: Program, catalog: Catalog) -> frozenset[str]:
    """The relations that no view or assertion asks to be kept incrementally."""
    return frozenset(
        relation
        for relation in program.views.values()
        if all(policy == "full" for policy in policies(program, catalog, relation))
    )


def stateless_relations(program: Program, catalog: Catalog, cold: Collection[str]) -> frozenset[str]:
    """The relations of which nothing but the rows is kept: for whatever reads them they are inputs."""
    return always_full(program, catalog) | (frozenset(cold) & frozenset(program.views.values()))


def policies(program: Program, catalog: Catalog, relation: str) -> list[str]:
    """The policies of all that a relation stands for: views with the same rows share one."""
    found: list[str] = []
    for name, own in program.views.items():
        if own == relation:
            view = catalog.view(name)
            found.append("incremental" if view is None else view.policy)
    return found


def part_without(program: Program, full: Collection[str]) -> Program:
    """The part that the other views and the assertions need; the relations in `full` are inputs of it."""
    if not full:
        return program
    others = dict.fromkeys(r for r in program.views.values() if r not in full)
    return part_for(program, (), list(others), full)


def select_stored_part(program: Program, catalog: Catalog, cold: Collection[str] = ()) -> Program:
    """The part whose states are stored."""
    return part_without(program, stateless_relations(program, catalog, cold))


def relations_still_cold(program: Program, catalog: Catalog, cold: Collection[str]) -> set[str]:
    """The relations that can stay cold in another catalog: they are there, and no one asks for them to be kept."""
    here = set(program.views.values()) & set(cold)
    return {r for r in here if set(policies(program, catalog, r)) <= {"auto", "full"}} - always_full(
        program, catalog
    )


def part_to_fill(program: Program, full: Iterable[str], stores: Collection[str]) -> Program:
    """The part that makes the rows of these relations, and these stores, of the tables alone."""
    states = [s.name for s in program.states if s.name in stores]
    return part_for(program, states, list(full), ())
