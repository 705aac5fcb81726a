"""The output of one entry of a state, as source.

    def output_4(k, p):                     # key, payload
        if p[1] <= 300:
            return None
        return (k, p[1])

`unit` relations give a row or None; others give (row, multiplicity) or None.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evercurrent.data.types import Float
from evercurrent.delta.program import WEIGHT, Finalize, Keyed
from evercurrent.engine.live.expressions import Expressions
from evercurrent.engine.live.layout import Layout
from evercurrent.engine.live.reads import Entry, read
from evercurrent.engine.live.scope import Locals, Scope, tuple_of
from evercurrent.engine.live.writer import Namespace, Writer
from evercurrent.term.nodes import Case, Column, Literal, Term
from evercurrent.term.walk import nodes


def condition_of(multiplicity: Term) -> Term | None:
    """The condition of a multiplicity that is 1 where it holds and 0 elsewhere."""
    match multiplicity:
        case Case(((condition, Literal(1)),), Literal(0)):
            return condition
        case _:
            return None


def is_unit(relation: Keyed, layout: Layout) -> bool:
    """Whether an entry's row comes once or not at all."""
    function = relation.function
    if not isinstance(function, Finalize):
        return False
    match function.multiplicity:
        case Literal(1):
            return True
        case Column(name):
            return name == WEIGHT and layout.state.unique
        case m:
            return condition_of(m) is not None


def _terms(function: Finalize) -> Iterator[Term]:
    yield function.multiplicity
    yield from function.outputs


SMALL = 24
"""Outputs of more nodes than this are called, not written in line."""


def inline_output(
    namespace: Namespace,
    fresh: Locals,
    relation: Keyed,
    layout: Layout,
    columns: Sequence[str],
    payload: str,
) -> str | None:
    """The output of an entry as one expression over atoms; None where that would be long or repeat work."""
    function = relation.function
    assert isinstance(function, Finalize)
    terms = list(_terms(function))
    if not is_unit(relation, layout) or sum(1 for t in terms for _ in nodes(t)) > SMALL:
        return None
    if any(a.kind == "aggregate" or isinstance(a.type, Float) for a in layout.state.accumulators):
        return None
    entry = Entry(layout, dict(enumerate(columns)), payload)
    state = layout.state
    names = [x.name for x in layout.fields] + [x.name for x in state.accumulators] + [WEIGHT]
    expressions = Expressions(namespace, {n: read(entry, n, namespace) for n in names}, fresh)
    condition = condition_of(function.multiplicity)
    row = tuple_of(expressions.value(t) for t in function.outputs)
    return row if condition is None else f"{row} if {expressions.true(condition)} else None"


def write_finalizer(writer: Writer, namespace: Namespace, name: str, relation: Keyed, layout: Layout) -> None:
    """The function `name(k, p)` of a keyed relation that reads one entry at a time."""
    function = relation.function
    assert isinstance(function, Finalize)
    columns = layout.state.columns
    sources = {0: "k"} if len(columns) == 1 else {i: f"k[{i}]" for i in range(len(columns))}
    entry = Entry(layout, sources, "p")
    unit = is_unit(relation, layout)
    with writer.block(f"def {name}(k, p):"):
        scope = Scope(writer, namespace, Locals(), _terms(function))
        state = layout.state
        named = (
            [x.name for x in (*columns, *state.dependents)] + [x.name for x in state.accumulators] + [WEIGHT]
        )
        for n in named:
            scope.define(n, read(entry, n, namespace))
        condition = condition_of(function.multiplicity)
        if not unit:
            many = scope.assign(scope.value(function.multiplicity))
            with writer.block(f"if not {many}:"):
                writer.line("return None")
            writer.line(f"return {tuple_of(scope.values(function.outputs))}, {many}")
            return
        if condition is not None:
            test = scope.true(condition)
            with writer.block(f"if not {test}:"):
                writer.line("return None")
        writer.line(f"return {tuple_of(scope.values(function.outputs))}")
