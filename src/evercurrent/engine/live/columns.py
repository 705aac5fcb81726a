"""The states of a program between dictionaries and columns.

A program is in one of two forms. As *rows* its states are dictionaries, for the generated functions; as *columns* they are
arrays (`engine.columnar`), for large deltas and fills. Both hold the same entries. Columns stay until somebody needs
rows: a single change, or a compiled function that was handed to a caller.

    fill of a million rows      runs over columns; the states stay columns
    insert of one row           the states become dictionaries, once
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import thread_time
from typing import TYPE_CHECKING, Any

from evercurrent.data.types import BIGINT
from evercurrent.data.zset import Row, ZSet
from evercurrent.delta.program import Fixpoint, Program
from evercurrent.engine.live.memory import sparing
from evercurrent.engine.live.storages import Storage

if TYPE_CHECKING:
    from evercurrent.engine.columnar.deltas import Delta
    from evercurrent.engine.columnar.program import ColumnProgram
    from evercurrent.engine.columnar.state import ColumnState
    from evercurrent.engine.columnar.vectors import Pools

LEAST_ROWS = 2000
"""Fewer rows are not worth the compilation of columns."""

LEAST_CHANGE = 700
"""So many rows are changed quicker over columns than over rows where the states are columns already.

Measured with TPC-H's Q3 and Q18 as streams: a change of columns takes about 1.8 ms and 0.4 microseconds a row, rows take 3.
"""


LEAST_ENTRIES = 2000
"""Fewer entries say nothing about the cost of one."""


SHARE = 8
"""Small changes run over columns until they have taken this part of the time in which dictionaries are made.

