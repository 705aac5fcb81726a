"""The terms that rules read, and the columns that they bind.

>>> from evercurrent.data.types import BOOLEAN
>>> step = Where(Column("o.paid", BOOLEAN))
>>> read_by(step) == (Column("o.paid", BOOLEAN),), list_bound(step)
(True, ())
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from evercurrent.delta.program import Explode, Let, Lookup, Program, Rule, Step, Where
from evercurrent.term.nodes import Column, Term
from evercurrent.term.walk import columns_of


def terms_of(rule: Rule) -> Iterator[Term]:
    """Every term of a rule, in the order of evaluation."""
    for step in rule.steps:
        yield from read_by(step)
    yield from rule.columns
    yield rule.count
    yield from rule.dependents
    for amount in rule.amounts:
        yield from amount.args
        yield from (t for t in (amount.weight, amount.where) if t is not None)


def read_by(step: Step) -> tuple[Term, ...]:
    """The terms of a step."""
    match step:
        case Where(condition):
            return (condition,)
        case Let(_, term):
            return (term,)
        case Lookup(match=match, span=span):
            return (*(term for _, term in match), *(span.bounds() if span is not None else ()))
        case Explode(collection=collection):
            return (collection,)
        case _:
            assert_never(step)


def list_bound(step: Step) -> tuple[Column, ...]:
    """The columns that later steps can use."""
    match step:
        case Where():
            return ()
        case Let(column):
            return (column,)
        case Lookup(binds=binds):
            return tuple(column for _, column in binds)
        case Explode(elements=elements):
            return elements
        case _:
            assert_never(step)


def columns_read(program: Program, relation: str) -> frozenset[int]:
    """The positions of those columns of a relation's delta that some rule reads."""
    used: set[int] = set()
    for rule in program.triggers.get(relation, ()):
        names = {c.name for t in terms_of(rule) for c in columns_of(t)}
        used |= {i for i, c in enumerate(rule.binds) if c.name in names}
    return frozenset(used)
