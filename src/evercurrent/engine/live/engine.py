"""The live engine: one running program, and the transactions that update it.

install    another program takes over; what both keep under one name stays, what is new is filled
apply      one transaction, all or nothing; returns the minimal change of each watched relation
undo       takes the last transaction back
trigger    the fast path: a function of one row, without undo and without watching
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from time import thread_time
from typing import Any

from evercurrent.data.zset import Row, ZSet
from evercurrent.delta.analyses.drop_counts import lean
from evercurrent.delta.analyses.fill import part_for
from evercurrent.delta.program import Finalize, Fixpoint, Input, Keyed, Linear, Program, State
from evercurrent.engine.live import columns
from evercurrent.engine.live.borrowed_states import Lender, before, loans
from evercurrent.engine.live.columns import (
    fill_columns,
    to_delta,
    to_storage,
    to_zset,
    try_columns,
)
from evercurrent.engine.live.core import Core, Kept
from evercurrent.engine.live.layout import Layout, lay_out
from evercurrent.engine.live.memory import storage_bytes, table_bytes
from evercurrent.engine.live.runtime.fixpoint import LiveFixpoint
from evercurrent.engine.live.storages import Storage, convert_storage, fresh
from evercurrent.errors import InternalError, stops_anywhere

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
        layouts = lay_out(program)
        if lender is None:
            made = self._install_columns(program, contents, hybrid, layouts)
            if made is not None:
                old.release()
                self.core = made
                return
        old.to_rows()
        kept = Kept(magnitudes=old.magnitudes)
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
                storage
                if storage.layout == layouts[state.name]
                else convert_storage(storage, layouts[state.name])
            )
        fixpoints = {r.name: r for r in program.relations if isinstance(r, Fixpoint)}
        kept.fixpoints = {n: old.fixpoints[n] for n, r in fixpoints.items() if n in old.fixpoints}
        new_states = [s.name for s in program.states if s.name not in kept.storages]
        new_fixpoints = [n for n in fixpoints if n not in kept.fixpoints]
        kept.groups = {
            n: g for n, g in old.groups.items() if kept.storages.get(g.relation.state) is g.storage
        }
        if new_states or new_fixpoints:
            self._fill(program, layouts, kept, new_states, new_fixpoints, contents)
        core = Core(program, kept, layouts, hybrid)
        old.release()
        self.core = core

    def _fill(
        self,
        program: Program,
        layouts: Mapping[str, Layout],
        kept: Kept,
        new_states: Collection[str],
        new_fixpoints: Collection[str],
        contents: Contents,
    ) -> None:
        """Compute what is new in an engine of its own, and take it over."""
        old = self.core
        part = part_for(program, new_states, new_fixpoints, self._find_listable(kept))
        if not new_fixpoints:
            sources = self._sources(program, part, contents)
            rows_to_read = sum(map(len, sources.values()))
            if not rows_to_read and not has_scalars(part):
                kept.storages |= {name: fresh(layouts[name]) for name in new_states}
                return
            if rows_to_read >= columns.LEAST_ROWS:
                made = fill_columns(part, sources)
                if made is not None:
                    for name in new_states:
                        kept.storages[name] = fresh(layouts[name])
                        to_storage(made.states[name], kept.storages[name], made.pools)
                    return
        private = Core(part, Kept(magnitudes=kept.magnitudes), {s.name: layouts[s.name] for s in part.states})
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
        kept.magnitudes = {**kept.magnitudes, **private.magnitudes}
        private.release()

    def _install_columns(
        self, program: Program, contents: Contents, hybrid: frozenset[str], layouts: dict[str, Any]
    ) -> Core | None:
        """The program over columns, if the old one is too or has nothing yet, and what is new is worth it; else None."""
        old = self.core
        present = old.columns
        if present is None and any(map(len, old.storages.values())):
            return None
        kept: dict[str, Any] = {}
        if present is not None:
            before = {s.name: s for s in old.program.states}
            kept = {
                s.name: present.states[s.name]
                for s in program.states
                if s.name in before and alike(before[s.name], s)
            }
        new = [s.name for s in program.states if s.name not in kept]
        if present is None and not new:
            return None
        listed = {
            r.name
            for r in old.program.relations
            if isinstance(r, Keyed | Linear) and present is not None and r.state in kept
        }
        part = part_for(program, new, (), listed)
        sources: dict[str, Any] = self._sources(program, part, contents)
        if present is None and sum(map(len, sources.values())) < columns.LEAST_ROWS:
            return None
        made = fill_columns(part, sources, None if present is None else present.pools) if new else present
        whole = None if made is None else try_columns(program, made.pools)
        if whole is None:
            return None
        assert made is not None
        for name in whole.states:
            whole.states[name] = (kept.get(name) or made.states[name]).chain_like(whole.states[name])
        whole.begun = True
        core = Core(program, Kept(magnitudes=old.magnitudes), layouts, hybrid)
        core.columns = whole
        return core

    def _sources(self, program: Program, part: Program, contents: Contents) -> dict[str, Any]:
        """The rows of the inputs of a part."""
        old, inputs = self.core, {r.name: r for r in program.relations}
        found: dict[str, Any] = {}
        for name in [r.name for r in part.relations if isinstance(r, Input)]:
            rows = getattr(inputs.get(name), "rows", None)
            if rows is not None:
                found[name] = [(row, 1) for row in rows]
            else:
                given = old.rows(name) if name in old.listed else contents(name)
                found[name] = given if hasattr(given, "delta") else list(given)
        return found

    def _find_listable(self, kept: Kept) -> set[str]:
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
        self.commit()
        if prefers_columns(core, deltas) and not together:
            result = self._apply_columns(core, deltas, watch)
            if result is not None:
                return result
        core.to_rows()
        core.phase = "moving"
        try:
            moved_by = self._move(core, deltas, watch, together)
        except BaseException as error:
            # Rules fail where nothing is half done; anything else may have stopped in the middle of a step.
            core.undo(repairing=stops_anywhere(error))
            raise
        core.let_go()
        core.phase = "ahead"
        return moved_by

    def _apply_columns(
        self, core: Core, deltas: Mapping[str, Delta], watch: Collection[str]
    ) -> dict[str, ZSet] | None:
        """The transaction over columns; None, and nothing is changed, if rows must run it."""
        made = core.to_columns()
        if made is None:
            return None
        from evercurrent.engine.columnar.vectors import Unfit

        core.phase = "moving"
        start = thread_time()
        try:
            given = {n: to_delta(made, n, items_of(d)) for n, d in deltas.items() if n in made.columns}
            moved_by = made.transact(given, watch)
            result = {n: to_zset(made.columns[n], d, made.pools) for n, d in moved_by.items()}
        except Unfit:
            core.undo()
            return None
        except BaseException:
            core.undo(repairing=True)
            raise
        if core.is_small:
            core.small_seconds += thread_time() - start
        core.phase = "ahead"
        return {name: result.get(name, ZSet()) for name in watch}

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
        core = self.core
        core.journal.clear()
        if core.columns is not None:
            core.columns.commit()
        core.phase = "settled"

    def flush(self) -> None:
        """Bring hybrid views up to date."""
        self.core.flush()

    def trigger(self, table: str, sign: int, journal: bool = False) -> Callable[[Row], None]:
        """The function of one row that comes (+1) or goes (-1): no watching; with `journal`, `undo` takes it back."""
        self._pin()
        return self.core.trigger(table, sign, journal)

    def apart(self, table: str, sign: int, journal: bool, things: frozenset[int]) -> Callable[..., None]:
        """The same of its columns, one by one; for those at `things`, the things that a row refers to by their keys."""
        self._pin()
        return self.core.trigger(table, sign, journal, things)

    def _pin(self) -> None:
        """Keeps the states in dictionaries from now on: a compiled function was handed to a caller."""
        self.core.to_rows()
        self.core.pinned = True

    def is_quiet(self, table: str) -> bool:
        """Whether the change of a row changes nothing else outside a transaction."""
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
        if self.core.columns is not None:
            return {name: (s.count(), s.bytes()) for name, s in self.core.columns.states.items()}
        found = {name: (len(s), storage_bytes(s)) for name, s in self.core.storages.items()}
        for name, fixpoint in self.core.fixpoints.items():
            tables = [t for r in fixpoint.relations for t in (r.counts, r.outside)]
            found[name] = (len(fixpoint), sum(map(table_bytes, tables)))
        return found

    def source(self, relation: str | None = None) -> str:
        """The generated Python: all of it, or what concerns one relation."""
        return self.core.source(relation)


def prefers_columns(core: Core, deltas: Mapping[str, Any]) -> bool:
    """Whether a transaction should run over columns.

    Small ones run over columns as well, until all of them have taken a part of the time of going over to rows. Windows and top-k
    evaluate whole partitions over columns, and only what a change reaches over rows: there the first small one goes over.
    """
    rows = sum(len(d) if hasattr(d, "__len__") else 0 for d in deltas.values())
    if core.columns is None:
        return (
            rows >= columns.LEAST_ROWS
            and not core.pinned
            and 4 * rows >= sum(map(len, core.storages.values()))
        )
    core.is_small = rows < columns.find_least(True)
    if core.is_small:
        entries = sum(s.size for s in core.columns.states.values())
        return not core.groups and core.small_seconds < columns.conversion.limit(entries)
    return True


def items_of(delta: Any) -> Any:
    return delta.items() if isinstance(delta, ZSet) else delta


def alike(before: State, state: State) -> bool:
    """Whether what one state holds is what the other wants; that a column is never NULL may be for its other meaning."""
    return (
        before.columns == state.columns
        and before.dependents == state.dependents
        and before.accumulators == state.accumulators
    )


def has_scalars(program: Program) -> bool:
    """Whether some relation has a row from the start (L12)."""
    functions = [r.function for r in program.relations if isinstance(r, Keyed)]
    return any(isinstance(f, Finalize) and f.scalar for f in functions)


__all__ = ["LiveEngine", "LiveFixpoint"]
