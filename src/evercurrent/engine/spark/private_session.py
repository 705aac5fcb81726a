"""The private session in which everything runs.

The user's session keeps its settings; a sibling of it, on the same cluster, has those that answers depend on (ANSI mode,
UTC) and those that make small batches quick. It shares the cluster, its caches and its catalog, not its settings.

    spark.sql.session.timeZone      Europe/Berlin in the user's session      UTC in the private one
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from evercurrent.engine.spark.doors.classic import quieten
from evercurrent.engine.spark.doors.door import door_of, require_session
from evercurrent.errors import StorageError, UnsupportedError

SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.caseSensitive": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.constraintPropagation.enabled": "true",
    "spark.sql.timeType.enabled": "true",
    # How Spark reads the text of a query (`frontend.sql.spark_text`): no setting of the user's changes a constant.
    "spark.sql.variable.substitute": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.legacy.exponentLiteralAsDecimal.enabled": "false",
    "spark.sql.legacy.literal.pickMinimumPrecision": "true",
    "spark.sql.legacy.interval.enabled": "false",
    "spark.sql.legacy.setopsPrecedence.enabled": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.orderByOrdinal": "true",
    "spark.sql.groupByAliases": "true",
    "spark.sql.crossJoin.enabled": "true",
    "spark.sql.mapKeyDedupPolicy": "EXCEPTION",
    # Keys lie in files as differences: what takes a byte there takes ten and more where Spark would broadcast it.
    "spark.sql.sources.fileCompressionFactor": "8",
}

LATER = ("spark.sql.timeType.enabled",)
"""Settings that not every version of Spark 4 lets a session change."""
SMALL = {"spark.sql.adaptive.enabled": "false"}
LARGE = {"spark.sql.adaptive.enabled": "true"}


def private(spark: Any) -> SparkSession:
    """A session of our own beside the user's."""
    require_session(spark)
    session: SparkSession = door_of(spark).new_session()
    for name, value in SETTINGS.items():
        try:
            if session.conf.get(name, None) != value:
                session.conf.set(name, value)
        except Exception:
            if name not in LATER:
                raise
    return session


def tune(session: SparkSession, large: bool, partitions: int | None = None) -> None:
    """Few partitions and no adaptive planning for small batches; for large ones, as the cluster is set up."""
    for name, value in (LARGE if large else SMALL).items():
        session.conf.set(name, value)
    cores = door_of(session).cores
    wanted = partitions or (max(2, cores) * 4 if large else min(4, max(2, cores)))
    session.conf.set("spark.sql.shuffle.partitions", str(wanted))


def require_shared(session: SparkSession, folder: str) -> None:
    """Refuses a folder that executors do not see: they would read nothing, or fail late. Local sessions need no look."""
    door = door_of(session)
    if door.is_local():
        return
    if door.connect:
        require_seen(session, folder)
    tasks = 2 * door.cores
    try:
        seen = door.on_executors(os.path.isdir, [folder] * tasks, "boolean")
    except Exception:
        return  # executors without Python cannot be asked
    if not all(seen):
        raise StorageError(
            f"{folder} is not there on {seen.count(False)} of {tasks} tasks of the executors", hint=SHARED
        )


def require_seen(session: SparkSession, folder: str) -> None:
    """Refuses a folder in which the server of Spark Connect does not see what this process has written."""
    mark = os.path.join(folder, f"seen-{uuid.uuid4().hex}.txt")
    with open(mark, "w", encoding="utf-8") as file:
        file.write("seen")
    try:
        seen = session.read.text(mark).collect()
    except PySparkException:
        seen = []
    finally:
        os.unlink(mark)
    if [row[0] for row in seen] != ["seen"]:
        raise StorageError(f"the server of Spark Connect does not see the folder {folder}", hint=SHARED)


SHARED = "a warehouse needs a folder that the driver and all executors share, or an object store: s3://bucket/warehouse"
LOOPBACK = "127.0.0.1"


def loopback(master: str) -> dict[str, str]:
    """Settings that let nobody else on the network reach a local Spark: its ports are open on this machine alone.

    On a cluster the executors must reach the driver, so there Spark chooses.
    """
    if not master.startswith("local") or "SPARK_LOCAL_IP" in os.environ:
        return {}
    return {
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.host": LOOPBACK,
        "spark.ui.enabled": "false",
    }


@contextmanager
def bind_to_loopback(wanted: bool) -> Iterator[None]:
    """While Spark is started, tell it to listen on loopback with all it has, its web page too, for which there is no setting."""
    if wanted:
        os.environ["SPARK_LOCAL_IP"] = LOOPBACK
    try:
        yield
    finally:
        if wanted:
            os.environ.pop("SPARK_LOCAL_IP", None)


def local_session(master: str, settings: Mapping[str, str] | None = None) -> SparkSession:
    """A session for the command line and the examples: quiet, on loopback, without a web page unless `settings` ask for it."""
    try:
        local = loopback(master)
        builder = (
            SparkSession.builder.master(master)
            .appName("evercurrent")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.log.level", "ERROR")
        )
        for name, value in {**local, **(settings or {})}.items():
            builder = builder.config(name, value)
        with bind_to_loopback(bool(local)):
            session = builder.getOrCreate()
    except Exception as problem:
        raise UnsupportedError(
            f"Spark could not be started: {problem}",
            hint="Spark 4 needs Java 17 or newer: install it (apt-get install openjdk-17-jre-headless, "
            "or brew install openjdk@17) and let JAVA_HOME name its folder",
        ) from problem
    quieten(session)
    return session
