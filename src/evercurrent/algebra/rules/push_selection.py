"""Selections go down as far as they can.

Law. A condition may be asked below an operator if it reads only what the operator passes on unchanged and the operator
treats rows that differ in it apart:

    σp(A ⋈c B)            = σp(A) ⋈c B                 p reads A                     (either side)
    σp(A left B)          = σp(A) left B               p reads A
    A left(c and p) B     = A left(c) σp(B)            p reads B
    σp(A semi B)          = σp(A) semi B               also anti
    σp(γ k; f (A))        = γ k; f (σp(A))             p reads keys
    σp(window(A)), σp(top(A))                          p reads what partitions
    σp(πf(A)) = πf(σp∘f(A));   union, distinct, set operations and unnesting likewise
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.algebra import build
from evercurrent.algebra.borders import is_border
from evercurrent.algebra.joins import names, reads
from evercurrent.algebra.nodes import (
    Aggregate,
    Distinct,
    Join,
    Map,
    Outer,
    Plan,
    Select,
    Semi,
    SetOperation,
    Top,
    Union,
    Unnest,
    Window,
    columns,
)
from evercurrent.algebra.walk import replace_columns, rewrite_down
from evercurrent.catalog.catalog import Knowledge
from evercurrent.term.build import conjunction, conjuncts
from evercurrent.term.nodes import Column, Term
from evercurrent.term.walk import grows


def push_selection(plan: Plan, knowledge: Knowledge) -> Plan:
    return rewrite_down(plan, _push)


def _push(plan: Plan) -> Plan:
    match plan:
        case Select(source, condition):
            return _below(source, condition)
        case Join(left, right, condition):
            lefts, rights, rest = _sides(condition, left, right)
            if not lefts and not rights:
                return plan
            return build.join(_keep(left, lefts), _keep(right, rights), conjunction(rest))
        case Semi(left, right, condition, anti):
            lefts, rights, rest = _sides(condition, left, right)
            if anti:
                lefts, rest = [], [*lefts, *rest]
            if not lefts and not rights:
                return plan
            return Semi(_keep(left, lefts), _keep(right, rights), conjunction(rest), anti)
        case Outer("left", left, right, condition):
            lefts, rights, rest = _sides(condition, left, right)
            if not rights:
                return plan
            return Outer("left", left, _keep(right, rights), conjunction([*lefts, *rest]))
        case _:
            return plan


def _keep(plan: Plan, conditions: list[Term]) -> Plan:
    return build.select(plan, conjunction(conditions))


def _sides(condition: Term, left: Plan, right: Plan) -> tuple[list[Term], list[Term], list[Term]]:
    """The conjuncts that read the left side alone, the right side alone, and the others."""
    lefts: list[Term] = []
    rights: list[Term] = []
    rest: list[Term] = []
    for part in conjuncts(condition):
        read = reads(part)
        (lefts if read and read <= names(left) else rights if read and read <= names(right) else rest).append(
            part
        )
    return lefts, rights, rest


def _split(condition: Term, allowed: set[str]) -> tuple[list[Term], list[Term]]:
    """The conjuncts that read only what is allowed (and something), and the others."""
    inside: list[Term] = []
    outside: list[Term] = []
    for part in conjuncts(condition):
        read = reads(part)
        (inside if read and read <= allowed else outside).append(part)
    return inside, outside


def _below(source: Plan, condition: Term) -> Plan:
    """The selection of the source, asked lower down where that is possible."""
    match source:
        case Select() | Join():
            return _push(build.select(source, condition))
        case Map(inner, outputs):
            if is_border(outputs):
                return Select(
                    source, condition
                )  # who is asked is what was written; and all who ask share the answer
            by_name = {c.name: t for c, t in outputs}
            if grows([condition], by_name):
                return Select(source, condition)
            below = replace_columns(condition, by_name)
            return Map(build.select(inner, below), outputs)
        case Semi(left):
            return replace(source, left=build.select(left, condition))
        case Outer("left", left):
            inside, outside = _split(condition, names(left))
            return _keep(replace(source, left=_keep(left, inside)), outside)
        case Unnest(inner):
            inside, outside = _split(condition, names(inner))
            return _keep(replace(source, input=_keep(inner, inside)), outside)
        case Union(inputs, outputs):
            return Union(tuple(_rename_columns(p, outputs, condition) for p in inputs), outputs)
        case SetOperation(_, _, left, right, outputs):
            return replace(
                source,
                left=_rename_columns(left, outputs, condition),
                right=_rename_columns(right, outputs, condition),
            )
        case Distinct(inner):
            return Distinct(build.select(inner, condition))
        case Aggregate(inner, keys, _, False):
            inside, outside = _split(condition, {c.name for c, _ in keys})
            below = replace_columns(conjunction(inside), {c.name: t for c, t in keys})
            return _keep(replace(source, input=build.select(inner, below)), outside)
        case Window(inner, functions):
            inside, outside = _split(condition, _columns(functions[0][1].partition))
            return _keep(replace(source, input=_keep(inner, inside)), outside)
        case Top(inner, partition):
            inside, outside = _split(condition, _columns(partition))
            return _keep(replace(source, input=_keep(inner, inside)), outside)
        case _:
            return Select(source, condition)


def _columns(partition: tuple[Term, ...]) -> set[str]:
    return {t.name for t in partition if isinstance(t, Column)}


def _rename_columns(plan: Plan, outputs: tuple[Column, ...], condition: Term) -> Plan:
    own: dict[str, Term] = {o.name: c for o, c in zip(outputs, columns(plan), strict=True)}
    return build.select(plan, replace_columns(condition, own))
