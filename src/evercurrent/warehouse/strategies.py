"""Per batch and per view: how it is brought up to date, why, and at what estimated cost.

    strategy    the view moves                                      reason codes
    none        not at all: no table under it has changed           untouched
    delta       by rules alone, by addition                         policy, fewer-bytes
    keyed       touched groups are evaluated again                  policy, fewer-bytes
    fixpoint    recursion, in rounds                                policy, fewer-bytes
    full        recomputed from the tables                          policy, recompute-cheaper, unsupported

`incremental` never recomputes; `full` always does; `auto` takes what is estimated to cost less. A relation that several
views share is recomputed only if all of them allow it, so `shared` says why `auto` did not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, assert_never

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import base_tables
from evercurrent.catalog.nodes import View
from evercurrent.delta.program import Fixpoint, Input, Keyed, Linear, Program
from evercurrent.display import bytes_text
from evercurrent.engine.spark.schedule import levels
from evercurrent.session.compile import Design
from evercurrent.session.lineage import Lineage, lineage
from evercurrent.warehouse.estimates import Estimate, Size, SizeOf, by_addition, flow, from_scratch
from evercurrent.warehouse.partial import table_store
from evercurrent.warehouse.parts import policies, rows_store, view_store

Strategy = Literal["none", "delta", "keyed", "fixpoint", "full"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What will be done for one view, and why."""

    view: str
    relation: str | None  # None: no program keeps it
    strategy: Strategy
    code: str
    reason: str
    estimate: Estimate
    instead: Estimate | None = None  # of what was not chosen


@dataclass(frozen=True)
class Sizes:
    """How large everything is now: `stores` by name of store."""

    program: Program
    stores: SizeOf

    def relation(self, name: str) -> Size:
        inputs = {r.name for r in self.program.relations if isinstance(r, Input)}
        if name in inputs:
            found = self.stores(table_store(name))
            return found if found.rows else self.stores(view_store(name))
        return self.stores(rows_store(self.program, name))


def decide(
    catalog: Catalog, design: Design, stores: SizeOf, changed: Mapping[str, int]
) -> dict[str, Decision]:
    """The decisions for all views, by name; `changed` are the numbers of changed rows, by names of tables."""
    program = design.program
    sizes = Sizes(program, stores)
    expected = flow(program, stores, sizes.relation, changed)
    touched = {name.lower() for name, rows in changed.items() if rows}
    result: dict[str, Decision] = {}
    for view in catalog.views.values():
        under = base_tables(catalog, frozenset({view.name}))
        tables = [stores(table_store(key)) for key in under]
        if view.name in design.recomputed:
            cost = from_scratch(tables, [stores(view_store(view.name))], 1)
            unable = Decision(
                view.name, None, "full", "unsupported", design.recomputed[view.name].reason, cost
            )
            result[view.name] = unable if touched & under else untouched(view, None)
            continue
        relation = program.views[view.name]
        if not touched & under:
            result[view.name] = untouched(view, relation)
            continue
        part = lineage(program, relation)
        own = Program(
            tuple(r for r in program.relations if r.name in part.relations),
            tuple(s for s in program.states if s.name in part.states),
            program.triggers,
        )
        deep = len(levels(own))
        rows = sum(n for name, n in changed.items() if name.lower() in under)
        moving = by_addition(expected, part.rules, part.relations, rows, deep)
        kept = [] if view.policy == "full" else [stores(name) for name in part.states]
        again = from_scratch(tables, [*kept, sizes.relation(relation)], deep)
        way = way_of(program, part)
        result[view.name] = choose(view, relation, way, moving, again, policies(program, catalog, relation))
    return result


def choose(
    view: View, relation: str, way: Strategy, moving: Estimate, again: Estimate, all_policies: list[str]
) -> Decision:
    def made(strategy: Strategy, code: str, reason: str) -> Decision:
        chosen, other = (again, moving) if strategy == "full" else (moving, again)
        return Decision(view.name, relation, strategy, code, reason, chosen, other)

    allowed = all(p != "incremental" for p in all_policies)
    match view.policy:
        case "incremental":
            return made(way, "policy", "its policy is incremental")
        case "full" if set(all_policies) == {"full"}:
            return made("full", "policy", "its policy is full")
        case "auto" | "full" if not allowed:
            return made(way, "shared", "another view with the same rows is kept incrementally")
        case "auto" | "full":
            compared = f"{described(again)} from scratch, {described(moving)} by the change"
            if again.cost < moving.cost:
                return made("full", "recompute-cheaper", compared)
            return made(way, "fewer-bytes", compared)
        case _:
            assert_never(view.policy)


def described(e: Estimate) -> str:
    return f"{bytes_text(e.bytes)} in {e.jobs} jobs" if e.jobs else f"{bytes_text(e.bytes)} by the driver"


def untouched(view: View, relation: str | None) -> Decision:
    return Decision(
        view.name, relation, "none", "untouched", "no table under it has changed", Estimate(), None
    )


def way_of(program: Program, part: Lineage) -> Strategy:
    """How the program moves a view: the most that is needed on the way to it."""
    way: Strategy = "delta"
    for r in program.relations:
        if r.name in part.relations:
            match r:
                case Fixpoint():
                    return "fixpoint"
                case Keyed():
                    way = "keyed"
                case Input() | Linear():
                    pass
                case _:
                    assert_never(r)
    return way


def recomputed(decisions: Mapping[str, Decision]) -> set[str]:
    """The relations that a batch makes anew: all views that they stand for have chosen so."""
    chosen = {d.relation for d in decisions.values() if d.strategy == "full"}
    kept = {d.relation for d in decisions.values() if d.strategy != "full"}
    return {r for r in chosen - kept if r is not None}
