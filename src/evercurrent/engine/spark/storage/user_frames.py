"""Stored rows as frames for users: their own names, each row as often as it is there.

    stored  c0 1, c1 a, w 2       columns id, name       (id 1, name a), (id 1, name a)

Changes have the columns `_change_type` and `_commit_version` besides, as in Delta's change feed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from evercurrent.data.types import INT, STRING, Member
from evercurrent.engine.spark.storage.file_schema import W, row_schema
from evercurrent.engine.spark.storage.files import Folder, Segment
from evercurrent.engine.spark.storage.segments import read_files
from evercurrent.engine.spark.translate.types import spark_type


def user_schema(fields: Sequence[Member]) -> StructType:
    return StructType([StructField(f.name, spark_type(f.type)) for f in fields])


def user_frame(session: SparkSession, frame: DataFrame | None, fields: Sequence[Member]) -> DataFrame:
    """Weighted rows `c0, c1, ..., w` as plain rows."""
    if frame is None:
        return session.createDataFrame([], user_schema(fields))
    return name_columns(copies(frame), fields)


def copies(frame: DataFrame) -> DataFrame:
    """Each row as often as its weight says."""
    times = F.explode(F.sequence(F.lit(1).cast("bigint"), F.col(W))).alias("copy")
    return frame.where(F.col(W) > 0).select(*(c for c in frame.columns if c != W), times)


def name_columns(frame: DataFrame, fields: Sequence[Member], *more: str) -> DataFrame:
    own = [F.col(f"c{i}").alias(f.name) for i, f in enumerate(fields)]
    return frame.select(*own, *more)


def changes_frame(
    session: SparkSession, folder: Folder, segments: Sequence[tuple[int, Segment]], fields: Sequence[Member]
) -> DataFrame:
    """Changes of several versions, as Delta's change feed has them."""
    schema = row_schema([f.type for f in fields])
    parts = []
    if not folder.disk.remote:
        folder.verify(segment for _, segment in segments)
    for version, segment in segments:
        frame = read_files(session, folder, [segment], schema)
        kind = F.when(F.col(W) > 0, "insert").otherwise("delete")
        frame = frame.select("*", kind.alias("_change_type"), F.lit(version).alias("_commit_version"))
        parts.append(copies(frame.withColumn(W, F.abs(W))))
    if not parts:
        extra = [
            StructField("_change_type", spark_type(STRING)),
            StructField("_commit_version", spark_type(INT)),
        ]
        return session.createDataFrame([], StructType([*user_schema(fields).fields, *extra]))
    whole = reduce(DataFrame.unionByName, parts)
    return name_columns(whole, fields, "_change_type", "_commit_version")
