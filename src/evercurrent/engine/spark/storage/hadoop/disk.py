"""A warehouse on a file system of Hadoop, through the session: hdfs, viewfs, and others that the cluster is configured for.

The driver reads and writes by the session's JVM, with a cache on its disk; executors read and write by Spark's own connector. What
each file system promises decides how a version is committed:

    hdfs, viewfs, ofs, abfs, abfss    a file is written under a name that nobody knows and renamed. Renaming is one step, which fails
                                      where the name is taken, so of several drivers one wins, and an entry is there as a whole.
                                      `create(overwrite=false)` alone would do as much for the name, but the file is seen while
                                      it is being written, and a driver that dies then leaves half an entry
    gs                                `create(overwrite=false)`: an object is there when its stream is closed, under the condition
                                      that there is none
    s3a                               the same, by a conditional put, which S3A has from Hadoop 3.4.2 on; renaming would be a copy
    others                            refused, unless `storage_options={"commit": "rename"}` (or "create") says which one is atomic

An answer may be lost: whatever a commit returns, the entry is read back, and is ours exactly if its bytes are.
"""

from __future__ import annotations

import os
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import pyarrow

from evercurrent.engine.spark.doors.hadoop import HadoopFiles
from evercurrent.engine.spark.storage.checksums import Checked, read_sums
from evercurrent.engine.spark.storage.disk import Disk, Found, MissingFileError, Path
from evercurrent.engine.spark.storage.file_cache import FetchedFile, FileCache
from evercurrent.errors import StorageError, UnsupportedError

COMMITS: Mapping[str, str] = {
    "hdfs": "rename",
    "viewfs": "rename",
    "ofs": "rename",
    "abfs": "rename",
    "abfss": "rename",
    "gs": "create",
    "s3a": "create",
}
"""How each file system lets exactly one of several drivers commit."""
CONDITIONAL_SINCE = (3, 4, 2)
LARGE = 4 << 20
"""Files of more bytes pass through files on the driver's disk."""
IMMUTABLE = ("data/",)


def commit_of(scheme: str, options: Mapping[str, str]) -> str:
    """How versions are committed on a file system."""
    found = options.get("commit") or COMMITS.get(scheme, "")
    if found not in ("rename", "create"):
        raise UnsupportedError(
            f"it is not known how a version can be committed on {scheme}: which of its operations is atomic?",
            hint='storage_options={"commit": "rename"} if renaming fails where the name is taken, and is one step; '
            '{"commit": "create"} if create(overwrite=false) is, and shows a file when it is closed',
        )
    return found


