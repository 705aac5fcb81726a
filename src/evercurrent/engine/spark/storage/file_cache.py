"""Files of an object store on the local disk: immutable ones, up to a number of bytes, the longest unused out first.

Whatever is read from here is checked like anything else (`checksums`): what is damaged is fetched again. A large file is kept
in parts (`FetchedFile`). Whoever reads a part of a file has that part checked first (`Checked.require`), and its blocks are fetched
before they are checked, those that lie together by one request, into a sparse file, which is mapped.

Law. After `require(begin, end)` the bytes of a file from `begin` to `end` are those that were written.

>>> import tempfile
>>> cache = FileCache(tempfile.mkdtemp(), most_bytes=10)
>>> cache.write("data/a", b"123456"); cache.write("data/b", b"1234567")
>>> cache.read("data/a"), cache.read("data/b")
(None, b'1234567')
"""

from __future__ import annotations

import hashlib
import mmap
import os
import uuid
from collections.abc import Iterable
from contextlib import suppress
from typing import Protocol

import numpy
import pyarrow
import xxhash

from evercurrent.engine.spark.storage.checksums import BLOCK, Checked, Sums

CHUNK = 16
"""The number of blocks that are fetched together: a request takes longer than they do."""
NEAR = 4
"""Chunks that are at most so far apart are fetched by one request, with what lies between them."""
MOST_BYTES = 10 << 30
"""The most bytes that are kept, unless the program or the environment says otherwise."""
BYTES_VARIABLE = "EVERCURRENT_CACHE_BYTES"


def default_bytes() -> int:
    """How many bytes a cache holds at most: what the environment says, if it says a number."""
    said = os.environ.get(BYTES_VARIABLE, "")
    return int(said) if said.isdigit() else MOST_BYTES


def default_folder(url: str) -> str:
    """Where the files of a store are kept, by default."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "evercurrent", hashlib.sha256(url.encode()).hexdigest()[:20])


class Ranges(Protocol):
    """A disk that reads parts of files."""

    def read_ranges(self, path: str, begins: list[int], ends: list[int]) -> list[bytes]: ...


class FileCache:
    """Files by key, in a folder. Several processes may share it. What fails is no worse than a file that is not cached."""

    def __init__(self, folder: str, most_bytes: int | None = None) -> None:
        self.folder = folder
        self.most_bytes = default_bytes() if most_bytes is None else most_bytes
        self.size: int | None = None

    def path(self, key: str) -> str:
        return os.path.join(self.folder, hashlib.sha256(key.encode()).hexdigest())

    def read(self, key: str) -> bytes | None:
        path = self.path(key)
        try:
            with open(path, "rb") as file:
                data = file.read()
            os.utime(path)
        except OSError:
            return None
        return data

    def write(self, key: str, data: bytes) -> None:
        if len(data) > self.most_bytes:
            return
        draft = os.path.join(self.folder, f".{uuid.uuid4().hex}")
        with suppress(OSError):
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            with open(draft, "wb") as file:
                file.write(data)
            os.replace(draft, self.path(key))
            if self.size is not None:
                self.size += len(data)
            self.shrink()

    def place(self, key: str, size: int) -> str | None:
        """Where a file of this size is kept, of which only parts may be there; None if it is too large."""
        if size > self.most_bytes:
            return None
        with suppress(OSError):
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            path = self.path(key)  # it may be there as a whole
            if not os.path.exists(path):
                path = self.path(f"{key} in parts")
            if os.path.exists(path):
                os.utime(path)
            elif self.size is not None:
                self.size += size
            return path
        return None

    def remove(self, key: str) -> None:
        for path in (self.path(key), self.path(f"{key} in parts")):
            with suppress(OSError):
                os.unlink(path)
                self.size = None

    def shrink(self) -> None:
        """Remove the files that were not read for longest, until the rest has few enough bytes."""
        if self.size is not None and self.size <= self.most_bytes:
            return
        entries = [(e.stat(), e.path) for e in os.scandir(self.folder)]
        found = sorted((s.st_mtime_ns, s.st_size, path) for s, path in entries)
        total = sum(size for _, size, _ in found)
        for _, size, path in found:
            if total <= self.most_bytes:
                break
            with suppress(OSError):
                os.unlink(path)
                total -= size
        self.size = total


class FetchedFile(Checked):
    """A file whose blocks are fetched when they are needed."""

    def __init__(
        self, disk: Ranges, path: str, cached: str, sums: Sums, size: int, way_out: str | None
    ) -> None:
        handle = os.open(cached, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if os.fstat(handle).st_size != size:
                os.ftruncate(handle, size)
            self.mapped = mmap.mmap(handle, size)
        finally:
            os.close(handle)
        super().__init__(path, pyarrow.py_buffer(self.mapped), sums, way_out)
        self.disk = disk

    def require_blocks(self, blocks: Iterable[int]) -> None:
        wanted = sorted({i for i in blocks if not self._seen[i]})
        self.fetch([i for i in wanted if not self.is_right(i)])
        super().require_blocks(wanted)

    def is_right(self, block: int) -> bool:
        """Whether the cache has a block."""
        assert self.sums is not None
        found = xxhash.xxh3_64_intdigest(self._view[block * BLOCK : (block + 1) * BLOCK])
        return bool(found == self.sums[block])

    def fetch(self, blocks: list[int]) -> None:
        if not blocks:
            return
        array = numpy.unique(numpy.array(blocks, numpy.int64) // CHUNK)
        cuts = numpy.nonzero(numpy.diff(array) > NEAR)[0] + 1
        width = CHUNK * BLOCK
        runs = [
            (int(run[0]) * width, min(int(run[-1] + 1) * width, self.size))
            for run in numpy.split(array, cuts)
        ]
        parts = self.disk.read_ranges(self.path, [b for b, _ in runs], [e for _, e in runs])
        for (begin, end), part in zip(runs, parts, strict=True):
            self.mapped[begin:end] = part
