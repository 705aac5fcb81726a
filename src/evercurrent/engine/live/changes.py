"""The change of one entry of a keyed relation in a fast trigger: what the old and the new output have in common is done once.

An entry that stays makes a deleted and an inserted row, alike in the columns of its key. So does an updated row of a table,
alike in the columns that are not set. Rules for both rows would look the same things up twice, and mostly to take away what is
then put back. So, for each rule:

    nothing that varies is read     the rows cancel: nothing
    only conditions vary            both are tested; once, if they differ     w = (new > 0) - (old > 0)
    a range, which conditions say   the same, for the entries in one of the two ranges alone
    only amounts vary               the entry is found once; one amount is subtracted, the other added
    a value under a fixed key       it is overwritten
    a weight in a fixed bucket      it is shifted from one entry to the other
    otherwise                       what is fixed is looked up once, then the rest for the old row and for the new one

Correct because a rule is linear in the row, and no rule here looks up what another one updates: their order does not matter. An
entry in both ranges or in neither adds what it takes away. So a threshold that rises from 10 to 12 visits the rows between.

The same holds for any deleted and inserted row of a delta that agree in all but the bounds of a range (see `row_pairs`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from evercurrent.delta.program import WEIGHT, Finalize, Keyed, Lookup, Rule, Step, Where
from evercurrent.delta.terms import list_bound, read_by, terms_of
from evercurrent.engine.live.amounts import CELL, Added, show_entry, write_addition, write_amounts
from evercurrent.engine.live.paths import Target
from evercurrent.engine.live.rules import Place, Sink, adds_up, open_step, write_target
from evercurrent.engine.live.runtime import index
from evercurrent.engine.live.scope import Scope
from evercurrent.engine.live.share import position, positional
from evercurrent.engine.live.steps import schedule_steps
from evercurrent.engine.live.writes import Addition
from evercurrent.term.emit.scope import key_of
from evercurrent.term.nodes import Column, Term
from evercurrent.term.walk import columns_of, substitute


@dataclass(frozen=True, slots=True)
class Change:
    """A rule for an entry that stays; `varying` are the columns that may differ between its old row and its new one."""

    rule: Rule
    varying: frozenset[str]

    def varies(self, *terms: Term) -> bool:
        return any(c.name in self.varying for t in terms for c in columns_of(t))

    @property
    def steps(self) -> list[int]:
        """The steps that read what varies."""
        return [i for i, s in enumerate(self.rule.steps) if self.varies(*read_by(s))]

    @property
    def output(self) -> bool:
        """Whether what is added varies."""
        rule = self.rule
        amounts = [t for a in rule.amounts for t in (*a.args, a.weight, a.where) if t is not None]
        return self.varies(*rule.columns, rule.count, *rule.dependents, *amounts)

    @property
    def cancels(self) -> bool:
        return not self.steps and not self.output

    @property
    def switches(self) -> bool:
        """Whether only conditions vary; and the range of one lookup, if they say it."""
        moving, steps = self.moving, [self.rule.steps[i] for i in self.steps]
        if self.output or not steps or not isinstance(steps[-1], Where):
            return False
        if moving is None:
            return all(isinstance(s, Where) for s in steps)
        if moving.span is None or self.varies(*(t for _, t in moving.match)):
            return False
        return all(
            isinstance(s, Where) and s.condition in moving.span.tests for s in steps if s is not moving
        )

    @property
    def moving(self) -> Lookup | None:
        """The first lookup that reads what varies."""
        return next((s for i in self.steps if isinstance(s := self.rule.steps[i], Lookup)), None)


def changes_of(place: Place, relation: Keyed, turn: Sequence[tuple[Rule, int]]) -> list[Change] | None:
    """The rules of the relation for an entry that stays, where they can be written so."""
    key = place.states[relation.state].layout.state.columns
    return find_changes(place, find_fixed_columns(relation, key), turn)


def find_changes(
    place: Place, fixed: Collection[int], turn: Sequence[tuple[Rule, int]]
) -> list[Change] | None:
    """The rules for two rows that agree at the positions `fixed`, where they can be written so."""
    written = {rule.into for rule, _ in turn}
    layouts = {name: target.layout for name, target in place.states.items()}
    found = []
    for rule, sign in turn:
        if any(isinstance(s, Lookup) and s.state in written for s in rule.steps):
            return None
        own = positional(replace(rule, steps=tuple(schedule_steps(rule, layouts))))
        change = Change(own, find_varying(own, fixed))
        if change.cancels:
            continue
        if sign:
            return None
        found.append(change)
    return found


def find_fixed_columns(relation: Keyed, key: Sequence[Column]) -> set[int]:
    """The positions of the columns that are columns of the entry's key."""
    assert isinstance(relation.function, Finalize)
    names = {c.name for c in key}
    return {i for i, t in enumerate(relation.function.outputs) if isinstance(t, Column) and t.name in names}


