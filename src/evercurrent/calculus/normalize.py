"""The normal form of a query.

Law. `normalize(q)` returns the same rows as `q`, whatever the data, and `normalize(normalize(q)) == normalize(q)`. (An error
that only a dropped part would have raised is not raised.)

The laws below are used from left to right until none applies. The result is flat: a comprehension ranges over relations and
over queries that are no comprehensions, its filters are single conditions, nothing is computed that is not read, and every
variable of the query has a name of its own.

      bag{ (n: v.name) | v <- bag{ (name: e.name, age: e.age) | e <- emp }, v.age > 30 and true }
    = bag{ (n: e.name) | e <- emp, e.age > 30 }
"""

from __future__ import annotations

from collections.abc import Callable

from evercurrent.calculus.laws import filters, generators, nesting, operations, pruning
from evercurrent.calculus.nodes import Query
from evercurrent.calculus.scope import Names, free_variables, rename_apart
from evercurrent.calculus.walk import rewrite
from evercurrent.term.nodes import Term
from evercurrent.term.simplify import simplify_node

QueryLaw = Callable[[Query], Query | None]
TermLaw = Callable[[Term], Term | None]

TERM_LAWS: tuple[TermLaw, ...] = (
    nesting.scalar_of_head,
    nesting.exists_of_known,
    nesting.exists_of_source,
    nesting.exists_without_head,
    nesting.exists_in_exists,  # after exists_without_head, which gives it the form it knows
    nesting.negate_quantified,
    nesting.quantify_nothing,
)

QUERY_LAWS: tuple[QueryLaw, ...] = (
    filters.split_filters,
    filters.filter_nothing,
    generators.generate_nothing,
    generators.substitute_constant,
    generators.flatten_generator,
    filters.outer_to_inner,
    generators.flatten_outer_generator,  # after outer_to_inner: what becomes inner is flattened in full
    filters.drop_repeated_filters,
    nesting.in_to_exists,
    nesting.exists_to_generators,
    generators.drop_unused_outer,
    generators.drop_identity,
    operations.constant_row,
    operations.drop_distinct,
    operations.flatten_union,
    operations.merge_values,
    operations.top_of_top,
    operations.top_of_all,
    operations.operate_on_nothing,
    operations.one_window_each,
    pruning.prune_generators,  # last: what the laws above remove need not be pruned
    pruning.prune_grouping,
    pruning.prune_full_outer,
)


def normalize(query: Query) -> Query:
    """The query in normal form."""
    # Names first: laws that compare conditions or move qualifiers may then rely on names meaning one thing.
    query = apart(query)
    while True:
        changed, query = once(query)
        if not changed:
            return query
        query = apart(query)


def apart(query: Query) -> Query:
    """Every bound variable under a name of its own."""
    return rename_apart(query, Names(free_variables(query)))


def once(query: Query) -> tuple[bool, Query]:
    """Every law at every place, innermost first; and whether any applied."""
    changed = False

    def on_query(q: Query) -> Query:
        nonlocal changed
        for law in QUERY_LAWS:
            while (found := law(q)) is not None:
                changed, q = True, found
        return q

    def on_term(t: Term) -> Term:
        nonlocal changed
        simple = simplify_node(t)
        if simple != t:
            changed, t = True, simple
        for law in TERM_LAWS:
            while (found := law(t)) is not None:
                changed, t = True, found
        return t

    query = rewrite(query, on_query, on_term)
    return changed, query
