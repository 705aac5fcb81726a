"""What a batch will read and write, before it runs: bytes, rows and jobs, and the seconds that they take.

Law. A rule over a delta of n rows looks at no more of a state than the pages that hold its n keys, and at no more than all
of it:

    read(lookup) = min(keys * KEY_BYTES, bytes(state))     a lookup by the columns that the state is sorted by
                 = bytes(state)                            any other lookup

and it hands on n times the average number of entries under a key. There are three ways to bring a view up to date:

    by rules   the rules and keyed relations that it rests on, over the change
    by SQL     Spark's own plan for the query, over the tables, compared with the rows that are kept
    by a fill  the program, over the tables: rows and states

Seconds are what the constants below say, which were measured (docs/spark.md), times a factor for each view and way that is
learned from what earlier runs took (`learning`). They compare ways; the record of a run says beside them what it took.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import ceil, isqrt, sqrt
from typing import Literal

from evercurrent.delta.program import (
    Explode,
    Finalize,
    Fixpoint,
    Input,
    Keyed,
    Linear,
    Lookup,
    Program,
    Rule,
    State,
    Where,
)
from evercurrent.engine.spark.engine import BATCH_ENTRIES, SMALL_BYTES, SMALL_ROWS
from evercurrent.engine.spark.storage.file_schema import Shape
from evercurrent.engine.spark.storage.sort_order import orders
from evercurrent.engine.spark.storage.store_names import StoreName, counts_store, outside_store, state_store

JOB_SECONDS = 0.25
"""A job of Spark, however little it does."""
SQL_JOBS = 2
"""What a query of Spark's SQL, its comparison and its result take at least."""
SCAN_BYTES = 100_000_000
"""Bytes of files that a core of Spark reads in a second."""
SQL_ROW_SECONDS = 1.6e-6
"""A row of a table under a query, for a core of Spark: what scans, joins and groups take on average."""
FILL_ROW_SECONDS = 6e-6
"""The same where the program is run over the whole tables, and its states are sorted and written."""
JOB_ROW_SECONDS = 4e-6
"""A row on its way through a rule, for a core of Spark."""
TASK_ROW_SECONDS = 1e-6
"""The same for a task, over columns; where the columnar kernel does not serve, loops take about as long as the driver's."""
TASK_JOBS = 3
"""Jobs of a batch by tasks: waves of rules, and what is merged by ranges."""
DRIVER_ROW_SECONDS = 2e-6
"""A row on its way through a rule, for the driver."""
DRIVER_BYTES = 1_000_000_000
"""Bytes of files of which the driver takes entries in a second: most of them are mapped copies."""
KEY_BYTES = 16_384
"""What is read to find the entries of a key: a page for each of a few columns."""
STEPS = 4
"""How many steps of rules are assumed to read one entry that the driver holds."""
WIDTH = 64
"""Bytes that a row is taken to have where nothing is known of it."""
FEW_ROWS = 1_000
"""Below this number of rows a file's size says little about its rows."""
EXPLODED = 4
"""Elements that a collection is taken to have."""
FILTERED = 0.5
"""The share of rows that is taken to satisfy a condition."""
MOST_FAN = 64.0
"""Estimates of more entries under a key are cut to this: the keys that are looked up may be a few out of many."""
UNKNOWN_FAN = 4.0
"""Entries that a key is taken to find where nothing is known of the rows that ask."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much a store holds."""

    rows: int = 0
    bytes: int = 0

    @property
    def width(self) -> float:
        """Bytes of a row; those of small files are mostly not rows."""
        return self.bytes / self.rows if self.rows >= FEW_ROWS else min(WIDTH, self.bytes)

    def plus(self, rows: int) -> Size:
        """Returns the size with `rows` rows more."""
        return Size(self.rows + rows, self.bytes + ceil(rows * (self.width or WIDTH)))


SizeOf = Callable[[str], Size]
StoreSizeOf = Callable[[StoreName], Size]
"""The size of a store, or of the rows of a relation, by its name."""


Place = Literal["driver", "tasks", "jobs"]
"""Who does it: the driver alone, tasks over slices of the changed rows, or jobs of Spark over whole stores."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What one way of bringing a view up to date costs, and where it runs."""

    bytes: int = 0
    jobs: int = 0
    seconds: float = 0.0
    place: Place = "driver"

    def times(self, factor: float) -> Estimate:
        """As experience has it."""
        return replace(self, seconds=self.seconds * factor)


