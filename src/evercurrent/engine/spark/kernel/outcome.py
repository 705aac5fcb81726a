"""What a transaction returns, whichever way it was run: new segments, the deltas of relations, and what they cost.

>>> outcome = Outcome(costs=[Cost(frozenset({"totals"}), seconds=0.5), Cost(frozenset({"totals"}), seconds=0.25)])
>>> sum(cost.seconds for cost in outcome.costs if "totals" in cost.serves)
0.75
"""

from __future__ import annotations

from dataclasses import dataclass, field

from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.store_names import StoreName


@dataclass(frozen=True, slots=True)
class Cost:
    """What a piece of work took, and the states and relations that it was done for."""

    serves: frozenset[str]
    seconds: float = 0.0
    bytes: int = 0


@dataclass
class Outcome:
    """New segments by store, deltas by relation, and what each took. Only a commit makes them known."""

    stores: dict[StoreName, Segment] = field(default_factory=dict)
    deltas: dict[str, Segment] = field(default_factory=dict)
    costs: list[Cost] = field(default_factory=list)
