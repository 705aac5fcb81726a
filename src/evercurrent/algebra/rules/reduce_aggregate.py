"""An aggregate that is joined with a filtered relation is computed only for what passes the filter.

Law. F ⋈ k=g γg(A) = F ⋈ k=g γg(A ⋈ g=k F') if F is unique on k, where F' is F once more: groups that no row of F meets are
thrown away by the join, and a row of A meets at most one row of F', so the groups that stay are as they were. The same
holds for A left γg(B), since groups that meet nothing pad nothing.

    items ⋈ σ brand (parts) ⋈ avg(quantity) by part of items      (TPC-H Q17)
    items ⋈ σ brand (parts) ⋈ avg(quantity) by part of (items ⋈ σ brand (parts))

keeps averages of the parts of one brand only. Where F is not known to be unique on k, the input is reduced by a semi join:
F ⋈ k=g γg(A) = F ⋈ k=g γg(A ⋉ g=k F'), for a semi join repeats no row of A.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from evercurrent.algebra import keys
from evercurrent.algebra.borders import has_border, is_border
from evercurrent.algebra.joins import equal_columns, flatten, join_factors
from evercurrent.algebra.nodes import Aggregate, Join, Map, Outer, Plan, Scan, Select, Semi, columns
from evercurrent.algebra.walk import Names, names_of, relations_of, rename_apart, rewrite_down
from evercurrent.algebra.walk import nodes as plan_nodes
from evercurrent.catalog.catalog import Knowledge
from evercurrent.term.build import conjunction, conjuncts, equate
from evercurrent.term.nodes import Column, Term

Pairs = list[tuple[Column, Column]]


def reduce_aggregate(plan: Plan, knowledge: Knowledge) -> Plan:
    fresh = Names(names_of(plan))

    def reduce(p: Plan) -> Plan:
        match p:
            case Join():
                while (reduced := reduce_factor(p, knowledge, fresh)) is not None:
                    p = reduced
                return p
            case Outer("left", left, right, condition):
                others, inner = parts(left)
                pairs = equal_columns(conjuncts(condition)) + inner
                while (side := reduce_side(right, others, pairs, knowledge, fresh)) is not None:
                    right = side
                return p if right is p.right else replace(p, right=right)
            case _:
                return p

    return rewrite_down(plan, reduce)


def reduce_factor(plan: Join, knowledge: Knowledge, fresh: Names) -> Join | None:
    """The tree of joins with one more aggregate among its factors reduced; None if there is no more to reduce.

    Each relation reduces an aggregate once (`already`), so this comes to an end.
    """
    factors, conditions = flatten(plan)
    pairs = equal_columns(conditions)
    for i, factor in enumerate(factors):
        others = [part for j, f in enumerate(factors) if j != i for part in parts(f)[0]]
        inner = [e for j, f in enumerate(factors) if j != i for e in parts(f)[1]]
        reduced = reduce_side(factor, others, pairs + inner, knowledge, fresh)
        if reduced is not None:
            result = with_factor(plan, factor, reduced)
            assert isinstance(result, Join)
            return result
    return None


def with_factor(plan: Plan, old: Plan, new: Plan) -> Plan:
    """The tree of joins with one of its factors replaced."""
    if plan is old:
        return new
    match plan:
        case Join(left, right):
            return replace(plan, left=with_factor(left, old, new), right=with_factor(right, old, new))
        case _:
            return plan


def parts(plan: Plan) -> tuple[list[Plan], Pairs]:
    """The relations that every row of the plan comes from, and the columns that are equal in it."""
    match plan:
        case Join(left, right, condition):
            factors, pairs = parts(left)
            more, further = parts(right)
            return factors + more, pairs + further + equal_columns(conjuncts(condition))
        case Outer("left", left) | Semi(left):
            return parts(left)
        case _:
            return [plan], []


def reduce_side(
    plan: Plan, others: Iterable[Plan], pairs: Pairs, knowledge: Knowledge, fresh: Names
) -> Plan | None:
    """The plan with the aggregate in it reduced, if one of the other relations does so."""
    match plan:
        case Map(source, outputs) if not is_border(outputs):
            same = {c.name: t for c, t in outputs if isinstance(t, Column)}
            below = [(same.get(a.name, a), same.get(b.name, b)) for a, b in pairs]
            reduced = reduce_side(source, others, below, knowledge, fresh)
            return None if reduced is None else replace(plan, input=reduced)
        case Select(source):
            reduced = reduce_side(source, others, pairs, knowledge, fresh)
            return None if reduced is None else replace(plan, input=reduced)
        case Aggregate(scalar=False):
            reducing = [other for other in others if is_reducing(other)]
            for other in reducing:
                reduced = reduce_by_join(plan, other, pairs, knowledge, fresh)
                if reduced is not None:
                    return reduced
            if isinstance(plan.input, Semi) or any(already(plan.input, other) for other in reducing):
                return None  # once is enough
            for other in reducing:
                reduced = reduce_by_semi(plan, other, classes(pairs), fresh)
                if reduced is not None:
                    return reduced
    return None


def is_reducing(plan: Plan) -> bool:
    """Whether the plan is a filtered relation, and cheap to have twice."""
    inside = list(plan_nodes(plan))
    filtered = any(isinstance(p, Select | Semi) for p in inside)
    return (
        filtered
        and not has_border(plan)
        and all(isinstance(p, Scan | Select | Semi | Join | Map) for p in inside)
    )


def reduce_by_join(
    plan: Aggregate, other: Plan, pairs: Pairs, knowledge: Knowledge, fresh: Names
) -> Plan | None:
    """The aggregate of its input joined with the other relation, if that is unique on what the groups are joined by."""
    equal = classes(pairs)
    for key in keys.keys(other, knowledge):
        if not key:
            continue
        found: list[tuple[Term, str]] = []
        for name in sorted(key):
            group = [c for c in plan.keys if c[0].name in equal.get(name, ())]
            if group:
                found.append((group[0][1], name))
        if len(found) < len(key) or already(plan.input, other):
            continue
        copy, _ = rename_apart(other, fresh)
        copied = dict(zip((c.name for c in columns(other)), columns(copy), strict=True))
        if any(term.type != copied[name].type for term, name in found):
            continue
        conditions = [equate(term, copied[name]) for term, name in found]
        factors, inner = flatten(plan.input)
        return replace(plan, input=join_factors([*factors, copy], [*inner, conjunction(conditions)]))
    return None


def reduce_by_semi(plan: Aggregate, other: Plan, equal: dict[str, set[str]], fresh: Names) -> Plan | None:
    """The aggregate of those rows of its input that the other relation has a row for."""
    found: list[tuple[Term, str]] = []
    for column in columns(other):
        group = [
            term for c, term in plan.keys if c.name in equal.get(column.name, ()) and term.type == column.type
        ]
        if group:
            found.append((group[0], column.name))
    if not found:
        return None
    copy, _ = rename_apart(other, fresh)
    copied = dict(zip((c.name for c in columns(other)), columns(copy), strict=True))
    conditions = [equate(term, copied[name]) for term, name in found]
    return replace(plan, input=Semi(plan.input, copy, conjunction(conditions), False))


def already(source: Plan, other: Plan) -> bool:
    """Whether the relation is among those that are aggregated, filtered as it is."""
    factors, _ = parts(source)
    shape = [type(p) for p in plan_nodes(other)]
    return any(
        relations_of(f) == relations_of(other) and [type(p) for p in plan_nodes(f)] == shape for f in factors
    )


def classes(pairs: Pairs) -> dict[str, set[str]]:
    group: dict[str, set[str]] = {}
    for a, b in pairs:
        merged = group.get(a.name, {a.name}) | group.get(b.name, {b.name})
        for name in merged:
            group[name] = merged
    return group
