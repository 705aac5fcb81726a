"""What a transaction is run under and what it returns, whichever way it was run: segments, deltas of relations, and costs.

>>> outcome = Outcome(costs=[Cost(frozenset({"totals"}), seconds=0.5), Cost(frozenset({"totals"}), seconds=0.25)])
>>> sum(cost.seconds for cost in outcome.costs if "totals" in cost.serves)
0.75
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.store_names import StoreName
from evercurrent.engine.spark.storage.stored_state import Store


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


@dataclass(frozen=True)
class Report:
    """How a transaction was run."""

    strategy: str
    reason: str
    rows_in: int
    read_bytes: int
    jobs: int
    seconds: float


@dataclass(frozen=True)
class Circumstances:
    """What a transaction is run under: `seeds` count as added by it; when it began, and how many rows it brings.

    `fanning_out`: it was found to touch more than the driver should hold.
    """

    beginning: bool
    held: frozenset[str]
    seeds: Mapping[StoreName, Store]
    began: float
    rows: int
    fanning_out: bool = False
