"""The disk on which a source lies: the driver's own, an object store, or a file system of Hadoop, by the interface of warehouses.

Credentials are those of the environment, those that the warehouse was connected with, or those of the session; none is stored.

>>> source_disk(None, None, "/lake/orders") is DISK
True
"""

from __future__ import annotations

from typing import Any

from evercurrent.engine.spark.sources.parquet import is_local
from evercurrent.engine.spark.storage.disk import DISK, Disk
from evercurrent.engine.spark.storage.files import Folder
from evercurrent.engine.spark.storage.places import SCHEMES, locate

BY_SESSION = {"access": "session", "commit": "create"}
"""Files are read through the session; nothing is committed there."""
_OPENED: dict[tuple[str, tuple[tuple[str, str], ...]], Disk] = {}


def source_disk(session: Any, folder: Folder, path: str) -> Disk:
    """The disk of a source at a path or an address."""
    if is_local(path):
        return DISK
    if path.split(":", maxsplit=1)[0].lower() not in SCHEMES:
        return locate(path, BY_SESSION, session)[1] or DISK
    options: dict[str, str] = dict(getattr(folder.disk, "options", {}))
    key = path, tuple(sorted(options.items()))
    found = _OPENED.get(key)
    if found is None:
        _, disk = locate(path, options)
        assert disk is not None
        found = _OPENED[key] = disk
    return found
