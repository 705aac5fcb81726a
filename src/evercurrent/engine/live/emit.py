"""A program as Python source.

For every relation `n` whose delta drives rules there is a function

    def run_n(rows):        for each (row, weight): the rules, in order
    def stage_n():          derived relations: take the delta that has gathered, and run its rules

and `finish()` runs the stages in order. The functions for one row alone are in `triggers`.

Rules run row by row: a batch is the same as its rows one after another (the delta is linear in them), and what a row
reads stays in the cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

from evercurrent.delta.analyses.deferral import find_deferrable, lone_rows, show_attributes
from evercurrent.delta.analyses.labels import Labels
from evercurrent.delta.analyses.loops import delta_names, inside
from evercurrent.delta.analyses.rule_order import in_turn
from evercurrent.delta.program import (
    Finalize,
    Fixpoint,
    Input,
    Keyed,
    Linear,
    Lookup,
    Program,
    Relation,
    Rule,
    Windowed,
)
from evercurrent.engine.live.changes import find_fixed_columns
from evercurrent.engine.live.keyed import is_small, write_finalizer
from evercurrent.engine.live.keyed_stages import write_changes_of_keys, write_sift
from evercurrent.engine.live.layout import Layout
from evercurrent.engine.live.paths import Split, Target, Touch
from evercurrent.engine.live.plan import (
    Plan,
    loops_of,
    only_inside,
    outside,
    plan_for,
    reachable,
)
from evercurrent.engine.live.row_pairs import write_rows
from evercurrent.engine.live.rules import Place, Sink
from evercurrent.engine.live.runtime.deltas import deletions_first, gather
from evercurrent.engine.live.runtime.fixpoint import LiveFixpoint, LoopRules, empty
from evercurrent.engine.live.runtime.ordered import Groups
from evercurrent.engine.live.runtime.window_groups import WindowGroups
from evercurrent.engine.live.storages import Storage
from evercurrent.term.emit.scope import Locals
from evercurrent.term.emit.writer import Namespace, Writer, remark
from evercurrent.term.function_table import NAMES


@dataclass(slots=True)
class Emitter:
    """Writes the functions of a program; `namespace` holds its dictionaries under the identifiers they use."""

    program: Program
    storages: Mapping[str, Storage]
    groups: Mapping[str, Groups | WindowGroups]
    fixpoints: Mapping[str, LiveFixpoint]
    journal: list[Any]
    namespace: Namespace = field(default_factory=Namespace)
    numbers: dict[str, int] = field(default_factory=dict)
    states: dict[str, tuple[str, ...]] = field(default_factory=dict)
    out: dict[int, dict[Any, int]] = field(default_factory=dict)
    tables: list[dict[Any, Any] | list[Any]] = field(default_factory=list)
    bodies: set[str] = field(default_factory=set)
    checked: frozenset[str] = frozenset()
    hybrid: frozenset[str] = frozenset()
    """The relations of hybrid views, see `defer`."""
    labels: Labels = field(init=False)
    attributes: frozenset[str] = frozenset()
    """The keyed relations whose changed rows may wait while rows that come or go may not."""
    shared: tuple[Any, dict[str, Target | Sink]] = (None, {})
    """The targets that were last made for rules of any relation, and what they were made for."""

    def __post_init__(self) -> None:
        self.labels = Labels(self.program)
        objects = self.namespace
        for name, value in NAMES.items():
            objects.define(name, value)
        objects.define("deletions_first", deletions_first)
        objects.define("gather", gather)
        objects.define("J", self.journal)
        objects.define("journal", self.journal.append)
        objects.define("out", self.out)
        for i, s in enumerate(self.program.states, 1):
            storage = self.storages[s.name]
            names = tuple(f"s{i}" if j == 0 else f"s{i}_{j}" for j in range(len(storage.paths)))
            self.states[s.name] = names
            for name, path in zip(names, storage.paths, strict=True):
                objects.define(name, path)
            if storage.layout.permanent:
                objects.define(f"{names[0]}_cell", storage.paths[0][()])
        relations = [n for r in self.program.relations for n in (r.name, *delta_names(r))]
        bodies = [n for loop in loops_of(self.program) for n in (loop.body, outside(loop.body))]
        self.bodies.update(bodies)
        loops = [loop.inner for loop in loops_of(self.program)]
        for name in dict.fromkeys([*relations, *loops, *bodies]):
            self.numbers[name] = n = len(self.numbers) + 1
            for prefix in ("d", "t"):
                self.tables.append([] if name in self.bodies else {})
                objects.define(f"{prefix}{n}", self.tables[-1])
        for r in self.program.relations:
            n = self.numbers[r.name]
            if isinstance(r, Keyed) and r.name in self.groups:
                objects.define(f"g{n}", self.groups[r.name])
                objects.define(f"group_{n}", self.groups[r.name].output)
            elif isinstance(r, Fixpoint):
                objects.define(f"x{n}", self.fixpoints[r.name])
        self.attributes = show_attributes(self.program, find_deferrable(self.program, self.hybrid, ()))
        for name in self.attributes:
            objects.define(f"late{self.numbers[name]}", {})

    def layouts(self) -> dict[str, Layout]:
        return {name: s.layout for name, s in self.storages.items()}

    # --- what is the same for all variants -----------------------------------------------------------------

    def legend(self) -> str:
        """Comments: which identifier stands for what."""
        w = Writer()
        for s in self.program.states:
            layout = self.storages[s.name].layout
            for name, path in zip(self.states[s.name], layout.paths, strict=True):
                key = ", ".join(layout.fields[i].name for i in path.key)
                how = f"{path.kind} of {layout.payload}"
                if self.storages[s.name].loan is not None:
                    how = "not kept: read off the objects"
                w.line(f"# {name}: {remark(self.labels.of(s.name))}, keyed by ({remark(key)}), {how}")
        for name, n in self.numbers.items():
            w.line(f"# {n}: {remark(self.labels.of(name))}")
        return w.text()

    def finalizers(self) -> dict[str, str]:
        """For each keyed relation that reads one entry at a time, the function of an entry."""
        found = {}
        for r in self.program.relations:
            if isinstance(r, Keyed) and isinstance(r.function, Finalize):
                w = Writer()
                w.line(f"# {remark(self.labels.of(r.name))}: the output of one entry")
                name = f"output_{self.numbers[r.name]}"
                write_finalizer(w, self.namespace, name, r, self.storages[r.state].layout)
                found[r.name] = w.text()
        return found

    # --- a variant -----------------------------------------------------------------------------------------

    def variant(self, watched: frozenset[str], journal: bool, checked: frozenset[str]) -> dict[str, str]:
        """The functions that run transactions: for each relation its source, and `finish` under the empty name.

        `checked` are relations whose outputs are found though nobody may follow them, because that may fail.
        """
        plan = plan_for(self.program, watched | checked)
        self.checked = frozenset(n for n in checked if n not in watched and not plan.rules.get(n))
        pieces: dict[str, str] = {}
        for name, rules in plan.rules.items():
            if rules:
                pieces[name] = self._run(plan, name, rules, journal)
        waiting = find_deferrable(self.program, self.hybrid, watched)
        derived = [r for r in self.program.relations if not isinstance(r, Input) and self._moves(plan, r)]
        sifted = self.attributes & waiting
        for r in derived:
            pieces[r.name] = pieces.get(r.name, "") + self._stage(plan, r, watched, journal)
            if isinstance(r, Keyed) and r.name in sifted:
                w = Writer()
                write_sift(self, w, r, journal)
                pieces[r.name] += w.text()
        waiting -= sifted
        finish = Writer()
        self._write_finish(finish, "finish", [r for r in derived if r.name not in waiting], sifted)
        self._write_finish(finish, "flush", derived)
        for source in self.program.relations:
            if isinstance(source, Input):
                moved, _ = reachable(plan, source.name, waiting)
                self._write_finish(finish, f"finish_{self.numbers[source.name]}", moved, sifted)
        pieces[""] = finish.text()
        return pieces

    def flusher(self, checked: frozenset[str], fast: bool) -> str | None:
        """The function `flush` alone, with undo: the stages that wait and what follows from them. None: loops are among it.

        `fast`: borrowed states are read from the things.
        """
        plan = plan_for(self.program, checked)
        self.checked = frozenset(n for n in checked if not plan.rules.get(n))
        waiting = find_deferrable(self.program, self.hybrid, ()) | lone_rows(self.program)
        moved = {r.name for name in waiting for r in reachable(plan, name)[0]}
        stages = [r for r in self.program.relations if r.name in moved and self._moves(plan, r)]
        if any(isinstance(r, Fixpoint) for r in stages):
            return None
        pieces = []
        for r in stages:
            rules = plan.rules.get(r.name, ())
            pieces.append(self._run(plan, r.name, rules, True, fast) if rules else "")
            pieces.append(self._stage(plan, r, frozenset(), True))
        w = Writer()
        self._write_finish(w, "flush", stages)
        return "\n".join([*pieces, w.text()])

    def _write_finish(
        self, w: Writer, name: str, relations: Sequence[Relation], sifted: frozenset[str] = frozenset()
    ) -> None:
        """The stages, in order: all of them, or those that one input can reach."""
        with w.block(f"def {name}():"):
            for r in relations:
                w.line(self.call_stage(r, r.name in sifted))
        w.line()

    def _moves(self, plan: Plan, r: Relation) -> bool:
        return isinstance(r, Fixpoint) or r.name in plan.followed

    def call_stage(self, r: Relation, sift: bool = False) -> str:
        """The statement that runs a stage, if there is something to do."""
        n = self.numbers[r.name]
        if sift:
            return f"if t{n}: sift_{n}()"
        late = f"if t{n} or late{n}: " if r.name in self.attributes else ""
        return f"{late or self._has_delta(r)}stage_{n}()"

    def _has_delta(self, r: Relation) -> str:
        match r:
            case Linear():
                return f"if d{self.numbers[r.name]}: "
            case Keyed():
                return f"if t{self.numbers[r.name]}: "
            case Fixpoint(loops=loops):
                gathered = [f"d{self.numbers[n]}" for x in loops for n in (x.body, outside(x.body))]
                return f"if {' or '.join(gathered)}: "
            case _:
                return ""

    def targets(
        self, plan: Plan, journal: bool, single: Mapping[str, str] | None = None, fast: bool = False
    ) -> dict[str, Target | Sink]:
        """What rules add to; `single` are the relations of which one row or entry at most changes, and their locals.

        `fast`: for a trigger outside transactions, where borrowed states are read from the things.
        """
        alone = single or {}
        for_what, made = self.shared
        if not alone and for_what is not None and for_what[0] is plan:
            if for_what[1:] == (journal, fast, self.checked):
                return made
        found: dict[str, Target | Sink] = {}
        followers: dict[str, list[Keyed]] = {}
        for relation in self.program.relations:
            if isinstance(relation, Keyed):
                followers.setdefault(relation.state, []).append(relation)
        for name, storage in self.storages.items():
            touches, groups = [], []
            for r in followers.get(name, ()):
                n = self.numbers[r.name]
                key = tuple(storage.layout.position(k) for k in r.key)
                if r.name in self.groups:
                    groups.append((f"g{n}", key, isinstance(r.function, Windowed)))
                if r.name not in plan.followed:
                    continue
                if r.name in self.checked and r.name in alone:
                    touches.append(Touch(f"output_{n}", "", True, relation=r, only_checked=True))
                elif r.name in self.checked:
                    touches.append(Touch("", f"t{n}", True))
                elif isinstance(r.function, Finalize):
                    into = (f"{alone[r.name]}_old", f"{alone[r.name]}_new") if r.name in alone else None
                    split = self.split(r, alone[r.name]) if r.name in alone else None
                    touches.append(Touch(f"output_{n}", f"t{n}", True, (), into, r, split=split))
                elif isinstance(r.function, Windowed):
                    touches.append(Touch(f"g{n}.note", f"t{n}", False, key, by_row=True))
                else:
                    touches.append(Touch(f"group_{n}", f"t{n}", False, key, matters=f"g{n}.matters"))
            loan = storage.loan if fast else None
            found[name] = Target(
                storage.layout, self.states[name], tuple(touches), tuple(groups), journal, loan
            )
        direct = self.direct(plan) if fast else {}
        for name, n in self.numbers.items():
            if name in direct:
                found[name] = found[direct[name]]
            elif name not in found:
                found[name] = Sink(f"d{n}", alone.get(name), name in self.bodies)
        if not alone:
            self.shared = ((plan, journal, fast, self.checked), found)
        return found

    def place(self, writer: Writer, targets: Mapping[str, Target | Sink], fresh: Locals) -> Place:
        states = {name: t for name, t in targets.items() if isinstance(t, Target)}
        return Place(writer, self.namespace, fresh, targets, states, self.labels)

    def _run(self, plan: Plan, name: str, rules: Sequence[Rule], journal: bool, fast: bool = False) -> str:
        w = Writer()
        w.line(f"# {remark(self.labels.of(name))}: its delta, row by row")
        place = self.place(w, self.targets(plan, journal, fast=fast), Locals())
        with w.block(f"def run_{self.numbers[name]}(rows):"):
            write_rows(place, in_turn(tuple(rules)))
        w.line()
        return w.text()

    # --- stages --------------------------------------------------------------------------------------------

    def _stage(self, plan: Plan, r: Relation, watched: frozenset[str], journal: bool) -> str:
        w = Writer()
        n = self.numbers[r.name]
        match r:
            case Linear():
                with w.block(f"def stage_{n}():"):
                    w.line(f"delta = d{n}.copy()")
                    w.line(f"d{n}.clear()")
                    self._deliver(w, plan, r.name, watched)
            case Keyed():
                with w.block(f"def stage_{n}():"):
                    if r.name not in self.checked:
                        w.line("delta = {}")
                    write_changes_of_keys(self, w, r)
                    w.line(f"t{n}.clear()")
                    self._deliver(w, plan, r.name, watched)
            case Fixpoint():
                self._write_loop(w, plan, r, watched, journal)
            case Input():
                raise AssertionError(r)
            case _:
                assert_never(r)
        w.line()
        return w.text()

    def _deliver(self, w: Writer, plan: Plan, name: str, watched: frozenset[str]) -> None:
        n = self.numbers[name]
        if name in watched:
            w.line(f"gather(out, {n}, delta)")
        if plan.rules.get(name):
            w.line(f"run_{n}(deletions_first(delta))")

    def _write_loop(self, w: Writer, plan: Plan, r: Fixpoint, watched: frozenset[str], journal: bool) -> None:
        n = self.numbers[r.name]
        between = [b for b in inside(self.program, r) if self._moves(plan, b)]
        with w.block(f"def settle_{n}():"):
            for b in between:
                w.line(self.call_stage(b))
        private = only_inside(self.program, r)
        restart = "None"
        if private is not None:
            emptied = [path for name in sorted(private) for path in self.storages[name].paths]
            restart = self.namespace.define(f"restart_{n}", empty(emptied))
        self.namespace.define("LoopRules", LoopRules)
        bodies = ", ".join(f"d{self.numbers[loop.body]}" for loop in r.loops)
        given = ", ".join(f"d{self.numbers[outside(loop.body)]}" for loop in r.loops)
        inner = ", ".join(
            f"run_{self.numbers[loop.inner]}" if plan.rules.get(loop.inner) else "None" for loop in r.loops
        )
        with w.block(f"def stage_{n}():"):
            w.line(f"rules = LoopRules(({bodies},), ({given},), ({inner},), settle_{n}, {restart})")
            w.line(f"changes = x{n}.apply(rules, {'J' if journal else 'None'})")
            for i, loop in enumerate(r.loops):
                if plan.rules.get(loop.name) or loop.name in watched:
                    w.line(f"delta = changes[{i}]")
                    with w.block("if delta:"):
                        self._deliver(w, plan, loop.name, watched)

    # --- what fast triggers leave out -----------------------------------------------------------------------

    def select_updating(self, rules: Sequence[Rule]) -> tuple[Rule, ...]:
        """Without those that add to borrowed states: outside a transaction these need no update."""
        return tuple(r for r in rules if r.into not in self.storages or self.storages[r.into].loan is None)

    def direct(self, plan: Plan) -> dict[str, str]:
        """Sums of which nothing follows but their rows, and the states that these go into, one by one."""
        asked = {
            s.state for rules in plan.rules.values() for r in rules for s in r.steps if isinstance(s, Lookup)
        }
        found = {}
        for r in self.program.relations:
            if not isinstance(r, Linear) or r.state is None or r.state in asked:
                continue
            rules = plan.rules.get(r.name, ())
            layout = self.storages[r.state].layout
            followed = any(isinstance(k, Keyed) and k.state == r.state for k in self.program.relations)
            if len(rules) == 1 and layout.payload == "count" and not layout.others and not followed:
                found[r.name] = r.state
        return found

    def split(self, r: Keyed, local: str) -> Split | None:
        """The locals for the columns of an entry's output, where it is written in line."""
        if not is_small(r):
            return None
        key = self.storages[r.state].layout.state.columns
        return Split(local, len(r.columns), frozenset(find_fixed_columns(r, key)))
