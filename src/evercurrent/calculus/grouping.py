"""GROUP BY in the reference semantics: rows by key, aggregates over each group, grouping sets.

Law. A row belongs to one group of every grouping set; keys outside the set are NULL, and the grouping id tells such a NULL
from one in the data. A group exists while it has a row; the group without keys exists always.

    orders of 7: 5.00, 3.00; of 8: 4.00      GROUP BY ROLLUP (customer), sum(total), grouping_id()
                                             (7, 8.00, 0), (8, 4.00, 0), (NULL, 12.00, 1)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from evercurrent.calculus.nodes import Group
from evercurrent.data.zset import Row
from evercurrent.term.aggregates import evaluate_aggregate
from evercurrent.term.nodes import Aggregate, Term

Value = Callable[[Term, Row], Any]
Entries = list[tuple[Row, int]]


def group(query: Group, source: Iterable[tuple[Row, int]], value: Value) -> Iterator[tuple[Row, int]]:
    """One row for each group: keys, aggregates and, with grouping sets, the grouping id."""
    keyed = [(tuple(value(k, row) for k in query.keys), row, weight) for row, weight in source]
    positions = range(len(query.keys))
    for kept in query.sets if query.sets is not None else [tuple(positions)]:
        groups: dict[Row, Entries] = {} if kept else {(None,) * len(query.keys): []}
        for keys, row, weight in keyed:
            shown = tuple(keys[i] if i in kept else None for i in positions)
            groups.setdefault(shown, []).append((row, weight))
        missing = sum(1 << (len(query.keys) - 1 - i) for i in positions if i not in kept)
        suffix = () if query.sets is None else (missing,)
        for shown, entries in groups.items():
            aggregates = (aggregate(a, entries, value) for a in query.aggregates)
            yield (*shown, *aggregates, *suffix), 1


def aggregate(aggregate: Aggregate, entries: Entries, value: Value) -> Any:
    """The value of an aggregate over rows with multiplicities."""
    return evaluate_aggregate(
        aggregate,
        [
            (
                tuple(value(arg, row) for arg in aggregate.args),
                tuple(value(key.term, row) for key in aggregate.order),
                weight,
            )
            for row, weight in entries
            if aggregate.where is None or value(aggregate.where, row) is True
        ],
    )
