"""Plans, names and settings inside the JVM of a session: what declarative pipelines read. A session of Spark Connect has none.

plan_of(spark.sql("SELECT 1 AS a")).output().size()        1
parser_of(spark).parsePlan("SELECT 1 AS a")                      the plan before names are resolved
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from evercurrent.engine.spark.doors.door import door_of, not_over_connect


def require_jvm(session: Any) -> Any:
    """The JVM of a session."""
    if door_of(session).connect:
        raise not_over_connect("reading analysed plans", "they are the server's")
    return session._jvm


def plan_of(frame: DataFrame) -> Any:
    """The plan of a frame after names and types are resolved."""
    require_jvm(frame.sparkSession)
    return frame._jdf.queryExecution().analyzed()


def frame_of_plan(session: SparkSession, plan: Any) -> DataFrame:
    """The rows of a plan."""
    jvm = require_jvm(session)
    return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(session._jsparkSession, plan), session)


def parser_of(session: SparkSession) -> Any:
    """The parser of a session's SQL."""
    require_jvm(session)
    return session._jsparkSession.sessionState().sqlParser()


def settings_in_jvm(session: SparkSession) -> Any:
    """The settings of a session, past what PySpark's own methods forbid while a pipeline is read."""
    require_jvm(session)
    return session._jsparkSession.conf()


def create_view(frame: DataFrame, name: str) -> None:
    """Creates or replaces a temporary view, past what PySpark's own methods forbid while a pipeline is read."""
    require_jvm(frame.sparkSession)
    frame._jdf.createOrReplaceTempView(name)


def drop_view(session: SparkSession, name: str) -> None:
    require_jvm(session)
    session._jsparkSession.catalog().dropTempView(name)


def own_function(session: SparkSession, name: str) -> Any:
    """What Spark's registry says of one of its own functions, as an option of Scala."""
    catalyst = require_jvm(session).org.apache.spark.sql.catalyst
    return catalyst.analysis.FunctionRegistry.builtin().lookupFunction(catalyst.FunctionIdentifier(name))


def delete_folder(session: SparkSession, place: str) -> None:
    """Deletes a folder, and what is in it, of a file system that the session reaches."""
    path = require_jvm(session).org.apache.hadoop.fs.Path(place)
    path.getFileSystem(session._jsparkSession.sessionState().newHadoopConf()).delete(path, True)
