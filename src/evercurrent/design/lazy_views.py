"""Lazy views: changes wait, cancel each other, and are applied when the view is read.

    insert (1, 10); update it to (1, 20); delete it; read      nothing is left to apply

Lazy views have a program and an engine of their own, over the tables alone: a change of a table costs an entry in a list
until one of them is read. A row that one transaction inserts and a later one deletes is never applied at all.

Law. The net change of several transactions updates a view as they would one by one (law L4, composition). The program assumes
nothing of parents and children, for across transactions a parent may change while children refer to it.

Rows cancel by the columns that the program uses: the others may be left out of a row that waits (`trigger`), and a change of
them is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from evercurrent.data.zset import Row, ZSet
from evercurrent.delta.program import Input, Program
from evercurrent.delta.terms import columns_read
from evercurrent.engine.live.engine import LiveEngine
from evercurrent.errors import EvaluationError

FOLDED = 256
"""So many transactions wait one by one; then they are netted, so that what waits is no more than what differs."""


class Lazy:
    """The lazy views of a database."""

    def __init__(self) -> None:
        self.engine = LiveEngine()
        self.inputs: frozenset[str] = frozenset()
        self.used: dict[str, frozenset[int]] = {}
        self._waiting: list[Mapping[str, ZSet | Iterable[tuple[Row, int]]]] = []
        self._moved: Mapping[str, ZSet] | None = None

    def install(self, program: Program, contents: Callable[[str], ZSet]) -> None:
        """Keep these views from now on; `contents` are those of the tables now.

        If what waits cannot be applied (a value overflows, say), all views are recomputed: so the failing one can be dropped.
        """
        failing: tuple[LiveEngine, list[Mapping[str, ZSet | Iterable[tuple[Row, int]]]]] | None = None
        try:
            self.settle()
        except EvaluationError:
            failing = self.engine, self._waiting
            self.engine, self._waiting = LiveEngine(), []
        try:
            self.engine.install(program, lambda name: contents(name).items())
        except BaseException:
            if failing is not None:
                self.engine, self._waiting = failing
            raise
        self.engine.commit()
        self.inputs = frozenset(r.name for r in program.relations if isinstance(r, Input) and r.rows is None)
        self.used = {name: find_used_columns(program, name) for name in self.inputs}

    # --- changes -------------------------------------------------------------------------------------------

    def note(self, deltas: Mapping[str, ZSet]) -> None:
        """A transaction that is about to be committed."""
        self._moved = {name: delta for name, delta in deltas.items() if name in self.inputs}

    def apply(self, watch: Iterable[str]) -> dict[str, ZSet]:
        """Updates the view in this transaction after all, because it has a subscriber; `undo` takes that back."""
        self.settle()
        moved, self._moved = self._moved or {}, None
        return self.engine.apply(moved, frozenset(watch))

    def commit(self) -> None:
        if self._moved:
            if not self._waiting or self._waiting[-1] is not self._moved:  # else an interrupt came right here
                self._waiting.append(self._moved)
            self._moved = None
            if len(self._waiting) >= FOLDED:
                self._waiting = [self._net()]
        self.engine.commit()

    def undo(self) -> None:
        self._moved = None
        self.engine.undo()

    def settle_engine(self) -> None:
        """Undoes what was neither committed nor undone. Idempotent."""
        self._moved = None
        self.engine.settle()

    def state(self) -> tuple[Any, ...]:
        """Everything that an installation replaces."""
        return self.engine, self.engine.core, self._waiting, self.inputs, self.used

    def restore(self, state: tuple[Any, ...]) -> None:
        """Puts it back. Idempotent."""
        self.engine, self.engine.core, self._waiting, self.inputs, self.used = state

    def _wait_again(self, waiting: list[Mapping[str, ZSet | Iterable[tuple[Row, int]]]], _: None) -> None:
        self._waiting = waiting

    def trigger(self, table: str, sign: int, also: Callable[[Row], object]) -> Callable[[Row], object]:
        """The fast path: one row, and what else it does."""
        if table not in self.inputs:
            return also

        def change(row: Row) -> None:
            also(row)
            self._waiting.append({table: ((row, sign),)})
            if len(self._waiting) >= FOLDED:
                self._waiting = [self._net()]

        return change

    # --- reading -------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        """How many rows wait."""
        return sum(1 for moved in self._waiting for rows in moved.values() for _ in items(rows))

    def settle(self) -> None:
        """Apply what waits; if that fails, it goes on waiting."""
        if self._waiting:
            self.engine.apply(self._net())
            # Part of the record: whoever undoes the engine makes the changes wait again.
            self.engine.core.journal.append((self._wait_again, self._waiting, None))
            self._waiting = []
            self.engine.commit()

    def rows(self, relation: str) -> ZSet:
        """The rows of a view as they are now; while a transaction is being committed, as it will have them."""
        self.settle()
        if self._moved:
            self.apply(())
        return ZSet(self.engine.rows(relation))

    def _net(self) -> dict[str, ZSet]:
        result: dict[str, ZSet] = {}
        for moved in self._waiting:
            for name, rows in moved.items():
                total = result.setdefault(name, ZSet())
                used = self.used[name]
                for row, weight in items(rows):
                    total.add(tuple(v if i in used else None for i, v in enumerate(row)), weight)
        return {name: delta for name, delta in result.items() if delta}


def find_used_columns(program: Program, name: str) -> frozenset[int]:
    """The positions of the columns of an input that its rules use; with 0, so that a table that is only counted is read."""
    return columns_read(program, name) | {0} if program.triggers.get(name) else frozenset()


def items(rows: ZSet | Iterable[tuple[Row, int]]) -> Iterable[tuple[Row, int]]:
    return rows.items() if isinstance(rows, ZSet) else rows
