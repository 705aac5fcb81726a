"""Maps go up through joins, so that joined relations stand side by side.

Law. πf(A) ⋈c B = πf,B (A ⋈c∘f B), on either side; likewise for the left side of semi and outer joins, for unnesting, and
for both sides' conditions. A map over an operator that keeps state by key stays: its result changes less often than its
input (whether there are rows, against how many); one that only packs columns into records does not.

    Semi t.b = c.b             Map t.a, t.b
      Map t.a, t.b               Semi t.b = c.b
        Anti t.a = u.a             Anti t.a = u.a
"""

from __future__ import annotations

from evercurrent.algebra import build
from evercurrent.algebra.borders import is_border
from evercurrent.algebra.nodes import (
    Constant,
    Join,
    Map,
    Outer,
    Plan,
    Scan,
    Select,
    Semi,
    Union,
    Unnest,
    columns,
)
from evercurrent.algebra.walk import replace_columns, rewrite
from evercurrent.catalog.catalog import Knowledge
from evercurrent.term.nodes import Column, Record, Term


def pull_map(plan: Plan, knowledge: Knowledge) -> Plan:
    return rewrite(plan, _pull)


def _free(plan: Plan) -> bool:
    """Whether the map is over rows as they come, not over groups."""
    match plan:
        case Map(source) | Select(source):
            return _free(source)
        case Scan() | Constant() | Join() | Outer() | Semi() | Unnest() | Union():
            return True
        case _:
            return False


def _may_rise(source: Plan, outputs: tuple[tuple[Column, Term], ...]) -> bool:
    return (_free(source) or all(_packs(t) for _, t in outputs)) and not is_border(outputs)


def _packs(term: Term) -> bool:
    """Whether nothing is computed: a column, or a record of columns, changes as often as what it is made of."""
    match term:
        case Column():
            return True
        case Record(members):
            return all(_packs(t) for _, t in members)
        case _:
            return False


def _pull(plan: Plan) -> Plan:
    match plan:
        case Join(Map(left, outputs), right, condition) if _may_rise(left, outputs):
            below = _pull(Join(left, right, _under(condition, outputs)))
            return build.project(below, (*outputs, *_same(right)))
        case Join(left, Map(right, outputs), condition) if _may_rise(right, outputs):
            below = _pull(Join(left, right, _under(condition, outputs)))
            return build.project(below, (*_same(left), *outputs))
        case Semi(Map(left, outputs), right, condition, anti) if _may_rise(left, outputs):
            return build.project(_pull(Semi(left, right, _under(condition, outputs), anti)), outputs)
        case Semi(left, Map(right, outputs), condition, anti) if not is_border(outputs):
            return _pull(Semi(left, right, _under(condition, outputs), anti))
        case Outer("left", Map(left, outputs), right, condition) if _may_rise(left, outputs):
            below = _pull(Outer("left", left, right, _under(condition, outputs)))
            padded = tuple((c, c) for c in columns(below)[len(columns(left)) :])
            return build.project(below, (*outputs, *padded))
        case Unnest(Map(source, outputs), collection, elements, outer, ordinal, inline) if not is_border(
            outputs
        ):
            unnested = Unnest(source, _under(collection, outputs), elements, outer, ordinal, inline)
            return build.project(_pull(unnested), (*outputs, *((c, c) for c in elements)))
        case _:
            return plan


def _under(term: Term, outputs: tuple[tuple[Column, Term], ...]) -> Term:
    return replace_columns(term, {c.name: t for c, t in outputs})


def _same(plan: Plan) -> tuple[tuple[Column, Term], ...]:
    return tuple((c, c) for c in columns(plan))
