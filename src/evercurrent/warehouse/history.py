"""What versions have changed."""

from __future__ import annotations

from evercurrent.engine.spark.storage.files import Segment
from evercurrent.errors import QueryError, StorageError
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.deferred.catch_up import current


def change_segments(core: Core, name: str, since: int) -> list[tuple[int, Segment]]:
    """The changes of a table's store or of a view after a version, each with the version that brought it."""
    current(core, name)
    if not 0 <= since <= core.version:
        raise QueryError(f"there is no version {since}", hint=f"versions go from 0 to {core.version}")
    log = core.engine.log
    kept = set(log.kept_versions())
    found = []
    for version in range(since + 1, core.version + 1):
        entry = log.entry(version)
        if entry.kind.startswith(("CREATE", "DROP")):
            continue
        segment = entry.changes.get(name)
        if segment is None:
            continue
        if version not in kept:
            raise StorageError(
                f"the changes of version {version} have been cleaned up",
                hint=f"ask for changes since {min(kept, default=core.version) - 1} or later, or read the whole",
            )
        found.append((version, segment))
    return found
