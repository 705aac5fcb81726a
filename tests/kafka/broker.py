"""A broker of Kafka in KRaft mode: one process on loopback, which can be killed and started again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.kafka import jars
from tests.loopback import free_port

SETTINGS = """
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{control}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=127.0.0.1:{control}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={folder}/data
num.partitions=1
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
share.coordinator.state.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
"""
SECONDS = 90


class Broker:
    """A broker under a folder. What it has written is there when it is started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.port, control = free_port(), free_port()
        self.settings = folder / "server.properties"
        self.settings.write_text(SETTINGS.format(port=self.port, control=control, folder=folder))
        self.process: subprocess.Popen[bytes] | None = None
        identity = "AAAAAAAAAAAAAAAAAAAAAA"
        self.run(
            "kafka.tools.StorageTool", "format", "-t", identity, "--standalone", "-c", str(self.settings)
        )
        self.start()

    @property
    def servers(self) -> str:
        return f"127.0.0.1:{self.port}"

    def command(self, program: str, *arguments: str) -> list[str]:
        classes = str(jars.folder("broker") / "*")
        return ["java", "-Xmx384m", "-XX:+UseSerialGC", "-cp", classes, program, *arguments]

    def run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            self.command(program, *arguments), capture_output=True, text=True, timeout=SECONDS, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> None:
        log = (self.folder / "server.log").open("ab")
        self.process = subprocess.Popen(
            self.command("kafka.Kafka", str(self.settings)), stdout=log, stderr=log, start_new_session=True
        )
        from confluent_kafka.admin import AdminClient

        limit = time.monotonic() + SECONDS
        while True:
            assert self.process.poll() is None, (self.folder / "server.log").read_text()[-3000:]
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                    AdminClient({"bootstrap.servers": self.servers}).list_topics(timeout=5)
                return
            except Exception:
                assert time.monotonic() < limit, "the broker did not start"
                time.sleep(0.3)

    def kill(self) -> None:
        """Ends the broker without a word."""
        self.end(signal.SIGKILL)

    def stop(self) -> None:
        self.end(signal.SIGTERM)

    def end(self, how: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            os.kill(self.process.pid, how)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(30)
        self.process = None

    # --- topics --------------------------------------------------------------------------------------------

    def create(self, topic: str, partitions: int = 1) -> None:
        from confluent_kafka.admin import AdminClient, NewTopic

        admin = AdminClient({"bootstrap.servers": self.servers})
        for made in admin.create_topics([NewTopic(topic, partitions, 1)]).values():
            made.result(30)

    def produce(self, topic: str, messages: list[tuple[bytes | None, bytes | None]]) -> None:
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": self.servers, "enable.idempotence": True})
        for key, value in messages:
            producer.produce(topic, key=key, value=value)
            producer.poll(0)
        assert producer.flush(60) == 0

    def read(self, topic: str) -> list[Any]:
        """All committed messages of a topic, by partitions."""
        from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition

        consumer = Consumer(
            {
                "bootstrap.servers": self.servers,
                "group.id": "test",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "isolation.level": "read_committed",
            }
        )
        found: list[Any] = []
        try:
            places = consumer.list_topics(topic, timeout=30).topics[topic].partitions
            consumer.assign([TopicPartition(topic, p, OFFSET_BEGINNING) for p in places])
            ended: set[int] = set()
            limit = time.monotonic() + SECONDS
            while len(ended) < len(places):
                assert time.monotonic() < limit, "the topic cannot be read to its end"
                message = consumer.poll(1.0)
                if message is None:
                    continue
                if message.error() is None:
                    found.append(message)
                elif message.error().code() == KafkaError._PARTITION_EOF:
                    ended.add(message.partition())
        finally:
            consumer.close()
        return found
