"""How a view is kept, as text, at every stage of its way down.

    calculus    the query as it was understood
    events      what can change the view, and the plan for each event
    normal      its normal form
    algebra     operators; no query is left inside another
    optimised   the plan that is maintained
    program     what is kept, and what the change of each relation does to it
    source      the Python that runs

Without a stage: a summary for people.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from evercurrent.data.types import Integer
from evercurrent.delta.analyses.labels import Labels
from evercurrent.delta.bounds import leaves
from evercurrent.delta.program import Lookup, Program, Rule, State
from evercurrent.delta.terms import terms_of
from evercurrent.design.program_parts import Lineage
from evercurrent.term.nodes import Call, Literal
from evercurrent.term.show import show
from evercurrent.term.walk import columns_of, nodes

STAGES = ("calculus", "events", "normal", "algebra", "optimised", "program", "source")


class Explanation(str):
    """A text that shows itself as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from evercurrent.display import text_html

        return text_html(str(self))


def shape(state: State, labels: Labels) -> str:
    """What an entry of a state is."""
    left = ", ".join(labels.value(state.name, c.name) for c in state.columns) or "one entry"
    right = [c.name for c in state.dependents] + [
        labels.value(state.name, a.name) for a in state.accumulators
    ]
    return f"({left})" + (f" -> {', '.join(right)}" if right else "")


def costs(program: Program, part: Lineage) -> Iterator[str]:
    """Yields what a change of one row of each input costs."""
    labels = Labels(program)
    yield "  a change of one row"
    for name in sorted(part.inputs):
        rules = [r for r in part.rules if r.on == name]
        if not rules:
            yield f"    of {name}: no work"
            continue
        moved = sorted({labels.of(r.into) for r in rules})
        yield f"    of {name}: {lookups_text(program, rules)}; updates {', '.join(moved)}"
    derived = sorted(part.relations - part.inputs)
    for name in derived:
        rules = [r for r in part.rules if r.on == name]
        if rules:
            moved = sorted({labels.of(r.into) for r in rules})
            yield f"    then of {labels.of(name)}: {lookups_text(program, rules)}; updates {', '.join(moved)}"


def maps_text(program: Program, part: Lineage) -> Iterator[str]:
    """Yields which maps were chosen or not, the estimate of each choice, and that of the alternative."""
    into = {r.into for r in part.rules}
    for c in program.choices:
        if c.into in into:
            names = " and ".join(name.partition("~")[0] for name in c.sources)
            by, driver = ", ".join(c.by), c.driver.partition("~")[0]
            if len(c.sources) == 1:
                yield (
                    f"  order   of {names} by {by}: {'kept' if c.kept else 'not kept'}; a change of {driver} would visit about "
                    f"{round(c.without):,} entries without it; it costs as much as {round(c.upkeep):,} for changes of {names}"
                )
                continue
            yield (
                f"  map     over {names} by {by}: {'kept' if c.kept else 'not kept'}; a change of {driver} would visit about "
                f"{round(c.without):,} entries without it, and 1 with it at a cost of {round(c.upkeep):,} for changes of {names}"
            )


def amounts_text(program: Program, part: Lineage, unbounded: Collection[str]) -> Iterator[str]:
    """Yields which amounts are kept as sums of their factors under bounds, and which no longer are (see `delta.bounds`)."""
    names = {
        n.args[-1].value
        for r in part.rules
        for t in terms_of(r)
        for n in nodes(t)
        if isinstance(n, Call) and n.function in ("bounded", "scaled") and isinstance(n.args[-1], Literal)
    }
    for bound in program.bounds:
        if isinstance(bound.amount.type, Integer):
            if names.issuperset(leaves(bound.amount)):
                yield f"  sums    of {show(bound.amount)} by its factors, while none can overflow {bound.amount.type}"
        elif bound.name in names:
            yield f"  sums    of {show(bound.amount)} by its factors, while no product is rounded"
    inputs = {name.lower() for name in part.inputs}
    for name in sorted(unbounded):
        said = name.rpartition("~")[0]
        if {field.rpartition(".")[0].lower() for field in said.split(" * ")} <= inputs:
            yield f"  sums    of ({said}) row by row: a value was seen with which a product may overflow or is rounded"


def orders_of(rules: Iterable[Rule], state: State) -> list[str]:
    """Returns the terms in whose order the entries of a state are kept, so that rules read ranges of them."""
    steps = (s for rule in rules for s in rule.steps if isinstance(s, Lookup) and s.state == state.name)
    return sorted({show(step.span.key) for step in steps if step.span is not None})


def lookups_text(program: Program, rules: list[Rule]) -> str:
    """Which lookups rules make, for people."""
    one, many = 0, 0
    ranges: list[str] = []
    for rule in rules:
        for step in rule.steps:
            if isinstance(step, Lookup):
                names = tuple(name for name, _ in step.match)
                indexes = program.state(step.state).indexes
                if step.span is not None:
                    ranges.append(", ".join(sorted({c.name for c in columns_of(step.span.key)})))
                    continue
                single = any(i.single and set(i.columns) == set(names) for i in indexes)
                if step.absent or step.present or single:
                    one += 1
                else:
                    many += 1
    count = one + many + len(ranges)
    if not count:
        return "its row is enough, without a lookup"
    said = [f"{one} of one entry"] if one else []
    said += [f"{many} of as many entries as match"] if many else []
    said += [f"1 of a range by {by}" for by in ranges]
    return f"{count} lookup{'s' if count > 1 else ''} ({', '.join(said)})"
