"""The live engine: one running program, and the transactions that move it.

install    another program takes over; what both keep under one name stays, what is new is filled
apply      one transaction, all or nothing; gives the minimal change of each watched relation
undo       takes the last transaction back
trigger    the fast path: a function of one row, without undo and without watching
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from evercurrent.data.zset import Row, ZSet
from evercurrent.delta.analyses.drop_counts import lean
from evercurrent.delta.analyses.fill import part_for
from evercurrent.delta.program import Fixpoint, Input, Keyed, Linear, Program, State
from evercurrent.engine.live.borrowed_states import Lender, before, loans
from evercurrent.engine.live.core import Core, Kept, moved
from evercurrent.engine.live.layout import Storage, lay_out
from evercurrent.engine.live.runtime.fixpoint import LiveFixpoint
from evercurrent.errors import EvercurrentError, InternalError

Contents = Callable[[str], Iterable[tuple[Row, int]]]
Delta = ZSet | Iterable[tuple[Row, int]]
NONE: Mapping[str, Mapping[Row, int]] = {}


class LiveEngine:
    """Runs a maintenance program inside the process."""

    def __init__(self) -> None:
        self.core = Core(Program((), ()), Kept())

    @property
    def program(self) -> Program:
        return self.core.program

    # --- installing ----------------------------------------------------------------------------------------

    def install(
        self,
        program: Program,
        contents: Contents,
        hybrid: frozenset[str] = frozenset(),
        lender: Lender | None = None,
    ) -> None:
        """Run this program from now on. `contents` lists the rows of the inputs, for states that are new.

        `hybrid` are the relations of views whose derived values may wait until they are read, see `flush`. The `lender`
        holds rows of tables, which need not be kept a second time.
        """
        program = lean(program)
        old = self.core
        old.flush()
        kept = Kept()
        layouts = lay_out(program)
        known = {s.name: s for s in old.program.states if old.storages[s.name].loan is None}
        kept.storages = {
            name: Storage(layouts[name], loan) for name, loan in loans(program, layouts, lender).items()
        }
        for state in program.states:
            before = known.get(state.name)
            if state.name in kept.storages or before is None or not alike(before, state):
                continue
            storage = old.storages[state.name]
            if layouts[state.name].weighed and not storage.layout.weighed:
                continue
            kept.storages[state.name] = (
                storage if storage.layout == layouts[state.name] else moved(storage, layouts[state.name])
            )
        fixpoints = {r.name: r for r in program.relations if isinstance(r, Fixpoint)}
        kept.fixpoints = {n: old.fixpoints[n] for n, r in fixpoints.items() if n in old.fixpoints}
        new_states = [s.name for s in program.states if s.name not in kept.storages]
        new_fixpoints = [n for n in fixpoints if n not in kept.fixpoints]
        kept.groups = {
            n: g for n, g in old.groups.items() if kept.storages.get(g.relation.state) is g.storage
        }
        if new_states or new_fixpoints:
            self._fill(program, kept, new_states, new_fixpoints, contents)
        core = Core(program, kept, layouts, hybrid)
        old.release()
        self.core = core

    def _fill(
        self,
        program: Program,
        kept: Kept,
        new_states: Collection[str],
        new_fixpoints: Collection[str],
        contents: Contents,
    ) -> None:
        """Compute what is new in an engine of its own, and take it over."""
        old = self.core
        part = part_for(program, new_states, new_fixpoints, self._listed(kept))
        private = Core(part, Kept(), lay_out_like(program, part))
        inputs = {r.name: r for r in program.relations}
        variant = private.variant(frozenset(), False)
        private.start()
        for name in [r.name for r in part.relations if isinstance(r, Input)]:
            source = inputs.get(name)
            if source is not None and getattr(source, "rows", None) is not None:
                rows: Iterable[tuple[Row, int]] = ((row, 1) for row in source.rows)  # type: ignore[union-attr]
            elif name in old.listed:
                rows = old.rows(name)
            else:
                rows = contents(name)
            variant.run(name, rows)
        variant.finish()
        for name in new_states:
            kept.storages[name] = private.storages[name]
        for name in new_fixpoints:
            kept.fixpoints[name] = private.fixpoints[name]
        for name, groups in private.groups.items():
            if groups.relation.state in new_states:
                kept.groups[name] = groups
        private.release()

    def _listed(self, kept: Kept) -> set[str]:
        """Relations of the running program whose rows can be listed, and whose states stay."""
        old = self.core
        found = set()
        for r in old.program.relations:
            match r:
                case Keyed(name, state=state) | Linear(name, state=str(state)):
                    if state in kept.storages and old.storages[state] is kept.storages[state]:
                        found.add(name)
                case Fixpoint(name, loops) if name in kept.fixpoints:
                    found.update(loop.name for loop in loops)
        return found

    # --- transactions --------------------------------------------------------------------------------------

    def apply(
        self,
        deltas: Mapping[str, Delta],
        watch: Collection[str] = (),
        together: Mapping[str, Mapping[Row, int]] = NONE,
    ) -> dict[str, ZSet]:
        """One transaction over several inputs; on any exception everything is as before.

        `together` are parts of the deltas whose deletions and insertions are one step: no rule of another input runs in between.
        """
        core = self.core
        if core.phase == "moving":
            core.settle()
        core.journal.clear()
        core.phase = "moving"
        try:
            moved_by = self._move(core, deltas, watch, together)
        except BaseException as error:
            # Rules fail where nothing is half done; anything else may have stopped in the middle of a step.
            core.undo(repairing=not isinstance(error, EvercurrentError))
            raise
        core.let_go()
        core.phase = "ahead"
        return moved_by

    def _move(
        self,
        core: Core,
        deltas: Mapping[str, Delta],
        watch: Collection[str],
        together: Mapping[str, Mapping[Row, int]],
    ) -> dict[str, ZSet]:
        if core.loans:
            changes = {name: d if isinstance(d, ZSet) else ZSet(d) for name, d in deltas.items()}
            deltas = changes
            core.hold(lambda loan: before(changes[loan.table]) if loan.table in changes else {})
        if any(core.lone):
            core.flush()
        return core.transactions(watch).transact(deltas, together)

    def undo(self) -> None:
        """Take the last transaction back; no-op after `commit`."""
        self.core.undo(repairing=self.core.phase == "moving")

    def settle(self) -> None:
        """Take back what was neither committed nor undone. Idempotent."""
        if self.core.phase != "settled":
            self.core.settle()

    def commit(self) -> None:
        """Forget how to take the last transaction back."""
        self.core.journal.clear()
        self.core.phase = "settled"

    def flush(self) -> None:
        """Bring hybrid views up to date."""
        self.core.flush()

    def trigger(self, table: str, sign: int, journal: bool = False) -> Callable[[Row], None]:
        """The function of one row that comes (+1) or goes (-1): no watching; with `journal`, `undo` takes it back."""
        return self.core.trigger(table, sign, journal)

    def apart(self, table: str, sign: int, journal: bool, things: frozenset[int]) -> Callable[..., None]:
        """The same of its columns, one by one; for those at `things`, the things that a row refers to by their keys."""
        return self.core.trigger(table, sign, journal, things)

    def is_quiet(self, table: str) -> bool:
        """Whether the change of a row moves nothing outside a transaction."""
        return self.core.is_quiet(table)

    def may_fail(self, table: str) -> bool:
        """Whether a row of the table can make some rule fail."""
        return self.core.may_fail(table)

    # --- reading -------------------------------------------------------------------------------------------

    def rows(self, relation: str) -> Iterator[tuple[Row, int]]:
        """The rows of a keyed relation, a kept linear relation or a relation of a fixpoint, with multiplicities."""
        if relation not in self.core.listed:
            raise InternalError(f"the rows of {relation} are not kept")
        self.core.flush()
        return self.core.rows(relation)

    def sizes(self) -> dict[str, tuple[int, int]]:
        """For each state and fixpoint the number of entries and about how many bytes they take."""
        found = {name: (len(s), storage_bytes(s)) for name, s in self.core.storages.items()}
        for name, fixpoint in self.core.fixpoints.items():
            tables = [t for r in fixpoint.relations for t in (r.counts, r.outside)]
            found[name] = (len(fixpoint), sum(map(table_bytes, tables)))
        return found

    def source(self, relation: str | None = None) -> str:
        """The generated Python: all of it, or what concerns one relation."""
        return self.core.source(relation)


def alike(before: State, state: State) -> bool:
    """Whether what one state holds is what the other wants; that a column is never NULL may be for its other meaning."""
    return (
        before.columns == state.columns
        and before.dependents == state.dependents
        and before.accumulators == state.accumulators
    )


def lay_out_like(program: Program, part: Program) -> dict[str, Any]:
    """Layouts of a part's states as the whole program wants them."""
    layouts = lay_out(program)
    return {s.name: layouts[s.name] for s in part.states}


SAMPLE = 64


def storage_bytes(storage: Storage) -> int:
    shared = storage.layout.payload == "cell"
    total = table_bytes(storage.paths[0])
    for path in storage.paths[1:]:
        total += table_bytes(path, payloads=not shared)
    return total


def table_bytes(table: dict[Any, Any], payloads: bool = True) -> int:
    """The dictionary, and its keys and values by a sample."""
    total = sys.getsizeof(table)
    sizes = []
    for key, value in table.items():
        sizes.append(value_bytes(key) + (value_bytes(value) if payloads or type(value) is dict else 0))
        if len(sizes) == SAMPLE:
            break
    return total + (sum(sizes) * len(table) // len(sizes) if sizes else 0)


def value_bytes(value: Any) -> int:
    """A value and what it holds; small integers and the singletons are shared by all."""
    if value is None or isinstance(value, bool) or (isinstance(value, int) and -5 <= value <= 256):
        return 0
    size = sys.getsizeof(value)
    if isinstance(value, tuple | list):
        return size + sum(map(value_bytes, value))
    if isinstance(value, dict):
        return table_bytes(value)
    counted = getattr(value, "bytes", None)
    return size + (counted() if callable(counted) else 0)


__all__ = ["LiveEngine", "LiveFixpoint"]
