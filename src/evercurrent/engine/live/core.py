"""One loaded program: its dictionaries, and its functions, which are generated when a set of watched relations first needs them.

insert one row into customers        def insert_1(r): s2[r[0]] = (r[2],)
delete one row from customers        def delete_1(r): s2.pop(r[0], None)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from evercurrent.data.zset import Row
from evercurrent.delta.analyses.deferral import find_deferrable, lone_rows
from evercurrent.delta.program import Finalize, Fixpoint, Input, Keyed, Linear, Program, Windowed
from evercurrent.delta.terms import terms_of
from evercurrent.engine.live.borrowed_states import Loan
from evercurrent.engine.live.columns import conversion, load_columns, rows_of_columns, to_storage
from evercurrent.engine.live.emit import Emitter
from evercurrent.engine.live.keyed import fails, is_unit
from evercurrent.engine.live.layout import Layout, lay_out
from evercurrent.engine.live.plan import find_listable, plan_for, reachable
from evercurrent.engine.live.runtime.fixpoint import LiveFixpoint
from evercurrent.engine.live.runtime.journal import Entry, restore, restore_columns, undo
from evercurrent.engine.live.runtime.magnitudes import Magnitude, magnitudes
from evercurrent.engine.live.runtime.ordered import Groups
from evercurrent.engine.live.runtime.window_groups import WindowGroups
from evercurrent.engine.live.storages import Storage, fresh
from evercurrent.engine.live.triggers import Triggers
from evercurrent.engine.live.variant import Variant
from evercurrent.errors import stops_anywhere
from evercurrent.term.emit.load import forget, load
from evercurrent.term.failing import can_fail

if TYPE_CHECKING:
    from evercurrent.engine.columnar.program import ColumnProgram

Phase = Literal["settled", "moving", "ahead"]
"""Settled: as committed. Moving: a transaction, or what undoes it, is under way or was stopped. Ahead: it is applied, and neither
committed nor undone."""


@dataclass(slots=True)
class Kept:
    """What a program takes over."""

    storages: dict[str, Storage] = field(default_factory=dict)
    fixpoints: dict[str, LiveFixpoint] = field(default_factory=dict)
    groups: dict[str, Groups | WindowGroups] = field(default_factory=dict)
    magnitudes: dict[str, Magnitude] = field(default_factory=dict)


class Core:
    """A program with its states; whatever `kept` does not hold starts empty."""

    def __init__(
        self,
        program: Program,
        kept: Kept,
        layouts: Mapping[str, Layout] | None = None,
        hybrid: frozenset[str] = frozenset(),
    ) -> None:
        self.program = program
        layouts = lay_out(program) if layouts is None else layouts
        self.storages = {
            s.name: kept.storages[s.name] if s.name in kept.storages else fresh(layouts[s.name])
            for s in program.states
        }
        self.fixpoints = {
            r.name: kept.fixpoints[r.name] if r.name in kept.fixpoints else LiveFixpoint(r)
            for r in program.relations
            if isinstance(r, Fixpoint)
        }
        self.loans = [s.loan for s in self.storages.values() if s.loan is not None]
        self.phase: Phase = "settled"
        self.columns: ColumnProgram | None = None
        """The states as columns; the dictionaries are of no account then."""
        self.unfit = False  # whether the program was found to need rows
        self.is_small = False  # whether the transaction over columns is a small one
        self.small_seconds = 0.0  # how long small transactions over columns have taken
        self.pinned = False  # whether compiled functions were given out, which change the dictionaries
        self.groups: dict[str, Groups | WindowGroups] = {}
        for r in program.relations:
            if isinstance(r, Keyed) and not isinstance(r.function, Finalize):
                groups = kept.groups.get(r.name)
                if groups is None:
                    kind = WindowGroups if isinstance(r.function, Windowed) else Groups
                    groups = kind(r, self.storages[r.state])
                    groups.refill()
                self.groups[r.name] = groups
        self.journal: list[Entry] = []
        kept_here = (self.storages, self.groups, self.fixpoints, self.journal)
        self.emitter = Emitter(program, *kept_here, hybrid=hybrid)
        self.magnitudes = magnitudes(program.bounds, kept.magnitudes)
        self.emitter.namespace.magnitudes = self.magnitudes
        numbers, objects = self.emitter.numbers, self.emitter.namespace.objects
        waiting = find_deferrable(program, hybrid, ())
        self.waiting: list[dict[Any, Any]] = [objects[f"t{numbers[name]}"] for name in sorted(waiting)]
        self.waiting += [objects[f"late{numbers[name]}"] for name in sorted(self.emitter.attributes)]
        """What waits: the touched keys of relations whose stages can, and attributes."""
        lone = lone_rows(program) - waiting
        self.lone: list[dict[Any, Any]] = [objects[f"t{numbers[name]}"] for name in sorted(lone)]
        """Those of relations that only the fast triggers let wait."""
        self.files: list[str] = []
        self.listed = find_listable(program)
        # Outputs that can fail (a sum out of its range) are found within the transaction, not when they are read.
        self.fallible = frozenset(
            r.name
            for r in program.relations
            if isinstance(r, Keyed)
            and isinstance(r.function, Finalize)
            and fails(r.function, self.storages[r.state].layout.state)
        )
        self._forget_code()

    def _forget_code(self) -> None:
        """Begins without generated functions."""
        self._variants: dict[tuple[frozenset[str], bool], Variant] = {}
        self._asked: frozenset[str] | None = None
        self._transactions: Variant | None = None
        self._triggers: dict[tuple[Any, ...], Callable[..., None] | None] = {}
        self._finalizers: dict[str, str] | None = None
        self._flushers: dict[bool, Callable[[], None]] = {}

    # --- code ----------------------------------------------------------------------------------------------

    def _load_finalizers(self) -> None:
        """The functions of single entries, which all variants share."""
        if self._finalizers is None:
            self._finalizers = self.emitter.finalizers()
            objects = self.emitter.namespace.objects
            self.files.append(load("\n".join(self._finalizers.values()), objects, "outputs"))

    def variant(self, watched: frozenset[str], journal: bool) -> Variant:
        found = self._variants.get((watched, journal))
        if found is None:
            self._load_finalizers()
            pieces = self.emitter.variant(watched, journal, self.fallible if journal else frozenset())
            namespace = dict(self.emitter.namespace.objects)
            source = "\n".join(pieces.values())
            self.files.append(load(source, namespace, f"{len(self.program.relations)} relations"))
            found = self._variants[(watched, journal)] = Variant(self.emitter, namespace, pieces, watched)
        return found

    def transactions(self, watch: Collection[str]) -> Variant:
        """The variant with undo for these watched relations; mostly they are the same as before."""
        if self._transactions is None or self._asked != watch:
            if self._transactions is not None:
                self.flush()  # what waited so far may not wait any longer
            self._asked = frozenset(watch)
            self._transactions = self.variant(self._asked, True)
        return self._transactions

    def trigger(
        self, table: str, sign: int, journal: bool = False, things: frozenset[int] | None = None
    ) -> Callable[..., None]:
        return self._single_row(table, sign, journal, things, None)

    def single_change(self, table: str, sign: int) -> Callable[[Row], None]:
        """The function of one row inside a transaction: with undo, and whatever can fail is found at once. Nobody watches."""
        return self._single_row(table, sign, True, None, self.fallible)

    def _single_row(self, table: str, sign: int, *how: Any) -> Callable[..., None]:
        found = self._triggers.get((table, sign, how))
        if found is None and (table not in self.emitter.numbers or self.is_quiet(table)):
            return unread
        if found is None:
            journal, things, checked = how
            variant = self.variant(frozenset(), journal)
            name, source = Triggers(self.emitter).write(table, sign, journal, things, checked)
            if things is None and checked is None:
                variant.pieces[f"{table}\x00{sign}"] = source
            found = self._triggers[table, sign, how] = self._load_trigger(variant, name, source)
        return found

    def update_change(self, table: str, varying: frozenset[int]) -> Callable[[Row, Row], None] | None:
        """As `single_change`, the function of an old and a new row that differ at most at these positions, if there is one."""
        if (table, varying) not in self._triggers:
            variant = self.variant(frozenset(), True)
            written = Triggers(self.emitter).write_update(table, varying, self.fallible)
            made = None if written is None else self._load_trigger(variant, *written)
            self._triggers[table, varying] = made
        return self._triggers[table, varying]

    def _load_trigger(self, variant: Variant, name: str, source: str) -> Callable[..., None]:
        for key, value in self.emitter.namespace.objects.items():
            variant.namespace.setdefault(key, value)
        self.files.append(load(source, variant.namespace, "one row"))
        if self.waiting or self.lone:
            self._flusher(True)  # the first read should not wait for the compiler
        found: Callable[..., None] = variant.namespace[name]
        return found

    def _flusher(self, fast: bool) -> Callable[[], None]:
        """The function that runs deferred stages; `fast`, while no borrowed state shows other rows than its things."""
        found = self._flushers.get(fast)
        if found is None:
            self._load_finalizers()
            source = self.emitter.flusher(self.fallible, fast)
            if source is None:
                found = self.variant(frozenset(), True).flush
            else:
                namespace = dict(self.emitter.namespace.objects)
                self.files.append(load(source, namespace, "what has waited"))
                found = namespace["flush"]
            self._flushers[fast] = found
        return found

    def is_quiet(self, table: str) -> bool:
        """Whether the change of a row updates nothing outside a transaction: all that reads the table borrows it."""
        return not self.emitter.select_updating(plan_for(self.program, frozenset()).rules.get(table, ()))

    def may_fail(self, table: str) -> bool:
        """Whether a row of the table can make some rule or output fail while it is processed."""
        if table not in self.emitter.numbers:
            return False
        moved, rules = reachable(plan_for(self.program, frozenset()), table)
        terms = [t for rule in rules for t in terms_of(rule)]
        for r in moved:
            match r:
                case Keyed(function=Finalize(outputs, multiplicity)):
                    terms += [*outputs, multiplicity]
                case Linear():
                    pass
                case _:
                    return True  # windows, ranks and loops work more off than their rules say
        return any(map(can_fail, terms))

    def source(self, relation: str | None) -> str:
        """Legend, functions of entries, fast triggers of inputs, and the stages."""
        variant = self.variant(frozenset(), False)
        finalizers = self._finalizers or {}
        parts = [self.emitter.legend()]
        for r in self.program.relations:
            if relation is not None and relation not in (r.name, *(x.name for x in getattr(r, "loops", ()))):
                continue
            if isinstance(r, Input):
                if self.program.triggers.get(r.name):
                    for sign in (1, -1):
                        self.trigger(r.name, sign)
                        parts.append(variant.pieces.get(f"{r.name}\x00{sign}", ""))
                continue
            parts.append(finalizers.get(r.name, ""))
            for name in (r.name, *(x for loop in getattr(r, "loops", ()) for x in (loop.inner, loop.name))):
                parts.append(variant.pieces.get(name, ""))
        return "\n".join(p for p in parts if p)

    def release(self) -> None:
        for file in self.files:
            forget(file)

    # --- rows and columns ----------------------------------------------------------------------------------

    def to_rows(self) -> None:
        """Makes the dictionaries hold the states. An undo of the open transaction returns to the columns. Idempotent."""
        made = self.columns
        if made is None:
            return
        if self.phase != "settled":
            self.journal.append((restore_columns, self, made))
        with conversion.measure(sum(s.size for s in made.states.values())):
            for name, storage in self.storages.items():
                to_storage(made.states[name], storage, made.pools)
        for groups in self.groups.values():
            groups.refill()
        self.columns, self.small_seconds = None, 0.0

    def to_columns(self) -> ColumnProgram | None:
        """Makes columns hold the states, if the program can run over columns and nobody holds compiled functions."""
        if self.columns is not None or self.pinned or self.loans or self.fixpoints or self.unfit:
            return self.columns
        self.flush()
        made = load_columns(self.program, self.storages)
        if made is None:
            self.unfit = True
            return None
        made.begun = True
        self.columns = made
        for storage in self.storages.values():
            storage.clear()
        return made

    # --- transactions --------------------------------------------------------------------------------------

    def start(self) -> None:
        """Let scalar aggregates announce the row that they have from the start."""
        for r in self.program.relations:
            if isinstance(r, Keyed) and isinstance(r.function, Finalize) and r.function.scalar:
                self.emitter.namespace.objects[f"t{self.emitter.numbers[r.name]}"][()] = None

    def undo(self, repairing: bool = False) -> None:
        """Takes back what the journal says. Idempotent; until it has come to its end, `phase` says so."""
        self.phase = "moving"
        undo(self.journal)
        if self.columns is not None:
            self.columns.undo()
        self._forget_deltas()
        self.let_go()
        if repairing:
            self.repair()
        self.phase = "settled"

    def settle(self) -> None:
        """Takes back what was neither committed nor undone, wherever it was stopped. Idempotent."""
        self.undo(repairing=True)

    def hold(self, rows: Callable[[Loan], Mapping[Any, Row | None]]) -> None:
        """Lets borrowed states show these rows by their keys, whatever the things hold by now."""
        for loan in self.loans:
            loan.hold(rows(loan))

    def let_go(self) -> None:
        for loan in self.loans:
            if len(loan):
                loan.clear()

    def _forget_deltas(self) -> None:
        for table in self.emitter.tables:
            if not any(table is kept for kept in (*self.waiting, *self.lone)):
                table.clear()
        self.emitter.out.clear()

    def flush(self) -> None:
        """Run the stages that have waited; all or nothing, and undone with the transaction that is open, if one is."""
        if not any(self.waiting) and not any(self.lone):
            return
        begin, phase = len(self.journal), self.phase
        self.phase = "moving"
        settled = phase != "settled" or any(map(len, self.loans))
        try:
            for table in (*self.waiting, *self.lone):
                if table:
                    self.journal.append((restore, table, dict(table)))
            if not settled:
                self.hold(lambda loan: loan.lent.before())
            self._flusher(not any(map(len, self.loans)))()
        except BaseException as error:
            undo(self.journal, begin)
            self._forget_deltas()
            if not settled:
                self.let_go()
            if stops_anywhere(error):
                self.repair()
            self.phase = phase
            raise
        if not settled:
            self.let_go()
        if not begin:
            self.journal.clear()
        self.phase = phase

    def repair(self) -> None:
        """Rebuilds what is derived from the dictionaries, or from the arrays."""
        if self.columns is not None:
            self.columns.repair()
            return
        for groups in self.groups.values():
            groups.refill()
        for storage in self.storages.values():
            storage.repair()

    # --- reading -------------------------------------------------------------------------------------------

    def rows(self, relation: str) -> Iterator[tuple[Row, int]]:
        found = rows_of_columns(self.columns, relation)
        if found is not None:
            return found
        self.to_rows()
        for r in self.program.relations:
            match r:
                case Keyed(name) if name == relation:
                    return self._list_keyed_rows(r)
                case Linear(name, _, str(state)) if name == relation:
                    storage = self.storages[state]
                    return ((row, storage.weight(payload)) for row, payload in storage.entries())
                case Fixpoint(name, loops):
                    for counted, loop in zip(self.fixpoints[name].relations, loops, strict=True):
                        if loop.name == relation:
                            return counted.rows()
        raise KeyError(relation)

    def _list_keyed_rows(self, r: Keyed) -> Iterator[tuple[Row, int]]:
        if r.name in self.groups:
            return self.groups[r.name].rows()
        self._load_finalizers()
        storage = self.storages[r.state]
        output = self.emitter.namespace.objects[f"output_{self.emitter.numbers[r.name]}"]
        outputs = (output(key, payload) for key, payload in storage.paths[0].items())
        if is_unit(r, storage.layout):
            return ((row, 1) for row in outputs if row is not None)
        return (pair for pair in outputs if pair is not None)


def unread(*columns: Any) -> None:
    """The trigger of a table that no view reads."""
