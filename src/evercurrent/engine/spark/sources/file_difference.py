"""What two versions of a table differ in, where each says of which files it consists and what is deleted in them.

    now - then = rows of the files that only `now` has - rows of the files that only `then` has
               + rows of a file that `then` had deleted - rows of it that `now` has deleted

The last two are read by their positions: a delete that marks rows costs as many rows as it deletes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from pyroaring import BitMap64

from evercurrent.data.types import Member
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.sources.difference import read_held_rows, total
from evercurrent.engine.spark.sources.nodes import Change, LostHistoryError, Source, way_out
from evercurrent.engine.spark.sources.pieces import FIELD_ID, Layout, Piece
from evercurrent.engine.spark.sources.reading import Reading, load_rows
from evercurrent.engine.spark.storage.disk import Disk
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import StorageError


class TableState(Protocol):
    """A table at a version: its files by path."""

    @property
    def disk(self) -> Disk: ...

    @property
    def layout(self) -> Layout: ...

    @property
    def files(self) -> Mapping[str, Any]: ...

    @property
    def named(self) -> str:
        """The version, as errors name it."""

    def marks(self, path: str) -> object:
        """What tells apart what is deleted in a file."""

    def find_deleted(self, path: str) -> BitMap64 | None:
        """The positions of deleted rows of a file."""

    def piece(self, path: str, sign: int = 1) -> Piece:
        """The rows of a file that are not deleted."""


def all_rows(state: TableState, paths: Sequence[str] | None = None, sign: int = 1) -> Reading:
    """All rows of these files, or of all files."""
    chosen = sorted(state.files) if paths is None else paths
    return Reading(state.layout, tuple(state.piece(p, sign) for p in chosen))


def file_difference(source: Source, then: TableState, now: TableState) -> list[Reading]:
    """The law above."""
    come = sorted(set(now.files) - set(then.files))
    gone = sorted(set(then.files) - set(now.files))
    missing = [p for p in gone if not now.disk.exists(p)]
    if missing:
        raise StorageError(
            f"{source.name}: {source.place} has been vacuumed since {then.named}: "
            f"{len(missing)} files that are needed to find what has changed are gone",
            hint=way_out(source),
        )
    pieces: list[Piece] = []
    for path in sorted(set(then.files) & set(now.files)):
        if then.marks(path) != now.marks(path):
            pieces += rows_by_marks(now.piece(path), then.find_deleted(path), now.find_deleted(path))
    readings = [all_rows(now, come), all_rows(then, gone, -1), Reading(now.layout, tuple(pieces))]
    return [r for r in readings if r.pieces]


def rows_by_marks(file: Piece, then: BitMap64 | None, now: BitMap64 | None) -> list[Piece]:
    """The rows of a file that are deleted in one of two versions only."""
    old, new = then or BitMap64(), now or BitMap64()
    pairs = ((1, old - new), (-1, new - old))
    return [Piece(file.path, file.bytes, s, file.partition, only=bits) for s, bits in pairs if len(bits)]


def compare_with_held(engine: Engine, source: Source, change: Change, now: TableState, held: Store) -> Change:
    """A change with all rows of a table now, minus all rows that are held. `lost`, if what is referred to is gone."""
    try:
        before = read_held_rows(engine, source, held)
    except LostHistoryError:
        return replace(change, lost=True)
    rows = load_rows(engine, source, now.disk, [all_rows(now)])
    return replace(change, segment=total(engine, source, rows, before))


def same_columns(source: Source, then: TableState, now: TableState) -> bool:
    """Whether every column of the source that was there then is the same one now: another may have taken its name."""

    def field_of(state: TableState, c: Member) -> object:
        found = state.layout.field_of(c)
        return None if found is None else (found.name, (found.metadata or {}).get(FIELD_ID))

    return all(field_of(then, c) in (None, field_of(now, c)) for c in source.columns)
