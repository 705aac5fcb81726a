"""Checksums of files, by blocks, so that a reader of a part checks only that part.

A file is cut into blocks of 16 KB. Each block has a sum (XXH3, 64 bits); the *digest* of the file is the sum of its sums and
its size (XXH3, 128 bits). The digest stands in the manifest; the sums of a large file lie beside it (`.sums`). Since the digest
is made of the sums, they are checked by it, and where they are missing or wrong they are computed from the file again.

Law. `Checked.require(begin, end)` returns only if these bytes are the bytes that were written. Each block is checked once for as long as the
object lives.

>>> sums = block_sums(b"abc" * 10_000)
>>> len(sums), digest(sums, 30_000) == file_digest(b"abc" * 10_000)
(2, True)
>>> file_digest(b"abd" * 10_000) == file_digest(b"abc" * 10_000)
False
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy
import pyarrow
import xxhash

from evercurrent.engine.spark.storage.disk import DISK, DamageError, Disk, MissingFileError

BLOCK = 16 * 1024
SUFFIX = ".sums"
SIDECAR = 1024 * 1024
"""A file of more bytes than this has its sums beside it; a smaller one is read whole to be checked."""

MANY = 1_000
"""Places of at least this number are marked in a map of all blocks; fewer are sorted."""

Sums = Any
"""An array of 64-bit integers without sign."""


def block_sums(data: Any) -> Sums:
    """The sum of each block."""
    view = memoryview(data)
    one = xxhash.xxh3_64_intdigest
    return numpy.array([one(view[i : i + BLOCK]) for i in range(0, len(view), BLOCK)], "<u8")


def digest(sums: Sums, size: int) -> str:
    """The digest of a file of this size with these sums."""
    return xxhash.xxh3_128_hexdigest(sums.tobytes() + size.to_bytes(8, "little"))


def file_digest(data: Any) -> str:
    return digest(block_sums(data), len(memoryview(data)))


def text_digest(text: bytes) -> str:
    """The digest of a small document."""
    return xxhash.xxh3_128_hexdigest(text)


def write_sums(path: str, sums: Sums, size: int, disk: Disk = DISK) -> None:
    """Put the sums of a large file beside it."""
    if size > SIDECAR:
        disk.replace(path + SUFFIX, sums.tobytes())


def read_sums(path: str, size: int, wanted: str, disk: Disk = DISK) -> Sums | None:
    """The sums that lie beside a file; None if they are missing or not the ones that its digest was made of."""
    try:
        found = disk.read(path + SUFFIX)
    except MissingFileError:
        return None
    if len(found) % 8:
        return None
    sums = numpy.frombuffer(found, "<u8")
    return sums if digest(sums, size) == wanted else None


def seal(path: str) -> str:
    """Put the sums of a file that somebody else has written beside it, if it is large; returns its digest."""
    data = DISK.map(path)
    sums = block_sums(data)
    write_sums(path, sums, data.size)
    return digest(sums, data.size)


def digest_at(path: str) -> str:
    """The digest of a file; empty if it is missing."""
    return file_digest(DISK.map(path)) if DISK.exists(path) else ""


class Checked:
    """A file whose bytes are checked before they are believed."""

    def __init__(
        self, path: str, data: pyarrow.Buffer, sums: Sums | None, way_out: str | None = None
    ) -> None:
        self.path = path
        self.data = data
        self.sums = (
            sums  # None: nothing is known of the file, as of those written before there were checksums
        )
        self.way_out = way_out
        self._view = memoryview(data)
        self._seen = numpy.zeros(-(-len(self._view) // BLOCK), bool)

    @property
    def size(self) -> int:
        return len(self._view)

    @staticmethod
    def open(path: str, wanted: str | None, disk: Disk = DISK, way_out: str | None = None) -> Checked:
        """A file with the digest that the manifest says. A small one is read and checked at once, a large one is mapped."""
        marks = disk.marks(path)
        if marks is None or marks[0] <= SIDECAR:
            data = pyarrow.py_buffer(disk.read(path))
            if wanted is not None and file_digest(data) != wanted and disk.forget(path):
                data = pyarrow.py_buffer(disk.read(path))
            if wanted is not None and file_digest(data) != wanted:
                raise damage_error(path, way_out)
            return Checked(path, data, None, way_out)
        part: Checked | None = None if wanted is None else disk.fetch(path, marks[0], wanted, way_out)
        if part is not None:
            return part
        data = disk.map(path)
        if wanted is None:
            return Checked(path, data, None, way_out)
        sums = read_sums(path, len(memoryview(data)), wanted, disk)
        if sums is not None:
            return Checked(path, data, sums, way_out)
        sums = block_sums(data)
        if digest(sums, len(memoryview(data))) != wanted:
            raise damage_error(path, way_out)
        return Checked(path, data, None, way_out)

    def require(self, begin: int, end: int) -> None:
        """Check a range of bytes."""
        if self.sums is not None:
            self.require_blocks(range(max(begin, 0) // BLOCK, -(-min(end, self.size) // BLOCK)))

    def require_all(self) -> None:
        self.require(0, self.size)

    def require_at(self, offset: int, places: Any, width: int) -> None:
        """Check the values of `width` bytes at these places (an array) of a buffer that begins at `offset`."""
        if self.sums is None or not len(places):
            return
        if len(places) >= MANY and bool((places[1:] >= places[:-1]).all()):
            self.require_blocks(find_touched(offset, places, width))
            return
        begins = offset + places * width
        first, last = begins // BLOCK, (begins + width - 1) // BLOCK
        if len(places) < MANY:
            self.require_blocks(numpy.unique(numpy.concatenate([first, last])).tolist())
            return
        touched = numpy.zeros(len(self._seen), bool)
        touched[first] = touched[last] = True
        self.require_blocks(numpy.flatnonzero(touched & ~self._seen).tolist())

    def require_blocks(self, blocks: Iterable[int]) -> None:
        if self.sums is None:
            return
        seen, sums, view, one = self._seen, self.sums, self._view, xxhash.xxh3_64_intdigest
        for i in blocks:
            if not seen[i]:
                if one(view[i * BLOCK : (i + 1) * BLOCK]) != sums[i]:
                    raise self.failure()
                seen[i] = True

    def require_spans(self, begins: Any, ends: Any) -> None:
        """Check ranges of bytes, given by two arrays."""
        if self.sums is None:
            return
        there = ends > begins
        first, last = begins[there] // BLOCK, (ends[there] - 1) // BLOCK
        within = first == last
        self.require_blocks(numpy.unique(first[within]).tolist())
        for a, b in zip(first[~within].tolist(), last[~within].tolist(), strict=True):
            self.require_blocks(range(a, b + 1))

    def failure(self) -> DamageError:
        return damage_error(self.path, self.way_out)


def find_touched(offset: int, places: Any, width: int) -> list[int]:
    """Returns the blocks in which values at sorted places lie: two searches for each block, not a division for each place.

    >>> find_touched(8, numpy.array([0, 1, 5_000]), 8), find_touched(8, numpy.array([2_047]), 16)
    ([0, 2], [1, 2])
    """
    blocks = numpy.arange(
        (offset + int(places[0]) * width) // BLOCK, (offset + (int(places[-1]) + 1) * width - 1) // BLOCK + 1
    )
    least = -(
        -(blocks * BLOCK - offset - width + 1) // width
    )  # the first place that ends in a block or behind it
    behind = -(-((blocks + 1) * BLOCK - offset) // width)  # the first place that begins behind it
    found = numpy.searchsorted(places, behind) > numpy.searchsorted(places, least)
    return [int(b) for b in blocks[found]]


def damage_error(path: str, way_out: str | None = None) -> DamageError:
    return DamageError(
        f"{path} is damaged: its checksum is not the one that was written",
        hint=way_out or "evercurrent check --warehouse DIR lists what is damaged and what can be rebuilt",
    )