class HadoopDisk(Disk):
    """Files by address, on a file system of Hadoop."""

    remote = True
    by_spark = True
    publishes = False

    def __init__(
        self, session: Any, url: str, options: Mapping[str, str], cache: FileCache | None = None
    ) -> None:
        self.url = url
        self.cache = cache
        scheme = url.split(":", 1)[0].lower()
        self.commit = commit_of(scheme, options)
        try:
            self.files = HadoopFiles(session, url)
        except OSError as problem:
            raise StorageError(
                f"the file system of {url} cannot be opened: {problem.strerror}",
                hint="the session needs the connector of this file system (spark.jars.packages) and its credentials",
            ) from problem
        self.conditional = scheme == "s3a"
        if self.conditional and self.files.hadoop_version < CONDITIONAL_SINCE:
            raise UnsupportedError(
                f"S3A of Hadoop {'.'.join(map(str, self.files.hadoop_version))} cannot put a file on the condition that there is none",
                hint="use Hadoop 3.4.2 or later, or leave `access` out: then evercurrent reaches S3 itself",
            )

    def key(self, path: Path) -> str:
        return os.fspath(path).removeprefix(self.url).lstrip("/")

    def cache_key(self, path: Path) -> str | None:
        """The name of a file in the cache; None if it is not cached."""
        key = self.key(path)
        return key if self.cache is not None and key.startswith(IMMUTABLE) else None

    # --- reading -------------------------------------------------------------------------------------------

    def read(self, path: Path) -> bytes:
        key = self.cache_key(path)
        if key is not None and self.cache is not None and (known := self.cache.read(key)) is not None:
            return known
        with self.name_errors("read", path):
            data = self.load(os.fspath(path))
        if key is not None and self.cache is not None:
            self.cache.write(key, data)
        return data

    def load(self, path: str) -> bytes:
        found = self.files.status(path)
        if found is None:
            raise FileNotFoundError(path)
        if found.size <= LARGE:
            return self.files.read(path)
        with tempfile.TemporaryDirectory() as folder:
            self.files.copy_to_local(path, f"{folder}/file")
            with open(f"{folder}/file", "rb") as file:
                return file.read()

    def map(self, path: Path) -> pyarrow.Buffer:
        return pyarrow.py_buffer(self.read(path))

    def read_ranges(self, path: Path, begins: list[int], ends: list[int]) -> list[bytes]:
        with self.name_errors("read", path):
            return self.files.read_ranges(os.fspath(path), begins, ends)

    def fetch(self, path: str, size: int, wanted: str, way_out: str | None) -> Checked | None:
        """A large file whose blocks are fetched when they are read; None if its sums are missing, or nothing is cached."""
        cached = None if self.cache is None else self.cache.place(self.key(path), size)
        sums = read_sums(path, size, wanted, self) if cached is not None else None
        if cached is None or sums is None:
            return None
        return FetchedFile(self, path, cached, sums, size, way_out)

    def forget(self, path: Path) -> bool:
        if self.cache is None:
            return False
        self.cache.remove(self.key(path))
        return True

    def names(self, folder: Path) -> list[str]:
        with self.name_errors("listed", folder):
            found = self.files.list(os.fspath(folder))
        return [s.path.rstrip("/").rsplit("/", 1)[-1] for s in found]

    def tree(self, folder: Path) -> Iterator[Found]:
        with self.name_errors("listed", folder):
            found = self.files.list(os.fspath(folder), below=True)
        root = f"/{self.key(folder)}/"
        for s in found:
            yield Found(s.path.split(root, 1)[-1], s.size, s.changed)

    def marks(self, path: Path) -> tuple[int, int] | None:
        with self.name_errors("read", path):
            found = self.files.status(os.fspath(path))
        return None if found is None else (found.size, int(found.changed * 1e9))

    def renew(self, path: Path, seconds: float) -> bool:
        marks = self.marks(path)
        if marks is not None and marks[1] < (time.time() - seconds) * 1e9:
            with self.name_errors("written", path), suppress(OSError):  # stores have no such times
                self.files.touch(os.fspath(path), time.time())
        return marks is not None

    # --- writing -------------------------------------------------------------------------------------------

    def put(self, path: Path, *parts: Any, durable: bool = False) -> None:
        data = b"".join(bytes(p) for p in parts)
        with self.name_errors("written", path):
            self.store(os.fspath(path), data)
            self.call("written", path)
        key = self.cache_key(path)
        if key is not None and self.cache is not None:
            self.cache.write(key, data)

    def store(self, path: str, data: bytes) -> None:
        if len(data) <= LARGE:
            self.files.write(path, data)
            return
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            self.files.copy_from_local(file.name, path)

    def replace(self, path: Path, *parts: Any) -> None:
        """Write a file that others may read, and that has one writer: a reader may find none for a moment, and looks again."""
        self.put(path, *parts)

    def put_if_absent(self, path: Path, content: bytes) -> bool:
        """Write a file unless one of this name is there; returns whether what is there now is ours."""
        name = os.fspath(path)
        way: Callable[[str, bytes], None] = self.by_rename if self.commit == "rename" else self.by_create
        try:
            with self.name_errors("written", path):
                try:
                    way(name, content)
                    self.call("written", path)
                    return True
                except FileExistsError:
                    return self.files.read(name) == content
        except StorageError:
            # The answer was an error: what stands there decides.
            with suppress(MissingFileError):
                if self.read(path) == content:
                    return True
            raise

    def by_rename(self, path: str, content: bytes) -> None:
        folder = path.rsplit("/", 1)[0]
        draft = f"{folder}/.{uuid.uuid4().hex}"
        self.files.write(draft, content)
        try:
            self.files.rename(draft, path)
        finally:
            with suppress(OSError):
                self.files.delete(draft)

    def by_create(self, path: str, content: bytes) -> None:
        self.files.write(path, content, overwrite=False, conditional=self.conditional)

    def make_folder(self, path: Path) -> None:
        with self.name_errors("made", path):
            self.files.make_folder(os.fspath(path))

    def delete(self, path: Path) -> int:
        with self.name_errors("removed", path):
            found = self.files.status(os.fspath(path))
            if found is None:
                return 0
            self.files.delete(os.fspath(path))
        if self.cache is not None:
            self.cache.remove(self.key(path))
        return found.size

    def prune(self, folder: Path, since: float) -> None:
        """Remove the folders, two levels down, that hold no Parquet file and in which nothing was written since then."""
        with self.name_errors("removed", folder):
            for store in self.files.list(os.fspath(folder)):
                for place in self.files.list(store.path) if store.folder else ():
                    if not place.folder or place.changed >= since:
                        continue
                    inside = self.files.list(place.path, below=True)
                    if all(not s.path.endswith(".parquet") and s.changed < since for s in inside):
                        self.files.delete(place.path, folder=True)

    def sync(self, path: Path) -> None:
        """What was closed is durable, as far as the file system promises it."""
