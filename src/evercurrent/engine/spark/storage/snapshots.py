"""What a version consists of, and what an entry of the log says of a commit; and both as documents.

>>> from evercurrent.engine.spark.storage.files import Segment
>>> sorted(Snapshot().plus({"table:orders": Segment(("data/orders/1.parquet",), rows=3, bytes=900)}).files())
['data/orders/1.parquet']
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from evercurrent.engine.spark.storage.checksums import damage_error
from evercurrent.engine.spark.storage.files import Folder, Segment
from evercurrent.engine.spark.storage.store_names import StoreName
from evercurrent.engine.spark.storage.stored_state import Store

UNREADABLE = (KeyError, TypeError, ValueError, AttributeError)
"""What a document that is not of the form that was written raises."""
RESTORE = "put the file back from a copy of the warehouse; it cannot be computed from anything else"


@dataclass(frozen=True)
class Snapshot:
    """Everything at one version.

    `cold` are relations whose states are not there, with what is remembered of each; `factors` are what was learned of the cost
    of ways to bring relations up to date.
    """

    stores: Mapping[StoreName, Store] = field(default_factory=dict)
    definitions: tuple[Mapping[str, Any], ...] = ()
    sources: Mapping[str, Any] = field(default_factory=dict)
    cold: Mapping[str, Any] = field(default_factory=dict)
    factors: Mapping[str, float] = field(default_factory=dict)

    def files(self) -> set[str]:
        return {f for store in self.stores.values() for s in store.segments for f in s.files}

    def plus(self, segments: Mapping[StoreName, Segment]) -> Snapshot:
        """The snapshot with a segment added to each of these stores."""
        stores = dict(self.stores)
        for name, segment in segments.items():
            stores[name] = stores.get(name, Store()).plus(segment)
        return replace(self, stores=stores)


@dataclass(frozen=True)
class Entry:
    """One commit: which batch it was, what it changed, what is said about it."""

    version: int
    snapshot: str
    kind: str
    batch: str | None = None
    at: float = 0.0
    changes: Mapping[str, Segment] = field(default_factory=dict)
    record: Mapping[str, Any] = field(default_factory=dict)
    before: str | None = None  # the digest of the entry before
    snapshot_digest: str | None = None


def snapshot_of(folder: Folder, value: Mapping[str, Any], path: str) -> Snapshot:
    """What a document says of a version."""
    learn = folder.learn
    try:
        stores = {
            name: Store(tuple(learn(name, x) for x in s["base"]), tuple(learn(name, x) for x in s["recent"]))
            for name, s in value["stores"].items()
        }
        return Snapshot(
            stores,
            tuple(value["definitions"]),
            value["sources"],
            value.get("cold", {}),
            value.get("factors", {}),
        )
    except UNREADABLE as problem:
        raise damage_error(path, RESTORE) from problem


def store_document(folder: Folder, store: Store) -> dict[str, Any]:
    """Returns a store as a snapshot lists it."""
    document = folder.segment_document
    return {"base": [document(x) for x in store.base], "recent": [document(x) for x in store.recent]}


def snapshot_document(folder: Folder, snapshot: Snapshot) -> dict[str, Any]:
    """Returns a snapshot as the log stores it, with the digests of its files."""
    stores = {k: store_document(folder, s) for k, s in snapshot.stores.items() if s.segments}
    return {
        "stores": stores,
        "definitions": [dict(d) for d in snapshot.definitions],
        "sources": dict(snapshot.sources),
        "cold": dict(snapshot.cold),
        "factors": dict(snapshot.factors),
    }
