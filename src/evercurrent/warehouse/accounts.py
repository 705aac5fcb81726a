"""What a run has cost each view, told after it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from evercurrent.catalog.dependencies import base_tables
from evercurrent.engine.spark.files import EMPTY
from evercurrent.warehouse.moving import Moved
from evercurrent.warehouse.record import ViewRun
from evercurrent.warehouse.strategies import Decision

if TYPE_CHECKING:
    from evercurrent.warehouse.core import Core


def view_runs(
    core: Core, decisions: Mapping[str, Decision], moved: Moved, changed: Mapping[str, int]
) -> tuple[ViewRun, ...]:
    """One line for each view."""
    result = []
    for name, d in decisions.items():
        under = base_tables(core.catalog, frozenset({name}))
        report = moved.full if d.strategy == "full" else moved.run
        seconds = moved.outside_seconds if d.relation is None else report.seconds if report else 0.0
        alike = [x for x in decisions.values() if (x.strategy == "full") == (d.strategy == "full")]
        busy = [x for x in alike if x.strategy != "none"]
        result.append(
            ViewRun(
                name,
                d.strategy,
                d.code,
                d.reason,
                sum(n for table, n in changed.items() if table.lower() in under),
                moved.views.get(name, EMPTY).rows,
                d.estimate.bytes,
                None if d.instead is None else d.instead.bytes,
                report.read_bytes if report is not None and d.relation is not None else 0,
                0.0 if d.strategy == "none" else seconds,
                seconds if len(busy) > 1 and d.strategy != "none" else 0.0,
            )
        )
    return tuple(result)
