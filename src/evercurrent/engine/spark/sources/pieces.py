"""Rows of data files, as a version of a table says: without those that are deleted, under the names that the table has.

    Piece("a.parquet", skipped={3})              all rows of a file but the fourth
    Piece("a.parquet", only={3}, sign=-1)        the fourth row, taken off
    Piece("c.parquet", feed=True)                rows of a change feed, with the sign that their `_change_type` says

A `Layout` says how the columns of the table are found in its files: by name, by the name that the table calls them by in
files, or by a number; and which columns are not in files, since all rows of a file have the same value in them. What is
the sum of pieces is read by the driver (`arrow_pieces`), if it is little and there is nothing nested, or by Spark here. Both
return weighted rows `c0, c1, ..., w`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from urllib.parse import quote

import numpy
import pyarrow
from pyroaring import BitMap64
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructField, StructType

from evercurrent.data.feeds import CHANGE_TYPE, SIGNS
from evercurrent.data.types import Member
from evercurrent.engine.spark.storage.file_schema import W
from evercurrent.engine.spark.storage.segments import BROADCAST_ROWS
from evercurrent.engine.spark.translate.types import arrow_type, spark_type
from evercurrent.engine.spark.translate.zeros import one_zero

FIELD_ID = "parquet.field.id"
READ_BY_ID = "spark.sql.parquet.fieldId.read.enabled"
PATH, FILE, POSITION = "evercurrent_path", "evercurrent_file", "evercurrent_position"
UNESCAPED = "/:!$&'()*+,;=@~-._"
"""Letters that Spark leaves as they are in addresses."""


@dataclass(frozen=True)
class Piece:
    """Rows of a file: all but those at `skipped`, or those at `only`."""

    path: str
    bytes: int = 0
    sign: int = 1
    partition: Mapping[str, str | None] = field(default_factory=dict)
    skipped: BitMap64 | None = None
    only: BitMap64 | None = None
    feed: bool = False


@dataclass(frozen=True)
class Layout:
    """The columns of a table as its files have them: `schema` has their names there, `names` those of the table."""

    names: tuple[str, ...]
    schema: StructType
    partitions: frozenset[str] = frozenset()  # names in files of the columns that are not in files
    by_id: bool = False

    def field_of(self, column: Member) -> StructField | None:
        """How a column of the table is called in files, and its type; None if the table does not have it."""
        for name, stored in zip(self.names, self.schema.fields, strict=True):
            if name.lower() == column.name.lower():
                return stored
        return None

    def columns_in_files(self, columns: Sequence[Member]) -> list[StructField]:
        found = (self.field_of(c) for c in columns)
        return [f for f in found if f is not None and f.name not in self.partitions]


def spark_rows(
    session: SparkSession, layout: Layout, pieces: Sequence[Piece], columns: Sequence[Member]
) -> DataFrame:
    """The rows of pieces, at least one, as a frame: the sum of their parts is what is meant."""
    frames = [group_rows(session, layout, group, columns) for group in groups(pieces) if group]
    return reduce(DataFrame.unionByName, frames)


def groups(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    """Pieces that are read in the same way, no file twice."""
    found: dict[tuple[int, bool, str, int], list[Piece]] = {}
    times: dict[tuple[int, bool, str, str], int] = {}
    for piece in pieces:
        mode = "skipped" if piece.skipped else "only" if piece.only is not None else ""
        way = (piece.sign, piece.feed, mode)
        times[*way, piece.path] = number = times.get((*way, piece.path), 0) + 1
        found.setdefault((*way, number), []).append(piece)
    yield from found.values()


def group_rows(
    session: SparkSession, layout: Layout, group: Sequence[Piece], columns: Sequence[Member]
) -> DataFrame:
    first = group[0]
    fields = layout.columns_in_files(columns)
    if first.feed:
        fields = [*fields, StructField(CHANGE_TYPE, StringType())]
    if layout.by_id:
        session.conf.set(READ_BY_ID, "true")
    # Names of folders are what they are: none of their letters is a pattern, and none is a column.
    reader = session.read.schema(StructType(fields)).option("__globPaths__", "false")
    frame = reader.option("mergeSchema", "false").parquet(*(p.path for p in group))
    used = [f.name for c in columns if (f := layout.field_of(c)) is not None and f.name in layout.partitions]
    values = {tuple(p.partition.get(name) for name in used) for p in group}
    if first.skipped or first.only is not None or len(values) > 1:
        frame = with_files(session, frame, group, used)
        if first.skipped or first.only is not None:
            frame = at_positions(session, frame, group)
    constant = dict(zip(used, next(iter(values)), strict=True)) if len(values) == 1 else {}
    chosen = []
    for i, c in enumerate(columns):
        stored, wanted = layout.field_of(c), spark_type(c.type)
        if stored is None:
            value = F.lit(None).cast(wanted)
        elif stored.name in constant:
            value = partition_value(F.lit(constant[stored.name]), wanted)
        elif stored.name in used:
            value = partition_value(F.col(f"p{used.index(stored.name)}"), wanted)
        else:
            value = one_zero(frame[f"`{escape_name(stored.name)}`"].cast(wanted), c.type)
        chosen.append(value.alias(f"c{i}"))
    if first.feed:
        kinds = reduce(
            lambda so_far, kind: so_far.when(F.col(CHANGE_TYPE) == kind, SIGNS[kind]),
            SIGNS,
            F.when(F.lit(False), 0),
        )
        weight = kinds * F.lit(first.sign)
    else:
        weight = F.lit(first.sign)
    return frame.select(*chosen, weight.cast("bigint").alias(W))


def partition_value(text: Column, wanted: DataType) -> Column:
    """The value of a partition column from its text in the log; an empty text is NULL."""
    return F.when(text != "", text).cast(wanted)


def plain_path(path: str) -> str:
    """A path without what Spark and others write before it.

    >>> plain_path("file:///a/b"), plain_path("/a/b"), plain_path("hdfs://h/a")
    ('/a/b', '/a/b', 'hdfs://h/a')
    """
    return "/" + path.removeprefix("file:").lstrip("/") if path.startswith(("file:", "/")) else path


def spellings(path: str) -> set[str]:
    """All ways in which Spark may write the address of a file.

    >>> sorted(spellings("/a b"))
    ['/a b', 'file:///a b', 'file:///a%20b', 'file:/a b', 'file:/a%20b']
    """
    forms = {path} if not path.startswith("/") else {f"file:{path}", f"file://{path}"}
    return {path} | forms | {quote(f, safe=UNESCAPED) for f in forms}


def with_files(
    session: SparkSession, frame: DataFrame, group: Sequence[Piece], used: Sequence[str]
) -> DataFrame:
    """Rows with the number of their file, their position in it, and the texts of its partition columns, as `p0, p1, ...`.

    A row of a file that is not recognised makes the job fail: it must not pass as one that is not deleted.
    """
    known = [(form, i) for i, p in enumerate(group) for form in spellings(p.path)]
    table = {
        "q": pyarrow.array([form for form, _ in known], pyarrow.string()),
        "n": pyarrow.array([i for _, i in known], pyarrow.int32()),
    }
    for j, name in enumerate(used):
        values = [p.partition.get(name) for p in group]
        table[f"p{j}"] = pyarrow.array([values[i] for _, i in known], pyarrow.string())
    files = session.createDataFrame(pyarrow.table(table))
    if len(known) <= BROADCAST_ROWS:
        files = F.broadcast(files)
    place = F.col("_metadata.row_index").alias(POSITION)
    placed = frame.select("*", F.col("_metadata.file_path").alias(PATH), place)
    joined = placed.join(files, F.col(PATH) == F.col("q"), "left")
    unknown = F.raise_error(F.concat(F.lit("a row of an unknown file: "), F.col(PATH)))
    number = F.coalesce(F.col("n"), unknown.cast("int"))
    texts = [F.when(number.isNotNull(), F.col(f"p{j}")).alias(f"p{j}") for j in range(len(used))]
    return joined.select(
        *(joined[f"`{escape_name(n)}`"] for n in frame.columns), number.alias(FILE), POSITION, *texts
    )


def at_positions(session: SparkSession, frame: DataFrame, group: Sequence[Piece]) -> DataFrame:
    """The rows that are not skipped, or only those that are wanted."""
    chosen = [p.skipped if p.skipped else p.only or BitMap64() for p in group]
    total = sum(len(bits) for bits in chosen)
    files = numpy.repeat(numpy.arange(len(chosen), dtype=numpy.int32), [len(bits) for bits in chosen])
    places = numpy.fromiter((place for bits in chosen for place in bits), numpy.int64, total)
    positions = session.createDataFrame(
        pyarrow.table({"f": pyarrow.array(files), "place": pyarrow.array(places)})
    )
    if total <= BROADCAST_ROWS:
        positions = F.broadcast(positions)
    meets = (F.col(FILE) == F.col("f")) & (F.col(POSITION) == F.col("place"))
    return frame.join(positions, meets, "left_anti" if group[0].skipped else "left_semi")


def escape_name(name: str) -> str:
    return name.replace("`", "``")


def is_nested(t: DataType) -> bool:
    return isinstance(t, StructType | ArrayType | MapType)


def schema_with_weights(columns: Sequence[Member]) -> pyarrow.Schema:
    fields = [pyarrow.field(f"c{i}", arrow_type(spark_type(c.type))) for i, c in enumerate(columns)]
    return pyarrow.schema([*fields, pyarrow.field(W, pyarrow.int64())])
