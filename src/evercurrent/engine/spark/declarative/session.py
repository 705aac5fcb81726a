"""The session in which a pipeline runs: the user's own settings, and which of them our answers do not depend on.

A dataset is maintained only in a session whose answers are those of the warehouse: ANSI mode, UTC, and no setting that brings back
old behaviour. `unusual_settings` names the first setting that differs:

    spark.sql.ansi.enabled = false       "the session has spark.sql.ansi.enabled = false": the dataset is recomputed by Spark
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession

from evercurrent.engine.spark.private_session import local_session

DECIDING = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.legacy.timeParserPolicy": "EXCEPTION",
}
"""Settings on which answers depend, and the values under which ours are the same."""

UTC = {"UTC", "Etc/UTC", "GMT", "Z", "+00:00", "Universal", "Zulu", "Etc/GMT"}


def pipeline_session(master: str, settings: Mapping[str, str]) -> SparkSession:
    """A session with the settings of a pipeline; the time zone is the user's, as with Spark's own runner."""
    import time

    own = {"spark.sql.session.timeZone": time.tzname[0] if time.tzname[0] in UTC else local_zone()}
    return local_session(master, {**own, **settings})


def local_zone() -> str:
    """The time zone of this machine, by its name where it has one."""
    import os
    from pathlib import Path

    named = os.environ.get("TZ")
    if named:
        return named
    link = Path("/etc/localtime")
    target = str(link.resolve()) if link.exists() else ""
    return target.partition("zoneinfo/")[2] or "UTC"


def unusual_settings(spark: SparkSession, of_flow: Mapping[str, str]) -> str | None:
    """The first setting under which answers of the warehouse could differ from Spark's; None if there is none."""
    for name, value in DECIDING.items():
        found = setting(spark, of_flow, name)
        if found is not None and found.upper() not in (
            value.upper(),
            "CORRECTED" if "timeParser" in name else value.upper(),
        ):
            return f"the session has {name} = {found}"
    return None


def is_utc(spark: SparkSession) -> bool:
    return str(spark.conf.get("spark.sql.session.timeZone")) in UTC


def setting(spark: SparkSession, of_flow: Mapping[str, str], name: str) -> str | None:
    found: Any = of_flow.get(name, spark.conf.get(name, None))
    return None if found is None else str(found)
