"""Every access of a warehouse to its files goes through a `Disk`.

A warehouse needs little of a file system: put a file, put one if it is absent, read, list, delete. Whatever fails is a
`StorageError` that names the file. Tests replace `Folder.disk` by a disk that fails at the n-th call.

>>> import tempfile
>>> disk, place = Disk(), tempfile.mkdtemp()
>>> disk.put_if_absent(f"{place}/a", b"mine"), disk.put_if_absent(f"{place}/a", b"theirs")
(True, False)
>>> disk.read(f"{place}/a")
b'mine'
"""

from __future__ import annotations

import errno
import glob
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import pyarrow

from evercurrent.errors import StorageError

UNFINISHED = ".tmp"
FULL = (errno.ENOSPC, errno.EDQUOT)
Path = str | os.PathLike[str]


class MissingFileError(StorageError):
    """A file of a warehouse is not there."""


class DamageError(StorageError):
    """A file of a warehouse does not hold what was written into it."""


class Found(NamedTuple):
    """A file in a folder: its path from there, its size, and when it was last changed, in seconds."""

    path: str
    size: int
    changed: float


class Reach(NamedTuple):
    """The address of an object store and how to reach it, as it is sent to tasks."""

    url: str
    options: dict[str, str]
    environment: dict[str, str]


class Disk:
    """Files by path, on a file system that the driver and all executors share."""

    remote = False  # whether files are reached by requests
    by_spark = False  # whether Spark has a connector for remote files, so that tasks need none of ours
    publishes = True  # whether views can be published as Delta tables there
    delta_options: dict[str, str] | None = None  # how the library for Delta reaches it

    def reach(self) -> Reach:
        """What a task needs to reach these files."""
        return Reach("", {}, {})

    def call(self, operation: str, path: Path) -> None:
        """Is called before each operation, and in the middle of writing; tests raise OSError here."""

    @contextmanager
    def name_errors(self, operation: str, path: Path) -> Iterator[None]:
        """Turns an error of the operating system into one that names the file."""
        try:
            self.call(operation, path)
            yield
        except FileNotFoundError as problem:
            raise MissingFileError(
                f"{os.fspath(path)} is missing",
                hint="evercurrent check --warehouse DIR lists what is damaged",
            ) from problem
        except OSError as problem:
            if problem.errno in FULL:
                raise StorageError(
                    f"{os.fspath(path)} cannot be {operation}: the disk is full",
                    hint="free some space and try again",
                ) from problem
            said = problem.strerror or str(problem)
            raise StorageError(f"{os.fspath(path)} cannot be {operation}: {said}") from problem

    # --- reading -------------------------------------------------------------------------------------------

    def read(self, path: Path) -> bytes:
        with self.name_errors("read", path), open(path, "rb") as file:
            return file.read()

    def map(self, path: Path) -> pyarrow.Buffer:
        """A file as a buffer, of which only the pages that are touched are read."""
        with self.name_errors("read", path):
            if not os.path.getsize(path):
                return pyarrow.py_buffer(b"")
            with pyarrow.memory_map(os.fspath(path)) as source:
                return source.read_buffer(source.size())

    def fetch(self, path: str, size: int, wanted: str, way_out: str | None) -> Any:
        """A file of which parts are fetched when they are read; None where reading maps it."""
        return None

    def forget(self, path: Path) -> bool:
        """Drop what is cached of a file; returns whether it may read otherwise then."""
        return False

    def names(self, folder: Path) -> list[str]:
        """The names in a folder; none if it is missing."""
        with self.name_errors("listed", folder):
            try:
                return os.listdir(folder)
            except FileNotFoundError:
                return []

    def names_after(self, folder: Path, name: str) -> list[str]:
        """The names of files in a folder that begin with a digit and come after a name."""
        return [n for n in self.names(folder) if n > name and n[:1].isdigit()]

    def tree(self, folder: Path) -> Iterator[Found]:
        """All files in a folder, and in folders in it."""
        for place, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(place, name)
                with suppress(FileNotFoundError):
                    status = os.stat(path)
                    yield Found(os.path.relpath(path, folder), status.st_size, status.st_mtime)

    def marks(self, path: Path) -> tuple[int, int] | None:
        """The size of a file and the time of its last change; None if it is missing."""
        with self.name_errors("read", path):
            try:
                found = os.stat(path)
            except FileNotFoundError:
                return None
        return found.st_size, found.st_mtime_ns

    def exists(self, path: Path) -> bool:
        return self.marks(path) is not None

    def renew(self, path: Path, seconds: float) -> bool:
        """Sets the time of a file to now if it was last changed more than `seconds` ago; returns whether the file is there."""
        marks = self.marks(path)
        if marks is not None and marks[1] < (time.time() - seconds) * 1e9:
            with self.name_errors("written", path):
                try:
                    os.utime(path)
                except FileNotFoundError:
                    return False
        return marks is not None

    # --- writing -------------------------------------------------------------------------------------------

    def put(self, path: Path, *parts: Any, durable: bool = False) -> None:
        """Write a file that nobody reads yet; what a failed attempt leaves is removed."""
        with self.name_errors("written", path):
            try:
                with open(path, "wb") as file:
                    for part in parts:
                        file.write(part)
                    self.call("written", path)
                    if durable:
                        file.flush()
                        os.fsync(file.fileno())
            except BaseException:
                with suppress(OSError):
                    os.unlink(path)
                raise

    def replace(self, path: Path, *parts: Any) -> None:
        """Write a file that others may read: they see the old one or the new one. It has one writer."""
        draft = os.fspath(path) + UNFINISHED
        self.put(draft, *parts)
        with self.name_errors("written", path):
            try:
                os.replace(draft, path)
            except BaseException:
                with suppress(OSError):
                    os.unlink(draft)
                raise

    def put_if_absent(self, path: Path, content: bytes) -> bool:
        """Write a file, whole or not at all, unless one of this name is there; returns whether it was written.

        An error leaves the file absent. Whether the name is on the disk too is for `sync` of the folder to see to.
        """
        folder = os.path.dirname(os.fspath(path))
        draft = os.path.join(folder, f".{uuid.uuid4().hex}")
        self.put(draft, content, durable=True)
        try:
            with self.name_errors("written", path):
                try:
                    os.link(draft, path)
                    self.call("written", path)
                except FileExistsError:
                    return False
        except StorageError:
            # Some network file systems report an error for a link that was made.
            with suppress(OSError):
                if os.path.samefile(draft, path):
                    return True
            raise
        finally:
            with suppress(OSError):
                os.unlink(draft)
        return True

    def make_folder(self, path: Path) -> None:
        with self.name_errors("made", path):
            os.makedirs(path, exist_ok=True)

    def delete(self, path: Path) -> int:
        """Remove a file, if it is there; returns how many bytes it took."""
        with self.name_errors("removed", path):
            try:
                size = os.path.getsize(path)
                os.unlink(path)
            except FileNotFoundError:
                return 0
            return size

    def prune(self, folder: Path, since: float) -> None:
        """Remove the folders in it, two levels down, that hold no Parquet file and in which nothing was written since then."""
        for place in glob.glob(os.path.join(glob.escape(os.fspath(folder)), "*", "*", "")):
            inside = list(self.tree(place))
            if any(f.path.endswith(".parquet") for f in inside) or os.stat(place).st_mtime >= since:
                continue
            if all(f.changed < since for f in inside):
                shutil.rmtree(place, ignore_errors=True)

    def sync(self, path: Path) -> None:
        """See to it that a file, or the names in a folder, survive a loss of power."""
        with self.name_errors("written", path):
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


DISK = Disk()
"""The default disk."""
