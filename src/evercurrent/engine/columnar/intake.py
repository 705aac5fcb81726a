"""How Arrow columns of one table are read: worked out once for a program, then used for every batch.

    intake = Intake(columns, read={0, 3}, stored=False)
    intake.take(feed)               columns 0 and 3 checked and as vectors; of the others only types and NULLs are looked at
    find_inserts(kinds)             which rows of a change feed are inserted

Law. `take` returns what reading the rows one by one would store, or raises `Unfit` (see `engine.columnar.arrow`).

>>> find_inserts(pyarrow.chunked_array([["insert", "delete", "update_postimage"]])).tolist()
[True, False, True]
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy
import pyarrow

from evercurrent.catalog.nodes import TableColumn
from evercurrent.data.feeds import SIGNS
from evercurrent.data.types import Type
from evercurrent.engine.columnar.arrow import check_column, check_vector, find_stored_type
from evercurrent.engine.columnar.given import GivenRows
from evercurrent.engine.columnar.vectors import Mask, Unfit


class Intake:
    """What is done with each column: `read` ones become vectors; of a table that is not stored, the others are left out."""

    __slots__ = ("_columns", "_passed_over", "_plan", "_types")

    def __init__(
        self,
        columns: Sequence[TableColumn],
        read: Collection[int],
        stored: bool,
        passed_over: Collection[str] = (),
    ) -> None:
        self._types = [c.type for c in columns]
        self._columns = [_ColumnIntake(i, c, i in read, stored) for i, c in enumerate(columns)]
        self._passed_over = frozenset(passed_over)
        self._plan: _IntakePlan | None = None

    def take(self, given: pyarrow.Table) -> GivenRows:
        """The rows of an Arrow table, checked."""
        schema, plan = given.schema, self._plan
        if plan is None or not schema.equals(plan.schema):
            plan = self._plan = self._make_plan(schema)
        rows = GivenRows(self._types, (), given.num_rows)
        rows.absent |= plan.free
        for column, place in plan.work:
            column.take(given.column(place), rows)
        if any(given.column(place).null_count for place in plan.required):
            raise Unfit("a NULL")
        return rows

    def _make_plan(self, schema: pyarrow.Schema) -> _IntakePlan:
        order = self._find_order(schema.names)
        work, required, free = [], [], set()
        for column, place in zip(self._columns, order, strict=True):
            source = schema.field(place).type
            if column.is_free(source):
                free.add(column.at)
            elif column.is_free(source, but_nulls=True):
                free.add(column.at)
                required.append(place)
            else:
                work.append((column, place))
        return _IntakePlan(schema, work, required, frozenset(free))

    def _find_order(self, names: Sequence[str]) -> list[int]:
        """Where each column of the table stands among columns of these names."""
        own = [n for n in names if n not in self._passed_over]
        if sorted(own) != sorted(c.name for c in self._columns):
            raise Unfit("other columns")
        return [names.index(c.name) for c in self._columns]


@dataclass(frozen=True, slots=True)
class _IntakePlan:
    """Which columns of tables of one schema are read, which must have no NULLs, and which are left out."""

    schema: pyarrow.Schema
    work: list[tuple[_ColumnIntake, int]]
    required: list[int]
    free: frozenset[int]


class _ColumnIntake:
    """What is done with one column."""

    __slots__ = ("at", "kept", "name", "nullable", "read", "type", "wanted")

    def __init__(self, at: int, column: TableColumn, read: bool, stored: bool) -> None:
        self.at = at
        self.name = column.name
        self.type: Type = column.type
        self.read = read
        self.kept = read or stored
        self.nullable = column.nullable
        self.wanted = find_stored_type(column.type)

    def is_free(self, source: pyarrow.DataType, but_nulls: bool = False) -> bool:
        """Whether any column of an Arrow type may be left out without a look at it, or with one at how many NULLs it has."""
        return not self.kept and (self.nullable or but_nulls) and source == self.wanted

    def take(self, column: pyarrow.ChunkedArray, rows: GivenRows) -> None:
        if not self.kept:
            if column.type != self.wanted:
                column = check_column(self.type, column)
            if column.null_count and not self.nullable:
                raise Unfit("a NULL")
            rows.leave_out(self.at)
            return
        vector = None
        if self.read:
            array, vector = check_vector(self.type, column)
        else:
            array = check_column(self.type, column)
        rows.know(self.at, array, vector)


# --- kinds of changes --------------------------------------------------------------------------------------

SHORT_KINDS = numpy.array([b"delete", b"insert"])
SHORT = 6
"""Most feeds have these kinds alone, which are of one length: their texts are compared as one."""


def find_inserts(kinds: pyarrow.ChunkedArray) -> Mask:
    """Which rows of a change feed are inserted; the others are deleted."""
    column = kinds.chunk(0) if kinds.num_chunks == 1 else kinds.combine_chunks()
    if kinds.null_count or isinstance(column, pyarrow.ChunkedArray):
        raise Unfit("a kind of change that is none")
    found = _find_short_kinds(column) if pyarrow.types.is_string(column.type) else None
    if found is not None:
        return found
    if not pyarrow.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    signs = [SIGNS.get(kind) for kind in column.dictionary.to_pylist()]
    if None in signs:
        raise Unfit("a kind of change that is none")
    inserts = numpy.array([sign == 1 for sign in signs], bool)
    result: Mask = inserts[column.indices.to_numpy()] if len(column) else numpy.zeros(0, bool)
    return result


def _find_short_kinds(column: pyarrow.Array) -> Mask | None:
    """The same where all kinds are "insert" or "delete"; else None."""
    size = len(column)
    _, places, texts = column.buffers()
    if not size or texts is None:
        return None
    starts = numpy.frombuffer(places, numpy.int32, size + 1, 4 * column.offset)
    first, last = int(starts[0]), int(starts[-1])
    if last - first != SHORT * size or (starts[1:] - starts[:-1] != SHORT).any():
        return None
    letters = numpy.frombuffer(texts, numpy.uint8, last - first, first)
    found: Mask = letters[::SHORT] == ord("i")
    return found if SHORT_KINDS.take(found).tobytes() == letters.tobytes() else None
