"""The fast triggers as Python source: one function for an inserted or deleted row of an input, outside a transaction.

    def insert_n(r):             the rules of the input, and the stages behind them
    def insert_n_apart(r0, r1):  the same of columns, and of the things that they refer to
    def update_n(o, r):          both of a row that is updated, where only states follow

Where only one entry of a keyed relation can be touched, its old and new output are locals instead of tables, and what both have
in common is done once (see `changes`). Borrowed states are read from the things (see `borrowed_states`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evercurrent.data.types import contains_float
from evercurrent.delta.analyses.deferral import find_deferrable, lone_rows
from evercurrent.delta.analyses.rule_order import in_turn
from evercurrent.delta.program import Fixpoint, Input, Keyed, Relation, Rule
from evercurrent.engine.live.changes import changes_of, find_changes, write_changes
from evercurrent.engine.live.keyed import is_unit
from evercurrent.engine.live.paths import Split
from evercurrent.engine.live.plan import Plan, ends_in_states, plan_for, reachable
from evercurrent.engine.live.reads import same
from evercurrent.engine.live.rules import Given, Place, wants_row, write_rules
from evercurrent.engine.live.steps import constant_count, fans_out, reads_range
from evercurrent.term.emit.scope import Locals, tuple_of
from evercurrent.term.emit.writer import Writer, remark

if TYPE_CHECKING:
    from evercurrent.engine.live.emit import Emitter

MOST_STEPS = 20
"""Rules of more steps may be cut into several functions, and a local of one is not seen by the others."""


@dataclass(frozen=True, slots=True)
class Triggers:
    """Writes the triggers of an emitter's program."""

    emitter: Emitter

    def write(
        self,
        name: str,
        sign: int,
        journal: bool = False,
        things: frozenset[int] | None = None,
        checked: frozenset[str] | None = None,
    ) -> tuple[str, str]:
        """The function for one inserted or deleted row of an input, and its name. It needs the variant without watching.

        With `things` it takes the columns one by one, and for those at these positions the things that are referred to. With
        `checked` it is a transaction: outputs of these relations are found though nobody follows them, because that may fail,
        and scalar aggregates do not wait.
        """
        program = self.emitter.program
        plan = plan_for(program, checked or frozenset())
        self.emitter.checked = frozenset(n for n in checked or () if not plan.rules.get(n))
        waiting = find_deferrable(program, self.emitter.hybrid, ())
        if checked is None:
            waiting |= lone_rows(program)
        # A row that comes may end a change of attributes, of which its deletion was the first half: see `sift`.
        sifted = self.emitter.attributes & waiting if sign > 0 else frozenset()
        moved, rules = reachable(plan, name, waiting - sifted)
        own = self.emitter.select_updating(plan.rules.get(name, ()))
        direct = self.emitter.direct(plan)
        single = {
            n: local
            for n, local in self._single(moved, own, rules, sign).items()
            if n not in direct and n not in sifted
        }
        # What is written here goes straight into the rows; what stages write still gathers.
        gathered = {rule.into for rule in rules if rule.on != name and rule.on not in single}
        moved = [r for r in moved if r.name not in direct or r.name in gathered]
        function = f"{'insert' if sign > 0 else 'delete'}_{self.emitter.numbers[name]}"
        given = None
        if things is not None:
            (source,) = [r for r in self.emitter.program.relations if r.name == name]
            assert isinstance(source, Input)
            given = Given(tuple(f"r{i}" for i in range(len(source.columns))), things)
            function += "_apart"
        w = Writer()
        place = self.emitter.place(w, self.emitter.targets(plan, journal, single, fast=True), Locals())
        w.line(f"# {'insert one row into' if sign > 0 else 'delete one row from'} {remark(name)}")
        with w.block(f"def {function}({'r' if given is None else ', '.join(given.names)}):"):
            if given is not None and any(map(wants_row, own)):
                w.line(f"r = {tuple_of(given.source(i, True) for i in range(len(given.names)))}")
            moved = [r for r in moved if r.name not in single or r.name not in self.emitter.checked]
            for r in moved:
                if r.name in single:
                    local = single[r.name]
                    w.line(f"{local}_old = {local}_new = None" if isinstance(r, Keyed) else f"{local} = None")
            write_rules(place, in_turn(own), "r", "1" if sign > 0 else "(-1)", given)
            for r in moved:
                if r.name in sifted:
                    w.line(self.emitter.call_stage(r, sift=True))
                else:
                    self._follow(place, plan, r, single, sign, own, journal)
        w.line()
        return function, w.text()

    def write_update(
        self, name: str, varying: frozenset[int], checked: frozenset[str]
    ) -> tuple[str, str] | None:
        """The function for a row that is updated at the positions `varying`, inside a transaction; None where it takes two.

        It may fail where an entry is found that other rows have taken away: then the change must be undone and made otherwise.
        """
        plan = plan_for(self.emitter.program, checked)
        if not ends_in_states(plan, name) or self.emitter.direct(plan):
            return None
        self.emitter.checked = frozenset(n for n in checked if not plan.rules.get(n))
        moved, rules = reachable(plan, name)
        own = self.emitter.select_updating(plan.rules.get(name, ()))
        single = self._single(moved, own, rules, 1)
        w = Writer()
        place = self.emitter.place(w, self.emitter.targets(plan, True, single, fast=True), Locals())
        (source,) = [r for r in self.emitter.program.relations if r.name == name]
        assert isinstance(source, Input)
        width = range(len(source.columns))
        changes = find_changes(place, frozenset(width) - varying, in_turn(own))
        if changes is None:
            return None
        function = f"update_{self.emitter.numbers[name]}"
        w.line(f"# update one row of {remark(name)}")
        with w.block(f"def {function}(o, r):"):
            write_changes(place, changes, [f"o[{i}]" for i in width], [f"r[{i}]" for i in width], True)
            for r in moved:
                if r.name not in single:
                    w.line(self.emitter.call_stage(r))
            w.line("return")
        w.line()
        return function, w.text()

    def _single(
        self, moved: list[Relation], own: Sequence[Rule], rules: list[Rule], sign: int
    ) -> dict[str, str]:
        """Relations of which the row changes one row or one entry at most, and the local's name for each.

        Not those whose old and new row are the bounds of ranges: their stages look at both rows at once.
        """
        layouts = self.emitter.layouts()
        found: dict[str, str] = {}
        for r in moved:
            if isinstance(r, Fixpoint | Input) or any(
                rule.on == r.name and reads_range(rule) for rule in rules
            ):
                continue
            into = r.state if isinstance(r, Keyed) else r.name
            writers = [rule for rule in rules if rule.into == into]
            if len(writers) != 1 or writers[0] not in own or fans_out(writers[0], layouts):
                continue
            if len(writers[0].steps) > MOST_STEPS:
                continue
            local = f"e{self.emitter.numbers[r.name]}"
            if isinstance(r, Keyed):
                if is_unit(r, layouts[r.state]):
                    found[r.name] = local
            elif constant_count(writers[0], sign, layouts) in (1, -1):
                found[r.name] = local
        return found

    def _follow(
        self,
        place: Place,
        plan: Plan,
        r: Relation,
        single: dict[str, str],
        sign: int,
        own: Sequence[Rule],
        journal: bool,
    ) -> None:
        """The stage of a derived relation, behind the rules of a fast trigger."""
        w = place.writer
        if r.name not in single:
            w.line(self.emitter.call_stage(r))
            return
        local = single[r.name]
        rules = plan.rules.get(r.name, ())
        inner = Place(
            w,
            place.namespace,
            place.fresh,
            self.emitter.targets(plan, journal, fast=True),
            place.states,
            place.labels,
        )
        if isinstance(r, Keyed):
            old, new = f"{local}_old", f"{local}_new"
            split = self.emitter.split(r, local)
            before, after = (None, None) if split is None else (split.old(), split.new())
            with w.block(f"if {_differ(r, old, new, split)}:"):
                changes = changes_of(inner, r, in_turn(rules))
                if changes is not None:
                    with w.block(f"if {old} is not None and {new} is not None:"):
                        width = range(len(r.columns))
                        write_changes(
                            inner,
                            changes,
                            before or tuple(f"{old}[{i}]" for i in width),
                            after or tuple(f"{new}[{i}]" for i in width),
                        )
                    w.open("else:")
                for row, names, weight in ((old, before, -1), (new, after, 1)):
                    with w.block(f"if {row} is not None:"):
                        self._inline(inner, rules, row, weight, names)
                w.close(w.depth - (changes is not None))
            return
        (writer,) = [rule for rule in own if rule.into == r.name]
        weight = constant_count(writer, sign, self.emitter.layouts()) or 0
        with w.block(f"if {local} is not None:"):
            self._inline(inner, rules, local, weight)

    def _inline(
        self,
        place: Place,
        rules: Sequence[Rule],
        row: str,
        weight: int,
        names: tuple[str, ...] | None = None,
    ) -> None:
        given = None if names is None else Given(names, frozenset())
        if names is not None and any(map(wants_row, rules)):
            place.writer.line(f"{row} = {tuple_of(names)}")
        write_rules(place, in_turn(tuple(rules)), row, "1" if weight > 0 else "(-1)", given)


def _differ(r: Keyed, old: str, new: str, split: Split | None) -> str:
    """Whether the output of an entry is not what it was."""
    if split is None:
        return f"{old} != {new}"
    pairs = zip(r.columns, split.old(), split.new(), strict=True)
    moved = [
        f"not ({same(a, b, c)})" if contains_float(c.type) else f"{a} != {b}" for c, a, b in pairs if a != b
    ]
    return f"{old} is not {new}" + (f" or {new} and ({' or '.join(moved)})" if moved else "")
