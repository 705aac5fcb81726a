"""The changes of a view as messages to a topic of Kafka, each version once.

    sink = db.kafka_sink("revenue", servers="127.0.0.1:9092", topic="revenue")
    sink.send()          what the topic does not have: at first all rows of the view, then the changes of every version

Law. Readers with `isolation.level=read_committed` see every change once, in the order of versions in each partition, whatever
is killed when. Messages and the version that they bring the topic to are written in one transaction of Kafka's (`positions`). A
sink begins by fencing off earlier ones of its name and reading the version that was committed last; what was not is aborted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evercurrent.design.row_keys import row_key
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import ConflictError, QueryError, StorageError, UnsupportedError
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.history import change_segments
from evercurrent.warehouse.maintenance.catch_up import view_rows
from evercurrent.warehouse.sinks.envelopes import Envelopes, Message
from evercurrent.warehouse.sinks.positions import SUFFIX, position_message, read_position

TRANSACTION_MESSAGES = 10_000
"""Versions are sent together, as long as they have at most this number of messages."""
ATTEMPTS = 5
"""How often a commit that Kafka asks to repeat is repeated."""


class KafkaSink:
    """Sends the changes of one view to one topic. Not for several threads at once."""

    def __init__(
        self,
        core: Core,
        view: str,
        servers: str,
        topic: str,
        partitions: int = 1,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        require_client()
        self._core = core
        self.view = core.view(view).name
        self.topic = topic
        self.name = f"{topic} {self.view}"
        self._configuration = {"bootstrap.servers": servers, **(options or {})}
        self._producer: Any = None
        self._version: int | None = None
        if core.view(view).inline:
            raise QueryError(
                f"{self.view} is kept in its parts only, so its changes cannot be sent",
                hint=f"db.publish({self.view!r}) keeps it with arrays too",
            )
        create_topics(self._configuration, topic, partitions)

    @property
    def version(self) -> int | None:
        """The version that the topic has; None if it has none."""
        if self._producer is None:
            self._open()
        return self._version

    def send(self) -> int:
        """Send all that the topic does not have, up to the present version; returns the number of messages."""
        sent = 0
        core = self._core
        with core.lock:
            at = self.version
            try:
                for version, messages in self._batches(at):
                    sent += self._commit(version, messages)
            except BaseException:
                # What became of the open transaction is not known here: the next call looks at what the topic has.
                self._producer = None
                raise
        return sent

    def close(self) -> None:
        """Let go of the connection."""
        self._producer = None

    def __enter__(self) -> KafkaSink:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def _open(self) -> None:
        from confluent_kafka import Producer

        own = {"transactional.id": f"evercurrent {self.name}", "enable.idempotence": True}
        producer = Producer({**self._configuration, **own})
        producer.init_transactions(60)
        self._version = read_position(self._configuration, self.topic + SUFFIX, self.name)
        self._producer = producer

    def _batches(self, at: int | None) -> Iterator[tuple[int, list[Message]]]:
        """Yields messages that are sent together, with the version that they bring the topic to."""
        core = self._core
        fields = core.view(self.view).fields
        types = [f.type for f in fields]
        key = row_key(core.catalog, core.design, self.view)
        envelopes = Envelopes(self.view, fields, key, lambda: int(time.time() * 1000))
        if at is None:
            rows = core.engine.rows(view_rows(core, self.view), types)
            yield core.version, list(envelopes.snapshot(rows, core.version))
            return
        pending: list[Message] = []
        last = at
        for version, segment in self._segments(at):
            delta = core.engine.rows(Store((segment,)), types)
            found = list(envelopes.changes(delta, version))
            if pending and len(pending) + len(found) > TRANSACTION_MESSAGES:
                yield last, pending
                pending = []
            pending += found
            last = version
        if pending:
            yield last, pending

    def _segments(self, at: int) -> Sequence[tuple[int, Segment]]:
        core = self._core
        if at > core.version:
            raise ConflictError(
                f"the topic {self.topic} has version {at} of {self.view}, and the warehouse is at {core.version}",
                hint="db.reload() goes to the newest version; another warehouse needs another topic",
            )
        segments = change_segments(core, self.view, at)
        log = core.engine.log
        rebuilt = [
            v for v in range(at + 1, core.version + 1) if self.view in log.entry(v).record.get("filled", ())
        ]
        if rebuilt:
            raise StorageError(
                f"view {self.view} was rebuilt at version {rebuilt[0]}, and the topic {self.topic} has version {at}: "
                "what lies between is not known as changes",
                hint="send it to a new topic, which begins with all rows",
            )
        return segments

    def _commit(self, version: int, messages: list[Message]) -> int:
        from confluent_kafka import KafkaException

        producer = self._producer
        producer.begin_transaction()
        try:
            for message in messages:
                self._produce(self.topic, message)
            self._produce(self.topic + SUFFIX, position_message(self.name, version))
            commit_transaction(producer)
        except KafkaException as problem:
            error = problem.args[0]
            if not error.fatal():
                producer.abort_transaction(60)
            raise StorageError(
                f"the changes of {self.view} could not be sent to {self.topic}: {error.str()}",
                hint="another sink of this view and topic has taken over"
                if error.fatal()
                else "call send() again: nothing of these changes is in the topic, or all of it is and is not sent again",
            ) from problem
        self._version = version
        return len(messages)

    def _produce(self, topic: str, message: Message) -> None:
        while True:
            try:
                self._producer.produce(topic, key=message.key, value=message.value)
                return
            except BufferError:  # the queue is full: wait for deliveries
                self._producer.poll(1.0)


def commit_transaction(producer: Any) -> None:
    from confluent_kafka import KafkaException

    for attempt in range(ATTEMPTS):
        try:
            producer.commit_transaction(60)
            return
        except KafkaException as problem:
            if attempt + 1 == ATTEMPTS or not problem.args[0].retriable():
                raise


def create_topics(configuration: Mapping[str, Any], topic: str, partitions: int) -> None:
    """Makes the topic and the one of its positions, unless they are there."""
    from confluent_kafka import KafkaError, KafkaException
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient(dict(configuration))
    wanted = [
        NewTopic(topic, num_partitions=partitions, replication_factor=-1),
        NewTopic(
            topic + SUFFIX, num_partitions=1, replication_factor=-1, config={"cleanup.policy": "compact"}
        ),
    ]
    for name, future in admin.create_topics(wanted).items():
        try:
            future.result(60)
        except KafkaException as problem:
            if problem.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise StorageError(
                    f"the topic {name} cannot be made: {problem.args[0].str()}",
                    hint="are the brokers at servers=... reachable, and may this user create topics?",
                ) from problem


def require_client() -> None:
    try:
        import confluent_kafka  # noqa: F401
    except ImportError:
        raise UnsupportedError(
            "sending to Kafka needs the package confluent-kafka", hint="pip install 'evercurrent[kafka]'"
        ) from None
