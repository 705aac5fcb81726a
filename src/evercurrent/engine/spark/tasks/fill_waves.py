"""States that tasks fill from tables: each table is scanned once for all states that need it, whatever view they serve.

A fill is a transaction from nothing, so tables may come in any order (law L9). The smallest comes first: then the rule that finds
something is the one of the largest table, slice by slice, and it looks up states that are already written, by key.

    rows       nation 25   customer 150,000   orders 1,500,000   lineitem 6,000,000
    wave 1     nation, customer                        wave 2   orders, which looks up customer    wave 3   lineitem, ...

Served are states into which only tables add, by rules that run over columns. What is computed from groups, and what joins states
that are too large to be looked up at random, is left to jobs; so is everything if a slice turns out not to fit columns.

Correct because  a program is right for every sequence of transactions: here one for each table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from evercurrent.delta.analyses.copies import is_copy
from evercurrent.delta.program import Input, Lookup, Program, Rule
from evercurrent.engine.columnar.vectors import Pools, Unfit
from evercurrent.engine.spark.jobs.fill import find_driving
from evercurrent.engine.spark.kernel.outcome import Outcome
from evercurrent.engine.spark.storage.entry_reader import TooLarge, plain_keys
from evercurrent.engine.spark.storage.file_schema import Shape, is_added
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.segments import JobContext
from evercurrent.engine.spark.storage.stored_state import in_files
from evercurrent.engine.spark.tasks.column_rules import RuleOverColumns
from evercurrent.engine.spark.tasks.merging import HERE_ROWS
from evercurrent.engine.spark.tasks.runner import Runner, Unserved
from evercurrent.engine.spark.tasks.transaction import SLICE_ROWS, TaskTransaction
from evercurrent.errors import EvaluationError

LOOKED_UP_ROWS = 20_000_000
"""States from tables of more rows than this are not looked up by tasks: their keys are too far apart, and jobs join them better."""


def fill_states(
    runner: Runner,
    program: Program,
    inputs: Mapping[str, Segment],
    keep: Collection[str] | None,
    context: JobContext,
    *,
    here_rows: int = HERE_ROWS,
    slice_rows: int = SLICE_ROWS,
) -> Outcome:
    """Fills the states that tasks can fill. Its `stores` have all of those states, also empty ones. `context` counts the jobs."""
    part = select_served(program, inputs, keep)
    if not part.states or not runner.reader.folder.shared_work:
        return Outcome()
    run = TaskTransaction(part, runner, {}, here_rows=here_rows, slice_rows=slice_rows, fill=True)
    try:
        made = run.execute({r.name: inputs.get(r.name, EMPTY) for r in part.relations})
    except (EvaluationError, TooLarge, Unserved):
        return Outcome()  # jobs do it, and say what is wrong
    finally:
        context.jobs += runner.jobs
        context.read_bytes += runner.read_bytes
    stores = {s: made.stores.get(s, EMPTY) for state in part.states for s in Shape(state).stores}
    return Outcome(stores, {}, made.costs)


def select_served(
    program: Program, inputs: Mapping[str, Segment], keep: Collection[str] | None = None
) -> Program:
    """The part of a program that tasks fill: its tables, smallest first, the states, and the rules into them."""
    tables = [r for r in program.relations if isinstance(r, Input) and in_files([inputs.get(r.name, EMPTY)])]
    tables.sort(key=lambda r: inputs.get(r.name, EMPTY).rows)
    choice = Choice(program, {r.name: inputs.get(r.name, EMPTY).rows for r in tables})
    wanted = choice.find_states(
        frozenset(s.name for s in program.states) if keep is None else frozenset(keep)
    )
    triggers = {
        r.name: tuple(x for x in program.triggers.get(r.name, ()) if x.into in wanted) for r in tables
    }
    used = tuple(r for r in tables if triggers[r.name])
    return replace(
        program,
        relations=used,
        states=tuple(s for s in program.states if s.name in wanted),
        triggers={r.name: triggers[r.name] for r in used},
        views={},
    )


class Choice:
    """Which states tasks fill. `tables`: their rows, smallest first."""

    def __init__(self, program: Program, tables: Mapping[str, int]) -> None:
        self.tables = tables
        self.place = {name: i for i, name in enumerate(tables)}
        # All rules in the order in which jobs run them.
        self.rules = [r for name in find_driving(program) for r in program.triggers.get(name, ())]
        self.into: dict[str, list[Rule]] = {}
        for rule in self.rules:
            self.into.setdefault(rule.into, []).append(rule)
        shapes = {s.name: Shape(s) for s in program.states}
        self.fit = {
            n for n, s in shapes.items() if are_served(self.into.get(n, ()), tables, shapes) and can_merge(s)
        }

    def find_states(self, keep: frozenset[str]) -> set[str]:
        """The states of `keep` that tasks fill, and what has to be looked up for them."""
        refused: set[str] = set()
        while True:
            scans = {n for n in self.fit - refused if not any(lookups(r) for r in self.into[n])}
            joins = {n for n in self.fit - refused - scans if self.is_near(n, scans)}
            wanted = (scans | joins) & keep
            wanted |= {s.state for name in wanted for r in self.into[name] for s in lookups(r)}
            torn = self.find_torn(wanted)
            if not torn:
                return wanted
            refused |= torn

    def is_near(self, name: str, scans: set[str]) -> bool:
        """Whether all rules into a state find what they look up, by key, in a scanned state, or come before anything is in it."""
        for rule in self.into[name]:
            for state in (s.state for s in lookups(rule)):
                if state not in scans:
                    return False
                first = min(self.place[r.on] for r in self.into[state])
                rows = sum(self.tables[r.on] for r in self.into[state])
                if first <= self.place[rule.on] and rows > LOOKED_UP_ROWS:
                    return False
        return True

    def find_torn(self, wanted: set[str]) -> set[str]:
        """The states that a rule of jobs looks up when some of the rules into them have run, and others have not.

        Jobs see a state that tasks have filled as empty or as whole (`FillTransaction.reveal`).
        """
        at = {id(r): i for i, r in enumerate(self.rules)}
        torn = set()
        for rule in self.rules:
            if rule.into not in wanted:
                for name in {s.state for s in lookups(rule)} & wanted:
                    places = [at[id(r)] for r in self.into[name]]
                    if min(places) < at[id(rule)] < max(places):
                        torn.add(name)
        return torn


def lookups(rule: Rule) -> list[Lookup]:
    return [s for s in rule.steps if isinstance(s, Lookup)]


def are_served(rules: Iterable[Rule], tables: Collection[str], shapes: Mapping[str, Shape]) -> bool:
    """Whether there are rules, and all of them read tables and run over columns."""
    found = list(rules)
    try:
        for rule in found:
            if rule.on not in tables:
                return False
            if not is_copy(rule):
                RuleOverColumns(rule, shapes, (), Pools())
    except Unfit:
        return False
    return bool(found)


def can_merge(shape: Shape) -> bool:
    """Whether Arrow adds up the entries of all stores of a state; of one without columns there are few."""
    return all(
        plain_keys(schema) and (store == shape.store or any(not is_added(n) for n in schema.names))
        for store, schema in shape.schemas.items()
    )
