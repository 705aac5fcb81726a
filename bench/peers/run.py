"""Measures the peers in turn, and makes the tables of the page."""

from __future__ import annotations

import json
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
from bench.report import RESULTS, Result, Table

ABOUT = (
    "Other engines beside ours, on the streams of the four TPC-H queries, in batches of 1, 100 and 10,000 events: microseconds "
    "of processor time per event (user and system, all threads of the process), one worker. `make bench-peers` measures them, "
    "and says which it cannot get. Half of the stream is loaded before the clock starts; then "
    f"{SINGLE:,} events are measured one by one, or all whole batches of 10,000 that are left, in batches. The clock covers "
    "handing the events over and bringing the result up to date; reading events, converting them to the engine's own types and "
    "building Arrow tables come before it. Peers are handed only the columns that some query reads, as integers and texts; "
    "ours are handed whole rows. The peers check neither keys nor references (pg_ivm: only its primary keys): beside them "
    "stands `trusted`; `checked` checks keys, references and types. `feed` takes one row at a time at every size of batch. The time "
    "of pg_ivm is that of the server's process alone; that of Pathway includes its connector in Python. Every result at the end of "
    "the stream is compared with DuckDB's. Peers are measured one after another, also in several commands: compare what differs by "
    "more than half."
)


@dataclass(frozen=True)
class Source:
    """How to get a peer, or several ways into one; all their names in the tables begin with the label."""

    label: str
    get: Callable[[], list[Peer]]


PEERS = {
    "evercurrent": Source("evercurrent", ours.peers),
    "differential-dataflow": Source("differential-dataflow", lambda: [rust.peer("differential-dataflow")]),
    "dbsp": Source("dbsp", lambda: [rust.peer("dbsp")]),
    "db-ivm": Source("TanStack db-ivm", lambda: [node.peer()]),
    "pathway": Source("Pathway", lambda: [python_peers.pathway()]),
    "pg_ivm": Source("pg_ivm", lambda: [python_peers.pg_ivm()]),
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


def got(names: list[str], repeats: int) -> tuple[list[Peer], list[list[Any]]]:
    """The peers that can be had, and a row for each about it."""
    peers: list[Peer] = []
    rows: list[list[Any]] = []
    for name in names:
        try:
            found = PEERS[name].get()
        except Missing as why:
            print(f"{name}: missing: {why}", flush=True)
            rows.append([PEERS[name].label, None, f"missing: {why}"])
            continue
        peers += found
        rows.append([PEERS[name].label, found[0].version, f"measured, the least of {repeats}"])
    return peers, rows


def beside(found: list[Table], before: list[dict[str, Any]], names: list[str]) -> None:
    """Keeps the rows and notes of peers that were measured before, in the order of PEERS, in tables of the same title."""
    old = {table["title"]: table for table in before}
    for table in found:
        kept = old.get(table.title, {"rows": [], "notes": []})
        mine = {row[0] for row in table.rows}
        table.rows += [row for row in kept["rows"] if row[0] not in mine]
        table.rows.sort(key=lambda row: place(row[0]))
        again = tuple(PEERS[name].label for name in names)
        table.notes += [note for note in kept["notes"] if not note.startswith(again)]
        table.notes.sort(key=place)


def place(text: str) -> int:
    """Where a row or a note belongs: it begins with the name of its peer."""
    return next(i for i, one in enumerate(PEERS.values()) if text.startswith(one.label))


def run(quick: bool, names: list[str] | None = None, repeats: int = 2, sf: float | None = None) -> Result:
    sf = sf or (0.01 if quick else 0.02)
    names = names or list(PEERS)
    peers, rows = got(names, repeats)
    tables: list[Table] = []
    with tempfile.TemporaryDirectory(prefix="evercurrent-peers-") as folder:
        streams = Streams(sf, Path(folder))
        for query in queries.QUERIES:
            entries = [Entry(peer, query) for peer in peers]
            for entry in entries:
                measure(entry, repeats, streams)
            tables.append(table(query, entries, sf, len(streams.of(query))))
    tables.append(Table("The engines", ["engine", "version", "here"], rows))
    if (RESULTS / "peers.json").exists():
        beside(tables, json.loads((RESULTS / "peers.json").read_text())["tables"], names)
    return Result("peers", ABOUT, tables, machine(), quick)
