"""The output of one entry of a state, as source.

    def output_4(k, p):                     # key, payload
        if p[1] <= 300:
            return None
        return (k, p[1])

`unit` relations return a row or None; others return (row, multiplicity) or None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from evercurrent.data.types import BIGINT
from evercurrent.delta.program import WEIGHT, Finalize, Keyed, State
from evercurrent.engine.live.layout import Layout
from evercurrent.engine.live.reads import Entry, read
from evercurrent.engine.live.scope import Scope
from evercurrent.term.emit.scope import Locals, tuple_of
from evercurrent.term.emit.writer import Namespace, Writer
from evercurrent.term.failing import can_fail
from evercurrent.term.nodes import Case, Column, Literal, Term
from evercurrent.term.walk import columns_of, nodes

Give = Callable[[list[str], str], list[str]]
"""From the sources of the columns of an output and of its multiplicity to statements."""


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


SMALL = 40
"""Outputs of more nodes than this are called, not written in line."""


def is_small(relation: Keyed) -> bool:
    function = relation.function
    assert isinstance(function, Finalize)
    return sum(1 for t in _terms(function) for _ in nodes(t)) <= SMALL


def write_output(
    writer: Writer,
    namespace: Namespace,
    fresh: Locals,
    relation: Keyed,
    entry: Entry,
    give: Give,
    trusted: bool = False,
) -> None:
    """Statements that find the output of an entry and end in `give(columns, multiplicity)`, if there is one.

    `trusted`: it was found before, so that checks of its range are not repeated.
    """
    function = relation.function
    assert isinstance(function, Finalize)
    layout = entry.layout
    depth = writer.depth
    scope = Scope(writer, namespace, fresh, _terms(function))
    scope.expressions.trusted = trusted
    names = [x.name for x in layout.fields] + [x.name for x in layout.state.accumulators] + [WEIGHT]
    for n in names:
        scope.define(n, read(entry, n, namespace))
    if layout.permanent and not function.scalar:
        # The entry of a scalar aggregate that shares the state stays when there is nothing: law L11 holds for its weight.
        writer.open(f"if {scope.value(Column(WEIGHT, BIGINT, False))}:")
    if not is_unit(relation, layout):
        many = scope.assign(scope.value(function.multiplicity))
        writer.open(f"if {many}:")
        found = give(scope.values(function.outputs), many)
    else:
        condition = condition_of(function.multiplicity)
        if condition is not None:
            writer.open(f"if {scope.true(condition)}:")
        found = give(scope.values(function.outputs), "1")
    for line in found:
        writer.line(line)
    writer.close(depth)


def write_finalizer(writer: Writer, namespace: Namespace, name: str, relation: Keyed, layout: Layout) -> None:
    """The function `name(k, p)` of a keyed relation that reads one entry at a time."""
    columns = layout.state.columns
    sources = {0: "k"} if len(columns) == 1 else {i: f"k[{i}]" for i in range(len(columns))}
    with writer.block(f"def {name}(k, p):"):
        entry = Entry(layout, sources, "p")
        unit = is_unit(relation, layout)

        def give(outputs: list[str], many: str) -> list[str]:
            return [f"return {tuple_of(outputs)}{'' if unit else f', {many}'}"]

        write_output(writer, namespace, Locals(), relation, entry, give)
        writer.line("return None")


FAILING = frozenset(("single", "sum", "avg"))
"""Aggregates whose reading can fail: two rows in a scalar subquery, a sum out of its range."""


def fails(function: Finalize, state: State) -> bool:
    """Whether finding the output of an entry can fail."""
    return bool(find_failing(function, state)) or _can_fail(function.multiplicity, state)


def find_failing(function: Finalize, state: State) -> list[int]:
    """The positions of the outputs that can fail when they are found."""
    return [i for i, t in enumerate(function.outputs) if _can_fail(t, state)]


def _can_fail(term: Term, state: State) -> bool:
    bags = {a.name for a in state.accumulators if a.aggregate is not None and a.aggregate.function in FAILING}
    return can_fail(term) or any(c.name in bags for c in columns_of(term))
