"""What a rule and a keyed relation do over rows and entries: the same on the driver and in a task.

run_rule(rule, rows, ...)          the loops of a rule, with a lookup for all keys of the rows at once between them
compute_keyed_change(relation, state)      f(new group) - f(old group) for the groups that were touched
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from evercurrent.data.zset import Row
from evercurrent.delta.program import Finalize, Keyed, Ranked, Rule
from evercurrent.engine.spark.kernel.entries import Entries, Group
from evercurrent.engine.spark.kernel.keyed_functions import finalizer, group_function
from evercurrent.engine.spark.kernel.rule_loops import loops
from evercurrent.engine.spark.storage.file_schema import Shape

Weights = dict[Row, int]


def run_rule(
    rule: Rule,
    rows: list[Row],
    names: list[str],
    shapes: Mapping[str, Shape],
    states: Mapping[str, Entries],
    adding: bool,
    target: Callable[[], tuple[Any, Any]],
) -> None:
    """Runs a rule over rows of these columns and the weight; `target` returns what it adds to, and bags if it has any."""
    keys: list[Row | None] = []
    found: dict[Row, list[Row]] = {}
    for part in loops(rule, names, shapes, adding):
        step = part.lookup
        if step is None or part.reading is None:
            part.function(rows, keys, found, *target())
            return
        rows, keys = part.function(rows, keys, found)
        if not rows:
            return
        asked: set[Any] = set(keys)
        asked.discard(None)
        by = tuple(name for name, _ in step.match)
        found = states[step.state].index(by, asked, part.reading)


def compute_keyed_change(relation: Keyed, state: Entries, beginning: bool = False) -> Weights:
    """f(new group) - f(old group) for the groups that were touched."""
    if isinstance(relation.function, Finalize):
        return finalize_touched(relation, relation.function, state, beginning)
    result: Weights = {}
    groups: Iterable[Group] = state.groups(relation.key)
    if isinstance(relation.function, Ranked) and not relation.key and state.new:
        head = state.head(relation.function)
        groups = groups if head is None else [head]
    function = group_function(relation.function, state.shape)
    for group in groups:
        if not beginning:
            for row in function(group.copies(new=False)):
                result[row] = result.get(row, 0) - 1
        for row in function(group.copies(new=True)):
            result[row] = result.get(row, 0) + 1
    return {row: w for row, w in result.items() if w}


def finalize_touched(relation: Keyed, function: Finalize, state: Entries, beginning: bool) -> Weights:
    """The rows of touched entries: those that no rule has touched give the same before and after."""
    final = finalizer(function, state.shape)
    touched = state.find_touched(relation.key, always=function.scalar and beginning)
    result: Weights = {}
    for new in (True,) if beginning else (False, True):
        rows = state.rows(touched, final.reading, new=new, every=function.scalar)
        final.function(rows, result, 1 if new else -1)
    return {row: w for row, w in result.items() if w}
