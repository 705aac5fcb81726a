"""The session of these tests: the small one, with Spark's connector for Kafka and its module for Avro."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from tests.kafka import jars

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def session() -> SparkSession:
    from tests.spark_session import small_session

    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--jars {jars.connector()} pyspark-shell"
    return small_session("evercurrent-kafka")


def messages(spark: SparkSession, servers: str, topic: str, **options: Any) -> Any:
    """The stream of a topic from its beginning."""
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", servers)
    reader = reader.option("subscribe", topic).option("startingOffsets", "earliest")
    for name, value in options.items():
        reader = reader.option(name, value)
    return reader.load()
