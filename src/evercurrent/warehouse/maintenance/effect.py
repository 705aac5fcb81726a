"""What a batch does to the stores of a version: segments to add, stores to replace, and the deltas of views.

effect.added["table orders"]      the batch itself
effect.added[a state's store]     what the program adds to it
effect.replaced[...]              stores that were filled from the tables, or dropped
effect.views["spend"]             the delta of a view, as the version lists it
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from evercurrent.engine.spark.kernel.outcome import Cost, Report
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.snapshots import Snapshot
from evercurrent.engine.spark.storage.store_names import StoreName
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.warehouse.planning.experience import Cold


@dataclass
class Effect:
    """What a batch does; nothing of it is visible to anyone before the commit."""

    added: dict[StoreName, Segment] = field(default_factory=dict)  # by store
    replaced: dict[StoreName, Store] = field(default_factory=dict)
    deltas: dict[str, Segment] = field(default_factory=dict)  # by relation
    views: dict[str, Segment] = field(default_factory=dict)  # by name
    run: Report | None = None  # of the update by the program
    full: Report | None = None  # of the recomputation by the program
    sql: Report | None = None  # of the recomputation by Spark's SQL
    costs: list[Cost] = field(default_factory=list)  # of the update
    full_costs: list[Cost] = field(default_factory=list)
    evaluated: dict[str, float] = field(default_factory=dict)  # seconds, by view that no program keeps
    cold: dict[str, Cold] | None = None  # the relations that are cold now; None: as before
    factors: Mapping[str, float] | None = None  # what was learned; None: as before

    @property
    def reports(self) -> dict[str, Report]:
        """What was run, by what it was run for."""
        found = {"recomputed": self.full, "computed": self.sql, "updated": self.run}
        return {what: r for what, r in found.items() if r is not None}

    def snapshot(self, before: Snapshot) -> Snapshot:
        """Returns the snapshot with this effect."""
        after = before.plus(self.added)
        stores = {**after.stores, **self.replaced}
        cold = before.cold if self.cold is None else {r: c.to_json() for r, c in self.cold.items()}
        factors = before.factors if self.factors is None else self.factors
        left = {n: s for n, s in stores.items() if s.segments}
        return replace(before, stores=left, cold=cold, factors=factors)
