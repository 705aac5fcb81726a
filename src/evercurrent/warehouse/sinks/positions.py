"""The version that a topic has, kept in Kafka itself: in a topic beside it, of which only the last message of each key counts.

    revenue               the messages
    revenue.evercurrent   {"sink": "revenue"} -> {"version": 12}

A position is written in the transaction of the messages that it speaks of, so both are there or neither is. It is read when
nobody else can be writing: `init_transactions` has ended what an earlier sink of the same name had begun.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from evercurrent.errors import StorageError
from evercurrent.warehouse.sinks.envelopes import Message, text

SUFFIX = ".evercurrent"
SECONDS = 120.0
"""How long to wait for the topic to be readable up to its end."""


def position_message(sink: str, version: int) -> Message:
    return Message(text({"sink": sink}), text({"version": version}))


def read_position(configuration: Mapping[str, Any], topic: str, sink: str) -> int | None:
    """Returns the version that was committed last under the name of a sink; None if there is none.

    Reads to the end that the topic has now, not only to the last stable message: an open transaction of another sink in front
    of ours would hide what we have committed, so its end is awaited.
    """
    from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition

    own = {"group.id": f"{topic} positions", "enable.auto.commit": False, "enable.partition.eof": True}
    consumer = Consumer({**configuration, **own, "isolation.level": "read_committed"})
    limit, found = time.monotonic() + SECONDS, None
    wanted = text({"sink": sink})
    try:
        end = newest_offset(configuration, topic)
        consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        while end > 0:
            message = consumer.poll(1.0)
            problem = None if message is None else message.error()
            if message is None:
                pass
            elif problem is None:
                if message.key() == wanted:
                    found = int(json.loads(message.value())["version"])
            elif problem.code() == KafkaError._PARTITION_EOF:
                if message.offset() >= end:
                    break
            elif problem.fatal() or not problem.retriable():
                raise StorageError(f"the positions of {topic} cannot be read: {problem.str()}")
            if time.monotonic() > limit:
                raise StorageError(
                    f"the positions in {topic} could not be read to the end within {SECONDS:g} seconds",
                    hint="another transaction on it is still open, or the brokers cannot be reached",
                )
    finally:
        consumer.close()
    return found


def newest_offset(configuration: Mapping[str, Any], topic: str) -> int:
    """Returns the offset after the last message, whether it is committed or not."""
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({**configuration, "group.id": f"{topic} end", "isolation.level": "read_uncommitted"})
    try:
        _, end = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=60)
        return int(end)
    finally:
        consumer.close()
