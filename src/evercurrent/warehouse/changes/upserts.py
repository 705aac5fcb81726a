"""Messages with operations into a table: the last message of a key decides which row the key has, if any.

    (1, a) upsert, (1, b) upsert, (2,) delete        stored: (1, x), (2, y)
      -> delete (1, x), insert (1, b), delete (2, y)

Law. Messages that have been applied change nothing if they come again: what counts is the row that a key has after the last of
them. So connectors may deliver a message twice, and rows before a change need not be sent.

Messages are in order inside a partition of a topic. A key has all its messages in one, as Kafka's producers see to; a truncation
concerns all keys, so a table with truncations needs a topic with one partition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow

from evercurrent.catalog.nodes import Table
from evercurrent.catalog.rules import positions
from evercurrent.data.feeds import CHANGE_TYPE
from evercurrent.data.zset import Row
from evercurrent.engine.spark.intake.frames import hold_or_stage
from evercurrent.engine.spark.intake.messages.decoding import KEPT, OFFSET, OP, PLACE
from evercurrent.engine.spark.intake.messages.envelopes import DELETE, TRUNCATE
from evercurrent.engine.spark.intake.messages.last_messages import large_feed, require_one_place
from evercurrent.engine.spark.storage.store_names import table_store
from evercurrent.engine.spark.translate.arrow_columns import arrow_to_values, rows_to_arrow
from evercurrent.errors import QueryError
from evercurrent.statements.options import OnViolation
from evercurrent.statements.run_record import RunRecord
from evercurrent.warehouse.changes.apply import apply, find_touched_rows
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.maintenance.commit import tidying

WEIGHT = "_weight"


def require_primary_key(table: Table) -> tuple[int, ...]:
    """Returns where the columns of the primary key stand."""
    if table.primary_key is None:
        raise QueryError(
            f"the table {table.name} has no primary key, and messages of changes say by the key which row they mean",
            hint="declare it: CREATE TABLE ... (id INT PRIMARY KEY, ...)",
        )
    return positions(table, table.primary_key.columns)


def apply_upserts(
    core: Core, name: str, frame: Any, batch: str | None, on_violation: OnViolation
) -> RunRecord:
    """Applies decoded messages (see `engine.spark.intake.messages.decoding`) as one version."""
    table = core.table(name)
    key = require_primary_key(table)
    with tidying(core):
        read = hold_or_stage(core.engine, table_store(table.name.lower()), frame)
        if isinstance(read, pyarrow.Table):
            feed = small_feed(core, table, key, read)
        else:
            types = core.table_types(table.name)
            stored = core.engine.frame(core.table_segments(table.name), types, home=True)
            feed = large_feed(table.name, table.fields, key, read, stored)
    return apply(core, {table.name: feed}, batch, on_violation)


def small_feed(core: Core, table: Table, key: Sequence[int], messages: pyarrow.Table) -> pyarrow.Table:
    """Returns the changes of whole rows that messages amount to."""
    columns = [arrow_to_values(f.type, messages.column(i)) for i, f in enumerate(table.fields)]
    said = [messages.column(c).to_pylist() for c in (OP, PLACE, OFFSET, KEPT)]
    listed = sorted(zip(zip(*columns, strict=True), *said, strict=True), key=lambda m: (m[2], m[3]))
    last = max((n for n, m in enumerate(listed) if m[1] == TRUNCATE), default=-1)
    if last >= 0:
        require_one_place(table.name, {m[2] for m in listed})
    store = core.table_segments(table.name)
    types = core.table_types(table.name)
    old: dict[Row, Row] = {}
    if last >= 0:
        old = {tuple(row[i] for i in key): row for row, _ in core.engine.rows(store, types)}
    else:
        keys = {tuple(m[0][i] for i in key) for m in listed}
        touched = find_touched_rows(core)
        touched.load(table.name.lower(), key, keys)
        old = {tuple(row[i] for i in key): row for row in touched.stores[table.name.lower()].rows.values()}
    new = final_rows(table, key, listed[last + 1 :], {} if last >= 0 else old)
    gone = [row for k, row in old.items() if (k in new or last >= 0) and new.get(k) != row]
    come = [row for k, row in new.items() if row is not None and old.get(k) != row]
    entries = [*((row, -1) for row in gone), *((row, 1) for row in come)]
    feed = rows_to_arrow(types, [f.name for f in table.fields], entries, WEIGHT).drop_columns([WEIGHT])
    kinds = ["delete"] * len(gone) + ["insert"] * len(come)
    return feed.append_column(CHANGE_TYPE, pyarrow.array(kinds, pyarrow.string()))


def final_rows(
    table: Table, key: Sequence[int], messages: Sequence[Any], old: dict[Row, Row]
) -> dict[Row, Row | None]:
    """Returns the row of each key after the last of its messages; None if it has none."""
    new: dict[Row, Row | None] = {}
    places: dict[Row, str] = {}
    for row, op, place, offset, kept in messages:
        of = tuple(row[i] for i in key)
        if places.setdefault(of, place) != place:
            raise QueryError(
                f"messages of one key of {table.name} are in {places[of]} and in {place}, so that their order is not known",
                hint="all messages of a key must be in one partition of one topic",
            )
        if op == DELETE:
            new[of] = None
            continue
        if kept:
            row = keep_values(table, row, kept, new[of] if of in new else old.get(of), place, offset)
        new[of] = row
    return new


def keep_values(
    table: Table, row: Row, kept: Sequence[int], before: Row | None, place: str, offset: int
) -> Row:
    """Returns the row with the values that it had in columns that an update did not touch."""
    if before is None:
        raise QueryError(
            f"the message at offset {offset} of {place} leaves out values of {table.name} that were never seen",
            hint="start the stream with a snapshot, or set REPLICA IDENTITY FULL on the table in PostgreSQL",
        )
    return tuple(before[i] if i in kept else v for i, v in enumerate(row))
