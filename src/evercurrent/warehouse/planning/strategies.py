"""Per batch and per view: how it is brought up to date, why, and at what estimated cost.

    strategy    the view moves                                      reason codes
    none        not at all: no table under it has changed           untouched
    delta       by rules alone, by addition                         policy, cheaper, shared
    keyed       touched groups are evaluated again                  the same
    fixpoint    recursion, in rounds                                the same
    full        recomputed from the tables                          policy, recompute-cheaper, cold, fill-due, unsupported

`incremental` never recomputes; `full` always does; `auto` takes what is estimated to cost less. A relation that several
views share is recomputed only if all of them allow it, so `shared` says why `auto` did not. There are two ways to recompute
(`estimates`): by Spark's own SQL, after which the states of the view are cold, or by the program, which fills them; when cold
states are filled is the rule of `learning.Cold`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, assert_never

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import base_tables, view_order
from evercurrent.catalog.nodes import View
from evercurrent.delta.analyses.levels import levels
from evercurrent.delta.program import Fixpoint, Input, Keyed, Linear, Program, Relation
from evercurrent.design.compile import Design
from evercurrent.design.program_parts import Lineage, lineage
from evercurrent.display import bytes_text
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.storage.snapshots import Snapshot
from evercurrent.engine.spark.storage.store_names import (
    StoreName,
    relation_store,
    state_store,
    table_store,
    view_store,
)
from evercurrent.warehouse.deferred.deferred_relations import DeferredRelations
from evercurrent.warehouse.planning.estimates import (
    Estimate,
    Flow,
    Size,
    StoreSizeOf,
    by_fill,
    by_rules,
    by_sql,
    flow,
)
from evercurrent.warehouse.planning.experience import Cold, factor
from evercurrent.warehouse.planning.sql_equivalence import Saying, sayings
from evercurrent.warehouse.program_parts import policies, rows_store

Strategy = Literal["none", "delta", "keyed", "fixpoint", "full"]
Way = Literal["none", "rules", "sql", "fill", "evaluator"]


@dataclass(frozen=True, slots=True)
class Around:
    """What decisions depend on beside sizes: what Spark can do, and what earlier batches have left."""

    cores: int = 2
    sql: bool = False  # whether there is a session that may be asked
    driver: bool = True  # whether the driver may work alone
    tasks: bool = True  # whether executors can run the program's tasks
    cold: Mapping[str, Cold] = field(default_factory=dict)  # by relation
    factors: Mapping[str, float] = field(default_factory=dict)


def circumstances(engine: Engine, snapshot: Snapshot) -> Around:
    """Returns what decisions over a snapshot depend on."""
    has_spark = engine.session is not None
    return Around(
        engine.cores if has_spark else 1,
        sql=has_spark and engine.strategy != "driver",
        driver=engine.strategy != "spark",
        tasks=has_spark and engine.strategy != "spark" and engine.folder.shared_work,
        cold={r: Cold.of_json(c) for r, c in snapshot.cold.items()},
        factors=snapshot.factors,
    )


@dataclass(frozen=True, slots=True)
class Decision:
    """What will be done for one view, and why."""

    view: str
    relation: str | None  # None: no program keeps it
    strategy: Strategy
    code: str
    reason: str
    estimate: Estimate
    instead: Estimate | None = None  # of the best of what was not chosen
    way: Way = "none"
    ways: Mapping[Way, Estimate] = field(default_factory=dict)  # all that were thought of

    @property
    def learnt(self) -> str:
        """The name under which the experience with what was chosen is kept."""
        return name_experience(self.way, self.estimate)

    @property
    def more(self) -> float:
        """The seconds that recomputing by SQL costs more than moving by rules would."""
        return self.ways["sql"].seconds - self.ways["rules"].seconds


@dataclass(frozen=True, slots=True)
class ViewPart:
    """Returns what a view depends on."""

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
        self.deferred = DeferredRelations(catalog, design).by_view
        self.inputs = {r.name for r in program.relations if isinstance(r, Input)}
        self.rows = {r: rows_store(program, r) for r in program.views.values()}
        for view in catalog.views.values():
            under = base_tables(catalog, frozenset({view.name}))
            program = design.program_of(view.name)
            part = lineage(program, program.views[view.name]) if view.name in program.views else Lineage()
            own = Program(
                tuple(r for r in program.relations if r.name in part.relations),
                tuple(s for s in program.states if s.name in part.states),
                program.triggers,
            )
            self.parts[view.name] = ViewPart(under, part, own.relations, len(levels(own)))

    @cached_property
    def said(self) -> dict[str, Saying]:
        """What Spark's SQL can be asked for, by view."""
        return sayings([v for v in view_order(self.catalog) if not v.inline], self.design, self.catalog)

    def by_sql(self, view: str, tables: Mapping[str, Size], own: Size, cores: int) -> Estimate:
        """What Spark's SQL costs for a view; a table counts as often as the query reads it."""
        scans = self.said[view].scans.items()
        return by_sql([tables[key] for key, n in scans for _ in range(n)], own, cores)

    def decide(
        self, stores: StoreSizeOf, changed: Mapping[str, int], around: Around | None = None
    ) -> dict[str, Decision]:
        """Returns the decisions for all views, by name; `changed` are the numbers of changed rows, by names of tables."""
        batch = Batch(self, stores, changed, around or Around())
        # A view that is inlined is part of the views that read it.
        return {v.name: batch.decide(v) for v in self.catalog.views.values() if not v.inline}


