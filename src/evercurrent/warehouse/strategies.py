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

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, assert_never

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import base_tables
from evercurrent.catalog.nodes import View
from evercurrent.delta.program import Fixpoint, Input, Keyed, Linear, Program, Relation
from evercurrent.display import bytes_text
from evercurrent.engine.spark.schedule import levels
from evercurrent.session.compile import Design
from evercurrent.session.lineage import Lineage, lineage
from evercurrent.warehouse.estimates import Estimate, Flow, Size, SizeOf, by_addition, flow, from_scratch
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


@dataclass(frozen=True, slots=True)
class ViewPart:
    """What a view rests on."""

    under: frozenset[str]  # lower-cased names of tables
    part: Lineage
    relations: tuple[Relation, ...]
    levels: int

    @property
    def names(self) -> set[str]:
        return self.part.states | self.part.relations


class Outlook:
    """What can be said of all views of a design before a batch is known."""

    def __init__(self, catalog: Catalog, design: Design) -> None:
        self.catalog = catalog
        self.design = design
        program = design.program
        self.parts: dict[str, ViewPart] = {}
        self.inputs = {r.name for r in program.relations if isinstance(r, Input)}
        self.rows = {r: rows_store(program, r) for r in program.views.values()}
        for view in catalog.views.values():
            under = base_tables(catalog, frozenset({view.name}))
            part = lineage(program, program.views[view.name]) if view.name in program.views else Lineage()
            own = Program(
                tuple(r for r in program.relations if r.name in part.relations),
                tuple(s for s in program.states if s.name in part.states),
                program.triggers,
            )
            self.parts[view.name] = ViewPart(under, part, own.relations, len(levels(own)))

    def decide(self, stores: SizeOf, changed: Mapping[str, int]) -> dict[str, Decision]:
        """The decisions for all views, by name; `changed` are the numbers of changed rows, by names of tables."""
        program = self.design.program

        def relations(name: str) -> Size:
            if name in self.inputs:
                found = stores(table_store(name))
                return found if found.rows else stores(view_store(name))
            return stores(self.rows.get(name, f"rows\0{name}"))

        expected = flow(program, stores, relations, changed)
        rows_in = {name.lower(): rows for name, rows in changed.items() if rows}
        touched = rows_in.keys()
        result: dict[str, Decision] = {}
        for view in self.catalog.views.values():
            known = self.parts[view.name]
            relation = program.views.get(view.name)
            tables = [stores(table_store(key)).plus(rows_in.get(key, 0)) for key in known.under]
            if not touched & known.under:
                result[view.name] = untouched(view, relation)
            elif view.name in self.design.lazy:
                why = "it is lazy: what has changed waits until it is read"
                result[view.name] = Decision(view.name, None, "none", "deferred", why, Estimate())
            elif relation is None:
                again = from_scratch(tables, [stores(view_store(view.name))], 0)
                why = self.design.recomputed[view.name].reason
                result[view.name] = Decision(view.name, None, "full", "unsupported", why, again)
            else:
                rows = sum(n for name, n in rows_in.items() if name in known.under)
                moving = by_addition(expected, known.part.rules, known.part.relations, rows, known.levels)
                shared = policies(program, self.catalog, relation)
                kept = set() if set(shared) == {"full"} else known.part.states
                written = [stores(name) for name in kept | {self.rows[relation]}]
                again = from_scratch(tables, written, known.levels)
                way = way_of(known.relations, expected)
                result[view.name] = choose(view, relation, way, moving, again, shared)
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


def way_of(relations: Iterable[Relation], expected: Flow) -> Strategy:
    """How a program moves what rests on these relations: the most that this batch needs on the way to it."""
    way: Strategy = "delta"
    for r in relations:
        match r:
            case Fixpoint(loops=loops):
                if any(expected.rows.get(loop.name) for loop in loops):
                    return "fixpoint"
            case Keyed(state=state):
                if expected.added.get(state):
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
