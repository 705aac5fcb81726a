"""Messages to rows with operations, by the executors.

    key, value, topic, partition, offset        as Spark's source for Kafka has them
      -> the columns of the table, _op, _place, _offset, _kept

`_place` is the topic and the partition, inside which messages are in order; `_kept` are positions of columns that keep the value
that they have. A message that cannot be read ends the stream with an error that says where it is; nothing of its batch is applied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import pyarrow
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, IntegerType, LongType, StringType, StructField, StructType

from evercurrent.data.feeds import CHANGE_TYPE
from evercurrent.data.types import Member, Timestamp
from evercurrent.data.values import BadValue
from evercurrent.engine.spark.intake.messages.envelopes import UPSERT, Reader
from evercurrent.engine.spark.intake.messages.options import Messages
from evercurrent.engine.spark.translate.arrow_columns import values_to_arrow
from evercurrent.engine.spark.translate.types import arrow_schema, spark_type
from evercurrent.errors import QueryError
from evercurrent.frontend.sql.spark_text import quote_name

OP, PLACE, OFFSET, KEPT = "_op", "_place", "_offset", "_kept"
NEEDED = ("key", "value", "topic", "partition", "offset")
CONFLUENT_HEADER = 5
"""Bytes before a value that a registry of schemas knows: a zero and the number of the schema."""


def decode_messages(
    frame: DataFrame, fields: Sequence[Member], key: Sequence[int], messages: Messages
) -> DataFrame:
    """Returns a frame of rows with operations from a frame of messages."""
    missing = [c for c in NEEDED if c not in frame.columns]
    if missing:
        raise QueryError(
            f"a frame of messages has no column {missing[0]!r}",
            hint="spark.readStream.format('kafka').option('subscribe', ...).load() has key, value, topic, partition and offset",
        )
    if messages.format == "avro":
        return decode_avro(frame, fields, key, messages)
    chosen = frame.select(
        F.col("key").cast("binary"),
        F.col("value").cast("binary"),
        F.col("topic").cast("string"),
        F.col("partition").cast("int"),
        F.col("offset").cast("bigint"),
    )
    return chosen.mapInArrow(decoder(fields, key, messages), message_schema(fields))


def insertions(rows: DataFrame, fields: Sequence[Member]) -> DataFrame:
    """Returns decoded messages as a feed in which each is a new row."""
    return rows.select(*(quote_name(f.name) for f in fields), F.lit("insert").alias(CHANGE_TYPE))


def message_schema(fields: Sequence[Member]) -> StructType:
    own = [StructField(f.name, spark_type(f.type)) for f in fields]
    more = [(OP, StringType()), (PLACE, StringType()), (OFFSET, LongType()), (KEPT, ArrayType(IntegerType()))]
    return StructType([*own, *(StructField(name, t) for name, t in more)])


Decode = Callable[[Iterator[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]


def decoder(fields: Sequence[Member], key: Sequence[int], messages: Messages) -> Decode:
    """Returns the function that executors run over batches of messages."""
    fields, key = tuple(fields), tuple(key)

    def decode(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        reader = Reader(fields, key, messages)
        schema = arrow_schema(message_schema(fields))
        for batch in batches:
            yield decode_batch(reader, batch, schema)

    return decode


def decode_batch(reader: Reader, batch: pyarrow.RecordBatch, schema: pyarrow.Schema) -> pyarrow.RecordBatch:
    columns = [batch.column(i).to_pylist() for i in range(len(NEEDED))]
    rows, ops, places, offsets, kept = [], [], [], [], []
    for key, value, topic, partition, offset in zip(*columns, strict=True):
        try:
            said = reader.read(key, value)
        except BadValue as problem:
            raise ValueError(
                f"the message at offset {offset} of {topic}, partition {partition}, cannot be read: {problem}"
            ) from None
        if said is None:
            continue
        ops.append(said[0])
        rows.append(said[1])
        kept.append(list(said[2]) or None)
        places.append(f"{topic} {partition}")
        offsets.append(offset)
    arrays: list[Any] = [
        values_to_arrow(f.type, [row[i] for row in rows]) for i, f in enumerate(reader.fields)
    ]
    arrays += [ops, places, offsets, kept]
    typed = [
        a.cast(t) if isinstance(a, pyarrow.Array) else pyarrow.array(a, t)
        for a, t in zip(arrays, schema.types, strict=True)
    ]
    return pyarrow.RecordBatch.from_arrays(typed, schema=schema)


def decode_avro(
    frame: DataFrame, fields: Sequence[Member], key: Sequence[int], messages: Messages
) -> DataFrame:
    """Rows in Avro, read by Spark's own module for it."""
    from pyspark.sql.avro.functions import from_avro

    value = F.col("value")
    if messages.framing == "confluent":
        value = F.expr(f"substring(value, {CONFLUENT_HEADER + 1})")
    read = frame.where(F.col("value").isNotNull()).select(
        from_avro(value, str(messages.schema)).alias("row"),
        F.concat_ws(" ", "topic", F.col("partition").cast("string")).alias(PLACE),
        F.col("offset").cast("bigint").alias(OFFSET),
    )
    record = cast(StructType, read.schema["row"].dataType)
    members = {f.name.lower(): f for f in record.fields}
    own = []
    for f in fields:
        member = members.get(f.name.lower())
        if member is None:
            own.append(F.lit(None).cast(spark_type(f.type)).alias(f.name))
            continue
        if isinstance(f.type, Timestamp) and not member.dataType.typeName().startswith("timestamp"):
            raise QueryError(
                f"the column {f.name} is a {f.type}, and the schema in Avro says {member.dataType.simpleString()}",
                hint="give it a logicalType of Avro: timestamp-millis or timestamp-micros",
            )
        own.append(F.col("row").getField(member.name).cast(spark_type(f.type)).alias(f.name))
    return read.select(
        *own, F.lit(UPSERT).alias(OP), PLACE, OFFSET, F.lit(None).cast("array<int>").alias(KEPT)
    )
