"""A small writer of Delta tables with what no library here writes: deletion vectors, mapped columns, change files.

It follows the public description of the format, shares no code with the reader, and knows what rows each version has: that is
what tests compare with.

    lake = DeltaWriter(path, schema, mapping="name")
    lake.append([(1, "a"), (2, "b")])         a file
    lake.delete(lambda row: row[0] == 1)      a vector for each file in which a row is deleted
    lake.rows                                 [(2, "b")]
"""

from __future__ import annotations

import base64
import json
import struct
import uuid
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow
import pyarrow.parquet
from pyroaring import BitMap64

Row = tuple[Any, ...]
B85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
NAMES = {
    pyarrow.int32(): "integer",
    pyarrow.int64(): "long",
    pyarrow.float64(): "double",
    pyarrow.string(): "string",
    pyarrow.date32(): "date",
    pyarrow.decimal128(12, 2): "decimal(12,2)",
    pyarrow.timestamp("us", tz="UTC"): "timestamp",
    pyarrow.timestamp("us"): "timestamp_ntz",
}


def z85(data: bytes) -> str:
    """Bytes in Z85, by way of Python's own alphabet."""
    data += b"\0" * (-len(data) % 4)
    return base64.b85encode(data).decode().translate(str.maketrans(B85, Z85))


def body(positions: Sequence[int]) -> bytes:
    return struct.pack("<I", 1681511377) + BitMap64(positions).serialize()


@dataclass
class Written:
    """A data file: its rows with their positions, those that are deleted, and the action that added it."""

    path: str
    rows: list[Row]
    add: dict[str, Any]
    deleted: set[int] = field(default_factory=set)