class Batch:
    """One batch before it is applied: how large everything is, and what it changes."""

    def __init__(
        self, outlook: Outlook, stores: StoreSizeOf, changed: Mapping[str, int], around: Around
    ) -> None:
        self.outlook = outlook
        self.stores = stores
        self.around = around
        self.changed = {name.lower(): rows for name, rows in changed.items() if rows}
        # The sizes that cold states had when they were dropped.
        self.remembered = {n: Size(*size) for c in around.cold.values() for n, size in c.sizes.items()}
        self.expected = flow(outlook.design.program, self.size, self.relation_size, changed)

    def size(self, name: StoreName) -> Size:
        found = self.stores(name)
        return found if found.rows else self.remembered.get(name, found)

    def relation_size(self, name: str) -> Size:
        if name in self.outlook.inputs:
            found = self.stores(table_store(name))
            return found if found.rows else self.stores(view_store(name))
        return self.size(self.outlook.rows.get(name, relation_store(name)))

    def decide(self, view: View) -> Decision:
        """Returns what is done for one view."""
        design = self.outlook.design
        known = self.outlook.parts[view.name]
        relation = design.program.views.get(view.name)
        if not self.changed.keys() & known.under:
            return leave_untouched(view, relation)
        if view.name in design.lazy:
            why = "it is lazy: what has changed waits until it is read"
            return Decision(view.name, None, "none", "deferred", why, Estimate())
        after = {key: self.stores(table_store(key)).plus(self.changed.get(key, 0)) for key in known.under}
        if relation is None:
            again = by_fill(list(after.values()), [self.stores(view_store(view.name))], 0, self.around.cores)
            why = design.recomputed[view.name].reason
            if view.query is None:
                own = self.stores(view_store(view.name))
                asked = self.outlook.by_sql(view.name, after, own, self.around.cores)
                return Decision(
                    view.name, None, "full", "unsupported", f"Spark computes it: {why}", asked, None, "sql"
                )
            return Decision(view.name, None, "full", "unsupported", why, again, None, "evaluator")
        shared = policies(design.program, self.outlook.catalog, relation)
        ways = self.estimate_ways(view, relation, after, shared)
        way = way_of(known.relations, self.expected)
        chosen = choose(view, relation, way, ways, shared, self.around.cold.get(relation))
        if view.name in self.outlook.deferred:
            why = "it is hybrid: its states are updated, and what is derived from them waits until it is read"
            return replace(chosen, code="deferred", reason=why)
        return chosen

    def estimate_ways(
        self, view: View, relation: str, after: Mapping[str, Size], shared: list[str]
    ) -> dict[Way, Estimate]:
        """Returns what each way would cost, corrected by experience; `after` are the sizes of tables after the batch."""
        known, around = self.outlook.parts[view.name], self.around
        rows = sum(n for name, n in self.changed.items() if name in known.under)
        size = sum(
            n * self.stores(table_store(name)).width
            for name, n in self.changed.items()
            if name in known.under
        )
        kept = set() if set(shared) == {"full"} else known.part.states
        own = self.size(self.outlook.rows[relation])
        by_rule = factor(around.factors, "rules", relation)
        ways: dict[Way, Estimate] = {
            "rules": by_rules(
                self.expected,
                known.part.rules,
                known.part.relations,
                rows,
                known.levels,
                around.cores,
                by_rule,
                size=size,
                tasks=around.tasks and not any(isinstance(r, Fixpoint) for r in known.relations),
            ),
            "fill": by_fill(
                list(after.values()),
                [own, *(self.size(state_store(s)) for s in kept)],
                known.levels,
                around.cores,
                driver=around.driver,
            ),
        }
        if around.sql and self.outlook.said[view.name].text is not None:
            ways["sql"] = self.outlook.by_sql(view.name, after, own, around.cores)
        return {w: e.times(factor(around.factors, name_experience(w, e), relation)) for w, e in ways.items()}


