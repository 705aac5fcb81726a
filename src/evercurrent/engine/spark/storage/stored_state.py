"""The contents of a state within a transaction: what is on disk, and what the transaction has added so far.

A store on disk is a base, in which every entry stands once, and recent segments, which are added to it. Entries are read

    base without the keys of recent  +  consolidated(recent + the base's entries of those keys)

so that the base, which is large, is only scanned with a broadcast set of keys beside it and never shuffled.

    base {7: 9.50, 8: 1.00}        recent {7: +3.00}        entries {8: 1.00, 7: 12.50}
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from evercurrent.engine.spark.storage.file_schema import W, consolidate, is_added, same
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.segments import BROADCAST_ROWS, JobContext, may_broadcast


@dataclass(frozen=True)
class Store:
    """The segments of a store at one version."""

    base: tuple[Segment, ...] = ()
    recent: tuple[Segment, ...] = ()

    @property
    def segments(self) -> tuple[Segment, ...]:
        return self.base + self.recent

    @property
    def rows(self) -> int:
        return sum(s.rows for s in self.segments)

    @property
    def bytes(self) -> int:
        return sum(s.bytes for s in self.segments)

    @property
    def elsewhere(self) -> bool:
        """Whether rows of it lie in a source."""
        return any(s.origins for s in self.segments)

    def plus(self, segment: Segment) -> Store:
        """The store with a consolidated segment added."""
        if not segment.rows:
            return self
        if not self.segments:
            return Store((segment,), ())
        return Store(self.base, (*self.recent, segment))


def sum_of(store: Store) -> Segment:
    """A store as one segment: all its files, as they are."""
    files = tuple(f for s in store.segments for f in s.files)
    origins = tuple(o for s in store.segments for o in s.origins)
    net = not store.recent and len(store.base) <= 1 and not origins
    order = store.base[0].order if net and store.base else ()
    return Segment(files, store.rows, store.bytes, order, net, origins=origins)


def in_files(segments: Sequence[Segment]) -> bool:
    """Whether all rows are in files of ours, as tasks read them: what lies in a source is read by the driver or by jobs."""
    return not any(s.origins for s in segments)


@dataclass
class Contents:
    """A Z-set on disk and in flight."""

    context: JobContext
    schema: StructType
    store: Store = field(default_factory=Store)
    pending: list[DataFrame] = field(default_factory=list)
    pending_rows: float = 0  # how many rows are pending, at most
    net: bool = False  # what is pending is one frame in which each entry stands once

    @property
    def empty(self) -> bool:
        return not self.store.segments and not self.pending

    @property
    def most_rows(self) -> float:
        """How many rows there are, at most."""
        return self.store.rows + self.pending_rows

    @property
    def keys(self) -> list[str]:
        return [n for n in self.schema.names if not is_added(n)]

    def base(self) -> DataFrame | None:
        return self.context.read(self.schema, self.store.base) if self.store.base else None

    def recent(self) -> DataFrame | None:
        """What is not in the base, consolidated with nothing."""
        parts = list(self.pending)
        if self.store.recent:
            parts.append(self.context.read(self.schema, self.store.recent))
        return union(parts)

    def raw(self) -> DataFrame | None:
        """All segments: the Z-set is their sum."""
        parts = [p for p in (self.base(), self.recent()) if p is not None]
        return union(parts)

    def read_settled(self) -> DataFrame | None:
        """What is on disk, without what this transaction brings."""
        return self.context.read(self.schema, self.store.segments) if self.store.segments else None

    def entries(self) -> DataFrame:
        """Each entry once, of a weight that is not zero. Not to be called on what is empty."""
        if self.net and not self.store.segments:
            return self.pending[0]
        base, recent = self.base(), self.recent()
        if recent is None:
            assert base is not None
            return base
        if base is None:
            return consolidate(recent, self.schema).where(F.col(W) != 0)
        if not self.keys:
            return consolidate(base.unionByName(recent), self.schema).where(F.col(W) != 0)
        touched = prefix_columns(recent.select(*self.keys).distinct(), "q_")
        if self.pending_rows <= BROADCAST_ROWS and may_broadcast(self.store.recent):
            touched = F.broadcast(touched)
        meets = same([F.col(k) for k in self.keys], [F.col(f"q_{k}") for k in self.keys])
        rest = base.join(touched, meets, "left_anti")
        moved = base.join(touched, meets, "left_semi").unionByName(recent)
        return rest.unionByName(consolidate(moved, self.schema).where(F.col(W) != 0))


def union(parts: Sequence[DataFrame]) -> DataFrame | None:
    return reduce(DataFrame.unionByName, parts) if parts else None


def prefix_columns(frame: DataFrame, prefix: str) -> DataFrame:
    return frame.select(*(F.col(n).alias(prefix + n) for n in frame.columns))


def join_segments(parts: Iterable[Segment], order: tuple[str, ...]) -> Segment:
    """Segments that do not overlap as one, in their order."""
    made = [s for s in parts if s.rows]
    ranges = tuple(r for s in made for r in (s.ranges or (None,) * len(s.files)))
    files = tuple(f for s in made for f in s.files)
    return Segment(files, sum(s.rows for s in made), sum(s.bytes for s in made), order, ranges=ranges)
