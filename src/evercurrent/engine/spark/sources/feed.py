"""A Delta table's change feed: the rows that its writers say have come and gone.

    now - then = inserts + update_postimages - deletes - update_preimages

The feed is trusted only as far as it adds up: where the log tells how many rows there were and are, the feed must account
for the difference. Where it does not, where it has a gap, or where it is too long for the driver, the caller falls back
to the difference of files, which needs no promise of anyone.
"""

from __future__ import annotations

import pyarrow
import pyarrow.compute
from deltalake import DeltaTable

from evercurrent.data.feeds import CHANGE_TYPE, SIGNS
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.sources.difference import of_arrow, total
from evercurrent.engine.spark.sources.nodes import Source
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.segments import LARGE_ROWS


def feed_change(
    engine: Engine,
    source: Source,
    table: DeltaTable,
    before: int,
    version: int,
    rows_then: int | None,
    rows_now: int | None,
) -> Segment | str:
    """The change after version `before`, or why the feed cannot tell it."""
    batches: list[pyarrow.RecordBatch] = []
    count = 0
    try:
        reader = pyarrow.RecordBatchReader.from_stream(
            table.load_cdf(starting_version=before + 1, ending_version=version)
        )
        for batch in reader:
            batches.append(batch)
            count += batch.num_rows
            if count > LARGE_ROWS:
                return f"the change feed has more than {LARGE_ROWS} rows"
        rows = pyarrow.Table.from_batches(batches, reader.schema)
    except Exception:
        return "the change feed has a gap"
    signs = pyarrow.array(
        [SIGNS.get(kind, 0) for kind in rows.column(CHANGE_TYPE).to_pylist()], pyarrow.int64()
    )
    net = pyarrow.compute.sum(signs).as_py() or 0
    if rows_then is not None and rows_now is not None and net != rows_now - rows_then:
        return "the change feed does not account for all rows"
    if not rows.num_rows:
        return EMPTY
    return total(engine, source, of_arrow(engine, source, rows, signs))
