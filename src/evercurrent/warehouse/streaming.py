"""The methods of a warehouse for streams: tables that follow one, views that are sent or published as they change.

    query = db.stream("customers", spark.readStream.schema("id bigint, name string").json("in"), once=True)
    query.awaitTermination()
    db.table("customers").rows()                            [(9, 'Cid')]

Without `once` the query runs until it is stopped.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from evercurrent.statements.options import MessageFormat, OnViolation
from evercurrent.statements.run_record import RunRecord
from evercurrent.warehouse.changes.apply import require_known
from evercurrent.warehouse.changes.streams import apply_messages, message_options, stream
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.definitions.publishing import set_publishing
from evercurrent.warehouse.sinks.kafka import KafkaSink


class StreamFace:
    """Methods of `Warehouse`."""

    _core: Core

    def apply(
        self, changes: Mapping[str, Any], *, batch: str | None = None, on_violation: OnViolation = "refuse"
    ) -> RunRecord:
        raise NotImplementedError

    def reload(self) -> int:
        raise NotImplementedError

    def stream(
        self,
        table: str | Mapping[str, Any],
        frame: Any = None,
        *,
        name: str | None = None,
        checkpoint: Any = None,
        once: bool = False,
        on_violation: OnViolation = "refuse",
        format: MessageFormat | None = None,
        options: Mapping[str, str] | None = None,
    ) -> Any:
        """Keep a table current from a streaming DataFrame; returns Spark's StreamingQuery. A mapping from tables to frames
        starts several, which are ended together.

        Every micro-batch is one version, and counts once even if Spark sends it again. Rows are inserted, or what their
        `_change_type` says. `checkpoint` is Spark's folder for the stream (by default inside the warehouse); `once` takes
        what is there now and stops. `on_violation`: see `apply`.

        With a `format` (json, avro, debezium) the frame has messages of Kafka, as `spark.readStream.format("kafka")` reads
        them; `options` say more of it (`docs/howto/kafka.md`).
        """
        require_known(on_violation)
        how = message_options(format, options)

        def apply_rows(name: str, rows: Any, batch: str) -> RunRecord:
            if how is None:
                return self.apply({name: rows}, batch=batch, on_violation=on_violation)
            with self._core.lock, self._core.progress.run():
                self._core.require_no_transaction("stream")
                return apply_messages(self._core, name, rows, how, batch, on_violation)

        return stream(self._core, table, frame, name, checkpoint, once, apply_rows, self.reload, how)

    def publish(
        self, view: str, to: bool | str | os.PathLike[str] = True, *, merge: Iterable[str] | str = ()
    ) -> None:
        """Choose where a view is published as a Delta table: in the warehouse (True), at a path, or nowhere (False).

        A path may be an address in an object store (`s3://bucket/exports/spend`), which is reached with the credentials of the
        environment or those of the warehouse.

        `merge` names the columns of a key: then the path is that of a table that is there already, and only the rows and
        columns of the view are inserted, updated and deleted in it.
        """
        with self._core.lock:
            self._core.require_no_transaction("publish")
            set_publishing(self._core, view, to, merge)

    def kafka_sink(
        self,
        view: str,
        *,
        servers: str,
        topic: str,
        partitions: int = 1,
        options: Mapping[str, Any] | None = None,
    ) -> KafkaSink:
        """Send the changes of a view to a topic of Kafka, each version once: `.send()` (`docs/howto/kafka.md`).

        A topic that is not there is made, with so many `partitions`; `options` are those of librdkafka (security, say).
        """
        with self._core.lock:
            return KafkaSink(self._core, view, servers, topic, partitions, options)
