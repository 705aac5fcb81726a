"""The optimiser: a literal list of batches of rules.

Law. Every rule returns an equal plan: the same rows with the same multiplicities, in columns of the same types and order. An
optimised plan stores less, and does less when the data changes.

    Join c.o = p.id                 Scan c [c.k, c.b]
      Scan c [c.k, c.o, c.b]
      Scan p [p.id]                 c.o refers to p.id, and no other column of p is read
"""

from __future__ import annotations

import os

from evercurrent.algebra import keys
from evercurrent.algebra.check import check
from evercurrent.algebra.nodes import Fixpoint, Plan
from evercurrent.algebra.rules.aggregate_of_one import aggregate_of_one
from evercurrent.algebra.rules.compare_extremes import compare_extremes
from evercurrent.algebra.rules.derive_equalities import derive_equalities
from evercurrent.algebra.rules.eliminate_distinct import eliminate_distinct
from evercurrent.algebra.rules.fold_empty import fold_empty
from evercurrent.algebra.rules.intersect_selections import intersect_selections
from evercurrent.algebra.rules.merge_map import merge_map
from evercurrent.algebra.rules.order_joins import order_joins
from evercurrent.algebra.rules.outer_to_inner import outer_to_inner
from evercurrent.algebra.rules.prune_columns import prune_columns
from evercurrent.algebra.rules.pull_map import pull_map
from evercurrent.algebra.rules.push_selection import push_selection
from evercurrent.algebra.rules.rank_to_top import rank_to_top
from evercurrent.algebra.rules.reduce_aggregate import reduce_aggregate
from evercurrent.algebra.rules.refine_nulls import refine_nulls
from evercurrent.algebra.rules.restrict_or import restrict_or
from evercurrent.algebra.rules.semi_to_join import semi_to_join
from evercurrent.algebra.rules.share_aggregate import share_aggregate
from evercurrent.algebra.rules.simplify_terms import simplify_terms
from evercurrent.algebra.rules.split_or import split_or
from evercurrent.algebra.rules.split_record import split_record
from evercurrent.algebra.rules.strict_equality import strict_equality
from evercurrent.algebra.walk import nodes
from evercurrent.catalog.catalog import Knowledge
from evercurrent.catalog.nodes import ForeignKey
from evercurrent.data.types import Member
from evercurrent.rewriting import Batch, Rule, Step, run

TIDY: tuple[Rule[Plan], ...] = (
    Rule("simplify_terms", simplify_terms),
    Rule("fold_empty", fold_empty),
    Rule("merge_map", merge_map),
    Rule("pull_map", pull_map),
    Rule("push_selection", push_selection),
)

CONDITIONS: Batch[Plan] = Batch(
    "conditions",
    "fixpoint",
    (
        Rule("split_or", split_or),  # before the push: what it factors out can go down
        *TIDY,
        Rule("outer_to_inner", outer_to_inner),  # after the push: then conditions stand right above
        Rule("derive_equalities", derive_equalities),
        Rule("restrict_or", restrict_or),
    ),
)

BATCHES: tuple[Batch[Plan], ...] = (
    CONDITIONS,
    Batch(
        "knowledge",
        "fixpoint",
        (
            Rule("split_record", split_record),  # before keys: a member can be one
            Rule("refine_nulls", refine_nulls),  # first: the next ones ask what can be NULL
            Rule("strict_equality", strict_equality),  # before keys: they are matched by equality
            Rule(
                "intersect_selections", intersect_selections
            ),  # before columns are cut: both scan all of them
            Rule("eliminate_distinct", eliminate_distinct),
            Rule("aggregate_of_one", aggregate_of_one),
            Rule("semi_to_join", semi_to_join),
            Rule("rank_to_top", rank_to_top),
            Rule("prune_columns", prune_columns),
            Rule("outer_to_inner", outer_to_inner),
            *TIDY,
        ),
    ),
    # After semi joins that match once have become joins: it turns the others into aggregates.
    Batch("extremes", "once", (Rule("compare_extremes", compare_extremes),)),
    Batch(
        "aggregates",
        "fixpoint",
        (
            *TIDY,
            Rule(
                "prune_columns", prune_columns
            ),  # first: equal aggregates must not differ in what nobody reads
            Rule("share_aggregate", share_aggregate),
        ),
    ),
    # After sharing, which it would hide; after semi joins have become joins, which are what reduces.
    Batch("reduction", "once", (Rule("reduce_aggregate", reduce_aggregate),)),
    Batch("after reduction", "fixpoint", (*TIDY, Rule("prune_columns", prune_columns))),
    # Last: nothing after it takes joins apart.
    Batch(
        "order",
        "once",
        (
            Rule("order_joins", order_joins),
            Rule("pull_map", pull_map),
            Rule("merge_map", merge_map),
            Rule("prune_columns", prune_columns),
        ),
    ),
)

CHECKED = "EVERCURRENT_CHECK_PLANS"
"""If this environment variable is 1, every plan is checked after every rule; tests switch it on."""


def optimise(plan: Plan, knowledge: Knowledge, trace: list[Step[Plan]] | None = None) -> Plan:
    """An equal plan that is cheaper to keep current. `trace` is filled with the steps that changed it."""
    return _run(BATCHES, plan, knowledge, trace)


def conditions_down(plan: Plan, knowledge: Knowledge) -> Plan:
    """An equal plan that asks conditions as early as it can, and is otherwise as it was: every relation is still read."""
    return _run((CONDITIONS,), plan, knowledge, None)


def _run(
    batches: tuple[Batch[Plan], ...], plan: Plan, knowledge: Knowledge, trace: list[Step[Plan]] | None
) -> Plan:
    defined = {r.name.lower() for p in nodes(plan) if isinstance(p, Fixpoint) for r in p.rules}
    known = _Without(knowledge, defined) if defined else knowledge
    checked = os.environ.get(CHECKED) == "1"
    try:
        return run(batches, plan, known, check=check if checked else None, trace=trace)
    finally:
        keys.forget()


class _Without:
    """Knowledge without relations of fixpoints: such a name says nothing of a table that is called the same."""

    def __init__(self, inner: Knowledge, hidden: set[str]) -> None:
        self.inner = inner
        self.hidden = hidden

    def fields_of(self, relation: str) -> tuple[Member, ...]:
        return self.inner.fields_of(relation)

    def keys_of(self, relation: str) -> tuple[tuple[str, ...], ...]:
        return () if relation.lower() in self.hidden else self.inner.keys_of(relation)

    def references_of(self, relation: str) -> tuple[ForeignKey, ...]:
        return () if relation.lower() in self.hidden else self.inner.references_of(relation)
