"""Which values of its columns a plan is asked for, handed down to its inputs.

Law. If only rows whose column c is in V are needed of a plan, then only rows whose column c is in V are needed of an input
that c comes from unchanged, wherever a selection on c might go down. What cannot be handed down is dropped: needs only ever
say what may be left out.

    needs {o.id: {1, 2}} of  Join(Scan orders [o.id, ...], Scan items [...])   ->  {o.id: {1, 2}} of the first scan
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, assert_never

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
from evercurrent.term.build import conjuncts
from evercurrent.term.nodes import Call, Column, Literal, Term

Needs = Mapping[str, Set[Any]]
"""From the name of a column to the values that are wanted."""


def needs_below(plan: Plan, source: Plan, needs: Needs) -> Needs:
    """What is needed of one input of a plan."""
    if not needs and not isinstance(plan, Select):
        return needs
    own = {c.name for c in columns(source)}
    match plan:
        case Scan() | Constant() | Fixpoint():
            return {}
        case Select(_, condition):
            return {
                **{name: values for name, values in needs.items() if name in own},
                **_find_needs(condition),
            }
        case Join() | Semi() | Distinct() | Unnest():
            return {name: values for name, values in needs.items() if name in own}
        case Outer(kind, left):
            # Rows of the right side that are left out would turn matches into padding.
            return {n: v for n, v in needs.items() if n in own} if kind == "left" and source is left else {}
        case Map(_, outputs) | Aggregate(_, outputs):
            return {t.name: needs[c.name] for c, t in outputs if isinstance(t, Column) and c.name in needs}
        case Union(_, outputs) | SetOperation(outputs=outputs):
            pairs = zip(outputs, columns(source), strict=True)
            return {inner.name: needs[c.name] for c, inner in pairs if c.name in needs}
        case Window(_, functions):
            return _among(functions[0][1].partition, needs)
        case Top(_, partition):
            return _among(partition, needs)
        case _:
            assert_never(plan)


def _find_needs(condition: Term) -> Needs:
    """The values that a condition asks for outright."""
    found: dict[str, Set[Any]] = {}
    for part in conjuncts(condition):
        match part:
            case Call("eq", (Column(name), Literal(value))) | Call("eq", (Literal(value), Column(name))):
                if value == value:  # NaN is equal to itself for conditions, but not in a set
                    found[name] = {value}
    return found


def _among(partition: tuple[Term, ...], needs: Needs) -> Needs:
    names = {t.name for t in partition if isinstance(t, Column)}
    return {name: values for name, values in needs.items() if name in names}
