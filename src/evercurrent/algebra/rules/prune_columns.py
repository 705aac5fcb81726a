"""Drops columns that nothing above reads.

Law. πA(B) depends only on the columns in A: maps, aggregates, window functions and columns of unions that are not read
above are dropped, and operators that keep rows (window, top) take only what they need. An operator whose rows are
distinguished by all their columns (distinct, set operations) needs them all.

    SELECT a FROM (SELECT a, count(*) AS n, sum(b) AS s FROM t GROUP BY a) WHERE n > 1      sum(b) is not computed
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from evercurrent.algebra import build
from evercurrent.algebra.borders import find_opaque_columns
from evercurrent.algebra.joins import names, reads
from evercurrent.algebra.lowering.windows import by_arrangement
from evercurrent.algebra.nodes import (
    Aggregate,
    Constant,
    Distinct,
    Fixpoint,
    Join,
    Map,
    Outer,
    Plan,
    Scan,
    Select,
    Semi,
    SetOperation,
    Top,
    Union,
    Unnest,
    Window,
    columns,
)
from evercurrent.algebra.rules.eliminate_join import drop_unneeded_join
from evercurrent.algebra.rules.eliminate_outer import is_unneeded_outer
from evercurrent.algebra.walk import terms_of, with_children
from evercurrent.catalog.catalog import Knowledge

Names = set[str]


def prune_columns(plan: Plan, knowledge: Knowledge) -> Plan:
    return exactly(prune(plan, names(plan), knowledge), [c.name for c in columns(plan)])


def exactly(plan: Plan, wanted: list[str]) -> Plan:
    """The columns of these names in this order."""
    found = {c.name: c for c in columns(plan)}
    return build.project(plan, ((found[n], found[n]) for n in wanted))


def prune(plan: Plan, needed: Names, knowledge: Knowledge) -> Plan:
    """An equal plan, for those who read only the needed columns; it may have others too."""
    match plan:
        case Scan() | Constant():
            return plan
        case Map(source, outputs):
            # A border whose values are read stays as it is, so that all who read it share it.
            whole = bool(find_opaque_columns(outputs) & needed)
            kept = outputs if whole else tuple((c, t) for c, t in outputs if c.name in needed)
            return build.project(prune(source, reads(*(t for _, t in kept)), knowledge), kept)
        case Select(source, condition):
            return replace(plan, input=prune(source, needed | reads(condition), knowledge))
        case Join(_, _, condition):
            only = drop_unneeded_join(plan, needed, knowledge)
            if only is not None:
                return prune(only, needed, knowledge)
            return _both_sides(plan, needed | reads(condition), knowledge)
        case Outer(_, left, _, condition):
            if is_unneeded_outer(plan, needed, knowledge):
                return prune(left, needed, knowledge)
            return _both_sides(plan, needed | reads(condition), knowledge)
        case Semi(left, right, condition):
            wanted = reads(condition)
            return replace(
                plan,
                left=prune(left, (needed | wanted) & names(left), knowledge),
                right=prune(right, wanted & names(right), knowledge),
            )
        case Unnest(source, collection):
            wanted = (needed | reads(collection)) & names(source)
            return replace(plan, input=prune(source, wanted, knowledge))
        case Union(inputs, outputs):
            places = [i for i, c in enumerate(outputs) if c.name in needed]
            kept_inputs = []
            for part in inputs:
                own = [columns(part)[i].name for i in places]
                kept_inputs.append(exactly(prune(part, set(own), knowledge), own))
            return Union(tuple(kept_inputs), tuple(outputs[i] for i in places))
        case Aggregate(_, _, aggregates):
            plan = replace(plan, aggregates=tuple((c, a) for c, a in aggregates if c.name in needed))
            return replace(plan, input=prune(plan.input, reads(*terms_of(plan)), knowledge))
        case Distinct(source) | Window(source) | Top(source) if not isinstance(plan, Distinct):
            return _prune_ordered(plan, source, needed, knowledge)
        case Distinct() | SetOperation() | Fixpoint():
            return with_children(
                plan, lambda p: exactly(prune(p, names(p), knowledge), [c.name for c in columns(p)])
            )
        case Window() | Top():
            raise AssertionError("handled above")
        case _:
            assert_never(plan)


def _both_sides(plan: Join | Outer, wanted: Names, knowledge: Knowledge) -> Plan:
    return replace(
        plan,
        left=prune(plan.left, wanted & names(plan.left), knowledge),
        right=prune(plan.right, wanted & names(plan.right), knowledge),
    )


def _prune_ordered(plan: Window | Top, source: Plan, needed: Names, knowledge: Knowledge) -> Plan:
    """Operators that keep the rows of their input: it is narrowed for them."""
    wanted = needed
    if isinstance(plan, Window):
        functions = tuple((c, f) for c, f in plan.functions if c.name in needed)
        if not functions:
            return prune(source, needed, knowledge)
        plan = Window(source, functions)
        if any(by_arrangement(f) for _, f in functions):
            wanted = needed | names(source)  # ties are settled by the columns as they stand
    wanted = (wanted | reads(*terms_of(plan))) & names(source)
    below = prune(source, wanted, knowledge)
    kept = exactly(below, [c.name for c in columns(source) if c.name in wanted])
    return replace(plan, input=kept)
