"""A source as a reference: its rows are where they are, at the version that was reached.

A version of the warehouse lists an origin (`origins`) in the place of files, and whoever reads the table reads the source as of
that version: fills, queries, `why`, `verify`, a recomputation, an earlier version of the warehouse.

    version 12 of the warehouse      orders: delta /lake/orders at version 7
    version 13, after a refresh      orders: delta /lake/orders at version 9; version 12 still reads version 7

Law. As long as the source can be read at that version, the rows of an origin never change. When it cannot, reading raises a
`StorageError` that says what to do; it never returns other rows.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.sources import delta, iceberg
from evercurrent.engine.spark.sources.file_difference import all_rows
from evercurrent.engine.spark.sources.nodes import Cursor, LostHistoryError, Source, way_out
from evercurrent.engine.spark.sources.origins import source_of
from evercurrent.engine.spark.sources.reading import Reading, frame_of, hold_rows
from evercurrent.engine.spark.sources.session_tables import native_rows
from evercurrent.engine.spark.storage.disk import Disk
from evercurrent.engine.spark.storage.entry_reader import TooLarge
from evercurrent.engine.spark.storage.file_schema import W
from evercurrent.engine.spark.storage.lookup import Wanted, only
from evercurrent.errors import StorageError

HELD_BYTES = 64 << 20
"""The driver reads the files of an origin itself if they have at most this number of bytes."""
LISTED_KEYS = 1_000
"""The most wanted keys that are written into the filter of a job; more are joined."""
KNOWN = 64


@dataclass(frozen=True)
class Located:
    """Where the rows of an origin are: files on a disk."""

    disk: Disk
    reading: Reading

    @property
    def bytes(self) -> int:
        return self.reading.bytes


class SourceRows:
    """Reads the rows of origins (see `storage.files.Origins`)."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.known: OrderedDict[str, tuple[Source, Located]] = OrderedDict()

    def find_files(self, origin: str) -> tuple[Source, Located]:
        found = self.known.get(origin)
        if found is None:
            source, cursor = source_of(origin)
            found = self.known[origin] = source, locate(self.engine, source, cursor)
            while len(self.known) > KNOWN:
                self.known.popitem(last=False)
        require_files(*found)
        return found

    def frame(self, session: SparkSession, origin: str, names: Sequence[str]) -> DataFrame:
        if is_native(origin):
            return native_rows(self.engine, session, *source_of(origin)).select(*names)
        source, found = self.find_files(origin)
        rows = frame_of(session, found.disk, [found.reading], source.columns)
        return rows.select(*names)

    def table(
        self, origin: str, schema: pyarrow.Schema, wanted: Sequence[Wanted], most: int
    ) -> pyarrow.Table:
        names = [n for n in schema.names if n != W]
        asked = list(dict.fromkeys([*names, *(w.column for w in wanted)]))
        held = None if is_native(origin) else self.hold(origin, asked)
        if held is not None:
            rows = only(held, wanted) if wanted else held
            return rows.select(schema.names).cast(schema)
        frame = self.frame(self.engine.session, origin, [*asked, W])
        for w in wanted:
            frame = under(self.engine.session, frame, w)
        chosen = frame.select(*schema.names)
        rows = (chosen.limit(most + 1) if most < 2**31 - 2 else chosen).toArrow()
        if rows.num_rows > most:
            raise TooLarge
        return rows.select(schema.names).cast(schema)

    def hold(self, origin: str, names: Sequence[str]) -> pyarrow.Table | None:
        """All rows, read by the driver; None if Spark is to read them."""
        source, found = self.find_files(origin)
        if found.bytes > HELD_BYTES:
            return None
        columns = [source.columns[int(n[1:])] for n in names]
        rows = hold_rows(self.engine, found.disk, [found.reading], columns)
        return None if rows is None else rows.rename_columns([*names, W])


def is_native(origin: str) -> bool:
    """Whether the session reads an origin, by a reader of its own."""
    return bool(source_of(origin)[1].get("reader") == "session")


def under(session: SparkSession, frame: DataFrame, wanted: Wanted) -> DataFrame:
    """The rows that have one of the wanted values in a column."""
    column = F.col(wanted.column)
    if len(wanted.keys) <= LISTED_KEYS:
        meets = column.isin(*wanted.keys) if wanted.keys else F.lit(False)
        return frame.where(meets | column.isNull() if wanted.null else meets)
    values = session.createDataFrame(pyarrow.table({"q": wanted.values}))
    return frame.join(F.broadcast(values), column.eqNullSafe(F.col("q")), "left_semi")


def locate(engine: Engine, source: Source, cursor: Cursor) -> Located:
    """The files of a source at a cursor."""
    try:
        match source.format:
            case "delta":
                state = delta.open_table(engine, source.place, cursor["version"])
                if cursor.get("table", state.identity) != state.identity:
                    raise StorageError(f"the Delta table {source.place} was created again")
                return Located(state.disk, all_rows(state))
            case "iceberg":
                there = iceberg.open_table(engine, source, cursor.get("snapshot"), cursor.get("table"))
                return Located(there.disk, all_rows(there))
            case _:
                raise StorageError(f"a source of format {source.format} does not tell its past")
    except LostHistoryError:
        raise
    except StorageError as problem:
        raise LostHistoryError(f"{source.name}: {problem.message}", hint=way_out(source)) from problem


def require_files(source: Source, found: Located) -> None:
    """Refuse to read a version some files of which have been removed, where that is quickly seen."""
    if found.disk.remote:
        return
    missing = sum(not found.disk.exists(p.path) for p in found.reading.pieces)
    if missing:
        raise LostHistoryError(
            f"{source.name}: {source.place} has been vacuumed: {missing} files of the version that is referred to are gone",
            hint=way_out(source),
        )
