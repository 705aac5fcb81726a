"""Large changes that lie in plain Parquet files: tasks read the files, and no value passes through Spark.

    frame    spark.read.parquet("changes")               id, total, _change_type
    tasks    row groups of the files, by Arrow           pieces c0, c1, w, h, sorted by the key

Law. The pieces are those that Spark's own scan would be made into. Where that is not certain `scan_of` returns None, or the tasks
raise `Unserved`, and Spark reads the files: another format, partitions, a column that a file lacks or has in another type,
dates of the old calendar, a kind of change that is none.

>>> group([("a", 0, 60), ("a", 1, 60), ("b", 0, 10)], 100)
[(('a', 0, 2),), (('b', 0, 1),)]
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Any

import numpy
import pyarrow
import pyarrow.compute
import pyarrow.parquet
from pyspark.sql import DataFrame

from evercurrent.data.feeds import CHANGE_TYPE, SIGNS
from evercurrent.data.types import Binary, Boolean, Date, Decimal, Integer, Member, String
from evercurrent.engine.spark.doors.door import door_of
from evercurrent.engine.spark.storage.entry_reader import EntryReader
from evercurrent.engine.spark.storage.file_schema import row_schema
from evercurrent.engine.spark.storage.store_names import StoreName
from evercurrent.engine.spark.tasks.access import Access
from evercurrent.engine.spark.tasks.pieces import Piece, write_piece
from evercurrent.engine.spark.tasks.runner import Runner, Unserved
from evercurrent.engine.spark.tasks.sorted_frames import PIECE_BYTES, PIECE_ROWS
from evercurrent.engine.spark.translate.types import arrow_schema

READ_ALIKE = Integer | String | Boolean | Decimal | Date | Binary
"""Types whose values Arrow reads as Spark does."""
MOST_FILES = 1_000
"""The driver reads the footers of at most this number of files."""
MOST_GROUP_BYTES = 512 << 20
"""A row group of more bytes than this is left to Spark, which reads it piece by piece."""
NEW_CALENDAR = datetime.date(1582, 10, 15)
"""Older dates mean another day to some writers of files."""

Part = tuple[tuple[str, int, int], ...]
"""Row groups of files: path, the first and the one behind the last."""


@dataclass(frozen=True)
class Scan:
    """Row groups of Parquet files (path, number, rows), and what the columns of a frame are in them."""

    groups: tuple[tuple[str, int, int], ...]
    columns: dict[str, str]
    constants: dict[str, str]

    @property
    def rows(self) -> int:
        return sum(rows for _, _, rows in self.groups)


@dataclass(frozen=True)
class Wanted:
    """The columns of a table as the files name them, and the one that says what a change is, or the change that all rows are."""

    store: StoreName
    fields: tuple[Member, ...]
    names: tuple[str, ...]
    kind: str | None
    change: str

    @property
    def schema(self) -> pyarrow.Schema:
        return arrow_schema(row_schema([f.type for f in self.fields]))


def scan_of(frame: DataFrame) -> Scan | None:
    """What a frame reads, if it does nothing but read columns of local Parquet files as they are."""
    found = door_of(frame.sparkSession).parquet_columns(frame)
    if found is None:
        return None
    files, columns, constants = found
    if not files or len(files) > MOST_FILES:
        return None
    groups = []
    try:
        for file in files:
            metadata = pyarrow.parquet.read_metadata(file)
            each = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
            if any(g.total_byte_size > MOST_GROUP_BYTES for g in each):
                return None
            groups += [(file, i, g.num_rows) for i, g in enumerate(each)]
    except (OSError, pyarrow.ArrowException):
        return None  # Spark says what is wrong with it
    return Scan(tuple(groups), columns, constants)


def find_columns(
    scan: Scan, store: StoreName, fields: Sequence[Member], given: dict[str, str], kind: str
) -> Wanted | None:
    """What tasks are to read of a scan; `kind` is the frame's column of changes, none: all rows are inserted."""
    if not all(isinstance(f.type, READ_ALIKE) for f in fields):
        return None
    names = [scan.columns.get(given[f.name.lower()]) for f in fields]
    change = scan.constants.get(kind, "") if kind else "insert"
    if None in names or (kind and kind not in scan.columns and change not in SIGNS):
        return None
    return Wanted(store, tuple(fields), tuple(n for n in names if n), scan.columns.get(kind), change)


