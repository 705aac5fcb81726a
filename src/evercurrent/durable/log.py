"""The log of a file: the net change of each table by each version, as far back as it is kept.

    version 7, orders      [[-1, [1, "9.50"]], [1, [1, "12.00"]]]

The log is bounded: beyond `ROWS` changed rows the oldest versions are forgotten, and a single change that is larger is not
logged at all. `log_from` is the last version whose changes cannot be asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from evercurrent.data.zset import ZSet
from evercurrent.durable.file import File
from evercurrent.durable.stored_table import StoredTable
from evercurrent.errors import QueryError, StorageError

ROWS = 200_000
"""About how many changed rows the log holds."""
UNKNOWN = -1


class Log:
    """The log of one file."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.held = UNKNOWN
        """How many changed rows the log holds, once somebody has counted them."""

    def append(self, version: int, tables: Mapping[str, StoredTable], deltas: Mapping[str, ZSet]) -> None:
        """Adds a version, inside the transaction that writes it."""
        if self.held == UNKNOWN:
            self.held = self.file.rows("SELECT COALESCE(SUM(rows), 0) FROM evercurrent_log")[0][0]
        size = sum(len(d) for d in deltas.values())
        connection = self.file.connection
        if size > ROWS:
            self.clear(version)
            return
        for name, delta in deltas.items():
            dump = tables[name].dump
            changes = [[weight, dump(row)] for row, weight in delta.items()]
            connection.execute(
                "INSERT INTO evercurrent_log VALUES (?, ?, ?, ?)", (version, name, len(delta), _text(changes))
            )
        self.held += size
        if self.held > ROWS + ROWS // 4:
            self._shorten()

    def clear(self, version: int) -> None:
        """Forgets all that led to a version."""
        self.file.connection.execute("DELETE FROM evercurrent_log")
        self.file.set_state("log_from", version)
        self.held = 0

    def _shorten(self) -> None:
        sizes = self.file.rows(
            "SELECT version, SUM(rows) FROM evercurrent_log GROUP BY version ORDER BY version"
        )
        last = 0
        for version, rows in sizes:
            if self.held <= ROWS:
                break
            last, self.held = version, self.held - rows
        self.file.connection.execute("DELETE FROM evercurrent_log WHERE version <= ?", (last,))
        self.file.set_state("log_from", last)

    def forget(self, name: str, version: int) -> None:
        """Forgets the changes of a table that is dropped, or that is another one from now on."""
        self.file.connection.execute("DELETE FROM evercurrent_log WHERE name = ?", (name,))
        self.file.set_state(f"log_from {name}", version)

    # --- reading -------------------------------------------------------------------------------------------------

    def require(self, since: int, version: int, names: frozenset[str]) -> None:
        """Refuses a version from which the log does not go on for these tables."""
        if not 0 <= since <= version:
            raise QueryError(f"there is no version {since}", hint=f"versions go from 0 to {version}")
        first = max(self.file.state("log_from"), *(self.file.state(f"log_from {n}") for n in names), 0)
        if since < first:
            raise StorageError(
                f"the changes after version {since} are no longer kept",
                hint=f"ask for changes since {first} or later, or read the whole",
            )

    def changes(self, since: int, tables: Mapping[str, StoredTable]) -> Iterator[tuple[int, dict[str, ZSet]]]:
        """Yields the versions after one, each with the net change of these tables."""
        found: dict[int, dict[str, ZSet]] = {}
        marks = ", ".join("?" * len(tables))
        for version, name, text in self.file.rows(
            f"SELECT version, name, changes FROM evercurrent_log WHERE version > ? AND name IN ({marks}) ORDER BY version",
            (since, *tables),
        ):
            try:
                changes = json.loads(text, object_hook=_binary)
                weights = [weight for weight, _ in changes]
                cells = [row for _, row in changes]
            except (ValueError, TypeError) as problem:
                raise StorageError(f"the log of version {version} cannot be read: {problem}") from problem
            rows = tables[name].load(cells)
            found.setdefault(version, {})[name] = ZSet(zip(rows, weights, strict=True))
        yield from found.items()


def _text(changes: list[Any]) -> str:
    return json.dumps(changes, ensure_ascii=False, separators=(",", ":"), default=_plain)


def _plain(value: Any) -> Any:
    assert isinstance(value, bytes)
    return {"hex": value.hex()}


def _binary(value: dict[str, Any]) -> Any:
    return bytes.fromhex(value["hex"])
