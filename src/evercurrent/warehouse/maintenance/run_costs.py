"""What a run has cost each view, measured afterwards.

Every piece of work serves a state or a relation, and a view depends on several of them (`design.program_parts`). A view's seconds
and bytes are those of all the work that it depends on; seconds that serve other views as well are marked as shared, so
the columns of a record do not add up where views have work in common.

    0.3 s for `orders by customer`, 0.1 s for spend, 0.2 s for best; both views read the state
    spend  0.4 s, of which 0.3 shared        best  0.5 s, of which 0.3 shared
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evercurrent.engine.spark.storage.files import EMPTY
from evercurrent.statements.run_record import ViewRun
from evercurrent.warehouse.maintenance.effect import Effect
from evercurrent.warehouse.planning.experience import WAYS, after, factor
from evercurrent.warehouse.planning.strategies import Decision, Outlook


def view_runs(
    outlook: Outlook, decisions: Mapping[str, Decision], effect: Effect, changed: Mapping[str, int]
) -> tuple[ViewRun, ...]:
    """Returns one line for each view."""
    rests = {name: part.names for name, part in outlook.parts.items()}
    result = []
    for name, d in decisions.items():
        under = outlook.parts[name].under
        seconds, shared, read = effect.evaluated.get(name, 0.0), 0.0, 0
        for cost in effect.full_costs if d.strategy == "full" else effect.costs:
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
                effect.views.get(name, EMPTY).rows,
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


def learn_factors(
    factors: Mapping[str, float], decisions: Mapping[str, Decision], runs: Iterable[ViewRun]
) -> dict[str, float]:
    """Returns the factors after a run, which compares for each relation what its way was expected to take and what it took."""
    result = dict(factors)
    for run in runs:
        d = decisions[run.view]
        if d.relation is not None and d.learnt in WAYS:
            expected = d.estimate.seconds / factor(factors, d.learnt, d.relation)
            result = after(result, d.relation, d.learnt, expected, run.seconds)
    return result