class DeltaWriter:
    """One table. `store`: where vectors go: i (into the log), u (a file), p (a file with a whole address)."""

    def __init__(
        self,
        root: Path,
        schema: pyarrow.Schema,
        *,
        mapping: str = "none",
        partition_by: Sequence[str] = (),
        store: str = "u",
        configuration: dict[str, str] | None = None,
        features: Sequence[str] = (),
        stats: bool = True,
    ) -> None:
        self.root, self.schema, self.mapping, self.store = root, schema, mapping, store
        self.partition_by, self.stats = list(partition_by), stats
        self.configuration = {"delta.enableDeletionVectors": "true", **(configuration or {})}
        self.names = {n: n for n in schema.names}
        self.ids = {n: i + 1 for i, n in enumerate(schema.names)}
        if mapping != "none":
            self.names = {n: f"col-{uuid.uuid4()}" for n in schema.names}
            self.configuration["delta.columnMapping.mode"] = mapping
            features = [*features, "columnMapping"]
        self.features = ["deletionVectors", *features]
        self.files: list[Written] = []
        self.version = -1
        self.identity = str(uuid.uuid4())
        (root / "_delta_log").mkdir(parents=True, exist_ok=True)
        self.commit(self.protocol(), self.metadata())

    # --- actions -------------------------------------------------------------------------------------------

    def protocol(self) -> dict[str, Any]:
        both = {"readerFeatures": self.features, "writerFeatures": self.features}
        return {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, **both}}

    def metadata(self) -> dict[str, Any]:
        fields = []
        for f in self.schema:
            about: dict[str, Any] = {}
            if self.mapping != "none":
                about = {
                    "delta.columnMapping.physicalName": self.names[f.name],
                    "delta.columnMapping.id": self.ids[f.name],
                }
            fields.append({"name": f.name, "type": NAMES[f.type], "nullable": True, "metadata": about})
        return {
            "metaData": {
                "id": self.identity,
                "format": {"provider": "parquet", "options": {}},
                "schemaString": json.dumps({"type": "struct", "fields": fields}),
                "partitionColumns": self.partition_by,
                "configuration": self.configuration,
                "createdTime": 0,
            }
        }

    def commit(self, *actions: dict[str, Any]) -> None:
        self.version += 1
        path = self.root / "_delta_log" / f"{self.version:020}.json"
        path.write_text("".join(json.dumps(a) + "\n" for a in ({"commitInfo": {}}, *actions)))

    @property
    def rows(self) -> list[Row]:
        return [r for f in self.files for i, r in enumerate(f.rows) if i not in f.deleted]

    # --- data ----------------------------------------------------------------------------------------------

    def write_file(self, rows: list[Row], name: str, more: dict[str, Any] | None = None) -> int:
        """Write rows that share a partition; columns are called as files call them. Returns the size."""
        stored = [f for f in self.schema if f.name not in self.partition_by]
        columns = {}
        fields = []
        for f in stored:
            i = self.schema.names.index(f.name)
            number = {b"PARQUET:field_id": str(self.ids[f.name]).encode()} if self.mapping != "none" else None
            # Where columns are found by number, their names in files do not matter.
            own = f"any {self.ids[f.name]}" if self.mapping == "id" else self.names[f.name]
            columns[own] = pyarrow.array([r[i] for r in rows], f.type)
            fields.append(pyarrow.field(own, f.type, metadata=number))
        for own, values in (more or {}).items():
            columns[own] = pyarrow.array(values)
            fields.append(pyarrow.field(own, columns[own].type))
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        table = pyarrow.Table.from_arrays(list(columns.values()), schema=pyarrow.schema(fields))
        pyarrow.parquet.write_table(table, path, row_group_size=5)
        return path.stat().st_size

    def partition_of(self, row: Row) -> dict[str, str | None]:
        values = {n: row[self.schema.names.index(n)] for n in self.partition_by}
        return {self.names[n]: None if v is None else str(v) for n, v in values.items()}

    def added(self, rows: list[Row], data_change: bool = True) -> list[dict[str, Any]]:
        """Add actions for rows, a file for each partition."""
        actions = []
        parts: dict[str, list[Row]] = {}
        for row in rows:
            parts.setdefault(json.dumps(self.partition_of(row)), []).append(row)
        for key, part in parts.items():
            name = f"x y/part-{uuid.uuid4()}.parquet"
            size = self.write_file(part, name)
            add: dict[str, Any] = {
                "path": quote(name),
                "partitionValues": json.loads(key),
                "size": size,
                "modificationTime": 0,
                "dataChange": data_change,
            }
            if self.stats:
                add["stats"] = json.dumps({"numRecords": len(part)})
            self.files.append(Written(name, part, add))
            actions.append({"add": add})
        return actions

    def append(self, rows: list[Row]) -> None:
        self.commit(*self.added(rows))

    def vector(self, positions: set[int]) -> dict[str, Any]:
        data = body(sorted(positions))
        about = {"storageType": self.store, "sizeInBytes": len(data), "cardinality": len(positions)}
        if self.store == "i":
            return {**about, "pathOrInlineDv": z85(data)}
        own = uuid.uuid4()
        prefix = "ab" if self.store == "u" else ""
        path = self.root / prefix / f"deletion_vector_{own}.bin"
        path.parent.mkdir(exist_ok=True)
        frame = struct.pack(">i", len(data)) + data + struct.pack(">I", zlib.crc32(data))
        other = struct.pack(">i", 3) + b"abc" + struct.pack(">I", zlib.crc32(b"abc"))
        path.write_bytes(b"\x01" + other + frame)
        text = prefix + z85(own.bytes) if self.store == "u" else str(path)
        return {**about, "pathOrInlineDv": text, "offset": 1 + len(other)}

    def delete(self, which: Callable[[Row], bool], feed: bool = False) -> None:
        """Mark rows; with `feed` the deleted rows are written as changes too."""
        actions: list[dict[str, Any]] = []
        for file in list(self.files):
            hit = {i for i, r in enumerate(file.rows) if i not in file.deleted and which(r)}
            if not hit:
                continue
            gone = [file.rows[i] for i in sorted(hit)]
            actions += self.marked(file, file.deleted | hit)
            if feed:
                actions.append(self.change(gone, ["delete"] * len(gone), file.add["partitionValues"]))
        self.commit(*actions)

    def restore(self) -> None:
        """Take the newest vectors back, all at once."""
        self.commit(*(a for f in list(self.files) if f.deleted for a in self.marked(f, set())))

    def marked(self, file: Written, deleted: set[int]) -> list[dict[str, Any]]:
        remove = {"path": file.add["path"], "dataChange": True, "deletionTimestamp": 0}
        if "deletionVector" in file.add:
            remove["deletionVector"] = file.add["deletionVector"]
        file.add = {k: v for k, v in file.add.items() if k != "deletionVector"}
        file.deleted = deleted
        if deleted:
            file.add["deletionVector"] = self.vector(deleted)
        return [{"remove": remove}, {"add": file.add}]

    def change(self, rows: list[Row], kinds: list[str], partition: dict[str, Any]) -> dict[str, Any]:
        name = f"_change_data/cdc-{uuid.uuid4()}.parquet"
        size = self.write_file(rows, name, {"_change_type": kinds})
        return {"cdc": {"path": name, "partitionValues": partition, "size": size, "dataChange": False}}

    def update(self, which: Callable[[Row], bool], new: Callable[[Row], Row]) -> None:
        """Rewrite whole files, with files of changes beside them; rows keep their partitions."""
        actions: list[dict[str, Any]] = []
        for file in list(self.files):
            live = [(i, r) for i, r in enumerate(file.rows) if i not in file.deleted]
            hit = [r for _, r in live if which(r)]
            if not hit:
                continue
            remove = {"path": file.add["path"], "dataChange": True, "deletionTimestamp": 0}
            actions.append({"remove": remove})
            self.files.remove(file)
            actions += self.added([new(r) if which(r) else r for _, r in live])
            images = [x for r in hit for x in (r, new(r))]
            kinds = ["update_preimage", "update_postimage"] * len(hit)
            actions.append(self.change(images, kinds, file.add["partitionValues"]))
        self.commit(*actions)

    def optimize(self) -> None:
        """Write the live rows of all files into new ones: no row changes."""
        actions: list[dict[str, Any]] = [
            {"remove": {"path": f.add["path"], "dataChange": False, "deletionTimestamp": 0}}
            for f in self.files
        ]
        rows, self.files = self.rows, []
        self.commit(*actions, *self.added(rows, data_change=False))

    def alter(self, schema: pyarrow.Schema, fresh: Sequence[str] = ()) -> None:
        """Give the table other columns; rows get NULL in new ones and in `fresh` ones, which are other columns of old names."""
        old = self.schema.names
        for f in schema:
            if f.name not in self.names or f.name in fresh:
                self.ids[f.name] = max(self.ids.values()) + 1
                self.names[f.name] = f.name if self.mapping == "none" else f"col-{uuid.uuid4()}"
        for file in self.files:
            file.rows = [
                tuple(row[old.index(n)] if n in old and n not in fresh else None for n in schema.names)
                for row in file.rows
            ]
        self.schema = schema
        self.commit(self.metadata())

    def checkpoint(self, parts: int = 1, sidecars: bool = False) -> None:
        """Write a checkpoint of the present version: one file, several, or one that names others."""
        log = self.root / "_delta_log"
        map_type = pyarrow.map_(pyarrow.string(), pyarrow.string())
        vector = pyarrow.struct(
            [
                ("storageType", pyarrow.string()),
                ("pathOrInlineDv", pyarrow.string()),
                ("offset", pyarrow.int32()),
                ("sizeInBytes", pyarrow.int32()),
                ("cardinality", pyarrow.int64()),
            ]
        )
        add = pyarrow.struct(
            [
                ("path", pyarrow.string()),
                ("partitionValues", map_type),
                ("size", pyarrow.int64()),
                ("modificationTime", pyarrow.int64()),
                ("dataChange", pyarrow.bool_()),
                ("stats", pyarrow.string()),
                ("deletionVector", vector),
            ]
        )
        metadata = pyarrow.struct(
            [
                ("id", pyarrow.string()),
                ("schemaString", pyarrow.string()),
                ("partitionColumns", pyarrow.list_(pyarrow.string())),
                ("configuration", map_type),
            ]
        )
        names = pyarrow.list_(pyarrow.string())
        protocol = pyarrow.struct(
            [("minReaderVersion", pyarrow.int32()), ("readerFeatures", names), ("writerFeatures", names)]
        )

        def pairs(action: dict[str, Any], key: str) -> dict[str, Any]:
            return {**action, key: list(action[key].items())}

        head = [
            {"protocol": self.protocol()["protocol"]},
            {"metaData": pairs(self.metadata()["metaData"], "configuration")},
        ]
        adds = [{"add": pairs(f.add, "partitionValues")} for f in self.files]
        schema = pyarrow.schema([("protocol", protocol), ("metaData", metadata), ("add", add)])

        def write(path: Path, actions: list[dict[str, Any]], schema: pyarrow.Schema = schema) -> None:
            rows = [{n: a.get(n) for n in schema.names} for a in actions]
            pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema), path)

        stem = f"{self.version:020}.checkpoint"
        if sidecars:
            (log / "_sidecars").mkdir(exist_ok=True)
            own = f"{uuid.uuid4()}.parquet"
            write(log / "_sidecars" / own, adds)
            lines = [
                {"checkpointMetadata": {"version": self.version}},
                self.protocol(),
                self.metadata(),
                {"sidecar": {"path": own, "sizeInBytes": 1, "modificationTime": 0}},
            ]
            (log / f"{stem}.{uuid.uuid4()}.json").write_text("".join(json.dumps(x) + "\n" for x in lines))
        elif parts == 1:
            write(log / f"{stem}.parquet", head + adds)
        else:
            whole = head + adds
            for i in range(parts):
                write(log / f"{stem}.{i + 1:010}.{parts:010}.parquet", whole[i::parts])

    def forget_commits(self) -> None:
        """Remove the commits up to the present version, as a cleaned log has it."""
        for path in (self.root / "_delta_log").glob("*.json"):
            if path.name[:20].isdigit() and len(path.name) == 25 and int(path.name[:20]) <= self.version:
                path.unlink()