@dataclass(frozen=True, slots=True)
class Work:
    """Bytes that are read, and rows that are looked at and handed on."""

    bytes: float = 0.0
    rows: float = 0.0


@dataclass
class Flow:
    """How a batch is expected to run through a program: rows of each delta, and the work of each rule."""

    rows: dict[str, float] = field(default_factory=dict)  # of each relation's delta
    added: dict[str, float] = field(default_factory=dict)  # entries that states get
    rules: dict[int, Work] = field(default_factory=dict)  # by identity
    keyed: dict[str, Work] = field(default_factory=dict)  # of an input, a keyed relation or a loop


def flow(program: Program, stores: StoreSizeOf, relations: SizeOf, changed: Mapping[str, int]) -> Flow:
    """Follow the changes of inputs through the program. `stores` and `relations` say what is there now."""
    found = Flow()
    states = {s.name: s for s in program.states}
    sorted_by = orders(program)
    total: dict[str, float] = {}  # rows of each relation; what is not kept is guessed
    for r in program.relations:
        total[r.name] = relations(r.name).rows or total.get(r.name, 0.0)
        match r:
            case Input(name):
                found.rows[name] = changed.get(name, 0)
                found.keyed[name] = Work(found.rows[name] * (relations(name).width or WIDTH))
            case Linear(name):
                found.rows.setdefault(name, 0.0)
            case Keyed(name, state=state, key=key, function=function):
                size = stores(state_store(state))
                touched = min(found.added.get(state, 0.0), max(size.rows, 1) * 2.0)
                total[name] = total[name] or size.rows
                group = 1
                if not (isinstance(function, Finalize) and len(key) == len(states[state].columns)):
                    group = max(1, isqrt(size.rows)) if key else max(1, size.rows)
                held = max(1, size.rows)
                share = max(touched * group / held, share_of(touched, size))
                read = sum(stores(n).bytes * min(1.0, share) for n in Shape(states[state]).stores)
                found.keyed[name] = Work(read, min(2.0 * touched * group, 2.0 * held))
                found.rows[name] = 2 * touched * (1 if isinstance(function, Finalize) else group)
            case Fixpoint(name, loops):
                moving = sum(found.rows.get(x.body, 0.0) + found.added.get(x.body, 0.0) for x in loops)
                kept = [store(x) for x in loops for store in (counts_store, outside_store)]
                found.keyed[name] = Work(sum(stores(n).bytes for n in kept), moving) if moving else Work()
                for x in loops:
                    total[x.name] = total[x.inner] = relations(x.name).rows
                    found.rows[x.name] = found.rows[x.inner] = moving
        names = [x.name for x in r.loops] if isinstance(r, Fixpoint) else [r.name]
        for name in names:
            for rule in program.triggers.get(name, ()):
                follow(found, rule, stores, states, sorted_by, total)
    return found


def follow(
    found: Flow,
    rule: Rule,
    stores: StoreSizeOf,
    states: Mapping[str, State],
    sorted_by: Mapping[StoreName, tuple[str, ...]],
    total: dict[str, float],
) -> None:
    """What one rule reads and hands on, and how many rows it has handed on in all."""
    rows = found.rows.get(rule.on, 0.0)
    whole = total[rule.on]
    read, looked = 0.0, rows
    for step in rule.steps:
        if isinstance(step, Where):
            rows, whole = rows * FILTERED, whole * FILTERED
        elif isinstance(step, Explode):
            rows, whole = rows * EXPLODED, whole * EXPLODED
        elif isinstance(step, Lookup):
            size = stores(state_store(step.state))
            read += size.bytes * share_read(step, rows, size, states[step.state], sorted_by)
            if not (step.absent or step.present or step.outer):
                each = under_a_key(step, states[step.state], size, total[rule.on])
                rows, whole = rows * each, whole * each
            looked += rows
    if rule.into in states and states[rule.into].accumulators:
        # Rows of one group are added up before they are written. If each row came for a group of its own there would be as
        # many entries; if groups came whole, as many as their share. It is not known which: the mean of both, as ratios go.
        groups = max(1, stores(state_store(rule.into)).rows)
        rows = min(rows * sqrt(min(1.0, groups / max(1.0, whole))), 2.0 * groups)
    found.rules[id(rule)] = Work(read + rows * stores(state_store(rule.into)).width, looked + rows)
    target = found.added if rule.into in states else found.rows
    target[rule.into] = target.get(rule.into, 0.0) + rows
    if rule.into not in states:
        total[rule.into] = max(total.get(rule.into, 0.0), whole)