def find_varying(rule: Rule, fixed: Collection[int]) -> frozenset[str]:
    """The columns that may differ between two rows that agree at the positions `fixed`."""
    names = {position(i) for i in range(len(rule.binds)) if i not in fixed}
    for step in rule.steps:
        if any(c.name in names for t in _decisive(step) for c in columns_of(t)):
            names |= {c.name for c in list_bound(step)}
    return frozenset(names)


def _decisive(step: Step) -> tuple[Term, ...]:
    """The terms on which it depends what a step binds. The bounds of a range only say which entries are read."""
    return tuple(t for _, t in step.match) if isinstance(step, Lookup) else read_by(step)


def takes_any_order(place: Place, rule: Rule) -> bool:
    """Whether what the rule adds may come in any order: an inserted row before a deleted one (law L10)."""
    target = place.targets[rule.into]
    if isinstance(target, Sink):
        return adds_up(target)
    return not target.layout.state.unique and not target.layout.state.dependents


# --- writing -----------------------------------------------------------------------------------------------


def write_changes(
    place: Place, changes: Sequence[Change], old: Sequence[str], new: Sequence[str], adjusting: bool = False
) -> None:
    """The rules for an entry; `old` and `new` are the sources of the columns of its rows.

    With `adjusting` entries that only sum up are found once. If one is missing, because other rows of it have negative weights,
    that fails; then the change must be undone and made otherwise.
    """
    for change in changes:
        depth = place.writer.depth
        if change.switches and (change.moving is None or takes_any_order(place, change.rule)):
            _switch(place, change, old, new)
        elif _overwrites(place, change):
            scope = _scope(place, change.rule, list(terms_of(change.rule)))
            for i in range(len(change.rule.binds)):
                scope.define(position(i), new[i])
            scope.define(WEIGHT, "1")
            for step in change.rule.steps:
                open_step(place, scope, step)
            write_target(place, scope, change.rule, None)
        elif _shifts(place, change):
            _shift(place, change, old, new)
        elif adjusting and _adjusts(place, change):
            _adjust(place, change, old, new)
        else:
            _twice(place, change, old, new)
        place.writer.close(depth)


def _scope(place: Place, rule: Rule, terms: list[Term]) -> Scope:
    return Scope(place.writer, place.namespace, place.fresh, terms)


def _open_fixed(place: Place, change: Change, new: Sequence[str]) -> Scope:
    """Takes the steps of a rule, of which none varies, over the columns in which both rows agree."""
    scope = _scope(place, change.rule, list(terms_of(change.rule)))
    for i in range(len(change.rule.binds)):
        if position(i) not in change.varying:
            scope.define(position(i), new[i])
    for step in change.rule.steps:
        open_step(place, scope, step)
    return scope


def _fork(scope: Scope, change: Change, row: Sequence[str]) -> Scope:
    """The scope with the varying columns of one of the two rows."""
    own = scope.fork()
    for i in range(len(change.rule.binds)):
        if position(i) in change.varying:
            own.define(position(i), row[i])
    return own


