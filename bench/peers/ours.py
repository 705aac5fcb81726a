"""evercurrent itself: single rows by `feed`, checked rows in transactions, and Arrow tables, trusted and checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow
from pyarrow import parquet

import evercurrent as ec
from bench import tpch
from bench.columns_bench import cpu
from bench.peers.contest import LOADING, Measured, Peer, window
from bench.peers.events_file import Streams
from bench.stream_bench import database, generated_calls, in_transactions
from bench.streams import Event
from evercurrent.rows.export import arrow_type

Part = list[Event]
Work = Callable[[Part, int], Callable[[], object]]
"""Prepares the work for some events and a size of batches."""


def measured(db: ec.Database, stream: Part, batch: int, prepare: Work) -> Measured:
    start, timed = window(len(stream), batch)
    prepare(stream[:start], LOADING)()
    work = prepare(stream[start : start + timed], batch)
    seconds = cpu(work)
    prepare(stream[start + timed :], LOADING)()
    return Measured(seconds, timed, db.view("v").rows())


def by_feed(query: str, batch: int, streams: Streams) -> Measured:
    db = database(query, known=True, stored=False)

    def prepare(part: Part, _: int) -> Callable[[], object]:
        calls = generated_calls(db, part)

        def work() -> None:
            for handler, row in calls:
                handler(row)

        return work

    return measured(db, streams.of(query), batch, prepare)


def by_transactions(query: str, batch: int, streams: Streams) -> Measured:
    db = database(query, known=True, stored=True)
    handles = {name: db.table(name) for name in db.tables}
    return measured(
        db,
        streams.of(query, python=True),
        batch,
        lambda part, size: lambda: in_transactions(db, handles, part, size),
    )


class Feeds:
    """Events as change feeds: one Arrow table for each table and batch, taken from the files of TPC-H."""

    def __init__(self, db: ec.Database, sf: float) -> None:
        self.tables: dict[str, pyarrow.Table] = {}
        self.places: dict[int, int] = {}
        for name in db.tables:
            schema = pyarrow.schema(
                [pyarrow.field(f.name, arrow_type(f.type), f.nullable) for f in db.table(name).schema]
            )
            self.tables[name] = parquet.read_table(tpch.folder(sf) / f"{name}.parquet").cast(schema)
            self.places |= {id(row): i for i, row in enumerate(tpch.internal(sf)[name])}

    def batches(self, part: Part, size: int) -> Iterator[dict[str, pyarrow.Table]]:
        for start in range(0, len(part), size):
            places: dict[str, list[int]] = {}
            kinds: dict[str, list[str]] = {}
            for table, sign, row in part[start : start + size]:
                places.setdefault(table, []).append(self.places[id(row)])
                kinds.setdefault(table, []).append("insert" if sign > 0 else "delete")
            yield {
                name: self.tables[name]
                .take(pyarrow.array(taken))
                .combine_chunks()
                .append_column("_change_type", pyarrow.array(kinds[name]))
                for name, taken in places.items()
            }


def by_arrow(*, stored: bool) -> Callable[[str, int, Streams], Measured]:
    def measure(query: str, batch: int, streams: Streams) -> Measured:
        db = database(query, known=True, stored=stored)
        feeds = Feeds(db, streams.sf)

        def prepare(part: Part, size: int) -> Callable[[], object]:
            batches: list[Any] = list(feeds.batches(part, size))

            def work() -> None:
                for changes in batches:
                    db.apply(changes)

            return work

        return measured(db, streams.of(query), batch, prepare)

    return measure


def peers() -> list[Peer]:
    version = ec.__version__
    return [
        Peer("evercurrent: rows by `feed`, trusted", version, by_feed),
        Peer("evercurrent: Arrow tables, trusted", version, by_arrow(stored=False)),
        Peer("evercurrent: Arrow tables, checked", version, by_arrow(stored=True)),
        Peer("evercurrent: rows in transactions, checked", version, by_transactions),
    ]
