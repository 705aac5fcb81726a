"""Random plans over durable states, run by Spark itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow
import pyarrow.compute
import pyarrow.parquet
import pytest

from evercurrent.delta.program import Fixpoint
from evercurrent.engine.spark.jobs.fill import FillTransaction
from evercurrent.engine.spark.jobs.transaction import JobTransaction
from evercurrent.engine.spark.kernel.outcome import Outcome
from evercurrent.engine.spark.private_session import private, tune
from evercurrent.engine.spark.storage import segments
from evercurrent.engine.spark.storage.entry_reader import EntryReader
from evercurrent.engine.spark.storage.files import Folder, Segment
from evercurrent.engine.spark.storage.segments import JobContext
from evercurrent.engine.spark.storage.sort_order import orders
from evercurrent.engine.spark.tasks.fill_waves import fill_states
from tests.spark.unit.engine.following import follow
from tests.spark.unit.engine.sent_tasks import SentTasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("large", [False, True])
def test_states_follow_random_plans(
    spark: SparkSession, tmp_path: Path, seed: int, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large: filled by tasks and jobs, from inputs that are sums; odd seeds: all that is large is left to the executors."""
    session = private(spark)
    if seed % 2:
        monkeypatch.setattr(segments, "LARGE_ROWS", 0)

    def execute(program, folder, stores, segments, beginning) -> Outcome:  # type: ignore[no-untyped-def]
        tune(session, large, partitions=2)
        if large and beginning:
            recursive = any(isinstance(r, Fixpoint) for r in program.relations)
            given = segments if recursive else {n: unsettled(folder, s) for n, s in segments.items()}
            keep = [s.name for s in program.states]
            context = JobContext(session, folder, large)
            folder.orders |= orders(program)
            runner = SentTasks(EntryReader(folder), None, 2)
            filled = fill_states(runner, program, given, keep, context, here_rows=0, slice_rows=3)
            return FillTransaction(program, context, keep=keep, filled=filled).execute(given)
        return JobTransaction(
            program, JobContext(session, folder, large), stores, beginning=beginning
        ).execute(segments)

    follow(tmp_path, seed + 100 * large, 2 if large else 3, execute, before=20 * large)


def unsettled(folder: Folder, segment: Segment) -> Segment:
    """The same rows as a sum: twice, and once taken away."""
    if not segment.rows:
        return segment
    rows = pyarrow.parquet.read_table([folder.path(f) for f in segment.files])
    weights = rows.column("w")
    at = rows.schema.get_field_index("w")
    minus = folder.write("unsettled", rows.set_column(at, "w", pyarrow.compute.negate(weights)))
    return Segment((*segment.files, *segment.files, *minus.files), 3 * segment.rows, 0, (), False)
