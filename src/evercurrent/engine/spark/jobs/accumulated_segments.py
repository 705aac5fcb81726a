"""What the iterations of a recursion have added to a Z-set so far: segments that one scan reads, merged when they are many.

    add {a: 1}, add {b: 1}, add {a: -1}       frames() is one frame over three segments, which add up to {b: 1}
    the 33rd segment                          all are added up and written as one

Empty segments are not kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from evercurrent.engine.spark.storage.file_schema import consolidate
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.segments import JobContext
from evercurrent.engine.spark.storage.store_names import StoreName

PARTS = 32
"""The most segments of earlier iterations that are read one by one; more are added up first."""


@dataclass
class AccumulatedSegments:
    context: JobContext
    store: StoreName
    schema: StructType
    segments: list[Segment] = field(default_factory=list)

    def add(self, *segments: Segment) -> None:
        self.segments += [s for s in segments if s.rows]
        if len(self.segments) > PARTS:
            (whole,) = self.frames()
            merged = self.context.collect({self.store: consolidate(whole, self.schema)})[self.store]
            self.segments = [merged] if merged.rows else []

    def frames(self) -> list[DataFrame]:
        """One frame, or none if there is nothing."""
        return [self.context.read(self.schema, self.segments)] if self.segments else []