def under_a_key(step: Lookup, state: State, size: Size, total: float) -> float:
    """How many entries a row finds: one at most where the program says so, else as many as there are for each row."""
    if not step.match:
        return max(1, size.rows)
    by = {name for name, _ in step.match}
    if any(i.single and by.issuperset(i.columns) for i in state.indexes):
        return 1.0
    return min(MOST_FAN, max(1.0, size.rows / total)) if total else UNKNOWN_FAN


def share_read(
    step: Lookup, keys: float, size: Size, state: State, sorted_by: Mapping[StoreName, tuple[str, ...]]
) -> float:
    """The share of a state that a lookup of `keys` keys reads: files are searched by their first column."""
    if not keys or not size.rows:
        return 0.0
    shape = Shape(state)
    stored = shape.list_stored_names()
    asked = {stored.get(name) for name, _ in step.match}
    first = sorted_by.get(shape.store, ())[:1]
    return share_of(keys, size) if asked.issuperset(first) and first else 1.0


def share_of(keys: float, size: Size) -> float:
    """The share of a store that holds `keys` keys."""
    return min(1.0, keys * KEY_BYTES / max(1, size.bytes))


def by_rules(
    found: Flow,
    rules: Iterable[Rule],
    relations: Iterable[str],
    changed: int,
    levels: int,
    cores: int,
    known: float = 1.0,
    *,
    size: float = 0.0,
    tasks: bool = True,
) -> Estimate:
    """Bringing a view up to date by these rules and keyed relations. `size`: the bytes of the changed rows.

    The driver does it if it can hold what the rules look at; `known` is the driver's factor: where earlier batches had less
    to do than was thought, there is less to hold. What is more is done by tasks, or where those do not serve by jobs.
    """
    work = [found.rules.get(id(r), Work()) for r in rules] + [found.keyed.get(n, Work()) for n in relations]
    read, rows = sum(w.bytes for w in work), sum(w.rows for w in work)
    if changed <= SMALL_ROWS and size <= SMALL_BYTES and rows * min(1.0, known) <= STEPS * BATCH_ENTRIES:
        return Estimate(ceil(read), 0, rows * DRIVER_ROW_SECONDS + read / DRIVER_BYTES)
    if tasks:
        busy = (rows * TASK_ROW_SECONDS + read / DRIVER_BYTES) / max(1, cores)
        return Estimate(ceil(read), TASK_JOBS, TASK_JOBS * JOB_SECONDS + busy, "tasks")
    return by_jobs(read, rows * JOB_ROW_SECONDS, 2 * levels, cores)


def by_sql(tables: Iterable[Size], kept: Size, cores: int) -> Estimate:
    """Spark's own plan over the tables, and the comparison with the rows that are kept."""
    tables = [*tables, kept]
    rows = sum(t.rows for t in tables)
    return by_jobs(sum(t.bytes for t in tables), rows * SQL_ROW_SECONDS, SQL_JOBS, cores)


def by_fill(
    tables: Iterable[Size], written: Iterable[Size], levels: int, cores: int, *, driver: bool = True
) -> Estimate:
    """The program over the tables, and the writing of all that it keeps."""
    tables = list(tables)
    rows = sum(t.rows for t in tables)
    size = sum(t.bytes for t in tables) + sum(w.bytes for w in written)
    if rows <= SMALL_ROWS and driver:
        return Estimate(size, 0, rows * DRIVER_ROW_SECONDS * max(1, levels) + size / DRIVER_BYTES)
    return by_jobs(size, rows * FILL_ROW_SECONDS, 2 * levels, cores)


def by_jobs(read: float, seconds: float, jobs: int, cores: int) -> Estimate:
    busy = (read / SCAN_BYTES + seconds) / max(1, cores)
    return Estimate(ceil(read), jobs, jobs * JOB_SECONDS + busy, "jobs")