def _overwrites(place: Place, change: Change) -> bool:
    """Whether the new value takes the place of the old one, and nobody else follows."""
    target = place.targets[change.rule.into]
    if not isinstance(target, Target) or change.steps or change.varies(*change.rule.columns):
        return False
    layout = target.layout
    alone = not (layout.others or target.touches or target.groups or layout.permanent)
    return alone and layout.state.unique and layout.home.kind == "flat" and layout.payload != "cell"


def _shifts(place: Place, change: Change) -> bool:
    """Whether one entry of a bucket takes the place of another."""
    target, rule = place.targets[change.rule.into], change.rule
    if not isinstance(target, Target) or change.steps or target.layout.others:
        return False
    home = target.layout.home
    counted = (
        target.layout.payload == "count" and isinstance(rule.count, Column) and rule.count.name == WEIGHT
    )
    return counted and home.kind == "bucket" and not change.varies(*(rule.columns[i] for i in home.key))


def _shift(place: Place, change: Change, old: Sequence[str], new: Sequence[str]) -> None:
    rule, target = change.rule, place.targets[change.rule.into]
    assert isinstance(target, Target)
    home, name = target.layout.home, target.names[0]
    scope = _open_fixed(place, change, new)
    key = scope.atom(key_of(scope.values(rule.columns[i] for i in home.key)))
    rests = []
    for row in (old, new):
        own = _fork(scope, change, row)
        rests.append(own.atom(key_of(own.values(rule.columns[i] for i in home.rest))))
    place.namespace.define("shift", index.shift)
    place.namespace.define("remember", index.remember)
    if target.journal:
        for rest in rests:
            place.writer.line(f"remember({name}, {key}, {rest}, J)")
    place.writer.line(f"shift({name}, {key}, {rests[0]}, {rests[1]})")


def _adjusts(place: Place, change: Change) -> bool:
    """Whether the entry stays and only what it sums up changes."""
    target, rule = place.targets[change.rule.into], change.rule
    if not isinstance(target, Target) or change.steps or target.groups:
        return False
    if target.layout.payload not in ("sums", "cell"):
        return False
    followed = any(t.function and not t.only_checked for t in target.touches)
    return not followed and not change.varies(*rule.columns, rule.count, *rule.dependents)


def _adjust(place: Place, change: Change, old: Sequence[str], new: Sequence[str]) -> None:
    rule, target = change.rule, place.targets[change.rule.into]
    assert isinstance(target, Target)
    scope = _open_fixed(place, change, new)
    sides = []
    for row, weight in ((old, "(-1)"), (new, "1")):
        own = _fork(scope, change, row)
        own.define(WEIGHT, weight)
        sides.append(own)
    moving = [
        i
        for i, a in enumerate(rule.amounts)
        if change.varies(*(t for t in (*a.args, a.weight, a.where) if t is not None))
    ]
    Adjustment(scope, place.namespace, target, rule).adjust(sides, moving)


class Adjustment(Addition):
    """The change of what an entry sums up, by two rows of the delta that add to the same entry."""

    def adjust(self, sides: Sequence[Scope], moving: Sequence[int]) -> None:
        """`sides` are the deleted row and the inserted one; only the amounts at `moving` differ."""
        self.row = None
        self.columns = [self.scope.atom(c) for c in self.scope.values(self.rule.columns)]
        self._read_dependents()
        self.key = key_of(self.columns) if self.columns else "()"
        if self.layout.home.kind == "flat" and len(self.columns) > 1:
            self.key = self.scope.assign(self.key)
        cell = f"{self.name}_cell" if self.layout.permanent else self._find_cell()
        if self.layout.payload == "sums":
            return self._replace(cell, [self._write_amounts(side, moving) for side in sides])
        self._touch(cell)
        self._remember_cell(cell)  # fails if there is none
        for side in sides:
            write_amounts(self.w, list(self._write_amounts(side, moving).values()), cell, self.target.journal)
        self._after(cell)

    def _write_amounts(self, side: Scope, moving: Sequence[int]) -> dict[int, Added]:
        """What one row adds, by the accumulators' places."""
        slots, accumulators = self.layout.slots(), self.layout.state.accumulators
        return {
            i: write_addition(
                side, self.namespace, slots[accumulators[i].name], accumulators[i], self.rule.amounts[i]
            )
            for i in moving
        }

    def _replace(self, entry: str, sides: Sequence[Mapping[int, Added]]) -> None:
        """Another tuple takes the place of the entry."""
        first = [f"{entry}[0]", *self._cell_dependents(entry)]  # fails if there is none
        members = [f"{CELL}[{len(first) + i}]" for i in range(len(self.layout.state.accumulators))]
        totals = [Added("0", "", total=member) for member in members]
        old, new = sides
        if all(a.where is None for side in sides for a in side.values()):
            for i, member in enumerate(members):
                if i in old:
                    totals[i] = Added("0", "", total=new[i].total.replace(member, old[i].total))
            made = [totals]
        else:
            made = [[side.get(i, kept) for i, kept in enumerate(totals)] for side in sides]
        flat = self.layout.home.kind == "flat"
        if not flat:
            self.paths.journal_path(self.name, self.layout.home)
        elif self.target.journal:
            self.w.line(f"journal(({self.name}, {self.key}, {entry}))")
        for amounts in made:
            self.w.line(f"{entry} = {show_entry(first, amounts, entry)}")
        if flat:
            self.w.line(f"{self.name}[{self.key}] = {entry}")
        else:
            self.paths.replace_home(entry)


