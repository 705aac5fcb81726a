"""A relation that is joined with an aggregate of itself, and then aggregated alike, is aggregated once.

Law. γG; f (R ⋈ k=g A ⋈ k=x X) = πG,f (R ⋈ k=g A⁺), where A is a (filtered) aggregate of X by x, under the columns g, A⁺ is A
with the aggregates f added, f reads X alone, X is joined by nothing but k=x, and G determines the row of R ⋈ A: each group
is then one row of R ⋈ A with the rows of X that have its k, which are the rows that A aggregates.

    orders with their items, for orders whose items sum up to more than 300, and the sum again      (TPC-H Q18)
"""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from evercurrent.algebra import build, keys
from evercurrent.algebra.canonical import canonical
from evercurrent.algebra.joins import equal_columns, flatten, join_factors, names, reads
from evercurrent.algebra.nodes import Aggregate, Join, Plan, Select, columns
from evercurrent.algebra.rules.reduce_aggregate import classes
from evercurrent.algebra.walk import aggregate_with_terms, replace_columns, rewrite
from evercurrent.catalog.catalog import Knowledge
from evercurrent.term.build import equate
from evercurrent.term.nodes import Aggregate as AggregateTerm
from evercurrent.term.nodes import Column, Term


def share_aggregate(plan: Plan, knowledge: Knowledge) -> Plan:
    def share(p: Plan) -> Plan:
        match p:
            case Aggregate(Join() as source, _, aggregates, False) if aggregates:
                factors, conditions = flatten(source)
                for i, j in permutations(range(len(factors)), 2):
                    found = _share(p, factors, conditions, i, j, knowledge)
                    if found is not None:
                        return found
                return p
            case _:
                return p

    return rewrite(plan, share)


def core(plan: Plan) -> Aggregate | None:
    """The aggregate under selections."""
    match plan:
        case Aggregate(scalar=False):
            return plan
        case Select(source):
            return core(source)
        case _:
            return None


def _share(
    plan: Aggregate,
    factors: list[Plan],
    conditions: list[Term],
    own: int,
    other: int,
    knowledge: Knowledge,
) -> Plan | None:
    """The plan without the factor `own`, whose aggregates the factor `other` computes; None if the law does not hold."""
    x, inner = factors[own], core(factors[other])
    if inner is None or not all(isinstance(t, Column) for _, t in inner.keys):
        return None
    mine = names(x)
    if not reads(*(t for _, a in plan.aggregates for t in _terms(a))) <= mine:
        return None
    if canonical(inner.input) != canonical(x):
        return None
    twin = {c.name: t for c, t in zip(columns(x), columns(inner.input), strict=True)}
    # X is joined by k = x alone, for the very columns that A groups by.
    linking = [c for c in conditions if reads(c) & mine]
    rest = [c for c in conditions if not reads(c) & mine]
    equal = classes(equal_columns(conditions))
    grouped = {t.name: c for c, t in inner.keys if isinstance(t, Column)}
    linked: dict[str, Column] = {}
    for condition in linking:
        for a, b in equal_columns([condition]):
            column = a if a.name in mine else b
            if {a.name, b.name} <= mine:
                return None
            group = grouped.get(twin[column.name].name)
            if group is None or group.name not in equal.get(column.name, ()):
                return None
            linked[column.name] = group
    if len(equal_columns(linking)) != len(linking) or len(linked) != len(inner.keys):
        return None
    # The other factors must still be joined with each other on k without X between them.
    for group in linked.values():
        rest += [c for c in _bridges(group, equal, mine, factors, rest)]
    remaining = [f for i, f in enumerate(factors) if i != own]
    without = join_factors(remaining, rest)
    shown: dict[str, Term] = {name: group for name, group in linked.items()}
    by = tuple((c, replace_columns(t, shown)) for c, t in plan.keys)
    if reads(*(t for _, t in by)) & mine:
        return None
    if not keys.keys(build.project(without, by), knowledge):
        return None
    added = tuple(
        (c, aggregate_with_terms(a, lambda t: replace_columns(t, twin))) for c, a in plan.aggregates
    )
    wider, where = _with_aggregates(inner, added)
    grown = [_replace_aggregate(f, inner, wider) for f in remaining]
    outputs = (*by, *((c, where[c.name]) for c, _ in plan.aggregates))
    return build.project(join_factors(grown, rest), outputs)


def _terms(aggregate: AggregateTerm) -> list[Term]:
    found: list[Term] = []

    def keep(term: Term) -> Term:
        found.append(term)
        return term

    aggregate_with_terms(aggregate, keep)
    return found


def _bridges(
    group: Column, equal: dict[str, set[str]], mine: set[str], factors: list[Plan], rest: list[Term]
) -> list[Term]:
    """Equalities that held only by way of X: of the group's column with the others of its class."""
    known = classes(equal_columns(rest)).get(group.name, {group.name})
    by_name = {c.name: c for f in factors for c in columns(f)}
    return [
        equate(by_name[name], group)
        for name in sorted(equal.get(group.name, set()) - mine - known)
        if name in by_name
    ]


def _with_aggregates(
    plan: Aggregate, added: tuple[tuple[Column, AggregateTerm], ...]
) -> tuple[Aggregate, dict[str, Column]]:
    """The aggregate computing further ones; those that it has already are not computed twice."""
    aggregates = list(plan.aggregates)
    where: dict[str, Column] = {}
    for column, aggregate in added:
        same = next((c for c, a in aggregates if a == aggregate), None)
        if same is None:
            aggregates.append((column, aggregate))
            same = column
        where[column.name] = same
    return replace(plan, aggregates=tuple(aggregates)), where


def _replace_aggregate(plan: Plan, old: Aggregate, new: Aggregate) -> Plan:
    if plan is old:
        return new
    return replace(plan, input=_replace_aggregate(plan.input, old, new)) if isinstance(plan, Select) else plan