def write_scanned(runner: Runner, wanted: Wanted, scan: Scan) -> list[Piece]:
    """Have tasks write the rows of files, each in a piece that is sorted; `Unserved` if Spark is to read them."""
    each = min(PIECE_ROWS, ceil(scan.rows / runner.cores))
    parts = group(scan.groups, max(1, each))
    access = Access.to(runner.reader.folder, [], [wanted.store])
    found = runner.run(partial(write_part, wanted), parts, access)
    return [piece for pieces in found for piece in pieces]


def group(groups: Iterable[tuple[str, int, int]], most: int) -> list[Part]:
    """Row groups that follow on each other, of about so many rows together."""
    result: list[Part] = []
    open_parts: list[tuple[str, int, int]] = []
    held = 0
    for file, number, rows in groups:
        if open_parts and open_parts[-1][0] == file and open_parts[-1][2] == number:
            open_parts[-1] = (file, open_parts[-1][1], number + 1)
        else:
            open_parts.append((file, number, number + 1))
        held += rows
        if held >= most:
            result.append(tuple(open_parts))
            open_parts, held = [], 0
    return [*result, tuple(open_parts)] if open_parts else result


def write_part(wanted: Wanted, reader: EntryReader, part: Part) -> list[Piece]:
    """What a task does with row groups."""
    pieces: list[Piece] = []
    held: list[pyarrow.Table] = []
    for file, first, last in part:
        for number in range(first, last):
            held.append(read_group(wanted, file, number))
            if sum(t.nbytes for t in held) >= PIECE_BYTES:
                pieces += write_rows(wanted, reader, held)
                held = []
    return pieces + write_rows(wanted, reader, held)


def write_rows(wanted: Wanted, reader: EntryReader, tables: Sequence[pyarrow.Table]) -> list[Piece]:
    if not tables:
        return []
    table = reader.folder.arrange(wanted.store, pyarrow.concat_tables(tables))
    piece = write_piece(reader, wanted.store, table)
    return [] if piece is None else [piece]


def read_group(wanted: Wanted, path: str, number: int) -> pyarrow.Table:
    """The rows of a row group, weighted."""
    schema = wanted.schema
    names = list(dict.fromkeys([*wanted.names, *([wanted.kind] if wanted.kind else [])]))
    try:
        with pyarrow.parquet.ParquetFile(path, memory_map=True, pre_buffer=False) as file:
            there = file.schema_arrow.names
            if any(there.count(n) != 1 for n in names):
                raise Unserved("a file has other columns")
            rows = file.read_row_group(number, columns=names, use_threads=False)
    except (OSError, pyarrow.ArrowException) as problem:
        raise Unserved(str(problem)) from problem
    columns = [rows.column(n) for n in wanted.names]
    for column, field in zip(columns, schema, strict=False):
        if column.type != field.type:
            raise Unserved(f"a file has a column of type {column.type}")
        check_values(column)
    weights = weigh(wanted, rows)
    return pyarrow.Table.from_arrays([*columns, pyarrow.array(weights, schema.field(-1).type)], schema=schema)


def check_values(column: pyarrow.ChunkedArray) -> None:
    """Raises `Unserved` for texts whose bytes are none, which Arrow does not look at, and for dates of an old calendar."""
    if pyarrow.types.is_string(column.type):
        try:
            column.validate(full=True)
        except pyarrow.ArrowException as problem:
            raise Unserved(str(problem)) from problem
    if pyarrow.types.is_date32(column.type):
        least = pyarrow.compute.min(column).as_py()
        if least is not None and least < NEW_CALENDAR:
            raise Unserved("dates of an old calendar")


def weigh(wanted: Wanted, rows: pyarrow.Table) -> Any:
    """The weights of rows: 1 if they are inserted, -1 if they are deleted."""
    if wanted.kind is None:
        return numpy.full(rows.num_rows, SIGNS[wanted.change], numpy.int64)
    kinds = rows.column(wanted.kind)
    if not pyarrow.types.is_string(kinds.type):
        raise Unserved(f"{CHANGE_TYPE} of type {kinds.type}")
    weights = numpy.zeros(rows.num_rows, numpy.int64)
    for name, sign in SIGNS.items():
        weights += sign * pyarrow.compute.equal(kinds, name).fill_null(False).to_numpy()
    if not weights.all():
        raise Unserved(f"a {CHANGE_TYPE} that is none")
    return weights
