"""An entry of a Delta table's log, with the files of its change feed.

    part-1.parquet         removed: it holds the old row of customer 7
    part-2.parquet         added: the other rows of that file, and the new row
    _change_data/cdc-3     (7, 3, update_preimage), (7, 4, update_postimage)

Law. What a reader of the change feed gets of a version is its net change, however many files were rewritten. A version that only
adds files needs no file of changes: its rows are the insertions. The library for Delta cannot commit files of changes, so the entry
is written here, as the protocol says; who comes second finds the number taken.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow
import pyarrow.parquet
from deltalake import DeltaTable
from deltalake.transaction import AddAction

from evercurrent.data.feeds import CHANGE_TYPE
from evercurrent.data.zset import Row
from evercurrent.engine.spark.storage.disk import Disk
from evercurrent.engine.spark.storage.places import Place

FEED = "delta.enableChangeDataFeed"
CONFIGURATION: dict[str, str | None] = {FEED: "true"}
APPLICATION = "evercurrent"
CHECKPOINT = 100
"""The log is summarised every time it has grown by this number of versions, so that readers need not begin at the first one."""

Kinds = Sequence[tuple[Row, str]]
"""Rows of a change feed, with what each says."""


def has_feed(table: DeltaTable) -> bool:
    return str(table.metadata().configuration.get(FEED)).lower() == "true"


def ensure_feed(table: DeltaTable) -> None:
    """Switches the change feed of a table on; it begins with the next version."""
    if not has_feed(table):
        table.alter.set_table_properties({FEED: "true"})


def pair_changes(change: Sequence[tuple[Row, int]], key: Sequence[int]) -> list[tuple[Row, str]]:
    """Net changes as a change feed has them; `key`: by which an old row and a new one are one update.

    >>> pair_changes([((7, 3), -1), ((7, 4), 1), ((8, 1), 1)], [0])
    [((7, 3), 'update_preimage'), ((7, 4), 'update_postimage'), ((8, 1), 'insert')]
    >>> pair_changes([((7, 3), -2)], [])
    [((7, 3), 'delete'), ((7, 3), 'delete')]
    """

    def identity(row: Row) -> Row:
        return tuple(row[i] for i in key)

    new = {identity(row): row for row, w in change if w > 0} if key else {}
    found: list[tuple[Row, str]] = []
    for row, w in change:
        after = new.pop(identity(row), None) if key and w < 0 else None
        if after is not None:
            found += [(row, "update_preimage"), (after, "update_postimage")]
        else:
            found += [(row, "delete")] * -w
    for row, w in change:
        if not key or identity(row) in new:
            found += [(row, "insert")] * w
    return found


def write_changes(path: Place, disk: Disk, rows: pyarrow.Table, kinds: Sequence[str]) -> dict[str, Any]:
    """Writes a file of changes; returns the action that names it."""
    file = f"_change_data/cdc-{uuid.uuid4().hex}.parquet"
    sink = pyarrow.BufferOutputStream()
    feed = rows.append_column(CHANGE_TYPE, pyarrow.array(kinds, pyarrow.string()))
    pyarrow.parquet.write_table(feed, sink, compression="zstd")
    content = sink.getvalue()
    disk.make_folder(path / "_change_data")
    disk.put(path / file, content)
    return {"cdc": {"path": file, "partitionValues": {}, "size": content.size, "dataChange": False}}


def commit(
    path: Place,
    disk: Disk,
    table: DeltaTable,
    adds: Sequence[AddAction],
    removes: Mapping[str, int],
    changes: Mapping[str, Any] | None,
    version: int,
) -> bool:
    """Commits files as the next version of a table; returns whether nobody else was faster. `removes` are files with their sizes."""
    now = int(time.time() * 1000)
    number = table.version() + 1
    about = {
        "timestamp": now,
        "operation": "WRITE",
        "operationParameters": {"mode": "Append"},
        "engineInfo": APPLICATION,
        "isBlindAppend": not removes,
    }
    actions: list[Mapping[str, Any]] = [{"commitInfo": about}]
    actions.append({"txn": {"appId": APPLICATION, "version": version, "lastUpdated": now}})
    for file, size in removes.items():
        about_file = {"path": file, "deletionTimestamp": now, "dataChange": True, "size": size}
        actions.append({"remove": {**about_file, "extendedFileMetadata": True, "partitionValues": {}}})
    for add in adds:
        actions.append(
            {
                "add": {
                    "path": add.path,
                    "partitionValues": {},
                    "size": add.size,
                    "modificationTime": add.modification_time,
                    "dataChange": True,
                    "stats": add.stats,
                }
            }
        )
    if changes is not None:
        actions.append(changes)
    entry = "".join(json.dumps(a, separators=(",", ":")) + "\n" for a in actions)
    written = disk.put_if_absent(path / "_delta_log" / f"{number:020}.json", entry.encode())
    if written and number % CHECKPOINT == 0:
        table.update_incremental()
        table.create_checkpoint()
    return written
