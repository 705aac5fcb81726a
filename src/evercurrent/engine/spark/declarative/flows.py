"""Streaming flows and recomputed datasets, run by Spark as its own runner runs them.

A streaming flow takes what is there now and stops (`availableNow`). Its checkpoint is under the storage of the pipeline, so a
run that is repeated continues where the last one ended, and every row counts once.

>>> from evercurrent.engine.spark.declarative.definitions import Output
>>> checkpoint_folder("/data/sales", Output("streaming table", ("spark_catalog", "default", "clicks")), "from_web")
'/data/sales/_checkpoints/spark_catalog.default.clicks/from_web/0'
"""

from __future__ import annotations

import hashlib
import shutil
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pyarrow.parquet
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from evercurrent.engine.spark.declarative.definitions import Name, Output, first_line, quote_path, show
from evercurrent.engine.spark.declarative.resolution import Query, settings_of
from evercurrent.engine.spark.declarative.tables import StoredTable, overwrite
from evercurrent.engine.spark.doors.plans import delete_folder
from evercurrent.errors import EvaluationError, UnsupportedError
from evercurrent.frontend.sql.spark_text import quote_name


def checkpoint_folder(storage: str, output: Output, flow: str) -> str:
    return f"{storage.rstrip('/')}/_checkpoints/{show(output.name)}/{flow}/0"


def remove_checkpoints(spark: SparkSession, storage: str, name: Name) -> None:
    """Makes the streams of a dataset start from the beginning."""
    place = f"{storage.rstrip('/')}/_checkpoints/{show(name)}"
    parsed = urlparse(place)
    if parsed.scheme in ("", "file"):
        shutil.rmtree(unquote(parsed.path), ignore_errors=True)
        return
    delete_folder(spark, place)


def run_stream(
    spark: SparkSession, output: Output, query: Query, storage: str, table: StoredTable | None = None
) -> int:
    """Takes what is new into a streaming table or a sink; returns how many rows were read.

    `table` is set if several flows write to a folder of Parquet files. Spark's sink for files numbers batches for the folder, not for
    the flow, and drops the first batch of a second flow as one that it has written already; so the files are written by us.
    """
    if not query.is_streaming:
        raise UnsupportedError(
            f"{query.flow.place}: the flow {query.flow.name} writes to the {output.kind} {show(output.name)}, but its query is not a stream",
            hint="read with spark.readStream or STREAM(...), or define a materialized view",
        )
    folder = checkpoint_folder(storage, output, query.flow.name)
    if urlparse(folder).scheme in ("", "file"):
        Path(unquote(urlparse(folder).path)).mkdir(parents=True, exist_ok=True)
    try:
        with settings_of(spark, query.flow):
            writer = query.frame.writeStream.option("checkpointLocation", folder).trigger(availableNow=True)
            writer = writer.queryName(f"{show(output.name)}.{query.flow.name}").outputMode("append")
            if output.kind == "sink":
                stream = writer.format(output.format or "").options(**output.options).start()
            elif table is not None:
                stream = writer.foreachBatch(partial(append_files, table, query.flow.name)).start()
            else:
                stream = writer.toTable(quote_path(output.name))
            try:
                stream.awaitTermination()
            finally:
                stream.stop()
            return sum(int(p["numInputRows"]) for p in map(as_mapping, stream.recentProgress))
    except PySparkException as problem:
        raise EvaluationError(
            f"the flow {query.flow.name} of {show(output.name)} failed: {first_line(problem)}"
        ) from problem


def append_files(table: StoredTable, flow: str, frame: DataFrame, batch: int) -> None:
    """Writes one batch of a flow as files with names of its own: if the batch comes again, they are replaced."""
    folder = table.folder
    assert folder is not None
    mark = f"part-{hashlib.sha256(flow.encode()).hexdigest()[:12]}-{batch:08}-"
    staging = folder / f"_staging-{mark}"
    columns = [F.col(quote_name(f.name)).cast(f.dataType).alias(f.name) for f in table.schema.fields]
    frame.select(*columns).write.mode("overwrite").parquet(str(staging))
    for old in folder.glob(f"{mark}*"):
        old.unlink()
    for number, file in enumerate(sorted(staging.glob("*.parquet"))):
        if pyarrow.parquet.read_metadata(file).num_rows:
            file.rename(folder / f"{mark}{number:05}.parquet")
    shutil.rmtree(staging)


def recompute(spark: SparkSession, output: Output, query: Query) -> None:
    """Computes a materialized view from scratch, as Spark's own runner does at every run."""
    try:
        with settings_of(spark, query.flow):
            overwrite(spark, output.name, query.frame)
    except PySparkException as problem:
        raise EvaluationError(
            f"the flow {query.flow.name} of {show(output.name)} failed: {first_line(problem)}"
        ) from problem


def count_rows(spark: SparkSession, name: Name, folder: Path | None) -> int:
    """The number of rows of a table: from the footers of its files, if they are Parquet in a `folder`, without a job."""
    if folder is None:
        return int(spark.table(quote_path(name)).agg(F.count("*")).collect()[0][0])
    files = [p for p in folder.glob("*.parquet") if not p.name.startswith(("_", "."))]
    return sum(int(pyarrow.parquet.read_metadata(p).num_rows) for p in files)


def as_mapping(progress: Any) -> dict[str, Any]:
    return progress if isinstance(progress, dict) else dict(progress)
