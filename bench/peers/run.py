"""Measures the peers in turn, and makes the tables of the page."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import queries
from bench.history import Missing
from bench.measure import machine
from bench.peers import node, ours, python_peers, rust
from bench.peers.contest import SINGLE, SIZES, Failed, Peer, is_right
from bench.peers.events_file import Streams
from bench.report import Result, Table

ABOUT = (
    "Other engines beside ours, on the streams of the four TPC-H queries, in batches of 1, 100 and 10,000 events: "
    "microseconds of processor time per event (user and system, all threads of the process), one worker, the least of the "
    f"repeats. Half of the stream is loaded before the clock starts; then up to {SINGLE:,} events are measured one by one, or "
    "the second half in batches. The clock covers handing the events over and bringing the result up to date; reading the file of "
    "events, converting to the engine's own types and building Arrow tables come before it. Peers are given only the columns "
    "that some query reads, as integers and texts; ours are given whole rows. The peers check no keys and no references "
    "(pg_ivm checks its primary keys); `trusted` is the same for ours, `checked` checks keys, references and types. Every "
    "result is compared with DuckDB's at the end of the stream."
)
PEERS: dict[str, Callable[[], list[Peer]]] = {
    "evercurrent": ours.peers,
    "differential-dataflow": lambda: [rust.peer("differential-dataflow")],
    "dbsp": lambda: [rust.peer("dbsp")],
    "db-ivm": lambda: [node.peer()],
    "pathway": lambda: [python_peers.pathway()],
    "pg_ivm": lambda: [python_peers.pg_ivm()],
}


@dataclass
class Entry:
    """The times of one peer at one query, by size of batch; whether all results were right; what it cannot."""

    peer: Peer
    query: str
    times: dict[int, float] = field(default_factory=dict)
    right: bool = True
    missing: dict[str, None] = field(default_factory=dict)

    def cells(self) -> list[Any]:
        times = [self.times.get(size) for size in SIZES]
        return [self.peer.name, *times, self.right if self.times else None]


def measure(entry: Entry, repeats: int, streams: Streams) -> None:
    for size in SIZES:
        try:
            for _ in range(repeats):
                found = entry.peer.measure(entry.query, size, streams)
                entry.right &= is_right(entry.query, found.answer, streams)
                least = entry.times.get(size, found.microseconds)
                entry.times[size] = min(least, found.microseconds)
                print(f"  {entry.query} {entry.peer.name} {size:,}: {found.microseconds:.3f}", flush=True)
        except Missing as why:
            entry.missing[str(why)] = None
        except Failed as error:
            print(error, flush=True)
            entry.missing[f"its program failed at batches of {size:,}"] = None


def table(query: str, entries: list[Entry], sf: float, events: int) -> Table:
    columns = ["engine", *(f"batches of {size:,}" for size in SIZES), "equal results"]
    found = Table(f"{query}, SF {sf:g}, {events:,} events: microseconds per event", columns)
    found.rows = [entry.cells() for entry in entries if entry.times]
    for entry in entries:
        if entry.missing:
            found.notes.append(f"{entry.peer.name}: {'; '.join(entry.missing)}.")
    return found


def got(names: list[str]) -> tuple[list[Peer], list[list[Any]]]:
    """The peers that can be had, and a row for each about it."""
    peers: list[Peer] = []
    rows: list[list[Any]] = []
    for name in names:
        try:
            found = PEERS[name]()
        except Missing as why:
            print(f"{name}: missing: {why}", flush=True)
            rows.append([name, None, f"missing: {why}"])
            continue
        peers += found
        rows.append([name, found[0].version, "measured"])
    return peers, rows


def run(quick: bool, names: list[str] | None = None, repeats: int = 2, sf: float | None = None) -> Result:
    sf = sf or (0.01 if quick else 0.02)
    peers, rows = got(names or list(PEERS))
    tables: list[Table] = []
    with tempfile.TemporaryDirectory(prefix="evercurrent-peers-") as folder:
        streams = Streams(sf, Path(folder))
        for query in queries.QUERIES:
            entries = [Entry(peer, query) for peer in peers]
            for entry in entries:
                measure(entry, repeats, streams)
            tables.append(table(query, entries, sf, len(streams.of(query))))
    tables.append(Table("The engines", ["engine", "version", "here"], rows))
    return Result("peers", ABOUT, tables, machine(), quick)
