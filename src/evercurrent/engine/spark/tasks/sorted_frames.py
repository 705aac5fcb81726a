"""Frames as sorted segments: tasks write sorted pieces of what they compute, and merge them by ranges of keys.

A frame is computed once. Spark's own way to sort it into ranges would compute it twice, since it looks for the bounds of the ranges
first, and exchange all rows; its files would be read once more for their checksums and copies, which are made here on the way.

    frame 4, 1, 3, 2, 6, 5        pieces (1, 3, 4), (2, 5, 6)        segment: files (1, 2, 3), (4, 5, 6)
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from functools import partial

import pyarrow
from pyspark.errors import PythonException
from pyspark.sql import DataFrame
from pyspark.sql import types as spark
from pyspark.sql.types import StructType

from evercurrent.engine.spark.storage.entry_reader import plain_keys
from evercurrent.engine.spark.storage.file_schema import is_added
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.store_names import StoreName
from evercurrent.engine.spark.tasks.access import Access, task_reader
from evercurrent.engine.spark.tasks.merging import Target, merge
from evercurrent.engine.spark.tasks.pieces import Piece, write_piece
from evercurrent.engine.spark.tasks.runner import RESULT, Runner, Unserved, dumps
from evercurrent.engine.spark.translate.types import arrow_schema

PIECE_ROWS = 1_000_000
"""The most rows of a frame that become one piece,"""
PIECE_BYTES = 128 << 20
"""and the most bytes."""
SENT = (
    spark.BooleanType,
    spark.ByteType,
    spark.ShortType,
    spark.IntegerType,
    spark.LongType,
    spark.FloatType,
    spark.DoubleType,
    spark.DecimalType,
    spark.StringType,
    spark.BinaryType,
    spark.DateType,
    spark.TimestampType,
    spark.TimestampNTZType,
)
"""Types whose values Spark hands to tasks as files have them."""


def write_sorted(runner: Runner, store: StoreName, frame: DataFrame, distinct: bool) -> Segment | None:
    """A frame of entries or rows as a segment of a store; None if tasks do not serve. `distinct`: each row stands once in it."""
    schema = frame.schema
    folder = runner.reader.folder
    if not folder.shared_work or not folder.orders.get(store):
        return None
    if not all(isinstance(f.dataType, SENT) for f in schema.fields):
        return None
    if not distinct and not (plain_keys(schema) and any(not is_added(n) for n in schema.names)):
        return None
    try:
        return merge(runner, Target(store, schema, (), distinct), write_pieces(runner, store, frame))
    except Unserved:
        return None


def write_pieces(runner: Runner, store: StoreName, frame: DataFrame) -> list[Piece]:
    """Have tasks write the rows of a frame, each in pieces that are sorted."""
    folder = runner.reader.folder
    access = Access.to(folder, [], [store])
    runner.jobs += 1
    work = partial(write_rows, access, store, frame.schema)
    try:
        found = frame.mapInArrow(work, RESULT).collect()
    except PythonException as problem:
        if "No module named 'evercurrent" in str(problem):
            folder.shared_work = False
            raise Unserved("executors do not have this package") from problem
        raise
    pieces = []
    for row in found:
        piece, files = pickle.loads(row["made"])
        runner.note(files)
        pieces.append(piece)
    return pieces


def write_rows(
    access: Access, store: StoreName, schema: StructType, batches: Iterable[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    """What a task does with its rows: pieces of a bounded size."""
    reader = task_reader(access)
    arrow = arrow_schema(schema)
    held: list[pyarrow.RecordBatch] = []
    rows = size = 0

    def write_all() -> Iterator[pyarrow.RecordBatch]:
        reader.folder.made = []
        table = pyarrow.Table.from_batches(held).select(arrow.names).cast(arrow)
        piece = write_piece(reader, store, reader.folder.arrange(store, table))
        if piece is not None:
            known = reader.folder.expected[piece.file]
            made = dumps((piece, [(piece.file, known.store, known.digest)]))
            yield pyarrow.RecordBatch.from_pydict(
                {"place": pyarrow.array([0]), "made": pyarrow.array([made])}
            )

    for batch in batches:
        if batch.num_rows:
            held.append(batch)
            rows += batch.num_rows
            size += batch.nbytes
        if rows >= PIECE_ROWS or size >= PIECE_BYTES:
            yield from write_all()
            held, rows, size = [], 0, 0
    if held:
        yield from write_all()
