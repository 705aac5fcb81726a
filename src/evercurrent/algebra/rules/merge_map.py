"""Maps fuse with what is above them.

Law. πf(πg(A)) = πf∘g(A);   γ k; a (πg(A)) = γ k∘g; a∘g (A). A computed column that is large and read more than once is
left where it is: writing it out twice would compute it twice. So is a border (see `algebra.borders`). What a border below has
computed is read and not computed again: an opaque function of the same values has the same value.

    SELECT n * 2 AS m FROM (SELECT a + 1 AS n FROM t)      SELECT (a + 1) * 2 AS m FROM t
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from evercurrent.algebra import build
from evercurrent.algebra.borders import is_border
from evercurrent.algebra.nodes import Aggregate, Map, Plan, Select
from evercurrent.algebra.walk import aggregate_with_terms, replace_columns, rewrite, terms_of
from evercurrent.catalog.catalog import Knowledge
from evercurrent.term.nodes import Column, Term
from evercurrent.term.opaque import is_opaque
from evercurrent.term.walk import columns_of, nodes

LARGE = 12
"""A term of more nodes than this is computed once."""


def merge_map(plan: Plan, knowledge: Knowledge) -> Plan:
    return rewrite(plan, _merge)


def _merge(plan: Plan) -> Plan:
    if isinstance(plan, Map) and is_border(plan.outputs):
        computed = _find_computed(plan.input)
        plan = Map(plan.input, tuple((c, computed.get(t, t)) for c, t in plan.outputs))
    match plan:
        case Map(Map(source, inner), outputs) if _cheap(inner, plan):
            by_name = {c.name: t for c, t in inner}
            return _merge(build.project(source, ((c, replace_columns(t, by_name)) for c, t in outputs)))
        case Map(source, outputs):
            return build.project(source, outputs)
        case Aggregate(Map(source, inner), keys, aggregates) if _cheap(inner, plan):
            by_name = {c.name: t for c, t in inner}
            return _merge(
                replace(
                    plan,
                    input=source,
                    keys=tuple((c, replace_columns(t, by_name)) for c, t in keys),
                    aggregates=tuple(
                        (c, aggregate_with_terms(a, lambda t: replace_columns(t, by_name)))
                        for c, a in aggregates
                    ),
                )
            )
        case _:
            return plan


def _find_computed(plan: Plan) -> dict[Term, Column]:
    """What opaque functions have computed of the columns of a plan, and the columns that hold it."""
    match plan:
        case Select(source):
            return _find_computed(source)
        case Map(source, outputs):
            shown: dict[str, Term] = {t.name: c for c, t in outputs if isinstance(t, Column)}
            below: list[tuple[Term, Term]] = [(t, c) for t, c in _find_computed(source).items()]
            own: list[tuple[Term, Term]] = [(t, c) for c, t in outputs if is_opaque(t)]
            found: dict[Term, Column] = {}
            for term, column in (*below, *own):
                held = column if (term, column) in own else shown.get(getattr(column, "name", ""))
                if isinstance(held, Column) and all(c.name in shown for c in columns_of(term)):
                    found.setdefault(replace_columns(term, shown), held)
            return found
        case _:
            return {}


def _cheap(inner: tuple[tuple[Column, Term], ...], above: Plan) -> bool:
    if is_border(inner):
        return False
    read = Counter(n.name for t in terms_of(above) for n in nodes(t) if isinstance(n, Column))
    return all(read[c.name] <= 1 or sum(1 for _ in nodes(t)) <= LARGE for c, t in inner)
