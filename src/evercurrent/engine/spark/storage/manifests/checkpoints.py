"""Snapshots as differences from a whole one: what a version writes is what it changed, not a list of everything.

    _log/checkpoints/00000000000000000007-5f...json    all stores and definitions, as of version 7
    _log/snapshots/00000000000000000019-a1...json      {"checkpoint": "00000000000000000007-5f...json", "stores": {two of them}, ...}

Law. A snapshot is its checkpoint with what the difference says: stores that are listed replace those of the checkpoint, those that
are `gone` are left out, and every other part that is listed replaces the whole part. So a version is read from two files.

A new checkpoint is written when a difference has become half as large as the checkpoint. A snapshot that is small is written whole.
"""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from typing import Any

from evercurrent.engine.spark.storage.disk import DamageError
from evercurrent.engine.spark.storage.documents import pack, unpack
from evercurrent.engine.spark.storage.files import Folder
from evercurrent.engine.spark.storage.snapshots import (
    RESTORE,
    Snapshot,
    snapshot_document,
    snapshot_of,
    store_document,
)
from evercurrent.errors import StorageError

WHOLE = 16 << 10
"""A snapshot of at most this number of bytes is written whole."""
NAME = re.compile(r"[0-9]{20}-[0-9a-f]{32}\.json")
PARTS = ("definitions", "sources", "cold", "factors")


@dataclass(frozen=True)
class Checkpoint:
    """A snapshot that others are differences from."""

    name: str
    digest: str
    size: int
    snapshot: Snapshot


class Checkpoints:
    """The checkpoints of a log; the last one that was read or written is kept in memory."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.place = folder.root / "_log" / "checkpoints"
        self.last: Checkpoint | None = None

    # --- writing -------------------------------------------------------------------------------------------

    def document(self, snapshot: Snapshot, version: int) -> dict[str, Any]:
        """What is to be written for a snapshot: a difference from the last checkpoint, or from a new one, or all of it."""
        last = self.last
        if last is not None:
            change = self.difference(snapshot, last)
            if 2 * len(pack(change)[0]) <= last.size and self.folder.disk.exists(self.place / last.name):
                return change
        whole = snapshot_document(self.folder, snapshot)
        text, own = pack(whole)
        if len(text) <= WHOLE:
            self.last = None
            return whole
        name = f"{version:020}-{uuid.uuid4().hex}.json"
        self.folder.disk.make_folder(self.place)
        self.folder.disk.put(self.place / name, text, durable=True)
        self.folder.disk.sync(self.place)
        self.last = Checkpoint(name, own, len(text), snapshot)
        return self.difference(snapshot, self.last)

    def difference(self, snapshot: Snapshot, last: Checkpoint) -> dict[str, Any]:
        """What a snapshot has that a checkpoint has not."""
        before = last.snapshot
        stores = {
            name: store_document(self.folder, store)
            for name, store in snapshot.stores.items()
            if store.segments and store != before.stores.get(name)
        }
        gone = [n for n, s in before.stores.items() if s.segments and not has_segments(snapshot, n)]
        found: dict[str, Any] = {"checkpoint": last.name, "checkpoint_digest": last.digest, "stores": stores}
        if gone:
            found["gone"] = gone
        for part in PARTS:
            value = getattr(snapshot, part)
            if value != getattr(before, part):
                found[part] = [dict(d) for d in value] if part == "definitions" else dict(value)
        return found

    # --- reading -------------------------------------------------------------------------------------------

    def snapshot_of(self, value: dict[str, Any], path: str) -> Snapshot:
        """The snapshot that a document tells, with the help of its checkpoint if it names one."""
        if "checkpoint" not in value:
            return snapshot_of(self.folder, value, path)
        last = self.load(str(value["checkpoint"]), value.get("checkpoint_digest"))
        before = last.snapshot
        change = snapshot_of(self.folder, {"sources": {}, "definitions": [], **value}, path)
        gone = set(value.get("gone", ()))
        stores = {n: s for n, s in before.stores.items() if n not in gone and n not in change.stores}
        parts = {p: getattr(change if p in value else before, p) for p in PARTS}
        self.last = last
        return Snapshot({**stores, **change.stores}, **parts)

    def load(self, name: str, digest: Any) -> Checkpoint:
        if self.last is not None and (self.last.name, self.last.digest) == (name, digest):
            return self.last
        path = self.place / name
        if not NAME.fullmatch(name):
            raise StorageError(
                f"a snapshot names the checkpoint {name[:80]!r}, which is none of this warehouse"
            )
        text = self.folder.disk.read(path)
        value, own = unpack(text, str(path), RESTORE)
        if own is None or own != digest:
            raise DamageError(f"{path} is not the checkpoint that a snapshot names", hint=RESTORE)
        return Checkpoint(name, own, len(text), snapshot_of(self.folder, value, str(path)))

    def find_name(self, snapshot: Any) -> str | None:
        """The checkpoint that the document of a snapshot names."""
        value, _ = unpack(self.folder.disk.read(snapshot), str(snapshot), RESTORE)
        found = value.get("checkpoint")
        return None if found is None else str(found)

    def remove_others(self, needed: set[str], since: float) -> int:
        """Removes checkpoints that are not needed and were written before a time; returns how many bytes they took."""
        freed = 0
        for name in self.folder.disk.names(self.place):
            marks = self.folder.disk.marks(self.place / name)
            if name not in needed and marks is not None and marks[1] < since * 1e9:
                freed += self.folder.disk.delete(self.place / name)
        return freed


def has_segments(snapshot: Snapshot, name: Any) -> bool:
    found = snapshot.stores.get(name)
    return found is not None and bool(found.segments)
