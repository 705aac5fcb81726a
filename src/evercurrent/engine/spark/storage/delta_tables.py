"""Views as ordinary Delta tables, for every tool that reads them.

Publishing follows a commit and can be repeated: a published table carries the version that it is at (an application
transaction of Delta), and what it lacks is applied when it is next published. Small changes are made by the driver:
inserted rows are a new file; a file that holds deleted rows is rewritten without them; other files stay. A view that
is published again is replaced in one commit. Files in the log have statistics, so that readers can skip them.

    change {(8, 1.00): -1, (8, 3.00): +1}        the file with (8, 1.00) is removed; its other rows are a new file;
                                                 (8, 3.00) is a new file
"""

from __future__ import annotations

import json
import re
import shutil
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pyarrow
import pyarrow.compute
import pyarrow.parquet
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake import Schema as DeltaSchema
from deltalake.transaction import AddAction, create_table_with_add_actions
from pyspark.sql import DataFrame

from evercurrent.data.types import Member
from evercurrent.data.zset import Row
from evercurrent.engine.spark.storage.checksums import Checked
from evercurrent.engine.spark.storage.delta import commits
from evercurrent.engine.spark.storage.delta.commits import APPLICATION, CONFIGURATION
from evercurrent.engine.spark.storage.disk import DISK, Disk
from evercurrent.engine.spark.storage.entry_reader import filterable
from evercurrent.engine.spark.storage.files import Folder, slug
from evercurrent.engine.spark.storage.lookup import Footer, find_groups
from evercurrent.engine.spark.storage.places import Place
from evercurrent.engine.spark.storage.remote_frames import write_parts
from evercurrent.engine.spark.storage.wanted import Wanted
from evercurrent.engine.spark.translate.delta_types import (
    convert_frame,
    find_published_schema,
    find_stored_schema,
)
from evercurrent.engine.spark.translate.types import internal, plain

MANY_FILES = 40
"""Small files are merged if there are more than this number of them,"""
MERGED_BYTES = 64 << 20
"""and together they have at most this number of bytes."""
REWRITTEN_BYTES = 256 << 20
"""Files with deleted rows are rewritten by the driver if they have at most this number of bytes."""
FILE_ROWS = 1_000_000
"""The number of rows that the executors write into one file."""
TEXT_BOUND = 32
"""The number of characters of a text that are its bound in the log."""


@dataclass(frozen=True)
class Target:
    """Where a view is published: a place, and the disk that it is on."""

    path: Place
    disk: Disk = DISK

    @property
    def options(self) -> dict[str, str] | None:
        """How the library for Delta reaches the place; None for the local disk."""
        return self.disk.delta_options

    def exists(self) -> bool:
        return DeltaTable.is_deltatable(str(self.path), storage_options=self.options)

    def table(self) -> DeltaTable:
        return DeltaTable(str(self.path), storage_options=self.options)

    def open(self, file: str) -> Checked:
        return Checked.open(str(self.path / file), None, self.disk)

    def sizes(self, table: DeltaTable) -> dict[str, int]:
        """The files of the table, with their sizes as its log says them."""
        found = pyarrow.table(table.get_add_actions())
        return dict(
            zip(found.column("path").to_pylist(), found.column("size_bytes").to_pylist(), strict=True)
        )


def place(folder: Folder, name: str) -> Place:
    """Where a view is published: under its own name where a folder can bear it."""
    plain_name = re.fullmatch(r"[A-Za-z0-9_]+", name)
    return folder.root / "views" / (name if plain_name else slug(name))


def find_published_version(target: Target) -> int | None:
    """The version at which a view is published at a place; None if it is not."""
    if not target.exists():
        return None
    return target.table().transaction_version(APPLICATION)


def is_foreign(target: Target) -> bool:
    """Whether something lies at a place that we have not put there."""
    return bool(target.disk.names(target.path)) and find_published_version(target) is None


def withdraw(folder: Folder, name: str) -> None:
    at = place(folder, name)
    if isinstance(at, Path):
        shutil.rmtree(at, ignore_errors=True)
        return
    for found in list(folder.disk.tree(at)):
        folder.disk.delete(at / found.path)


def clean(target: Target) -> None:
    """Remove files of a published view that no reader of the last week can need, and shorten its log."""
    if target.exists():
        table = target.table()
        table.vacuum(dry_run=False)
        table.create_checkpoint()
        table.cleanup_metadata()


def table_of(fields: Sequence[Member], rows: Sequence[Row]) -> pyarrow.Table:
    schema = find_stored_schema(fields)
    arrays = [
        pyarrow.array([plain(f.type, row[i]) for row in rows], schema.field(i).type)
        for i, f in enumerate(fields)
    ]
    return pyarrow.Table.from_arrays(arrays, schema=schema).cast(find_published_schema(fields))


