"""Files from frames where Spark has a connector and the driver does not share a disk with the executors.

Executors write by Spark's own writer. Then tasks read each file once, by Spark's reader of binary files, and return its rows, size,
digest and block sums, so that neither rows nor files pass through the driver; the sums of large files are put beside them.

    write_sealed(frame, folder, "table:t", "data/t/7f", ("c0",))      a segment, as `Folder.put` would have written it
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow
import pyarrow.parquet
from pyspark.sql import DataFrame

from evercurrent.engine.spark.storage.checksums import SIDECAR, SUFFIX, block_sums, digest
from evercurrent.engine.spark.storage.files import SCANNED_GROUP, Folder, Segment
from evercurrent.engine.spark.storage.store_names import StoreName

GROUP_ROWS = "parquet.block.row.count.limit"
SEALED = "name string, rows bigint, size bigint, digest string, sums binary"


def seal_files(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """What is to be known of each file, by its content."""
    for batch in batches:
        for path, content in zip(batch.column("path"), batch.column("content"), strict=True):
            data = content.as_buffer()
            sums = block_sums(data)
            rows = pyarrow.parquet.read_metadata(pyarrow.BufferReader(data)).num_rows
            large = sums.tobytes() if data.size > SIDECAR else None
            found = (path.as_py().rsplit("/", 1)[-1], rows, data.size, digest(sums, data.size), large)
            yield pyarrow.RecordBatch.from_arrays(
                [
                    pyarrow.array([found[0]], pyarrow.string()),
                    pyarrow.array([found[1]], pyarrow.int64()),
                    pyarrow.array([found[2]], pyarrow.int64()),
                    pyarrow.array([found[3]], pyarrow.string()),
                    pyarrow.array([found[4]], pyarrow.binary()),
                ],
                names=["name", "rows", "size", "digest", "sums"],
            )


def write_sealed(
    frame: DataFrame, folder: Folder, store: StoreName, relative: str, order: tuple[str, ...] = ()
) -> Segment:
    """A frame as files that Spark writes, with what is known of them."""
    place = folder.path(relative)
    frame.write.option("compression", "zstd").option(GROUP_ROWS, str(SCANNED_GROUP)).parquet(place)
    if not any(n.endswith(".parquet") for n in folder.disk.names(folder.root / relative)):
        return Segment((), 0, 0, order)
    reader = frame.sparkSession.read.format("binaryFile").option("pathGlobFilter", "*.parquet")
    made = reader.load(place).select("path", "content").mapInArrow(seal_files, SEALED).collect()
    files, rows, size = [], 0, 0
    for one in sorted(made, key=lambda r: str(r["name"])):
        file = f"{relative}/{one['name']}"
        folder.made.append(file)
        if not one["rows"]:
            continue
        files.append(file)
        folder.expect(store, file, one["digest"])
        if one["sums"] is not None:
            folder.disk.put(folder.path(file + SUFFIX), bytes(one["sums"]))
        rows, size = rows + one["rows"], size + one["size"]
    return Segment(tuple(files), rows, size, order)
