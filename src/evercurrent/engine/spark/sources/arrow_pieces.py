"""Rows of data files by Arrow: in the driver, where they are few, and in tasks, where Spark has no connector for the store.

    arrow_rows(disk, layout, pieces, columns)                    a table `c0, c1, ..., w`
    task_rows(session, reach, layout, pieces, columns)           the same as a frame; each file is read by a task

`Unfit` is raised where Spark's reader is to be asked: nested columns, dates in an old calendar, and whatever Arrow does not
convert exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy
import pyarrow
import pyarrow.compute
import pyarrow.parquet
from pyroaring import BitMap64
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from evercurrent.data.feeds import CHANGE_TYPE, SIGNS
from evercurrent.data.types import Member
from evercurrent.engine.spark.doors.door import door_of
from evercurrent.engine.spark.sources.pieces import Layout, Piece, is_nested, schema_with_weights
from evercurrent.engine.spark.storage.disk import Disk, Reach
from evercurrent.errors import StorageError

OLD_CALENDARS = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")


class Unfit(Exception):
    """Arrow would not read this exactly as Spark does."""


def arrow_rows(
    disk: Disk, layout: Layout, pieces: Sequence[Piece], columns: Sequence[Member]
) -> pyarrow.Table:
    """The rows of pieces, as weighted rows; `Unfit` if Spark is to read them."""
    target = schema_with_weights(columns)
    parts = [target.empty_table()]
    for piece in pieces:
        parts += [
            pyarrow.Table.from_batches([b]) for b in piece_rows(disk.map(piece.path), layout, piece, columns)
        ]
    return pyarrow.concat_tables(parts)


def piece_rows(
    data: Any, layout: Layout, piece: Piece, columns: Sequence[Member]
) -> Iterator[pyarrow.RecordBatch]:
    """The rows of one piece, batch after batch."""
    target = schema_with_weights(columns)
    if any(pyarrow.types.is_nested(f.type) for f in target):
        raise Unfit
    source = pyarrow.BufferReader(data)
    try:
        with pyarrow.parquet.ParquetFile(source, coerce_int96_timestamp_unit="us") as file:
            if any(mark in (file.metadata.metadata or {}) for mark in OLD_CALENDARS):
                raise Unfit
            there = names_in(file, layout)
            wanted = [there.get(f.name) for f in layout.columns_in_files(columns)]
            read = list(dict.fromkeys(n for n in wanted if n is not None))
            first = 0
            for batch in file.iter_batches(columns=[*read, CHANGE_TYPE] if piece.feed else read or None):
                rows = choose_rows(piece, first, batch)
                first += batch.num_rows
                if rows.num_rows:
                    yield convert(rows, layout, there, piece, columns, target)
    except pyarrow.ArrowException as problem:
        raise Unfit from problem


def names_in(file: pyarrow.parquet.ParquetFile, layout: Layout) -> dict[str, str]:
    """The names that a file has for columns, by their names in the layout."""
    if not layout.by_id:
        there = {n.lower(): n for n in file.schema_arrow.names}
        return {f.name: there[f.name.lower()] for f in layout.schema.fields if f.name.lower() in there}
    ids = {int((f.metadata or {}).get(b"PARQUET:field_id", -1)): f.name for f in file.schema_arrow}
    if set(ids) == {-1}:
        raise Unfit
    found = {}
    for f in layout.schema.fields:
        name = ids.get((f.metadata or {}).get("parquet.field.id", -2))
        if name is not None:
            found[f.name] = name
    return found


def choose_rows(piece: Piece, first: int, batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
    """Those rows of a batch that a piece means; `first` is the position of the first one in the file."""
    bits = piece.skipped if piece.skipped else piece.only
    if bits is None:
        return batch
    batch = without_views(batch)
    here = bits & BitMap64(range(first, first + batch.num_rows)) if len(bits) > 0 else bits
    places = numpy.fromiter(here, numpy.int64, len(here)) - first
    if not piece.skipped:
        return batch.take(pyarrow.array(places))
    if not len(places):
        return batch
    mask = numpy.ones(batch.num_rows, bool)
    mask[places] = False
    return batch.filter(pyarrow.array(mask))


def without_views(batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
    """The same rows; Arrow does not choose among texts that are views, which delta-rs says its files have."""
    plain = {pyarrow.string_view(): pyarrow.string(), pyarrow.binary_view(): pyarrow.binary()}
    fields = [f.with_type(plain.get(f.type, f.type)) for f in batch.schema]
    return batch.cast(pyarrow.schema(fields))


def convert(
    rows: pyarrow.RecordBatch,
    layout: Layout,
    there: dict[str, str],
    piece: Piece,
    columns: Sequence[Member],
    target: pyarrow.Schema,
) -> pyarrow.RecordBatch:
    arrays = []
    for i, c in enumerate(columns):
        kind, stored = target.field(i).type, layout.field_of(c)
        if stored is not None and stored.name in layout.partitions:
            text = piece.partition.get(stored.name)
            value = pyarrow.scalar(text or None, pyarrow.string()).cast(kind)
            arrays.append(pyarrow.repeat(value, rows.num_rows))
        elif stored is None or stored.name not in there:
            arrays.append(pyarrow.nulls(rows.num_rows, kind))
        else:
            if is_nested(stored.dataType):
                raise Unfit
            arrays.append(canonical(rows.column(there[stored.name]).cast(kind)))
    return pyarrow.RecordBatch.from_arrays([*arrays, weights(rows, piece)], schema=target)


def weights(rows: pyarrow.RecordBatch, piece: Piece) -> pyarrow.Array:
    if not piece.feed:
        return pyarrow.array(numpy.full(rows.num_rows, piece.sign, numpy.int64))
    kinds = rows.column(CHANGE_TYPE).to_pylist()
    try:
        return pyarrow.array([SIGNS[kind] * piece.sign for kind in kinds], pyarrow.int64())
    except KeyError as problem:
        raise StorageError(f"{piece.path} has a change of the unknown type {problem}") from problem


def canonical(column: pyarrow.Array) -> pyarrow.Array:
    """Floats with one zero and one NaN."""
    if not pyarrow.types.is_floating(column.type):
        return column
    zero = pyarrow.scalar(0, column.type)
    plain = pyarrow.compute.if_else(pyarrow.compute.equal(column, zero), zero, column)
    nan = pyarrow.scalar(float("nan"), column.type)
    return pyarrow.compute.if_else(pyarrow.compute.is_nan(plain), nan, plain)


def task_rows(
    session: SparkSession,
    reach: Reach,
    layout: Layout,
    pieces: Sequence[Piece],
    columns: Sequence[Member],
    schema: StructType,
) -> DataFrame:
    """The rows of pieces in an object store that Spark has no connector for: tasks read them through our own."""

    def read(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        from evercurrent.engine.spark.storage.object_disk import disk_of_task

        disk = disk_of_task(reach)
        for batch in batches:
            for row in batch.to_pylist():
                piece = unpack(row)
                try:
                    yield from piece_rows(disk.read(piece.path), layout, piece, columns)
                except Unfit as problem:
                    raise StorageError(
                        f"{piece.path} cannot be read without Spark's own reader: nested columns, or types that differ",
                        hint="give the session a connector for this store, and name the source by its table in the catalog",
                    ) from problem

    listed = door_of(session).one_task_each([pack(p) for p in pieces], PACKED)
    return listed.mapInArrow(read, schema)


PACKED = "path string, bytes bigint, sign int, partition map<string,string>, skipped binary, only binary, feed boolean"


def pack(piece: Piece) -> tuple[Any, ...]:
    """A piece as a row, on its way to a task."""
    skipped, only = (None if b is None else bytearray(b.serialize()) for b in (piece.skipped, piece.only))
    return piece.path, piece.bytes, piece.sign, dict(piece.partition), skipped, only, piece.feed


def unpack(row: dict[str, Any]) -> Piece:
    bits = {n: None if row[n] is None else BitMap64.deserialize(row[n]) for n in ("skipped", "only")}
    return Piece(**{**row, "partition": dict(row["partition"]), **bits})