def properties(version: int) -> CommitProperties:
    return CommitProperties(app_transactions=[Transaction(APPLICATION, version)])


def publish_rows(target: Target, fields: Sequence[Member], rows: Sequence[Row], version: int) -> None:
    """Publishes all rows of a view, from rows on the driver."""
    enable_feed(target)
    write_deltalake(
        str(target.path),
        table_of(fields, rows),
        mode="overwrite",
        schema_mode="overwrite",
        configuration=CONFIGURATION,
        storage_options=target.options,
        commit_properties=properties(version),
    )


def enable_feed(target: Target) -> None:
    """Sees to it that the table, if it is there, has a change feed."""
    if target.exists():
        commits.ensure_feed(target.table())


def publish_frame(target: Target, fields: Sequence[Member], frame: DataFrame, version: int) -> None:
    """Publish a view again, written by the executors: readers see the old rows, and then the new ones."""
    rows = convert_frame(frame, fields)
    inside = f"part-{uuid.uuid4().hex}"
    if target.disk.remote:
        written = write_parts(rows, target.disk.reach(), f"{target.path}/{inside}", FILE_ROWS)
        names = [f"{inside}/{w.name}" for w in written]
    else:
        rows.write.option("maxRecordsPerFile", FILE_ROWS).parquet(str(target.path / inside))
        names = [
            f"{inside}/{n}" for n in sorted(target.disk.names(target.path / inside)) if n.endswith(".parquet")
        ]
    adds = [add(target, name) for name in names]
    schema = find_published_schema(fields)
    enable_feed(target)
    if target.exists():
        table = target.table()
        if table.schema() == DeltaSchema.from_arrow(schema):
            table.create_write_transaction(
                [*adds], "overwrite", schema, commit_properties=properties(version)
            )
            return
    create_table_with_add_actions(
        str(target.path),
        DeltaSchema.from_arrow(schema),
        adds,
        mode="overwrite",
        configuration=CONFIGURATION,
        storage_options=target.options,
        commit_properties=properties(version),
    )


Published = Literal["done", "moved", "large"]
"""What came of a change: it is there; the table was at another version; it touches more than the driver should rewrite."""


def publish_change(
    target: Target,
    fields: Sequence[Member],
    change: Sequence[tuple[Row, int]],
    at: int | None,
    version: int,
    key: Sequence[int] = (),
) -> Published:
    """Bring a published view from one version to another, by the net change of its rows.

    Nothing is done if the table is not at the first of them, or if the files that hold deleted rows are large. The commit is
    made with the handle that was looked at, so that it fails if another driver comes in between. `key` are the columns by
    which the change feed pairs old rows with new ones.
    """
    table = target.table()
    commits.ensure_feed(table)
    if table.transaction_version(APPLICATION) != at:
        return "moved"
    gone = Counter({row: -w for row, w in change if w < 0})
    sizes = target.sizes(table)
    touched = [f for f in sizes if gone and may_hold(target, f, fields, gone)]
    if sum(sizes[f] for f in touched) > REWRITTEN_BYTES:
        return "large"
    merged = to_merge(list(sizes.items()))
    adds: list[AddAction] = []
    removes: dict[str, int] = {}
    kept: list[pyarrow.Table] = []
    for file in dict.fromkeys([*touched, *merged]):
        left = without(target, file, fields, gone) if file in touched else None
        if left is None and file not in merged:
            continue
        rest = read_file(target, file, fields) if left is None else left
        removes[file] = sizes[file]
        if file in merged:
            kept.append(rest)
        elif rest.num_rows:
            adds.append(write_file(target, rest))
    come = [row for row, w in change for _ in range(w)]
    rows = pyarrow.concat_tables([*kept, table_of(fields, come)])
    if rows.num_rows:
        adds.append(write_file(target, rows))
    feed = None
    if removes:
        kinds = commits.pair_changes(change, key)
        content = table_of(fields, [row for row, _ in kinds])
        feed = commits.write_changes(target.path, target.disk, content, [kind for _, kind in kinds])
    done = commits.commit(target.path, target.disk, table, adds, removes, feed, version)
    return "done" if done else "moved"


def to_merge(files: Sequence[tuple[str, int]]) -> list[str]:
    """Which of many files are merged into one, by their sizes: the small ones, as far as the driver should rewrite them.

    >>> to_merge([("a", 10), ("b", 20)])
    []
    >>> to_merge([*((f"s{i}", 10) for i in range(50)), ("large", MERGED_BYTES)]) == [f"s{i}" for i in range(50)]
    True
    """
    if len(files) <= MANY_FILES:
        return []
    chosen, taken = [], 0
    for file, size in sorted(files, key=lambda f: f[1]):
        taken += size
        if taken > MERGED_BYTES:
            break
        chosen.append(file)
    return chosen if len(chosen) > MANY_FILES // 2 else []


