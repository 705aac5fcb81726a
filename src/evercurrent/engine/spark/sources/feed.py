"""A Delta table's change feed: the rows that its writers say have come and gone.

    now - then = sum over the commits between them
        with files of changes      inserts + update_postimages - deletes - update_preimages
        without                    the rows of added files - the rows of removed files, and what vectors mark

The feed is trusted only as far as it adds up: where the log tells how many rows there were and are, the feed must account
for the difference. Where it does not, or where it has a gap, the caller falls back to the difference of files, which needs
no promise of anyone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.sources.delta_log import (
    DataFile,
    MissingVersionError,
    absolute,
    commits,
    data_file,
)
from evercurrent.engine.spark.sources.file_difference import rows_by_marks
from evercurrent.engine.spark.sources.nodes import Source
from evercurrent.engine.spark.sources.pieces import Piece
from evercurrent.engine.spark.sources.reading import Reading, load_rows
from evercurrent.engine.spark.storage.file_schema import W, row_schema
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.translate.types import arrow_schema

if TYPE_CHECKING:
    from evercurrent.engine.spark.sources.delta import DeltaState

HELD_ROWS = 300_000


def feed_change(engine: Engine, source: Source, then: DeltaState, now: DeltaState) -> Segment | str | None:
    """The change between two versions by the feed; why the feed cannot tell it; None if there is none."""
    try:
        pieces = feed_pieces(then, now)
    except MissingVersionError:
        return "the change feed has a gap"
    if not any(p.feed for p in pieces):
        return None
    if any(not now.disk.exists(p.path) for p in pieces):
        return "the change feed has a gap: files of it are gone"
    if then.layout != now.layout and then.layout.partitions != now.layout.partitions:
        return "the table was partitioned again"
    segment = load_rows(engine, source, now.disk, [Reading(now.layout, tuple(pieces))])
    if then.rows is not None and now.rows is not None:
        if net_rows(engine, source, segment) != now.rows - then.rows:
            return "the change feed does not account for all rows"
    return segment


def net_rows(engine: Engine, source: Source, segment: Segment) -> int:
    """The sum of the weights of a change."""
    if not segment.rows:
        return 0
    schema = row_schema([c.type for c in source.columns])
    if segment.rows <= HELD_ROWS:
        arrow = arrow_schema(schema)
        rows = engine.folder.table(segment, arrow)
        return int(sum(rows.column(W).to_pylist()))
    frame = engine.job_context(segment.rows).read(schema, [segment])
    return int(frame.agg(F.sum(W)).collect()[0][0])


def feed_pieces(then: DeltaState, now: DeltaState) -> list[Piece]:
    """What the commits between two versions say, one after another."""
    files = dict(then.files)
    found: list[Piece] = []
    for _, actions in commits(now.disk, now.root, then.version, now.version):
        changes = [a["cdc"] for a in actions if a.get("cdc")]
        counts = [a for kind in ("add", "remove") for a in (x.get(kind) for x in actions) if a]
        removed = {absolute(now.root, a["remove"]["path"]) for a in actions if a.get("remove")}
        added = {f.path: f for a in actions if a.get("add") for f in [data_file(now.root, a["add"])]}
        if changes:
            found += [feed_piece(now, c) for c in changes]
        elif any(a.get("dataChange", True) for a in counts):
            for path in sorted(removed | added.keys()):
                found += change_of_file(now, files.get(path), added.get(path))
        for path in removed:
            files.pop(path, None)
        files |= added
    return found


def feed_piece(now: DeltaState, change: dict[str, Any]) -> Piece:
    partition = dict(change.get("partitionValues") or {})
    return Piece(absolute(now.root, change["path"]), change.get("size") or 0, 1, partition, feed=True)


def change_of_file(now: DeltaState, old: DataFile | None, new: DataFile | None) -> list[Piece]:
    """What a commit has changed in one file."""
    if old is None or new is None:
        return [now.piece_of(f, sign) for f, sign in ((old, -1), (new, 1)) if f is not None]
    return rows_by_marks(now.piece_of(new, 1), now.find_deleted_in(old), now.find_deleted_in(new))
