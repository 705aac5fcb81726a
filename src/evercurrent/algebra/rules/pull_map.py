"""Maps go up through joins, so that what is joined stands side by side.

Law. πf(A) ⋈c B = πf,B (A ⋈c∘f B), on either side; likewise for the left side of semi and outer joins, for unnesting, and
for both sides' conditions.
"""

from __future__ import annotations

from evercurrent.algebra import build
from evercurrent.algebra.nodes import Join, Map, Outer, Plan, Semi, Unnest, columns
from evercurrent.algebra.walk import replace_columns, rewrite
from evercurrent.catalog.catalog import Knowledge
from evercurrent.term.nodes import Column, Term


def pull_map(plan: Plan, knowledge: Knowledge) -> Plan:
    return rewrite(plan, _pull)


def _pull(plan: Plan) -> Plan:
    match plan:
        case Join(Map(left, outputs), right, condition):
            below = _pull(Join(left, right, _under(condition, outputs)))
            return build.project(below, (*outputs, *_same(right)))
        case Join(left, Map(right, outputs), condition):
            below = _pull(Join(left, right, _under(condition, outputs)))
            return build.project(below, (*_same(left), *outputs))
        case Semi(Map(left, outputs), right, condition, anti):
            return build.project(_pull(Semi(left, right, _under(condition, outputs), anti)), outputs)
        case Semi(left, Map(right, outputs), condition, anti):
            return _pull(Semi(left, right, _under(condition, outputs), anti))
        case Outer("left", Map(left, outputs), right, condition):
            below = _pull(Outer("left", left, right, _under(condition, outputs)))
            padded = tuple((c, c) for c in columns(below)[len(columns(left)) :])
            return build.project(below, (*outputs, *padded))
        case Unnest(Map(source, outputs), collection, elements, outer, ordinal, inline):
            unnested = Unnest(source, _under(collection, outputs), elements, outer, ordinal, inline)
            return build.project(_pull(unnested), (*outputs, *((c, c) for c in elements)))
        case _:
            return plan


def _under(term: Term, outputs: tuple[tuple[Column, Term], ...]) -> Term:
    return replace_columns(term, {c.name: t for c, t in outputs})


def _same(plan: Plan) -> tuple[tuple[Column, Term], ...]:
    return tuple((c, c) for c in columns(plan))
