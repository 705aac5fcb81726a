"""Windows that must be expensive: one change changes the results of many rows, however they are kept.

    row_number() OVER (ORDER BY points)              a new first row renumbers all others
    row_number() OVER (ORDER BY points) ... <= 10    a top of ten rows: nothing to say

`explain` says so of every such window, and CREATE VIEW warns of those without PARTITION BY, where many rows may be the whole table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evercurrent.algebra.nodes import Map, Plan, Select, Top, Window
from evercurrent.algebra.walk import nodes
from evercurrent.term.nodes import WindowFunction

BEHIND = ("row_number", "rank", "dense_rank")
ALL = ("ntile", "percent_rank", "cume_dist")
NEIGHBOURS = ("lag", "lead")


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a change of one row reaches in the results of a window function, and what to write instead."""

    function: WindowFunction
    rows: str
    instead: str

    def __str__(self) -> str:
        of = "its partition" if self.function.partition else "the table"
        return f"{self.function.function}(): a change of one row can change the result of {self.rows} in {of}; {self.instead}"


def find_reaches(plan: Plan) -> Iterator[Reach]:
    """Yields the functions of a plan whose results a single change may change in many rows."""
    for node in nodes(plan):
        if isinstance(node, Window) and not _is_short(node.input):
            for _, function in node.functions:
                found = _reach(function)
                if found is not None:
                    yield Reach(function, *found)


def _reach(f: WindowFunction) -> tuple[str, str] | None:
    first = "read only the first (`WHERE r <= 10`, or ORDER BY r LIMIT 10), which is kept as a top"
    if f.function in BEHIND:
        return "all rows behind it", first
    if f.function in ALL:
        return "every row", "count the rows in a view with GROUP BY, and divide when it is read"
    if f.function in NEIGHBOURS or (f.frame.start is not None and f.frame.end is not None):
        return None
    if f.frame.start is None and f.frame.end is None:
        return "every row", "aggregate in a view with GROUP BY, and join it when it is read"
    if f.function in ("first_value", "last_value", "nth_value", "min", "max"):
        return None  # few rows show a value that one row changes, as a rule
    side = "behind" if f.frame.start is None else "in front of"
    return f"all rows {side} it", "a frame with two bounds (ROWS 10 PRECEDING) reaches as far as it says"


def _is_short(plan: Plan) -> bool:
    """Whether only a few rows of each partition are read."""
    while isinstance(plan, Map | Select):
        plan = plan.input
    return isinstance(plan, Top) and plan.limit is not None


def table_note(plan: Plan) -> str | None:
    """Returns one line about all windows over a whole table of which one change moves many results.

    sum(), ntile(): a change of one row can change the result of every row in the table; explain() says what to write instead
    """
    found = {str(r): r for r in find_reaches(plan) if not r.function.partition}
    if len(found) < 2:
        return next(iter(found), None)
    names = ", ".join(dict.fromkeys(f"{r.function.function}()" for r in found.values()))
    rows = {r.rows for r in found.values()}
    reached = rows.pop() if len(rows) == 1 else "many rows"
    return f"{names}: a change of one row can change the result of {reached} in the table; explain() says what to write instead"


def window_notes(plan: Plan) -> Iterator[str]:
    """Lines of the summary of a view; none, if a change reaches few rows of every window."""
    found = list(dict.fromkeys(map(str, find_reaches(plan))))
    if found:
        yield "  windows"
        for line in found:
            yield f"    {line}"
