"""Delete files for Iceberg tables, which the package for Iceberg reads (positions) but does not write."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
from pyiceberg import manifest as m
from pyiceberg.table.snapshots import Operation, Snapshot, Summary
from pyiceberg.table.update import AddSnapshotUpdate, SetSnapshotRefUpdate
from pyiceberg.typedef import Record


class DeleteManifest(m.ManifestWriterV2):
    """A manifest of delete files."""

    def content(self) -> m.ManifestContent:
        return m.ManifestContent.DELETES

    @property
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": "deletes"}


def commit_deletes(table: Any, *files: m.DataFile) -> None:
    """A snapshot with more delete files."""
    metadata = table.metadata
    number = uuid.uuid4().int % 2**62
    place = f"{metadata.location}/metadata"
    parent = table.current_snapshot()
    with DeleteManifest(
        table.spec(), table.schema(), table.io.new_output(f"{place}/{uuid.uuid4()}.avro"), number, "deflate"
    ) as writer:
        for file in files:
            entry = m.ManifestEntry.from_args(
                status=m.ManifestEntryStatus.ADDED, snapshot_id=number, data_file=file
            )
            writer.add_entry(entry)
    listed = f"{place}/snap-{number}-{uuid.uuid4()}.avro"
    sequence = metadata.next_sequence_number()
    with m.write_manifest_list(
        2, table.io.new_output(listed), number, parent.snapshot_id, sequence, "deflate"
    ) as manifests:
        manifests.add_manifests([*parent.manifests(table.io), writer.to_manifest_file()])
    snapshot = Snapshot(
        snapshot_id=number,
        parent_snapshot_id=parent.snapshot_id,
        manifest_list=listed,
        sequence_number=sequence,
        summary=Summary(Operation.DELETE),
        schema_id=metadata.current_schema_id,
    )
    updates = (
        AddSnapshotUpdate(snapshot=snapshot),
        SetSnapshotRefUpdate(
            snapshot_id=number, parent_snapshot_id=parent.snapshot_id, ref_name="main", type="branch"
        ),
    )
    table.catalog.commit_table(table, (), updates)
    table.refresh()


def written(table: Any, rows: pyarrow.Table, content: m.DataFileContent, **more: Any) -> m.DataFile:
    path = Path(table.metadata.location.removeprefix("file://")) / "data" / f"delete-{uuid.uuid4()}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(rows, path)
    return m.DataFile.from_args(
        content=content,
        file_path=f"file://{path}",
        file_format=m.FileFormat.PARQUET,
        partition=Record(),
        record_count=rows.num_rows,
        file_size_in_bytes=path.stat().st_size,
        **more,
    )


def delete_positions(table: Any, positions: Sequence[tuple[str, int]]) -> None:
    """Delete rows by the files that they are in, and their positions there."""
    schema = pyarrow.schema(
        [
            pyarrow.field("file_path", pyarrow.string(), metadata={b"PARQUET:field_id": b"2147483546"}),
            pyarrow.field("pos", pyarrow.int64(), metadata={b"PARQUET:field_id": b"2147483545"}),
        ]
    )
    rows = pyarrow.Table.from_pylist([{"file_path": f, "pos": p} for f, p in positions], schema)
    commit_deletes(table, written(table, rows, m.DataFileContent.POSITION_DELETES))


def delete_equal(table: Any, column: str, values: Sequence[Any]) -> None:
    """Delete the rows that have one of these values in a column, of all files that are there."""
    found = table.schema().find_field(column)
    kind = table.schema().as_arrow().field(column).type
    field = pyarrow.field(column, kind, metadata={b"PARQUET:field_id": str(found.field_id).encode()})
    rows = pyarrow.Table.from_arrays([pyarrow.array(values, kind)], schema=pyarrow.schema([field]))
    file = written(table, rows, m.DataFileContent.EQUALITY_DELETES, equality_ids=[found.field_id])
    commit_deletes(table, file)
