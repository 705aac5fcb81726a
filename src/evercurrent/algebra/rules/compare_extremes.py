"""To be other, less or greater than some row is to be so compared with the least or the greatest.

Law. With L and H the least and greatest c of the rows of B that have the key k,

    A semi (k, a < c) B    = A ⋈ k γk; H (B), a < H            likewise > with L, <= and >=
    A semi (k, a <> c) B   = A ⋈ k γk; L,H (B), a <> L or a <> H
    A anti (k, a <> c) B   = σ not (a <> L or a <> H) (A left k γk; L,H (B))       where that is not TRUE

so that an inserted or deleted row of B touches its group's extremes, and not every pair that it makes.
"""

from __future__ import annotations

from evercurrent.algebra import build
from evercurrent.algebra.joins import names, reads
from evercurrent.algebra.nodes import Aggregate, Outer, Plan, Semi, columns
from evercurrent.algebra.walk import Names, names_of, rewrite
from evercurrent.catalog.catalog import Knowledge
from evercurrent.data.types import Map as MapType
from evercurrent.term.build import FALSE, call, conjunction, conjuncts, disjunction, equate
from evercurrent.term.nodes import Aggregate as AggregateTerm
from evercurrent.term.nodes import Call, Column, Term
from evercurrent.term.simplify import MIRRORED


def compare_extremes(plan: Plan, knowledge: Knowledge) -> Plan:
    fresh = Names(names_of(plan))

    def compare(p: Plan) -> Plan:
        match p:
            case Semi():
                return _compare(p, fresh) or p
            case _:
                return p

    return rewrite(plan, compare)


def _compare(plan: Semi, fresh: Names) -> Plan | None:
    left, right = plan.left, plan.right
    own, other = names(left), names(right)
    equal: list[tuple[Term, Column]] = []
    compared: list[tuple[str, Term, Term]] = []
    for part in conjuncts(plan.condition):
        match part:
            case Call(name, (a, b)) if name in MIRRORED:
                if reads(a) <= other and reads(b) <= own:
                    name, a, b = MIRRORED[name], b, a
                if not (reads(a) <= own and reads(b) <= other and reads(b)):
                    return None
                if name == "eq":
                    if not isinstance(b, Column):
                        return None
                    equal.append((a, b))
                else:
                    compared.append((name, a, b))
            case _:
                return None
    if len(compared) != 1 or isinstance(compared[0][2].type, MapType):
        return None
    ((name, a, b),) = compared
    keys = tuple(dict.fromkeys(column for _, column in equal))
    aggregates: list[tuple[Column, AggregateTerm]] = []
    bounds: list[Term] = []
    for function in {"lt": ("max",), "le": ("max",), "gt": ("min",), "ge": ("min",)}.get(
        name, ("min", "max")
    ):
        column = Column(fresh.fresh(function), b.type, True)
        aggregates.append((column, AggregateTerm(function, (b,), b.type)))
        bounds.append(call(name, a, column))
    grouped = Aggregate(right, tuple((c, c) for c in keys), tuple(aggregates), scalar=not keys)
    condition = conjunction(equate(term, column) for term, column in equal)
    found = disjunction(bounds)
    if plan.anti:
        outer = Outer("left", left, grouped, condition)
        missed = build.select(outer, call("not", call("coalesce", found, FALSE)))
        return build.project(missed, ((c, c) for c in columns(left)))
    return build.project(
        build.join(left, grouped, conjunction([condition, found])), ((c, c) for c in columns(left))
    )
