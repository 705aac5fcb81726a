"""The disk on which a source lies: the driver's own, or an object store, by the interface that warehouses use.

Credentials are those of the environment, or those that the warehouse was connected with; none is stored.

>>> source_disk(None, "/lake/orders") is DISK
True
"""

from __future__ import annotations

from evercurrent.engine.spark.sources.parquet import is_local
from evercurrent.engine.spark.storage.disk import DISK, Disk
from evercurrent.engine.spark.storage.files import Folder
from evercurrent.engine.spark.storage.places import locate

_OPENED: dict[tuple[str, tuple[tuple[str, str], ...]], Disk] = {}


def source_disk(folder: Folder, path: str) -> Disk:
    """The disk of a source at a path or an address."""
    if is_local(path):
        return DISK
    options: dict[str, str] = dict(getattr(folder.disk, "options", {}))
    key = path, tuple(sorted(options.items()))
    found = _OPENED.get(key)
    if found is None:
        _, disk = locate(path, options)
        assert disk is not None
        found = _OPENED[key] = disk
    return found
