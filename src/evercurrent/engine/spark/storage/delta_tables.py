"""Views as ordinary Delta tables, for every tool that reads them.

Publishing follows a commit and can be repeated: a published table carries the version that it is at (an application
transaction of Delta), and what it lacks is worked off when it is next published. Small changes are made by the driver:
inserted rows are a new file; a file that holds deleted rows is written anew without them; other files stay.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pyarrow
import pyarrow.compute
import pyarrow.parquet
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.transaction import AddAction, RemoveAction
from pyspark.sql import DataFrame

from evercurrent.data.types import Member
from evercurrent.data.zset import Row
from evercurrent.engine.spark.storage.entry_reader import filterable
from evercurrent.engine.spark.storage.files import Folder, slug
from evercurrent.engine.spark.translate.delta_types import published_frame, published_schema, stored_schema
from evercurrent.engine.spark.translate.types import internal, plain

APPLICATION = "evercurrent"
MANY_FILES = 40


def place(folder: Folder, name: str) -> Path:
    """Where a view is published: under its own name where a folder can bear it."""
    plain_name = re.fullmatch(r"[A-Za-z0-9_]+", name)
    return folder.root / "views" / (name if plain_name else slug(name))


def published_version(path: Path) -> int | None:
    """The version at which a view is published at a place; None if it is not."""
    if not path.is_dir() or not DeltaTable.is_deltatable(str(path)):
        return None
    return DeltaTable(str(path)).transaction_version(APPLICATION)


def is_foreign(path: Path) -> bool:
    """Whether something lies at a place that we have not put there."""
    if not path.exists() or not any(path.iterdir()):
        return False
    return published_version(path) is None


def withdraw(folder: Folder, name: str) -> None:
    shutil.rmtree(place(folder, name), ignore_errors=True)


def clean(path: Path) -> None:
    """Remove files of a published view that no reader of the last week can need, and shorten its log."""
    if DeltaTable.is_deltatable(str(path)):
        table = DeltaTable(str(path))
        table.vacuum(dry_run=False)
        table.create_checkpoint()
        table.cleanup_metadata()


def table_of(fields: Sequence[Member], rows: Sequence[Row]) -> pyarrow.Table:
    schema = stored_schema(fields)
    arrays = [
        pyarrow.array([plain(f.type, row[i]) for row in rows], schema.field(i).type)
        for i, f in enumerate(fields)
    ]
    return pyarrow.Table.from_arrays(arrays, schema=schema).cast(published_schema(fields))


def properties(version: int) -> CommitProperties:
    return CommitProperties(app_transactions=[Transaction(APPLICATION, version)])


def publish_rows(path: Path, fields: Sequence[Member], rows: Sequence[Row], version: int) -> None:
    """Publish a view anew, from rows in the driver's hands."""
    write_deltalake(
        str(path),
        table_of(fields, rows),
        mode="overwrite",
        schema_mode="overwrite",
        commit_properties=properties(version),
    )


def publish_frame(path: Path, fields: Sequence[Member], frame: DataFrame, version: int) -> None:
    """Publish a view anew, written by the executors."""
    write_deltalake(
        str(path), published_schema(fields).empty_table(), mode="overwrite", schema_mode="overwrite"
    )
    inside = f"part-{uuid.uuid4().hex}"
    published_frame(frame, fields).write.parquet(str(path / inside))
    adds = [add(path, f"{inside}/{p.name}") for p in sorted((path / inside).glob("*.parquet"))]
    commit(DeltaTable(str(path)), adds, fields, version)


def publish_change(
    path: Path, fields: Sequence[Member], change: Sequence[tuple[Row, int]], at: int | None, version: int
) -> bool:
    """Bring a published view from one version to another, by the net change of its rows.

    False if the table is not at the first of them: then nothing is done. The commit is made with the handle that was
    looked at, so that it fails if another driver comes in between.
    """
    table = DeltaTable(str(path))
    if table.transaction_version(APPLICATION) != at:
        return False
    actions: list[AddAction | RemoveAction] = []
    gone = Counter({row: -w for row, w in change if w < 0})
    files = [os.path.relpath(u.removeprefix("file://"), path) for u in table.file_uris()]
    merge = len(files) > MANY_FILES
    kept: list[pyarrow.Table] = []
    for file in files:
        if not gone and not merge:
            break
        left = without(path / file, fields, gone, merge)
        if left is None:
            continue
        actions.append(remove(path, file))
        kept.append(left)
    come = [row for row, w in change for _ in range(w)]
    rows = pyarrow.concat_tables([*kept, table_of(fields, come)])
    if rows.num_rows:
        file = f"part-{uuid.uuid4().hex}.parquet"
        pyarrow.parquet.write_table(rows, path / file, compression="zstd")
        actions.append(add(path, file))
    commit(table, actions, fields, version)
    return True


def without(file: Path, fields: Sequence[Member], gone: Counter[Row], always: bool) -> pyarrow.Table | None:
    """What is left of a file when some rows go (they are taken from `gone`); None if none of them is in it."""
    table = pyarrow.parquet.read_table(file, partitioning=None).cast(published_schema(fields))
    column = next((i for i, f in enumerate(fields) if filterable(f.type)), None)
    if not gone:
        return table if always else None
    held = table.cast(stored_schema(fields))
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
        return table if always else None
    mask = pyarrow.compute.is_in(
        pyarrow.array(range(table.num_rows), pyarrow.int64()), pyarrow.array(drop, pyarrow.int64())
    )
    return table.filter(pyarrow.compute.invert(mask))


def add(path: Path, file: str) -> AddAction:
    rows = pyarrow.parquet.read_metadata(path / file).num_rows
    size = (path / file).stat().st_size
    return AddAction(file, size, {}, int(time.time() * 1000), True, json.dumps({"numRecords": rows}))


def remove(path: Path, file: str) -> RemoveAction:
    size = (path / file).stat().st_size
    return RemoveAction(file, True, int(time.time() * 1000), size, {})


def commit(
    table: DeltaTable, actions: Sequence[AddAction | RemoveAction], fields: Sequence[Member], version: int
) -> None:
    table.create_write_transaction(
        list(actions), "append", published_schema(fields), commit_properties=properties(version)
    )