def choose(
    view: View,
    relation: str,
    strategy: Strategy,
    ways: Mapping[Way, Estimate],
    all_policies: list[str],
    cold: Cold | None,
) -> Decision:
    """`strategy` is what the rules would be; `cold` says that the states that they need are not there."""

    def build_decision(way: Way, code: str, reason: str) -> Decision:
        others = sorted((e for w, e in ways.items() if w != way), key=lambda e: e.seconds)
        instead = ways["rules"] if way != "rules" else others[0]
        called = strategy if way == "rules" else "full"
        return Decision(view.name, relation, called, code, reason, ways[way], instead, way, ways)

    moving, fill = ways["rules"], ways["fill"]
    # A fill by jobs does all that SQL does, and more; only the driver's may be the quicker one, over small tables.
    sql = "sql" in ways and (fill.jobs > 0 or ways["sql"].seconds <= fill.seconds)
    again: Way = "sql" if sql else "fill"
    compared = f"{describe_estimate(ways[again])} from scratch, {describe_estimate(moving)} by the change"
    match view.policy:
        case "incremental":
            return build_decision("rules", "policy", f"its policy is incremental; {compared}")
        case "full" if set(all_policies) == {"full"}:
            return build_decision(again, "policy", "its policy is full")
        case "auto" | "full" if "incremental" in all_policies:
            return build_decision("rules", "shared", "another view with the same rows is kept incrementally")
        case "auto" | "full" if cold is not None:
            if again == "fill":
                return build_decision(
                    "fill", "fill-due", f"its states are cold, and to fill them costs less: {compared}"
                )
            more = ways["sql"].seconds - moving.seconds
            spent = f"{cold.spent:.1f} s were spent for want of states, a fill takes {fill.seconds:.1f} s"
            if cold.due(more, fill.seconds):
                return build_decision("fill", "fill-due", f"{spent}, and this batch would add {more:.1f} s")
            return build_decision("sql", "cold", f"{spent}; {compared}")
        case "auto" | "full":
            if ways[again].seconds < moving.seconds:
                return build_decision(again, "recompute-cheaper", compared)
            return build_decision("rules", "cheaper", compared)
        case _:
            assert_never(view.policy)


def name_experience(way: Way, estimate: Estimate) -> str:
    """The name under which experience with a way is kept: rules on the driver, by tasks and by jobs are three."""
    return estimate.place if way == "rules" and estimate.place != "driver" else way


def describe_estimate(e: Estimate) -> str:
    how = {"driver": "by the driver", "tasks": "by tasks", "jobs": f"in {e.jobs} jobs"}[e.place]
    return f"{e.seconds:.2f} s for {bytes_text(e.bytes)} {how}"


def leave_untouched(view: View, relation: str | None) -> Decision:
    return Decision(
        view.name, relation, "none", "untouched", "no table under it has changed", Estimate(), None
    )


def way_of(relations: Iterable[Relation], expected: Flow) -> Strategy:
    """Returns how a program updates what depends on these relations: the most expensive way that this batch needs."""
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


def find_recomputed(decisions: Mapping[str, Decision]) -> dict[str, Decision]:
    """The relations that a batch recomputes, each with a decision for it: all views that they stand for have chosen so."""
    kept = {d.relation for d in decisions.values() if d.strategy != "full"}
    return {
        d.relation: d
        for d in decisions.values()
        if d.strategy == "full" and d.relation is not None and d.relation not in kept
    }
