"""What a run has cost each view, told after it.

Every piece of work serves a state or a relation, and a view rests on several of them (`design.program_parts`). A view's seconds
and bytes are those of all the work that it rests on; the seconds that other views rest on too are said to be shared, so
the columns of a record do not add up where views have work in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from evercurrent.engine.spark.storage.files import EMPTY
from evercurrent.statements.run_record import ViewRun
from evercurrent.warehouse.maintenance.update import Moved
from evercurrent.warehouse.planning.experience import WAYS, after, factor
from evercurrent.warehouse.planning.strategies import Decision

if TYPE_CHECKING:
    from evercurrent.warehouse.core import Core


def view_runs(
    core: Core, decisions: Mapping[str, Decision], moved: Moved, changed: Mapping[str, int]
) -> tuple[ViewRun, ...]:
    """One line for each view."""
    rests = {name: part.names for name, part in core.outlook.parts.items()}
    result = []
    for name, d in decisions.items():
        under = core.outlook.parts[name].under
        seconds, shared, read = moved.outside.get(name, 0.0), 0.0, 0
        for cost in moved.full_costs if d.strategy == "full" else moved.costs:
            if d.strategy != "none" and cost.serves & rests[name]:
                seconds += cost.seconds
                read += cost.bytes
                others = (n for n, x in decisions.items() if n != name and x.strategy != "none")
                if any(cost.serves & rests.get(n, set()) for n in others):
                    shared += cost.seconds
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
                read,
                seconds,
                shared,
                round(d.estimate.seconds, 4),
                None if d.instead is None else round(d.instead.seconds, 4),
                d.way,
            )
        )
    return tuple(result)


def experience(
    factors: Mapping[str, float], decisions: Mapping[str, Decision], runs: Iterable[ViewRun]
) -> dict[str, float]:
    """What a run has taught: for each relation, what its way was expected to take and what it took."""
    result = dict(factors)
    for run in runs:
        d = decisions[run.view]
        if d.relation is not None and d.learnt in WAYS:
            expected = d.estimate.seconds / factor(factors, d.learnt, d.relation)
            result = after(result, d.relation, d.learnt, expected, run.seconds)
    return result
