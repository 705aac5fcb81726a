"""What is kept: entries and bytes of every table and state, and which views use it.

    db.stats().of("spend")      (Size(kind='table', name='orders', ...), Size(kind='state', ...))

Bytes are an estimate: the containers are measured, rows and values by a sample, and what several of them share is counted
once for each.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from evercurrent.delta.analyses.labels import Labels
from evercurrent.design.program_parts import fixpoint_users, table_users, users_of
from evercurrent.engine.live.memory import estimate_entries

if TYPE_CHECKING:
    from evercurrent.session.session import Session

SAMPLE = 200


def estimate_held(session: Session) -> int:
    """Returns about how many rows of tables and entries of states are held as Python objects."""
    rows = sum(len(getattr(s, "held", ())) for s in session.stores.values())
    return rows + estimate_entries(list(session.maintenance.engine.core.storages.values()))


@dataclass(frozen=True, slots=True)
class Size:
    """One thing that is kept. `kind` is table, state, or view (one that is recomputed in full).

    `name` is unique; `label` is what `explain` calls a state, and is shown.
    """

    kind: str
    name: str
    entries: int
    bytes: int
    views: tuple[str, ...]
    why: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Stats:
    """What `db.stats()` returns; prints as a table."""

    sizes: tuple[Size, ...]
    notes: tuple[str, ...] = ()

    @property
    def entries(self) -> int:
        """The entries of all states and views; tables are not counted."""
        return sum(s.entries for s in self.sizes if s.kind != "table")

    @property
    def bytes(self) -> int:
        """The estimated bytes of everything."""
        return sum(s.bytes for s in self.sizes)

    def of(self, view: str) -> tuple[Size, ...]:
        """Returns what a view depends on."""
        return tuple(s for s in self.sizes if view in s.views)

    def __str__(self) -> str:
        return _table_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from evercurrent.display import text_html

        return text_html(str(self))


def _table_text(stats: Stats) -> str:
    from rich.table import Table
    from rich.text import Text

    from evercurrent.display import bytes_text, rich_text

    table = Table()
    for name in ("kind", "name", "entries", "bytes", "views", "why"):
        table.add_column(name, justify="right" if name in ("entries", "bytes") else "left", overflow="fold")
    for s in stats.sizes:
        cells = (s.kind, s.label or s.name, f"{s.entries:,}", bytes_text(s.bytes), ", ".join(s.views), s.why)
        table.add_row(*map(Text, cells))
    total = f"{stats.entries:,} entries beside the tables, {bytes_text(stats.bytes)} in all"
    return "\n".join([rich_text(table), total, *(f"note: {n}" for n in stats.notes)])


def stats(session: Session) -> Stats:
    """Measure everything."""
    with session.lock:
        design = session.maintenance.design
        readers: dict[str, list[str]] = {}
        for program in (design.program, design.later):
            for name, views in table_users(program).items():
                readers[name] = sorted({*readers.get(name, ()), *views})
        found = [
            Size(
                "table",
                s.table.name,
                s.entry_count(),
                container_bytes(s.held) if s.columns is None else s.columns.bytes(),
                tuple(readers.get(s.table.name, ())),
            )
            for s in session.stores.values()
            if s.table.stored
        ]
        for program, engine in (
            (design.program, session.maintenance.engine),
            (design.later, session.maintenance.lazy.engine),
        ):
            sizes, users, labels = engine.sizes(), users_of(program), Labels(program)
            for state in program.states:
                entries, size = sizes.get(state.name, (0, 0))
                kept_for, label = tuple(users.get(state.name, ())), labels.of(state.name)
                found.append(Size("state", state.name, entries, size, kept_for, state.why, label))
            for name, kept_by in fixpoint_users(program).items():
                entries, size = sizes.get(name, (0, 0))
                why = "rows of a recursion and their derivations"
                found.append(Size("state", name, entries, size, tuple(kept_by), why))
        for name, rows in session.maintenance.full.items():
            reason = session.maintenance.design.recomputed[name].reason
            found.append(Size("view", name, len(rows), container_bytes(rows.weights), (name,), reason))
        return Stats(tuple(found), tuple(session.maintenance.notes))


def state_sizes(session: Session, view: str) -> dict[str, tuple[int, int]]:
    """Entries and bytes of each state of the program that keeps a view."""
    maintenance = session.maintenance
    engine = maintenance.lazy.engine if view in maintenance.design.lazy else maintenance.engine
    return engine.sizes()


def container_bytes(container: dict[Any, Any]) -> int:
    """The size of a dictionary and, by a sample, of what is in it."""
    size = sys.getsizeof(container)
    if not container:
        return size
    sample = list(islice(container.items(), SAMPLE))
    return size + sum(_deep(pair) for pair in sample) * len(container) // len(sample)


def _deep(values: Iterable[Any]) -> int:
    return sum(
        sys.getsizeof(v) + (_deep(v) if isinstance(v, tuple) else 0)
        for v in values
        if v is not None and not isinstance(v, bool)
    )
