"""The first transaction of a program over many rows: what a view is filled by.

Law (L9, read from the other end). All states are empty at first, so of the rules of a join only those of the relation that
comes last find anything: what a state holds at the end is one query over what the states below it hold. So

    a state that is kept     is written once, when all rules that add to it have run, before anything looks it up
    what looks it up         reads the file, which has few columns and the surviving rows, and not the tables again
    a state that is not kept is written only if several rules look it up; it is sorted in neither case

Rows need not be added up where they cannot meet: a state that promises weight 1 and is filled by one rule from a delta in
which each row stands once has each entry once. Inputs may be a sum of segments (`Segment.net`): rules are linear, so it is
enough to add up what they leave of them. Rows are divided by ranges of the order in which they are written before they are
added up: equal rows meet in one range, and one exchange serves both. Where adding up leaves few of them it is better to do so
before they travel; a sample tells (`mostly_distinct`).

What tasks fill from scans of the tables (`tasks.fill_waves`) is taken over; the rest reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from evercurrent.delta.analyses.levels import inner_relations
from evercurrent.delta.program import Fixpoint, Keyed, Linear, Lookup, Program, Relation, Rule
from evercurrent.engine.spark.jobs.rules import Flow, bag_of, entries_of, run_rule
from evercurrent.engine.spark.jobs.transaction import JobTransaction
from evercurrent.engine.spark.kernel.outcome import Outcome
from evercurrent.engine.spark.storage.file_schema import Shape, consolidate, exact, relation_schema
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.segments import JobContext
from evercurrent.engine.spark.storage.store_names import StoreName, delta_store, scratch_store, state_store
from evercurrent.engine.spark.storage.stored_state import Contents, union
from evercurrent.term.walk import columns_of

SAMPLE = 32_768
"""The size of the sample that shows how many rows are left when equal ones are added up."""


class FillTransaction(JobTransaction):
    """A program, and all rows of its inputs."""

    def __init__(
        self,
        program: Program,
        context: JobContext,
        *,
        keep: Collection[str] | None = None,
        held: frozenset[str] = frozenset(),
        filled: Outcome | None = None,
    ) -> None:
        """`filled`: what tasks have filled already: all stores of some states."""
        super().__init__(program, context, {}, beginning=True, held=held)
        self.states.bulk = True
        self.keep = frozenset(self.shapes if keep is None else keep)
        self.lookups = live_lookups(program)
        loops = inner_relations(program)
        self.left: dict[str, float] = {}  # how many rules into a state are still to run
        for rules in program.triggers.values():
            for rule in rules:
                self.left[rule.into] = self.left.get(rule.into, 0) + (inf if rule.on in loops else 1)
        self.loose: set[str] = set()  # what was filled from sums of segments
        self.samples: dict[StoreName, list[DataFrame]] = {}  # what each rule adds to a store for some rows
        self.before = 0.0  # how many rows the target of a rule can have had before it
        self.filled = Outcome() if filled is None else filled
        self.hidden: dict[str, int] = {}  # rules that are still to come into a state that is filled already

    def execute(self, inputs: Mapping[str, Segment]) -> Outcome:
        self.outcome.costs += self.filled.costs
        live = [r for n, s in inputs.items() if s.rows for r in self.program.triggers.get(n, ())]
        for name, shape in self.shapes.items():
            if shape.store in self.filled.stores:
                self.hidden[name] = sum(r.into == name for r in live)
        return super().execute(inputs)

    def reveal(self, name: str) -> None:
        """One of the rules into a state that is filled already is due. It shows its entries with the last of them.

        Rules before that one find nothing in it: what they would add is added by the rules behind it.
        """
        self.left[name] -= 1
        self.hidden[name] -= 1
        if self.hidden[name]:
            return
        for store, contents in self.stores_of(name):
            segment = self.outcome.stores[store] = self.filled.stores[store]
            contents.pending = [self.read(contents, segment)] if segment.rows else []
            contents.pending_rows, contents.net = segment.rows, True
        self.bounds[name] = self.filled.stores[self.shapes[name].store].rows

    # --- rules ---------------------------------------------------------------------------------------------

    def write_down(self, rule: Rule, delta: DataFrame, segment: Segment) -> None:
        if rule.into in self.hidden:
            self.reveal(rule.into)
            return
        looked_up = [s for s in rule.steps if isinstance(s, Lookup)]
        if not any(self.contents[state_store(s.state)].empty and needs_entry(s) for s in looked_up):
            self.write_states([s.state for s in looked_up if self.is_awaited(s.state)])
        if not segment.net:
            self.loose.add(rule.into)
        self.before = self.bounds.get(rule.into, 0)
        super().write_down(rule, delta, segment)
        self.left[rule.into] -= 1
        if not looked_up and self.context.large:
            flow = run_rule(rule, delta.limit(SAMPLE), self.states, False)
            if flow is not None:
                self.sample(rule, flow)

    def sample(self, rule: Rule, flow: Flow) -> None:
        """Plans what a rule adds for a few rows; the lookups would make even these expensive."""
        shape = self.shapes.get(rule.into)
        if shape is not None:
            self.samples.setdefault(shape.store, []).append(entries_of(rule, flow, shape))
            for i in shape.bags:
                self.samples.setdefault(shape.bag_store(i), []).append(bag_of(rule, flow, shape, i))

    def pin(self, rule: Rule, flow: Flow) -> None:
        """What is joined for a state with bags is read by each of its stores."""
        if rule.into not in self.shapes or not self.shapes[rule.into].bags:
            return
        if not any(isinstance(step, Lookup) for step in rule.steps):
            return
        used = {rule.count, *rule.columns, *rule.dependents}
        for a in rule.amounts:
            used |= {*a.args, *(t for t in (a.weight, a.where) if t is not None)}
        names = {c.name for t in used for c in columns_of(t)}
        joined = flow.frame.select(*sorted({flow.names[n] for n in names}))
        flow.frame, rows = self.context.pin_frame(scratch_store(rule.into, "joined"), joined)
        self.bounds[rule.into] = self.before + rows
        self.sample(rule, replace(flow, frame=flow.frame.limit(SAMPLE)))

    def is_awaited(self, name: str) -> bool:
        """Whether a state is to be written before it is looked up."""
        if self.left.get(name, 0) > 0:
            return False
        if name in self.keep or self.lookups.get(name, 0) > 1:
            return True
        self.gather(name)
        return False

    # --- states --------------------------------------------------------------------------------------------

    def settle_added(self, relations: Iterable[Relation], states: Iterable[str]) -> None:
        chosen = []
        for name in states:
            if name in self.keep or self.left.get(name, 0) > 0 or self.lookups.get(name, 0) > 1:
                chosen.append(name)
            else:
                self.gather(name)
        self.write_states(chosen, [r for r in relations if isinstance(r, Linear)])

    def gather(self, name: str) -> None:
        """A state that is not written: its entries as a plan."""
        for store, contents in self.stores_of(name):
            if contents.pending and store not in self.outcome.stores and not contents.net:
                frame, after = self.whole(name, contents)
                contents.pending = [after(frame)]
                contents.net = True

    def write_states(self, states: Iterable[str], linear: Iterable[Linear] = ()) -> None:
        wanted: dict[StoreName, DataFrame] = {}
        bounds: dict[StoreName, float] = {}
        afters: dict[StoreName, Callable[[DataFrame], DataFrame]] = {}
        places: dict[StoreName, StoreName] = {}  # where it is written -> which store it is
        for name in dict.fromkeys(states):
            for store, contents in self.stores_of(name):
                if store in self.outcome.stores or not contents.pending:
                    continue
                copies = self.copies.get(store, [])
                if len(copies) == len(contents.pending) == 1:
                    self.outcome.stores[store] = copies[0]
                    contents.net = True
                    continue
                place = store if name in self.keep else scratch_store(store, "apart")
                places[place] = store
                samples = self.samples.get(store, [])
                divided = place == store and self.context.sorts(store, self.bounds.get(name, inf))
                sample = samples[0] if divided and len(samples) == len(contents.pending) == 1 else None
                wanted[place], afters[place] = self.whole(name, contents, sample)
                bounds[place] = self.bounds.get(name, inf)
        moved = {}
        for r in linear:
            added = union(self.rows.get(r.name, []))
            if added is not None:
                place = delta_store(r.name)
                moved[place] = r.name
                once = r.state is not None and self.alone(
                    self.shapes[r.state], r.name, len(self.rows[r.name])
                )
                wanted[place] = added if once else consolidate(added, relation_schema(r.columns))
                bounds[place] = self.bounds.get(r.name, inf)
        for place, segment in self.context.collect(wanted, bounds, afters).items():
            if place in moved:
                self.outcome.deltas[moved[place]] = segment
                continue
            store = places[place]
            contents = self.contents[store]
            self.outcome.stores[store] = segment
            contents.pending = [self.read(contents, segment)] if segment.rows else []
            contents.pending_rows, contents.net = segment.rows, True

    def stores_of(self, name: str) -> list[tuple[StoreName, Contents]]:
        return [(store, self.contents[store]) for store in self.shapes[name].stores]

    def whole(
        self, name: str, contents: Contents, sample: DataFrame | None = None
    ) -> tuple[DataFrame, Callable[[DataFrame], DataFrame]]:
        """What was added to a store, and what is to be done to rows that lie together in one range."""
        added = union(contents.pending)
        assert added is not None
        schema, shape = contents.schema, self.shapes[name]

        def single(frame: DataFrame) -> DataFrame:
            return exact(frame, schema)

        def add_up(frame: DataFrame) -> DataFrame:
            return consolidate(frame, schema)

        if contents is self.contents[shape.store] and shape.state.unique:
            return added, single if self.alone(shape, name, len(contents.pending)) else add_up
        if sample is not None and mostly_distinct(sample, contents.keys, self.bounds[name]):
            return added, add_up
        return add_up(added), lambda frame: frame  # rows that are many become few before they travel

    def alone(self, shape: Shape, filled: str, parts: int) -> bool:
        """Whether each entry of a state has been added once."""
        return shape.state.unique and parts == 1 and filled not in self.loose

    # --- keyed relations -----------------------------------------------------------------------------------

    def can_change(self, r: Keyed) -> bool:
        contents = [c for _, c in self.stores_of(r.state)]
        return super().can_change(r) or any(not c.empty for c in contents)

    def most(self, r: Keyed) -> float:
        return super().most(r) if r.state in self.outcome.stores else inf

    def broadcast(self, state: str) -> bool:
        return False


def mostly_distinct(sample: DataFrame, keys: Sequence[str], rows: float) -> bool:
    """Whether rows hardly become fewer when those with equal keys are added up: an estimate for `rows` rows, from what remains
    of a sample of `SAMPLE` of them. If next to nothing remains, they are few in any case.

    Law. Of n rows of D kinds, n much less than D, about n * n / 2D are of a kind that was there before. Rows that lie
    together may be more alike than others: then D is taken for smaller than it is.
    """
    counts = (F.count("*").alias("n"), F.count_distinct(F.struct(*keys)).alias("d"))
    found = sample.agg(*counts).collect()[0]
    left = rows * found.n / SAMPLE
    if left <= found.n:  # these are all
        return bool(2 * found.d >= found.n)
    return bool(found.n >= SAMPLE / 32 and found.n * found.n >= (found.n - found.d) * left)


def needs_entry(step: Lookup) -> bool:
    """Whether a row that finds no entry goes no further."""
    return not (step.absent or step.outer)


def live_lookups(program: Program) -> dict[str, int]:
    """How many rules look each state up after something may have been added to it; those of a loop run more than once."""
    filled: set[str] = set()
    found: dict[str, int] = {}
    loops = inner_relations(program)
    for name in find_driving(program):
        for rule in program.triggers.get(name, ()):
            steps = [s for s in rule.steps if isinstance(s, Lookup)]
            if name not in loops and any(s.state not in filled and needs_entry(s) for s in steps):
                continue
            for s in steps:
                found[s.state] = found.get(s.state, 0) + (2 if name in loops else s.state in filled)
            filled.add(rule.into)
    return found


def find_driving(program: Program) -> Iterator[str]:
    """The relations whose deltas drive rules, in the order of the program."""
    for r in program.relations:
        if isinstance(r, Fixpoint):
            for loop in r.loops:
                yield from (loop.inner, loop.name)
        else:
            yield r.name