def _switch(place: Place, change: Change, old: Sequence[str], new: Sequence[str]) -> None:
    rule = change.rule
    conditions = [s.condition for s in (rule.steps[i] for i in change.steps) if isinstance(s, Where)]
    last = change.steps[-1]
    before = [_rename(c, change.varying, "<") for c in conditions]
    after = [_rename(c, change.varying, ">") for c in conditions]
    rest = [t for i, s in enumerate(rule.steps) if i not in change.steps for t in read_by(s)]
    rest += [t for s in (change.moving and _mark(change, s) for s in "<>") if s for t in read_by(s)]
    outputs = terms_of(replace(rule, steps=()))
    scope = _scope(place, rule, [*rest, *before, *after, *outputs])
    for i in range(len(rule.binds)):
        name = position(i)
        if name in change.varying:
            scope.define(f"{name}<", old[i])
            scope.define(f"{name}>", new[i])
        else:
            scope.define(name, new[i])
    for i, step in enumerate(rule.steps):
        if i not in change.steps:
            open_step(place, scope, step)
        elif isinstance(step, Lookup):
            open_step(place, scope, _mark(change, ">"), _mark(change, "<").span)
        elif i == last:
            was = " and ".join(scope.true(c) for c in before)
            now = " and ".join(scope.true(c) for c in after)
            weight = scope.assign(f"(1 if {now} else 0) - (1 if {was} else 0)")
            place.writer.open(f"if {weight}:")
            scope.define(WEIGHT, weight)
    write_target(place, scope, rule, None)


def _mark(change: Change, mark: str) -> Lookup:
    """The lookup whose range varies, for the old or the new row."""
    step = change.moving
    assert step is not None and step.span is not None
    return replace(step, span=step.span.rewrite(lambda t: _rename(t, change.varying, mark)))


def _rename(term: Term, names: frozenset[str], mark: str) -> Term:
    found = {c for c in columns_of(term) if c.name in names}
    return substitute(term, {c: Column(c.name + mark, c.type, c.nullable) for c in found})


def _twice(place: Place, change: Change, old: Sequence[str], new: Sequence[str]) -> None:
    rule = change.rule
    first = min(change.steps, default=len(rule.steps))
    scope = _scope(place, rule, list(terms_of(rule)))
    for i in range(len(rule.binds)):
        if position(i) not in change.varying:
            scope.define(position(i), new[i])
    for step in rule.steps[:first]:
        open_step(place, scope, step)
    scope.prepare_named(sorted(scope.pending))
    depth = place.writer.depth
    for row, weight in ((old, "(-1)"), (new, "1")):
        own = _fork(scope, change, row)
        own.define(WEIGHT, weight)
        for step in rule.steps[first:]:
            open_step(place, own, step)
        write_target(place, own, rule, None)
        place.writer.close(depth)
