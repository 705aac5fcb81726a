"""The rules for the rows of a delta, of which a deleted and an inserted row may be one change of a range (see `changes`).

pairs, others = pair_rows(rows, (0,))
for o, r in pairs:            a threshold that has risen from o[1] to r[1]: the rows between
    ...
for r, w in others:
    ...
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from evercurrent.delta.program import Lookup, Rule, Span, Where
from evercurrent.delta.terms import terms_of
from evercurrent.engine.live.changes import Change, find_varying, takes_any_order, write_changes
from evercurrent.engine.live.rules import Place, write_rules
from evercurrent.engine.live.runtime.deltas import pair_rows
from evercurrent.engine.live.share import position, positional
from evercurrent.engine.live.steps import schedule_steps
from evercurrent.term.nodes import Term
from evercurrent.term.walk import columns_of


def write_rows(place: Place, turn: Sequence[tuple[Rule, int]]) -> None:
    """The rules for the rows of a delta, which are in the local `rows`.

    A deleted and an inserted row that differ only in the bounds of a range are one change of the range. Rules that look up what
    others update run row by row all together, or else each over the whole delta, one after another (law L9).
    """
    w = place.writer
    written = {rule.into for rule, _ in turn}
    entangled = any(isinstance(s, Lookup) and s.state in written for rule, _ in turn for s in rule.steps)
    moving = [_find_moving(place, rule) for rule, _ in turn]
    if any(sign or (entangled and _reads_target(rule)) for rule, sign in turn):
        moving = [None] * len(turn)
    if any(moving):
        place.namespace.define("pair_rows", pair_rows)
        w.line("rows = list(rows)")
    runs: list[tuple[tuple[int, ...] | None, list[int]]] = []
    for i, found in enumerate(moving):
        fixed = found and found[0]
        if runs and runs[-1][0] == fixed and not (entangled and any(moving)):
            runs[-1][1].append(i)
        else:
            runs.append((fixed, [i]))
    for fixed, those in runs:
        rows = "rows"
        if fixed is not None:
            w.line(f"pairs, others = pair_rows(rows, {fixed!r})")
            width, rows = range(max(len(turn[i][0].binds) for i in those)), "others"
            with w.block("for o, r in pairs:"):
                changes = [found[1] for i in those if (found := moving[i]) is not None]
                write_changes(place, changes, [f"o[{i}]" for i in width], [f"r[{i}]" for i in width])
        with w.block(f"for r, w in {rows}:"):
            write_rules(place, [turn[i] for i in those], "r", "w")


def _reads_target(rule: Rule) -> bool:
    return any(isinstance(s, Lookup) and s.state == rule.into for s in rule.steps)


def _find_moving(place: Place, rule: Rule) -> tuple[tuple[int, ...], Change] | None:
    """The positions in which two rows must agree to be one change of a range of the rule, and that change."""
    if _reads_target(rule) or not takes_any_order(place, rule):
        return None
    layouts = {name: target.layout for name, target in place.states.items()}
    own = positional(replace(rule, steps=tuple(schedule_steps(rule, layouts))))
    for step in own.steps:
        if isinstance(step, Lookup) and step.span is not None:
            fixed = {c.name for t in _read_beside(own, step, step.span) for c in columns_of(t)}
            read = {c.name for t in terms_of(own) for c in columns_of(t)}
            width = range(len(own.binds))
            varying = {i for i in width if position(i) in read - fixed}
            change = Change(own, find_varying(own, set(width) - varying))
            if varying and change.switches and change.moving is not None:
                return tuple(i for i in width if position(i) in fixed), change
    return None


def _read_beside(rule: Rule, lookup: Lookup, span: Span) -> Iterator[Term]:
    """The terms of a rule but for the bounds of a range and the conditions that say it."""
    tests = [s for s in rule.steps if isinstance(s, Where) and s.condition in span.tests]
    others = (s for s in rule.steps if s is not lookup and not any(s is t for t in tests))
    yield from terms_of(replace(rule, steps=tuple(others)))
    yield from (t for _, t in lookup.match)