Each costs hundreds of times as much as over dictionaries, and the load that made columns took longer than making dictionaries does.
"""


def find_least(present: bool) -> int:
    """How many rows a change over columns has at least; `present`: whether the states are columns."""
    return min(LEAST_ROWS, LEAST_CHANGE) if present else LEAST_ROWS


class Conversion:
    """How long it takes to make dictionaries of an entry of columns, as it was the last time; a guess until then.

    The machine decides it, not the program.
    """

    __slots__ = ("seconds_per_entry",)

    def __init__(self) -> None:
        self.seconds_per_entry = 5e-7

    def limit(self, entries: int) -> float:
        """How many seconds small changes over so many entries may take until they become dictionaries."""
        return entries * self.seconds_per_entry / SHARE

    @contextmanager
    def measure(self, entries: int) -> Iterator[None]:
        """Measures what is done inside: making dictionaries of so many entries."""
        start = thread_time()
        with sparing.without_collector(entries):
            yield
        if entries >= LEAST_ENTRIES:
            self.seconds_per_entry = (thread_time() - start) / entries


conversion = Conversion()


def try_columns(program: Program, pools: Pools | None = None) -> ColumnProgram | None:
    """The program over columns, with empty states; None if something in it needs rows."""
    if any(isinstance(r, Fixpoint) for r in program.relations):
        return None
    from evercurrent.engine.columnar.program import ColumnProgram
    from evercurrent.engine.columnar.vectors import Unfit

    try:
        return ColumnProgram(program, pools)
    except Unfit:
        return None


def fill_columns(
    part: Program, sources: Mapping[str, Sequence[tuple[Row, int]] | Delta], pools: Pools | None = None
) -> ColumnProgram | None:
    """The part of a program, filled from the rows of its inputs; None if rows must do it."""
    made = try_columns(part, pools)
    if made is None:
        return None
    from evercurrent.engine.columnar.vectors import Unfit

    try:
        made.transact({name: to_delta(made, name, rows) for name, rows in sources.items()})
    except Unfit:
        return None
    made.commit()
    return made


def to_delta(program: ColumnProgram, relation: str, rows: Iterable[tuple[Row, int]] | Delta) -> Delta:
    from evercurrent.engine.columnar.deltas import Delta, of_rows

    if isinstance(rows, Delta):
        return rows
    if hasattr(rows, "delta"):
        found: Delta = rows.delta(program.pools)  # an Arrow table, of which only some columns are needed
        return found
    entries = rows if isinstance(rows, list) else list(rows)
    return of_rows([c.type for c in program.columns[relation]], entries, program.pools)


def to_storage(state: ColumnState, storage: Storage, pools: Pools) -> None:
    """Makes the entries of the dictionaries those of the columns. Idempotent."""
    import numpy

    from evercurrent.engine.columnar.vectors import to_list

    definition = state.state
    ids = numpy.zeros(1, numpy.int64) if storage.layout.permanent else state.alive()

    def read(name: str, t: Any) -> list[Any]:
        return to_list(t, state.read(name, ids), pools)

    parts: list[list[Any]] = [] if definition.unique else [state.weights[ids].tolist()]
    parts += [read(d.name, d.type) for d in definition.dependents]
    parts += [sums[ids].tolist() for sums in state.sums]
    storage.load([read(c.name, c.type) for c in definition.columns], parts, len(ids))


def from_storage(storage: Storage, state: ColumnState, pools: Pools) -> None:
    """Adds the entries of the dictionaries to columns that are empty."""
    import numpy

    from evercurrent.engine.columnar.exact_sums import objects_of
    from evercurrent.engine.columnar.state import no_floats
    from evercurrent.engine.columnar.vectors import Vector, from_list

    definition, weighed = storage.layout.state, not storage.layout.state.unique
    columns: list[Row] = []
    payloads: list[Any] = []
    for key, payload in storage.entries():
        columns.append(key)
        payloads.append(storage.parts(payload))
    if not columns:
        return
    lists = [list(x) for x in zip(*columns, strict=True)]
    parts = [list(x) for x in zip(*payloads, strict=True)]
    weights = parts.pop(0) if weighed else [1] * len(columns)
    n = len(definition.dependents)

    def vectors(fields: Sequence[Any], values: Sequence[list[Any]]) -> list[Vector]:
        return [from_list(f.type, v, pools) for f, v in zip(fields, values, strict=True)]

    totals = [
        objects_of(v) if own.dtype == object else from_list(BIGINT, v, pools).values
        for own, v in zip(state.sums, parts[n:], strict=True)
    ]
    sums = [no_floats(len(t)) if t.dtype == object else t for t in totals]
    state.add(
        vectors(definition.columns, lists),
        vectors(definition.dependents, parts[:n]),
        numpy.array(weights, numpy.int64),
        sums,
    )
    state.set_totals(totals)
    state.changes = []


def load_columns(program: Program, storages: Mapping[str, Storage]) -> ColumnProgram | None:
    """The program over columns, with the entries of dictionaries; None if something needs rows."""
    made = try_columns(program)
    if made is None:
        return None
    from evercurrent.engine.columnar.vectors import Unfit

    try:
        for name, storage in storages.items():
            from_storage(storage, made.states[name], made.pools)
    except Unfit:
        return None
    return made


def rows_of_columns(made: ColumnProgram | None, relation: str) -> Iterator[tuple[Row, int]] | None:
    """The rows of a relation, if columns hold them and can say them."""
    if made is None:
        return None
    from evercurrent.engine.columnar.vectors import Unfit

    try:
        return made.rows(relation)
    except Unfit:  # a value out of its range, which is an error of the read
        return None


def page_of_columns(
    made: ColumnProgram | None, relation: str, offset: int, limit: int
) -> tuple[list[Row], int] | None:
    """A page of the rows of a relation, and how many there are, if columns hold them and can say them."""
    if made is None:
        return None
    from evercurrent.engine.columnar.vectors import Unfit

    try:
        return made.page(relation, offset, limit)
    except Unfit:
        return None


def to_zset(columns: Sequence[Any], delta: Delta, pools: Pools) -> ZSet:
    from evercurrent.engine.columnar.deltas import to_rows

    result = ZSet()
    if len(delta):
        types = [c.type for c in columns]
        rows = to_rows(types, [delta.column(i) for i in range(len(types))], len(delta), pools)
        for row, weight in zip(rows, delta.weights.tolist(), strict=True):
            result.add(row, weight)
    return result
