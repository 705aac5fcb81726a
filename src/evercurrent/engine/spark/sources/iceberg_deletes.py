"""Delete files of Iceberg: which rows of a data file they delete, as positions.

    position deletes    (path, position) in Parquet files, for data files that are not younger
    deletion vectors    the same as a roaring bitmap in a Puffin file
    equality deletes    rows that agree with one of these in some columns, in data files that are older

Law. A row is deleted by the first of these that says so; so the positions of all of them together are what is left out. For
equality deletes the compared columns of the data file are read; NULL equals NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow
import pyarrow.compute
import pyarrow.parquet
from pyroaring import BitMap64

from evercurrent.engine.spark.sources.deletion_vectors import bitmap_of, unframe
from evercurrent.errors import StorageError, UnsupportedError

Read = Callable[[str], Any]


@dataclass(frozen=True)
class DeleteFile:
    """A file that deletes rows: `kind` is positions, vector or equality; `fields` are the ids of compared columns."""

    path: str
    kind: str
    sequence: int
    partition: object
    fields: tuple[int, ...] = ()

    def applies(self, sequence: int, partition: object) -> bool:
        """Whether it may delete rows of a data file of this sequence number and partition."""
        if self.kind == "equality":
            return sequence < self.sequence and self.partition in (None, partition)
        return sequence <= self.sequence


def positions_deleted(path: str, raw: str, deletes: Sequence[DeleteFile], read: Read) -> BitMap64:
    """The positions that delete files say of a data file; `raw` is its address as they name it."""
    found = BitMap64()
    for delete in deletes:
        match delete.kind:
            case "positions":
                found |= positions_listed(delete.path, raw, read)
            case "vector":
                found |= vector_positions(delete.path, raw, read)
            case "equality":
                found |= equal_positions(path, delete, read)
            case _:
                raise UnsupportedError(f"the delete file {delete.path} is of an unknown kind")
    return found


def parquet(path: str, read: Read) -> pyarrow.parquet.ParquetFile:
    try:
        return pyarrow.parquet.ParquetFile(pyarrow.BufferReader(read(path)))
    except pyarrow.ArrowException as problem:
        raise StorageError(f"{path} cannot be read as Parquet: {problem}") from problem


def positions_listed(path: str, raw: str, read: Read) -> BitMap64:
    with parquet(path, read) as file:
        rows = file.read(columns=["file_path", "pos"])
    own = rows.filter(pyarrow.compute.equal(rows.column("file_path"), raw))
    return BitMap64(own.column("pos").to_pylist())


def vector_positions(path: str, raw: str, read: Read) -> BitMap64:
    from pyiceberg.table.puffin import PuffinFile

    data = bytes(read(path))
    found = BitMap64()
    for blob in PuffinFile(data).footer.blobs:
        if blob.type != "deletion-vector-v1" or blob.properties.get("referenced-data-file") != raw:
            continue
        found |= bitmap_of(unframe(data, blob.offset, blob.length - 8, path))
    return found


def equal_positions(path: str, delete: DeleteFile, read: Read) -> BitMap64:
    """The positions of rows of a data file that agree with a row of a delete file in its columns."""
    with parquet(delete.path, read) as file:
        names = names_by_id(file, delete.path)
        wanted = file.read(columns=[names[i] for i in delete.fields])
    with parquet(path, read) as file:
        own = names_by_id(file, path)
        there = [i for i in delete.fields if i in own]
        rows = file.read(columns=[own[i] for i in there]) if there else None
        number = file.metadata.num_rows
    columns = []
    for place, i in enumerate(delete.fields):
        kind = wanted.schema.field(place).type
        columns.append(
            rows.column(own[i]).cast(kind).to_pylist() if rows is not None and i in own else [None] * number
        )
    keys = set(zip(*(wanted.column(j).to_pylist() for j in range(wanted.num_columns)), strict=True))
    return BitMap64([n for n, key in enumerate(zip(*columns, strict=True)) if key in keys])


def names_by_id(file: pyarrow.parquet.ParquetFile, path: str) -> dict[int, str]:
    found = {int((f.metadata or {}).get(b"PARQUET:field_id", -1)): f.name for f in file.schema_arrow}
    if set(found) == {-1}:
        raise UnsupportedError(f"the columns of {path} have no ids, by which deleted rows are found")
    return found
