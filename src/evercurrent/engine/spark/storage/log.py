"""The one commit point.

A version of the warehouse is a snapshot (all stores with their segments, all definitions, the cursors of sources) and an
entry of the log that points to it. Law: what a version mentions was written before its entry, and the entry appears whole
or not at all (it is linked into its place, which fails if another one is there). So

- whatever happened before the entry appeared can be ignored: nothing mentions it;
- whatever comes after it (publishing views, removing old files) can be done again;
- of two drivers that commit the same version one wins, and the other has changed nothing.

An entry carries the identity of its batch, so that a batch that is sent again is recognised, and the change of each view.

Damage is noticed. Entries and snapshots carry digests of themselves (`documents`); an entry carries the digest of the entry
before it, and that of its snapshot. Entries are never removed, so a gap is damage. After a commit the entry is written once more, to
`_log/heads/<version>.json`, and older heads are removed: a head without its entry says that the newest entry was lost, and what it was.

    v1 <- v2 <- v3        each with the digest of the one before
                head 3    v3 once more

A driver that dies between the two leaves a head that is behind, or none: that is no damage. Heads bear numbers, so of several writers
none takes a head back.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from evercurrent.engine.spark.storage.batch_index import BatchIndex
from evercurrent.engine.spark.storage.checksums import damage_error
from evercurrent.engine.spark.storage.disk import DamageError, MissingFileError
from evercurrent.engine.spark.storage.documents import pack, unpack
from evercurrent.engine.spark.storage.files import Folder, Segment
from evercurrent.engine.spark.storage.manifests.archive import Archive
from evercurrent.engine.spark.storage.manifests.checkpoints import Checkpoints
from evercurrent.engine.spark.storage.places import Place
from evercurrent.engine.spark.storage.snapshots import (
    RESTORE,
    UNREADABLE,
    Entry,
    Snapshot,
)
from evercurrent.errors import ConflictError, StorageError

DIGITS = 20
REPAIR = "evercurrent check --warehouse DIR --repair writes it again from _log/heads"
RENEWED_SECONDS = 600.0
"""Files that were written longer ago than this before their commit are made young again."""
CLEANED = "only versions that vacuum has kept can be read"


class Log:
    """The log of a warehouse."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.place = folder.root / "_log"
        self._batches: dict[str, int] = {}
        self._entries: dict[int, Entry] = {}  # entries never change
        self._read = 0  # batches of versions up to this one are known
        self._newest = 0  # the newest version that was seen
        self._digests: dict[int, str | None] = {}  # of entries that were read
        self.checkpoints = Checkpoints(folder)
        self.archive = Archive(folder)

    def latest(self) -> int:
        """The newest version; 0 if there is none."""
        lost = max(self.heads(), default=0)  # first: an entry is there before its head
        since = max(lost, self._newest) - 1  # the newest one that was seen is looked for once more
        newer = self.folder.disk.names_after(self.place, self.entry_name(since) if since > 0 else "")
        newest = max((int(n[:DIGITS]) for n in newer if is_version(n)), default=0)
        if lost > newest and not self.folder.disk.exists(self.entry_path(lost)):
            raise DamageError(
                f"{self.entry_path(lost)} is missing: it is the entry of the newest version", hint=REPAIR
            )
        self._newest = max(newest, lost)
        return self._newest

    def heads(self) -> list[int]:
        """The versions of which there are heads; one, but for moments."""
        return [int(n[:DIGITS]) for n in self.folder.disk.names(self.place / "heads") if is_version(n)]

    def entry(self, version: int) -> Entry:
        known = self._entries.get(version)
        if known is None:
            try:
                known, own = self.load_entry(version)
            except (DamageError, MissingFileError) as problem:
                problem.hint = self._way_out(version)
                raise
            self._digests[version] = own
            self._entries[version] = known
            try:
                self._require_chained(version)
                self._require_chained(version + 1)
            except DamageError:
                del self._entries[version], self._digests[version]
                raise
        return known

    def load_entry(self, version: int) -> tuple[Entry, str | None]:
        """An entry as it lies there, and its digest."""
        path = self.entry_path(version)
        value, own = unpack(self.entry_text(version), str(path))
        known = self._entry_of(value, path)
        if own is not None and known.version != version:
            raise DamageError(f"{path} is the entry of version {known.version}")
        return known, own

    def entry_text(self, version: int) -> bytes:
        """The document of an entry, where it was written or where vacuum has archived it."""
        try:
            if version > self.archive.last():
                return self.folder.disk.read(self.entry_path(version))
            return self.archive.entry(version)
        except MissingFileError:
            if version > self.archive.last(again=True):
                raise
            return self.archive.entry(version)

    def archive_entries(self, oldest_kept: int) -> int:
        """Put the entries of versions before one together in few files; returns how many files were removed."""
        return self.archive.write(oldest_kept, self.entry_text, self.entry_path)

    def _way_out(self, version: int) -> str:
        """What to do about an entry that is lost."""
        return REPAIR if version in self.heads() else RESTORE

    def _entry_of(self, value: Mapping[str, Any], path: Place) -> Entry:
        if not re.fullmatch(r"[0-9A-Za-z-]+\.json", str(value.get("snapshot"))):
            named = str(value.get("snapshot"))[:80]
            raise StorageError(f"{path} names the snapshot {named!r}, which is none of this warehouse")
        try:
            changes = {k: self.folder.learn(k, v) for k, v in value["changes"].items()}
            return Entry(
                value["version"],
                value["snapshot"],
                value["kind"],
                value["batch"],
                value["at"],
                changes,
                value["record"],
                value.get("before"),
                value.get("snapshot_digest"),
            )
        except UNREADABLE as problem:
            raise damage_error(str(path)) from problem

    def _require_chained(self, version: int) -> None:
        """An entry that is read follows on the one before, if that was read too."""
        if version not in self._entries or version - 1 not in self._entries:
            return
        if self._entries[version].before != self._digests[version - 1]:
            raise DamageError(
                f"{self.entry_path(version)} does not follow on {self.entry_path(version - 1).name}: "
                "one of them is of another history",
                hint=RESTORE,
            )

    def digest(self, version: int) -> str | None:
        """The digest of an entry; None if it has none."""
        if version == 0:
            return None
        self.entry(version)
        return self._digests[version]

    def snapshot(self, version: int) -> Snapshot:
        """What a version consists of."""
        if version == 0:
            return Snapshot()
        if version > 1:
            self.entry(version - 1)  # on which this one must follow
        return self.load_snapshot(version)

    def load_snapshot(self, version: int) -> Snapshot:
        """What the entry of a version points to."""
        entry = self.entry(version)
        path = self.place / "snapshots" / entry.snapshot
        try:
            value, own = unpack(self.folder.disk.read(path), str(path), RESTORE)
        except MissingFileError as problem:
            if version != self.latest():
                raise StorageError(f"version {version} has been cleaned up", hint=CLEANED) from problem
            problem.hint = RESTORE
            raise
        if own != entry.snapshot_digest:
            raise DamageError(f"{path} is not the snapshot of version {version}", hint=RESTORE)
        return self.checkpoints.snapshot_of(value, str(path))

    def list_snapshots(self) -> list[int]:
        """The versions whose snapshots are still there, in order."""
        newest, found = self.latest(), set()
        for name in self.folder.disk.names(self.place / "snapshots"):
            version = int(name[:DIGITS]) if name[:DIGITS].isdigit() else 0
            if 0 < version <= newest and self.entry(version).snapshot == name:
                found.add(version)
        return sorted(found)

    def stray_snapshots(self) -> list[str]:
        """The names of snapshots that no entry mentions: of commits that never came."""
        mentioned = {self.entry(v).snapshot for v in self.list_snapshots()}
        return [n for n in self.folder.disk.names(self.place / "snapshots") if n not in mentioned]

    def list_versions(self) -> list[int]:
        """The versions that have entries, in order."""
        return sorted(int(n[:DIGITS]) for n in self.folder.disk.names(self.place) if is_version(n))

    def versions(self) -> list[int]:
        """All versions, in order."""
        archived = self.archive.last(again=True)
        found = [v for v in self.list_versions() if v > archived]
        if not found or found[-1] == archived + len(found):
            return [*range(1, archived + 1), *found]
        # Versions begin at 1, and entries are removed only when they are archived. A listing may pass over one that is linked meanwhile.
        known = set(found)
        for version in range(archived + 1, found[-1]):
            if version not in known and not self.folder.disk.exists(self.entry_path(version)):
                raise DamageError(f"{self.entry_path(version)} is missing", hint=self._way_out(version))
        return list(range(1, found[-1] + 1))

    def entries(self) -> Iterator[Entry]:
        for version in self.versions():
            yield self.entry(version)

    def batch(self, identity: str) -> int | None:
        """The version that a batch became, if it did."""
        newest = self.latest()
        if self._read < newest:
            found, self._read = BatchIndex(self.folder).load(self._read, newest)
            self._batches |= found
        while self._read < newest:
            known = self.entry(self._read + 1).batch
            self._read += 1
            if known is not None:
                self._batches[known] = self._read
        return self._batches.get(identity)

    def write_index(self, version: int) -> None:
        """Write the batches of the last versions once more, so that others need not read each entry, if it is time."""
        index = BatchIndex(self.folder)
        if index.is_due(version):
            self.batch("")
            index.write(version, {b: v for b, v in self._batches.items() if v <= version})

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
        """Make a snapshot the version after `after`; ConflictError if another driver was first.

        StorageError if a file that was written for it is gone: another driver's vacuum takes what nobody mentions for long.
        """
        version = after + 1
        name = f"{version:0{DIGITS}}-{uuid.uuid4().hex}.json"
        before = self.digest(after)
        disk = self.folder.disk
        whole = self.place / "snapshots" / name
        own = self.write_snapshot(whole, snapshot, version)
        entry = {
            "version": version,
            "before": before,
            "snapshot": name,
            "snapshot_digest": own,
            "kind": kind,
            "batch": batch,
            "at": time.time(),
            "changes": {k: self.folder.segment_document(s) for k, s in (changes or {}).items()},
            "record": dict(record or {}),
        }
        text, _ = pack(entry)
        mentioned = snapshot.files() | {f for s in (changes or {}).values() for f in s.files}
        self._require_written(mentioned, whole)
        # From here on files may be mentioned by a version: they are only removed again if it certainly does not stand.
        made, self.folder.made = self.folder.made, []
        try:
            first = disk.put_if_absent(self.entry_path(version), text)
        except StorageError:
            with suppress(StorageError):
                if not disk.exists(self.entry_path(version)):
                    self.folder.made = made
                    disk.delete(whole)
            raise
        if not first:
            self.folder.made = made
            with suppress(StorageError):
                disk.delete(whole)
            raise ConflictError(
                f"another writer has committed version {version} of {self.folder.root}",
                hint="nothing was changed; open the warehouse again and repeat the batch",
            )
        # The version stands: whatever fails from here on must not say otherwise.
        self.folder.made = [f for f in made if f not in mentioned]
        self._newest = max(self._newest, version)
        self._follow_up(version, text)
        return version

    def _follow_up(self, version: int, text: bytes) -> None:
        """Writes what a commit leaves beside its entry, as far as that can be done."""
        with suppress(StorageError):
            self.folder.disk.sync(self.place)
        with suppress(StorageError):
            self.write_head(version, text)
        with suppress(StorageError):
            self.write_index(version)

    def _require_written(self, mentioned: set[str], snapshot: Place) -> None:
        """What was written for a version is there, and young enough for vacuum to leave it alone until the version stands."""
        folder = self.folder
        for file in folder.made:
            if file in mentioned and not folder.disk.renew(folder.path(file), RENEWED_SECONDS):
                with suppress(StorageError):
                    folder.disk.delete(snapshot)
                raise MissingFileError(
                    f"{folder.path(file)}, which was written for version {self.latest() + 1}, is gone",
                    hint="nothing was changed: repeat the batch; a vacuum of another driver removes files that no version "
                    "mentions, so let its `hours` be longer than any batch takes",
                )

    def write_snapshot(self, path: Place, snapshot: Snapshot, version: int) -> str:
        """Writes a snapshot, which no version mentions yet, and returns its digest."""
        text, digest = pack(self.checkpoints.document(snapshot, version))
        self.folder.disk.put(path, text, durable=True)
        return digest

    def write_head(self, version: int, text: bytes) -> None:
        """Write the newest entry once more, and remove the heads of older ones."""
        disk = self.folder.disk
        disk.replace(self.head_path(version), text)
        for old in self.heads():
            if old < version:
                disk.delete(self.head_path(old))

    def forget(self, version: int) -> None:
        """Remove the snapshot of a version; its entry stays, for its batch and its history."""
        self.folder.disk.delete(self.place / "snapshots" / self.entry(version).snapshot)

    def entry_name(self, version: int) -> str:
        return f"{version:0{DIGITS}}.json"

    def entry_path(self, version: int) -> Place:
        return self.place / self.entry_name(version)

    def head_path(self, version: int) -> Place:
        return self.place / "heads" / self.entry_name(version)


def is_version(name: str) -> bool:
    """Whether a file is named by a version.

    >>> is_version("00000000000000000007.json"), is_version("00000000000000000007.json.tmp")
    (True, False)
    """
    return len(name) == DIGITS + 5 and name.endswith(".json") and name[:DIGITS].isdigit()
