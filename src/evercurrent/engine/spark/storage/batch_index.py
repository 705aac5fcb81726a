"""Which batch became which version, for many versions in one file.

Every entry of the log names its batch. A driver that is asked for a batch would read all of them. So every hundredth version
writes the batches of the last hundred once more, and every ten thousandth those of the last ten thousand:

    _log/batches/00000000000000010000.json     versions 1 to 10,000
    _log/batches/00000000000000010100.json     versions 10,001 to 10,100

A new driver reads few files, and entries only of the versions after the last of them. What is here is in the entries too: a
file that is missing or damaged is passed over, and its entries are read.

>>> [count_covered(v) for v in (7, 300, 20_000)]
[0, 100, 10000]
"""

from __future__ import annotations

from collections.abc import Mapping

from evercurrent.engine.spark.storage.documents import pack, unpack
from evercurrent.engine.spark.storage.files import Folder
from evercurrent.errors import StorageError

STEPS = (10_000, 100)
DIGITS = 20


def count_covered(version: int) -> int:
    """How many versions the file of a version covers, with itself; 0 if it has none."""
    return next((step for step in STEPS if version % step == 0), 0)


class BatchIndex:
    """The files of a warehouse that tell batches of many versions."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.place = folder.root / "_log" / "batches"

    def is_due(self, version: int) -> bool:
        return count_covered(version) > 0

    def write(self, version: int, batches: Mapping[str, int]) -> None:
        """Write the batches of the versions that end with this one."""
        since = version - count_covered(version)
        own = {b: v for b, v in batches.items() if since < v <= version}
        text, _ = pack({"since": since, "version": version, "batches": own})
        self.folder.disk.make_folder(self.place)
        self.folder.disk.replace(self.place / f"{version:0{DIGITS}}.json", text)

    def load(self, since: int, newest: int) -> tuple[dict[str, int], int]:
        """The batches of versions after one, and up to which version they are known."""
        found: dict[str, int] = {}
        at = since - since % STEPS[-1]
        if newest - at < STEPS[-1]:
            return found, since
        names = set(self.folder.disk.names(self.place))
        while True:
            step = next((s for s in STEPS if at % s == 0 and f"{at + s:0{DIGITS}}.json" in names), 0)
            if not step or at + step > newest:
                break
            path = self.place / f"{at + step:0{DIGITS}}.json"
            try:
                value, _ = unpack(self.folder.disk.read(path), str(path))
                if (value["since"], value["version"]) != (at, at + step):
                    break
                found |= {str(b): int(v) for b, v in value["batches"].items() if at < int(v) <= at + step}
            except (StorageError, KeyError, TypeError, ValueError, AttributeError):
                break
            at += step
        return found, max(since, at)
