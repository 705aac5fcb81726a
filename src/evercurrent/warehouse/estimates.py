"""What a batch will read and write, before it runs: bytes and jobs, by addition and from scratch.

Law. A rule over a delta of n rows looks at no more of a state than the row groups that can hold its n keys, and at no
more than all of it:

    read(lookup) = bytes(state) * min(1, keys / row groups)        a lookup by the columns that the state is sorted by
                 = bytes(state)                                    any other lookup

and it hands on n times the average number of entries under a key. What is read from scratch is known: the tables under
the query; what is written then is what is kept of the view now. Jobs of Spark have a floor, so they count as bytes too.

Estimates compare strategies; the record of a run says beside them what was really read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import ceil, isqrt

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
)
from evercurrent.engine.spark.engine import SMALL_ROWS
from evercurrent.engine.spark.files import ROW_GROUP
from evercurrent.engine.spark.shapes import Shape

JOB_BYTES = 16_000_000
"""What Spark could have read in the time that a small job takes anyway."""
DRIVER_FACTOR = 8
"""A byte that the driver makes Python values of takes so many times as long as one that Spark reads."""
HANDED_ON = 16
"""Bytes that a row counts for on its way through a rule."""
WIDTH = 64
"""Bytes that a row is taken to have where nothing is known of it."""
FEW_ROWS = 1_000
"""Below so many rows a file's size says little about its rows."""
EXPLODED = 4
"""Elements that a collection is taken to have."""


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
        """With so many rows more."""
        return Size(self.rows + rows, self.bytes + ceil(rows * (self.width or WIDTH)))


SizeOf = Callable[[str], Size]
"""The size of a store, or of the rows of a relation, by its name."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What one way of bringing a view up to date costs."""

    bytes: int = 0
    jobs: int = 0

    @property
    def cost(self) -> int:
        """In bytes that Spark reads."""
        return self.bytes + self.jobs * JOB_BYTES if self.jobs else self.bytes * DRIVER_FACTOR


@dataclass
class Flow:
    """How a batch is expected to run through a program: rows of each delta, bytes for each target of a rule."""

    rows: dict[str, float] = field(default_factory=dict)  # of each relation's delta
    added: dict[str, float] = field(default_factory=dict)  # entries that states get
    rules: dict[int, float] = field(default_factory=dict)  # bytes that a rule reads and writes, by identity
    keyed: dict[str, float] = field(
        default_factory=dict
    )  # bytes that an input, a keyed relation or a loop reads


def flow(program: Program, stores: SizeOf, relations: SizeOf, changed: Mapping[str, int]) -> Flow:
    """Follow the changes of inputs through the program. `stores` and `relations` say what is there now."""
    found = Flow()
    states = {s.name: s for s in program.states}
    total: dict[str, int] = {}
    for r in program.relations:
        total[r.name] = relations(r.name).rows
        match r:
            case Input(name):
                found.rows[name] = changed.get(name, 0)
                found.keyed[name] = found.rows[name] * (relations(name).width or WIDTH)
            case Linear(name):
                found.rows.setdefault(name, 0.0)
            case Keyed(name, state=state, key=key, function=function):
                touched = min(found.added.get(state, 0.0), max(stores(state).rows, 1) * 2.0)
                group = 1
                if not (isinstance(function, Finalize) and len(key) == len(states[state].columns)):
                    group = max(1, isqrt(stores(state).rows)) if key else max(1, stores(state).rows)
                held = max(1, stores(state).rows)
                share = min(1.0, max(touched * group / held, touched / ceil(held / ROW_GROUP)))
                shape = Shape(states[state])
                bags = (shape.bag_store(i) for i in shape.bags)
                found.keyed[name] = sum(stores(n).bytes * share for n in (state, *bags))
                found.rows[name] = 2 * touched * (1 if isinstance(function, Finalize) else group)
            case Fixpoint(name, loops):
                moving = sum(found.rows.get(x.body, 0.0) + found.added.get(x.body, 0.0) for x in loops)
                kept = [f"{x.name}\0{part}" for x in loops for part in ("counts", "outside")]
                found.keyed[name] = sum(stores(n).bytes for n in kept) if moving else 0.0
                for x in loops:
                    total[x.name] = total[x.inner] = relations(x.name).rows
                    found.rows[x.name] = found.rows[x.inner] = moving
        names = [x.name for x in r.loops] if isinstance(r, Fixpoint) else [r.name]
        for name in names:
            for rule in program.triggers.get(name, ()):
                follow(found, rule, stores, states, total[name])
    return found


def follow(found: Flow, rule: Rule, stores: SizeOf, states: Mapping[str, State], total: int) -> None:
    """What one rule reads and hands on."""
    rows = found.rows.get(rule.on, 0.0)
    read = 0.0
    for step in rule.steps:
        if isinstance(step, Explode):
            rows *= EXPLODED
        elif isinstance(step, Lookup):
            size = stores(step.state)
            read += size.bytes * share_read(step, rows, size, states)
            if not (step.absent or step.present or step.outer):
                rows *= max(1.0, size.rows / max(1, total)) if step.match else max(1, size.rows)
    read += rows * HANDED_ON
    if rule.into in states and states[rule.into].accumulators:
        # Rows of one group are added up before they are written.
        rows = min(rows, 2.0 * max(1, stores(rule.into).rows))
    found.rules[id(rule)] = read + rows * stores(rule.into).width
    target = found.added if rule.into in states else found.rows
    target[rule.into] = target.get(rule.into, 0.0) + rows


def share_read(step: Lookup, keys: float, size: Size, states: Mapping[str, State]) -> float:
    """The share of a state that a lookup of so many keys reads."""
    if not keys or not size.rows:
        return 0.0
    first = {c.name for c in states[step.state].columns[: len(step.match)]}
    sorted_by = bool(step.match) and {name for name, _ in step.match} == first
    return min(1.0, keys / ceil(size.rows / ROW_GROUP)) if sorted_by else 1.0


def by_addition(
    found: Flow, rules: Iterable[Rule], relations: Iterable[str], changed: int, levels: int
) -> Estimate:
    """Bringing a view up to date by these rules and keyed relations."""
    read = sum(found.rules.get(id(r), 0.0) for r in rules) + sum(found.keyed.get(n, 0.0) for n in relations)
    return Estimate(ceil(read), 0 if changed <= SMALL_ROWS else 2 * levels)


def from_scratch(tables: Iterable[Size], written: Iterable[Size], levels: int) -> Estimate:
    """Computing a view of its tables, and writing it and what is kept for it."""
    tables = list(tables)
    size = sum(t.bytes + t.rows * HANDED_ON for t in tables) + sum(w.bytes for w in written)
    return Estimate(size, 0 if sum(t.rows for t in tables) <= SMALL_ROWS else 2 * levels)
