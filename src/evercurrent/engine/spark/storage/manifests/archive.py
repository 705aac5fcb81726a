"""Entries of old versions, a thousand in one file: a log of many versions is a few files, and its history is read by few requests.

    _log/archive/00000000000000001000.json      the entries of versions 1 to 1,000, as they were written

Vacuum archives entries of versions that it does not keep. An archive is written first, then its entries are removed, so a version
is in one place at least. The texts are those of the entries, with their digests, and are checked like them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evercurrent.engine.spark.storage.disk import DamageError
from evercurrent.engine.spark.storage.documents import pack, unpack
from evercurrent.engine.spark.storage.files import Folder

SPAN = 1_000
DIGITS = 20


class Archive:
    """The archived entries of a log."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.place = folder.root / "_log" / "archive"
        self._last: int | None = None
        self._read: tuple[int, list[str]] = (-1, [])

    def name(self, last: int) -> str:
        return f"{last:0{DIGITS}}.json"

    def last(self, *, again: bool = False) -> int:
        """The newest version that is archived; 0 if none is. What is archived stays so."""
        if self._last is None or again:
            names = self.folder.disk.names(self.place)
            self._last = max((int(n[:DIGITS]) for n in names if n[:DIGITS].isdigit()), default=0)
        return self._last

    def entry(self, version: int) -> bytes:
        """The text of an entry; MissingFileError if it is not archived."""
        last = -(-version // SPAN) * SPAN
        path = self.place / self.name(last)
        if self._read[0] != last:
            value, _ = unpack(self.folder.disk.read(path), str(path))
            texts = value.get("entries")
            if not isinstance(texts, list) or len(texts) != SPAN or value.get("last") != last:
                raise DamageError(f"{path} is not the archive of {SPAN} versions up to {last}")
            self._read = (last, texts)
        return str(self._read[1][version - last + SPAN - 1]).encode()

    def write(self, oldest_kept: int, entry: Callable[[int], bytes], path: Callable[[int], Any]) -> int:
        """Archives whole spans of versions before one; returns how many entries were removed."""
        removed = 0
        disk = self.folder.disk
        for last in range(SPAN, oldest_kept, SPAN):
            versions = range(last - SPAN + 1, last + 1)
            if last > self.last(again=True):
                texts = [entry(v).decode() for v in versions]
                disk.make_folder(self.place)
                text, _ = pack({"last": last, "entries": texts})
                disk.put_if_absent(self.place / self.name(last), text)
                disk.sync(self.place)
                self._last = last
            for version in versions:
                found = disk.delete(path(version))
                removed += found > 0
        return removed
