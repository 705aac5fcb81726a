"""Tables of the session's catalog that hold the rows of datasets, as Spark's own runner creates them.

>>> StoredTable(("spark_catalog", "default", "spend"), None, "parquet", "/data/spend", partitioned=False).folder.as_posix()
'/data/spend'
>>> StoredTable(("spark_catalog", "default", "spend"), None, "delta", "/data/spend", partitioned=False).folder is None
True
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from evercurrent.engine.spark.declarative.definitions import Name, Output, first_line, quote_path, show
from evercurrent.engine.spark.sources.parquet import is_local
from evercurrent.engine.spark.sources.tables import provider_and_location
from evercurrent.errors import QueryError, StorageError
from evercurrent.frontend.sql.spark_text import quote_name


@dataclass(frozen=True)
class StoredTable:
    """A table as the catalog describes it; `folder` is set where it is a folder of Parquet files that the driver sees."""

    name: Name
    schema: StructType
    provider: str
    location: str
    partitioned: bool

    @property
    def folder(self) -> Path | None:
        plain = self.provider == "parquet" and self.location and is_local(self.location)
        return Path(self.location) if plain and not self.partitioned else None


def home_of(spark: SparkSession, catalog: str | None, database: str | None) -> tuple[str, str]:
    """Makes the pipeline's catalog and database the current ones; returns both."""
    try:
        if catalog is not None:
            spark.catalog.setCurrentCatalog(catalog)
        if database is not None:
            spark.catalog.setCurrentDatabase(database)
        return spark.catalog.currentCatalog(), spark.catalog.currentDatabase()
    except PySparkException as problem:
        raise QueryError(f"the pipeline's catalog or database: {first_line(problem)}") from problem


def find(spark: SparkSession, name: Name) -> StoredTable | None:
    """A table of the catalog; None if there is none of this name."""
    if not spark.catalog.tableExists(quote_path(name)):
        return None
    about = [(row[0], row[1]) for row in spark.sql(f"DESCRIBE TABLE EXTENDED {quote_path(name)}").collect()]
    partitioned = any(word in ("# Partition Information", "# Partitioning") for word, _ in about)
    provider, location = provider_and_location(dict(about))
    return StoredTable(name, spark.table(quote_path(name)).schema, provider, location, partitioned)


def create(spark: SparkSession, output: Output, schema: StructType, known_location: str | None) -> None:
    """Creates the table of a dataset. `known_location` is where an earlier run has put it: a catalog that lives no longer than
    its session has forgotten the table, but its files are there."""
    columns = ", ".join(
        f"{quote_name(f.name)} {f.dataType.simpleString()}{comment_text(f.metadata.get('comment'))}"
        for f in schema.fields
    )
    text = (
        f"CREATE TABLE {quote_path(output.name)} ({columns}) USING {output.format or default_format(spark)}"
    )
    if output.partition:
        text += f" PARTITIONED BY ({', '.join(quote_name(c) for c in output.partition)})"
    if output.cluster:
        text += f" CLUSTER BY ({', '.join(quote_name(c) for c in output.cluster)})"
    if known_location is not None and Path(known_location).is_dir():
        text += f" LOCATION {literal(known_location)}"
    text += comment_text(output.comment)
    if output.properties:
        pairs = ", ".join(f"{literal(k)} = {literal(v)}" for k, v in output.properties.items())
        text += f" TBLPROPERTIES ({pairs})"
    try:
        spark.sql(text)
    except PySparkException as problem:
        hint = None
        if "LOCATION_ALREADY_EXISTS" in str(problem):
            hint = (
                "the catalog has forgotten the table: a catalog that outlives the session is set by configuration, for example "
                "spark.sql.catalogImplementation: hive; or remove the folder"
            )
        raise StorageError(
            f"{show(output.name)} cannot be created: {first_line(problem)}", hint=hint
        ) from problem


def comment_text(comment: str | None) -> str:
    return "" if not comment else f" COMMENT {literal(comment)}"


def literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def default_format(spark: SparkSession) -> str:
    return str(spark.conf.get("spark.sql.sources.default"))


def drop(spark: SparkSession, name: Name) -> None:
    found = find(spark, name)
    location = "" if found is None else found.location
    spark.sql(f"DROP TABLE IF EXISTS {quote_path(name)}")
    if location and is_local(location):
        # An external table leaves its files, which are ours.
        shutil.rmtree(location, ignore_errors=True)


def truncate(spark: SparkSession, name: Name) -> None:
    spark.sql(f"TRUNCATE TABLE {quote_path(name)}")


def same_columns(one: StructType, other: StructType) -> bool:
    """Whether two schemas have the same columns, in whatever order: a partitioned table has its partition columns last."""

    def columns(schema: StructType) -> dict[str, str]:
        return {f.name.lower(): f.dataType.simpleString() for f in schema.fields}

    return columns(one) == columns(other)


def overwrite(spark: SparkSession, name: Name, frame: DataFrame) -> None:
    """Replaces the rows of a table by those of a frame, by a job of Spark. The frame must not read the table."""
    table = spark.table(quote_path(name)).schema
    there = {c.lower(): c for c in frame.columns}
    columns = [F.col(quote_name(there[f.name.lower()])).cast(f.dataType).alias(f.name) for f in table.fields]
    frame.select(*columns).write.insertInto(quote_path(name), overwrite=True)
    spark.catalog.refreshTable(quote_path(name))


def refresh_listing(spark: SparkSession, name: Name) -> None:
    """Makes the session see files that were written past it."""
    spark.catalog.refreshTable(quote_path(name))


def create_view(spark: SparkSession, output: Output, text: str) -> None:
    """A view of the catalog that a project defines; it is its query."""
    try:
        spark.sql(f"CREATE OR REPLACE VIEW {quote_path(output.name)}{comment_text(output.comment)} AS {text}")
    except AnalysisException as problem:
        raise QueryError(f"{output.place}: {first_line(problem)}") from problem
