"""The log of a Delta table: which files a version consists of, and what a commit has changed.

    _delta_log/00000000000000000007.json                a commit: actions, one in a line
    _delta_log/00000000000000000010.checkpoint.parquet  all actions that are in force at version 10, in one file,
    ...10.checkpoint.0000000001.0000000003.parquet      in several,
    ...10.checkpoint.<uuid>.parquet, .json              or in one that names others, in _sidecars

    replay_log(disk, root)         the table at its newest version: the newest checkpoint, and the commits after it
    replay_log(disk, root, 7)      the table at version 7
    commits(disk, root, 7, 9)    the actions of versions 8 and 9

A file is identified by its path and its deletion vector: a delete that marks rows of a file removes the file with its old
vector and adds it with a new one.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import pyarrow
import pyarrow.parquet

from evercurrent.engine.spark.sources.deletion_vectors import Vector
from evercurrent.engine.spark.storage.disk import Disk, MissingFileError
from evercurrent.errors import StorageError

LOG = "_delta_log"
COMMIT = re.compile(r"^(\d{20})\.json$")
CHECKPOINT = re.compile(r"^(\d{20})\.checkpoint(?:\.(\d{10})\.(\d{10})|\.([0-9a-f-]{36}))?\.(parquet|json)$")
WANTED = ("add", "metaData", "protocol", "sidecar")
Action = Mapping[str, Any]


class MissingVersionError(StorageError):
    """A version of a table that its log no longer tells."""


class NotDeltaError(StorageError):
    """There is no Delta table."""


@dataclass(frozen=True)
class DataFile:
    """A data file of a version; `rows` counts those in the file, deleted ones too, where the log tells."""

    path: str
    bytes: int
    rows: int | None = None
    partition: Mapping[str, str | None] = field(default_factory=dict)
    vector: Vector | None = None

    @property
    def live(self) -> int | None:
        """How many rows are not deleted."""
        if self.rows is None:
            return None
        return self.rows - (0 if self.vector is None else self.vector.cardinality)


@dataclass(frozen=True)
class LogState:
    """A table at a version: its files by path."""

    version: int
    protocol: Action
    metadata: Action
    files: Mapping[str, DataFile]

    @property
    def configuration(self) -> Mapping[str, str]:
        found = self.metadata.get("configuration") or {}
        return dict(found)


@dataclass
class Replay:
    """A table while its log is read."""

    root: str
    protocol: Action = field(default_factory=dict)
    metadata: Action = field(default_factory=dict)
    files: dict[str, DataFile] = field(default_factory=dict)

    def apply(self, actions: Iterable[Action]) -> None:
        """The actions of one commit; a file that is removed with one vector and added with another stays."""
        added: dict[str, DataFile] = {}
        removed: set[str] = set()
        for action in actions:
            if add := action.get("add"):
                file = data_file(self.root, add)
                added[file.path] = file
            elif remove := action.get("remove"):
                removed.add(absolute(self.root, remove["path"]))
            elif metadata := action.get("metaData"):
                self.metadata = metadata
            elif protocol := action.get("protocol"):
                self.protocol = protocol
        for path in removed:
            self.files.pop(path, None)
        self.files |= added


def absolute(root: str, path: str) -> str:
    """The path of a file that the log mentions: percent-encoded, relative to the table or a whole address."""
    if re.match(r"^[A-Za-z][A-Za-z0-9+.-]+:", path):
        local = re.match(r"^file:(?://)?(/.*)$", path)
        return unquote(local.group(1)) if local else unquote(path)
    decoded = unquote(path)
    return decoded if decoded.startswith("/") else f"{root}/{decoded}"


def data_file(root: str, add: Action) -> DataFile:
    partition = add.get("partitionValues") or {}
    rows: int | None = None
    if add.get("stats"):
        rows = json.loads(add["stats"]).get("numRecords")
    elif add.get("stats_parsed"):
        rows = add["stats_parsed"].get("numRecords")
    vector = Vector.of_action(add.get("deletionVector"))
    return DataFile(absolute(root, add["path"]), add.get("size") or 0, rows, dict(partition), vector)


def name_of(version: int) -> str:
    return f"{version:020}.json"


def replay_log(disk: Disk, root: str, version: int | None = None) -> LogState:
    """A table at a version, or at its newest."""
    names = disk.names(os.path.join(root, LOG))
    known = sorted(int(m.group(1)) for n in names if (m := COMMIT.match(n)))
    points = {v: f for v, f in checkpoints(names).items() if version is None or v <= version}
    if not known and not points:
        raise NotDeltaError(f"{root} is not a Delta table")
    newest = max([*known, *points])
    if version is not None and version > max([*known, *checkpoints(names)], default=-1):
        raise MissingVersionError(f"the Delta table {root} has no version {version}")
    wanted = newest if version is None else version
    start = max(points, default=-1)
    replay = Replay(root)
    for name in points.get(start, ()):
        replay.apply(checkpoint_actions(disk, root, name))
    for number in range(start + 1, wanted + 1):
        replay.apply(read_commit(disk, root, number))
    if not replay.metadata or not replay.protocol:
        raise MissingVersionError(f"the log of the Delta table {root} no longer tells version {wanted}")
    return LogState(wanted, replay.protocol, replay.metadata, replay.files)


def read_commit(disk: Disk, root: str, version: int) -> list[Action]:
    """The actions of a commit."""
    path = os.path.join(root, LOG, name_of(version))
    try:
        data = disk.read(path)
    except MissingFileError as problem:
        raise MissingVersionError(
            f"the log of the Delta table {root} no longer tells what version {version} has changed"
        ) from problem
    try:
        return [json.loads(line) for line in data.splitlines() if line.strip()]
    except ValueError as problem:
        raise StorageError(f"{path} is not a commit of a Delta table") from problem


def commits(disk: Disk, root: str, after: int, last: int) -> Iterator[tuple[int, list[Action]]]:
    """The commits after a version, up to another one."""
    for version in range(after + 1, last + 1):
        yield version, read_commit(disk, root, version)


# --- checkpoints -------------------------------------------------------------------------------------------


def checkpoints(names: Iterable[str]) -> dict[int, list[str]]:
    """The complete checkpoints, each as the names of its files.

    >>> checkpoints(["00000000000000000010.checkpoint.parquet", "00000000000000000020.checkpoint.0000000001.0000000002.parquet"])
    {10: ['00000000000000000010.checkpoint.parquet']}
    """
    single: dict[int, list[str]] = {}
    parts: dict[tuple[int, int], list[str]] = {}
    for name in sorted(names):
        found = CHECKPOINT.match(name)
        if found is None:
            continue
        version = int(found.group(1))
        if found.group(2):
            parts.setdefault((version, int(found.group(3))), []).append(name)
        elif found.group(4) or name.endswith(".parquet"):
            single[version] = [name]
    whole = {version: files for (version, number), files in parts.items() if len(files) == number}
    return {**whole, **single}


def checkpoint_actions(disk: Disk, root: str, name: str) -> Iterator[Action]:
    """The actions in force that a file of a checkpoint tells, and those of the files that it names."""
    place = os.path.join(root, LOG)
    for action in file_actions(disk, os.path.join(place, name)):
        sidecar = action.get("sidecar")
        if sidecar:
            beside = sidecar["path"]
            path = beside if "/" in beside else os.path.join(place, "_sidecars", beside)
            yield from file_actions(disk, path)
        else:
            yield action


def file_actions(disk: Disk, path: str) -> Iterator[Action]:
    data = disk.read(path)
    if path.endswith(".json"):
        for line in data.splitlines():
            if line.strip():
                yield json.loads(line)
        return
    try:
        with pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data)) as file:
            wanted = [n for n in WANTED if n in file.schema_arrow.names]
            for batch in file.iter_batches(columns=wanted):
                for name in wanted:
                    column = batch.column(name)
                    for action in column.filter(column.is_valid()).to_pylist(maps_as_pydicts="lossy"):
                        yield {name: action}
    except pyarrow.ArrowException as problem:
        raise StorageError(f"the checkpoint {path} of a Delta table cannot be read: {problem}") from problem