def may_hold(target: Target, file: str, fields: Sequence[Member], gone: Counter[Row]) -> bool:
    """Whether the footer of a file leaves it open that one of these rows is in it."""
    column = next((i for i, f in enumerate(fields) if filterable(f.type)), None)
    if column is None:
        return True
    field = fields[column]
    values = [plain(field.type, row[column]) for row in gone]
    stored, published = find_stored_schema([field]).field(0), find_published_schema([field]).field(0)
    array = pyarrow.chunked_array([pyarrow.array(values, stored.type).cast(published.type)])
    return bool(find_groups(Footer.read(target.open(file)), [Wanted.among(field.name, array)]))


def read_file(target: Target, file: str, fields: Sequence[Member]) -> pyarrow.Table:
    source = pyarrow.BufferReader(target.open(file).data)
    return pyarrow.parquet.read_table(source, partitioning=None).cast(find_published_schema(fields))


def write_file(target: Target, rows: pyarrow.Table) -> AddAction:
    file = f"part-{uuid.uuid4().hex}.parquet"
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(rows, sink, compression="zstd")
    target.disk.put(target.path / file, sink.getvalue())
    return add(target, file)


def without(target: Target, file: str, fields: Sequence[Member], gone: Counter[Row]) -> pyarrow.Table | None:
    """What is left of a file when some rows go (they are taken from `gone`); None if none of them is in it."""
    table = read_file(target, file, fields)
    column = next((i for i, f in enumerate(fields) if filterable(f.type)), None)
    held = table.cast(find_stored_schema(fields))
    if column is None:
        places: Sequence[int] = range(held.num_rows)
    else:
        values = [plain(fields[column].type, row[column]) for row in gone]
        wanted = pyarrow.array(values, held.schema.field(column).type)
        hits = pyarrow.compute.is_in(held.column(column), wanted)
        places = pyarrow.compute.indices_nonzero(hits).to_pylist()
    drop = []
    candidates = held.take(pyarrow.array(places, pyarrow.int64())) if column is not None else held
    for index, values_of in zip(places, candidates.to_pylist(), strict=True):
        row = tuple(internal(f.type, values_of[f.name]) for f in fields)
        if gone.get(row, 0) > 0:
            gone[row] -= 1
            if not gone[row]:
                del gone[row]
            drop.append(index)
    if not drop:
        return None
    mask = pyarrow.compute.is_in(
        pyarrow.array(range(table.num_rows), pyarrow.int64()), pyarrow.array(drop, pyarrow.int64())
    )
    return table.filter(pyarrow.compute.invert(mask))


def add(target: Target, file: str) -> AddAction:
    footer = Footer.read(target.open(file))
    stats = json.dumps(statistics(footer.metadata))
    return AddAction(file, footer.file.size, {}, int(time.time() * 1000), True, stats)


def statistics(metadata: pyarrow.parquet.FileMetaData) -> dict[str, Any]:
    """What Delta's log says of a file, so that readers can skip it: how many rows, NULLs, smallest and largest values."""
    least: dict[str, Any] = {}
    most: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    for i in range(metadata.num_columns):
        column = metadata.schema.column(i)
        groups = [metadata.row_group(g).column(i) for g in range(metadata.num_row_groups)]
        found = [g.statistics for g in groups if g.is_stats_set]
        if column.max_repetition_level or "." in column.path or len(found) < len(groups):
            continue
        if all(f.has_null_count for f in found):
            nulls[column.path] = sum(f.null_count for f in found)
        bounds = [(f.min, f.max) for f in found if f.has_min_max]
        known = sum(f.has_min_max or f.num_values == 0 for f in found) == len(found)
        if bounds and known and all(isinstance(v, int | str | date) for b in bounds for v in b):
            low, high = (
                limit_text(min(b[0] for b in bounds), False),
                limit_text(max(b[1] for b in bounds), True),
            )
            if low is not None and high is not None:
                least[column.path], most[column.path] = low, high
    return {"numRecords": metadata.num_rows, "minValues": least, "maxValues": most, "nullCount": nulls}


def limit_text(value: Any, above: bool) -> Any:
    """A bound as JSON has it; None if there is no short one. Times are rounded to milliseconds, away from the values.

    >>> limit_text(datetime(2024, 1, 1, 0, 0, 0, 1500), True), limit_text("x" * 40, False) == "x" * 32
    ('2024-01-01T00:00:00.002Z', True)
    """
    match value:
        case bool():
            return None
        case datetime():
            if above:
                value += timedelta(microseconds=-value.microsecond % 1000)
            return value.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
        case date():
            return value.isoformat()
        case str():
            return value if len(value) <= TEXT_BOUND else None if above else value[:TEXT_BOUND]
        case _:
            return value
