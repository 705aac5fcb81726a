"""The one commit point.

A version of the warehouse is a snapshot (all stores with their segments, all definitions, the cursors of sources) and an
entry of the log that points to it. Law: what a version mentions was written before its entry, and the entry appears whole
or not at all (it is linked into its place, which fails if another one is there). So

- whatever happened before the entry appeared can be ignored: nothing mentions it;
- whatever comes after it (publishing views, removing old files) can be done again;
- of two drivers that commit the same version one wins, and the other has changed nothing.

An entry carries the identity of its batch, so that a batch that is sent again is recognised, and the change of each view.
"""

from __future__ import annotations

import json
import os
import re
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evercurrent.engine.spark.files import Folder, Segment
from evercurrent.engine.spark.kept import Store
from evercurrent.errors import ConflictError, StorageError

FORMAT = 1
DIGITS = 20


@dataclass(frozen=True)
class Snapshot:
    """Everything at one version.

    `cold` are relations whose states are not there, with what is remembered of each; `factors` are what was learned of the cost
    of ways to bring relations up to date.
    """

    stores: Mapping[str, Store] = field(default_factory=dict)
    definitions: tuple[Mapping[str, Any], ...] = ()
    sources: Mapping[str, Any] = field(default_factory=dict)
    cold: Mapping[str, Any] = field(default_factory=dict)
    factors: Mapping[str, float] = field(default_factory=dict)

    def files(self) -> set[str]:
        return {f for store in self.stores.values() for s in store.segments for f in s.files}

    def plus(self, segments: Mapping[str, Segment]) -> Snapshot:
        """The snapshot with a segment added to each of these stores."""
        stores = dict(self.stores)
        for name, segment in segments.items():
            stores[name] = stores.get(name, Store()).plus(segment)
        return replace(self, stores=stores)


@dataclass(frozen=True)
class Entry:
    """One commit: which batch it was, what it changed, what is said about it."""

    version: int
    snapshot: str
    kind: str
    batch: str | None = None
    at: float = 0.0
    changes: Mapping[str, Segment] = field(default_factory=dict)
    record: Mapping[str, Any] = field(default_factory=dict)


class Log:
    """The log of a warehouse."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.place = folder.root / "_log"
        self._batches: dict[str, int] = {}
        self._entries: dict[int, Entry] = {}  # entries never change
        self._read = 0

    def latest(self) -> int:
        """The newest version; 0 if there is none."""
        versions = [int(p.stem) for p in self.place.glob("*.json") if p.stem.isdigit()]
        return max(versions, default=0)

    def entry(self, version: int) -> Entry:
        known = self._entries.get(version)
        if known is None:
            value = self._load(self._entry_path(version))
            if not re.fullmatch(r"[0-9A-Za-z-]+\.json", str(value.get("snapshot"))):
                raise StorageError(
                    f"version {version} names the snapshot {str(value.get('snapshot'))[:80]!r}, which is none of this warehouse"
                )
            changes = {k: Segment.of_json(v) for k, v in value["changes"].items()}
            known = self._entries[version] = Entry(
                version,
                value["snapshot"],
                value["kind"],
                value["batch"],
                value["at"],
                changes,
                value["record"],
            )
        return known

    def snapshot(self, version: int) -> Snapshot:
        """What a version consists of."""
        if version == 0:
            return Snapshot()
        entry = self.entry(version)
        path = self.place / "snapshots" / entry.snapshot
        if not path.exists():
            raise StorageError(
                f"version {version} has been cleaned up",
                hint="only versions that vacuum has kept can be read",
            )
        value = self._load(path)
        stores = {
            name: Store(tuple(map(Segment.of_json, s["base"])), tuple(map(Segment.of_json, s["recent"])))
            for name, s in value["stores"].items()
        }
        return Snapshot(
            stores,
            tuple(value["definitions"]),
            value["sources"],
            value.get("cold", {}),
            value.get("factors", {}),
        )

    def kept_versions(self) -> list[int]:
        """The versions whose snapshots are still there."""
        return [v for v in self.versions() if (self.place / "snapshots" / self.entry(v).snapshot).exists()]

    def versions(self) -> list[int]:
        return sorted(int(p.stem) for p in self.place.glob("*.json") if p.stem.isdigit())

    def entries(self) -> Iterator[Entry]:
        for version in self.versions():
            yield self.entry(version)

    def batch(self, identity: str) -> int | None:
        """The version that a batch became, if it did."""
        for version in self.versions():
            if version > self._read:
                known = self.entry(version).batch
                if known is not None:
                    self._batches[known] = version
                self._read = version
        return self._batches.get(identity)

    # --- writing -------------------------------------------------------------------------------------------

    def commit(
        self,
        snapshot: Snapshot,
        after: int,
        *,
        kind: str,
        batch: str | None = None,
        changes: Mapping[str, Segment] | None = None,
        record: Mapping[str, Any] | None = None,
    ) -> int:
        """Make a snapshot the version after `after`; ConflictError if another driver was first."""
        version = after + 1
        name = f"{version:0{DIGITS}}-{uuid.uuid4().hex}.json"
        stores = {
            k: {"base": [x.to_json() for x in s.base], "recent": [x.to_json() for x in s.recent]}
            for k, s in snapshot.stores.items()
            if s.segments
        }
        content = {
            "format": FORMAT,
            "stores": stores,
            "definitions": [dict(d) for d in snapshot.definitions],
            "sources": dict(snapshot.sources),
            "cold": dict(snapshot.cold),
            "factors": dict(snapshot.factors),
        }
        whole = self.place / "snapshots" / name
        self._write(whole, content)
        entry = {
            "format": FORMAT,
            "version": version,
            "snapshot": name,
            "kind": kind,
            "batch": batch,
            "at": time.time(),
            "changes": {k: s.to_json() for k, s in (changes or {}).items()},
            "record": dict(record or {}),
        }
        draft = self.place / f".{uuid.uuid4().hex}"
        self._write(draft, entry)
        try:
            os.link(draft, self._entry_path(version))
        except FileExistsError:
            whole.unlink()
            raise ConflictError(
                f"another writer has committed version {version} of {self.folder.root}",
                hint="nothing was changed; open the warehouse again and repeat the batch",
            ) from None
        except OSError as problem:
            raise StorageError(f"version {version} could not be committed: {problem}") from problem
        finally:
            draft.unlink(missing_ok=True)
        self._sync(self.place)
        return version

    def forget(self, version: int) -> None:
        """Remove the snapshot of a version; its entry stays, for its batch and its history."""
        (self.place / "snapshots" / self.entry(version).snapshot).unlink(missing_ok=True)

    def _entry_path(self, version: int) -> Path:
        return self.place / f"{version:0{DIGITS}}.json"

    def _load(self, path: Path) -> Any:
        try:
            value = json.loads(path.read_text())
        except (OSError, ValueError) as problem:
            raise StorageError(f"{path} cannot be read: {problem}") from problem
        if value.get("format") != FORMAT:
            raise StorageError(
                f"{path} is of format {value.get('format')}, and this version of evercurrent reads {FORMAT}"
            )
        return value

    def _write(self, path: Path, content: Any) -> None:
        try:
            with open(path, "x") as file:
                json.dump(content, file, separators=(",", ":"))
                file.flush()
                os.fsync(file.fileno())
        except OSError as problem:
            raise StorageError(f"{path} cannot be written: {problem}") from problem

    def _sync(self, path: Path) -> None:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
