"""How a state is laid out in dictionaries.

An entry of a state is its columns (which identify it) and a payload:

    true    nothing but presence                       unique, no dependents, no accumulators
    count   the weight, an int                         no dependents, no accumulators
    value   the only dependent                         unique, one dependent that is never NULL, no accumulators
    tuple   the dependents                             unique, no accumulators
    sums    (weight, dependents..., sums...)           not unique, only sums, one path, no groups of it; a change replaces it
    cell    [weight, dependents..., accumulators...]   everything else; mutable, shared by all indexes
                                                       (no weight if unique)

Only lists and what holds them stay with Python's cyclic garbage collector, which looks at all of them again and again.

A *path* is one dictionary over the entries. Its key is the values of some columns and dependents (the bare value if it
is one, not a 1-tuple); the columns that are not in the key are the path's *rest* (bare if one). By kind:

    flat     key -> payload                            the key is all columns
    single   key -> (rest, payload)                    at most one entry has the key
    bucket   key -> (rest, payload) or {rest: payload} one entry inline, a dictionary from two on
    ordered  key -> the entries in the order of a term the key is what a lookup by a range matches (`runtime.ordered_entries`)

The home path holds every entry and finds one by all its columns; the other paths are updated when entries are inserted and deleted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from evercurrent.data.types import contains_float
from evercurrent.delta.blocks import replace_columns
from evercurrent.delta.program import WEIGHT, Accumulator, Finalize, Keyed, Lookup, Program, Rule, State
from evercurrent.term.nodes import Column, Term
from evercurrent.term.walk import columns_of

Kind = Literal["flat", "single", "bucket", "ordered"]
Payload = Literal["true", "count", "value", "tuple", "sums", "cell"]


@dataclass(frozen=True, slots=True)
class Path:
    """One dictionary: positions of its key in columns and dependents together, and of its rest in the columns.

    Under an `order`, a term over both, the entries of each key are read by ranges.
    """

    key: tuple[int, ...]
    rest: tuple[int, ...]
    kind: Kind
    order: Term | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    state: State
    payload: Payload
    home: Path
    others: tuple[Path, ...]
    permanent: bool
    """A scalar aggregate's only entry: it stays when its weight is zero."""
    weighed: bool = True
    """Whether the weight is kept up; nobody may ask for that of an entry that always stays."""

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.home, *self.others)

    def slot(self, name: str) -> int | None:
        """Where a name is in the payload (of kind tuple, sums or cell); None if it is not in it."""
        return self.slots().get(name)

    def slots(self) -> dict[str, int]:
        names = [] if self.state.unique or self.payload not in ("sums", "cell") else [WEIGHT]
        names += [d.name for d in self.state.dependents]
        names += [a.name for a in self.state.accumulators]
        return {name: i for i, name in enumerate(names)}

    @property
    def fields(self) -> tuple[Column, ...]:
        """What entries can be looked up by."""
        return self.state.columns + self.state.dependents

    def path(self, names: Iterable[str]) -> Path:
        """The path that is looked up by these fields; the home path if all columns are among them, or none is given."""
        positions = tuple(sorted(self.position(n) for n in names))
        for p in self.paths:
            if p.key == positions and p.order is None:
                return p
        assert not positions or self.covers(positions), (self.state.name, names)
        return self.home

    def path_in_order(self, names: Iterable[str], order: Term) -> Path:
        """The path that is looked up by these fields and a range of a term."""
        positions, own = tuple(sorted(self.position(n) for n in names)), own_order(self.state, order)
        return next(p for p in self.others if p.key == positions and p.order == own)

    def covers(self, positions: Iterable[int]) -> bool:
        """Whether all columns are among the fields at these positions: at most one entry has them."""
        return set(range(len(self.state.columns))) <= set(positions)

    def position(self, name: str) -> int:
        return next(i for i, c in enumerate(self.fields) if c.name == name)

    def accumulator(self, name: str) -> Accumulator | None:
        return next((a for a in self.state.accumulators if a.name == name), None)


def float_column(columns: Sequence[Column]) -> bool:
    """Whether NaN can be among the values: then `==` alone does not find it, and identity must help."""
    return any(contains_float(c.type) for c in columns)


# --- choosing ----------------------------------------------------------------------------------------------


def lay_out(program: Program) -> dict[str, Layout]:
    """The layout of every state of a program."""
    looked_up: dict[str, dict[tuple[int, ...], bool]] = {s.name: {} for s in program.states}
    ordered: dict[str, dict[tuple[tuple[int, ...], Term], None]] = {s.name: {} for s in program.states}
    states = {s.name: s for s in program.states}
    for state in program.states:
        for index in state.indexes:
            _want(looked_up, state, index.columns, index.single)
    for rule in rules_of(program):
        for step in rule.steps:
            if isinstance(step, Lookup) and step.span is not None:
                key = tuple(sorted(_positions(states[step.state])[name] for name, _ in step.match))
                ordered[step.state][key, own_order(states[step.state], step.span.key)] = None
            elif isinstance(step, Lookup):
                _want(looked_up, states[step.state], [name for name, _ in step.match], False)
    keyed = {
        r.state: r for r in sorted(_list_keyed(program), key=_is_scalar)
    }  # of several readers a scalar one counts
    weighed = _find_weighed(program)
    return {
        s.name: replace(
            _choose(s, looked_up[s.name], keyed.get(s.name), sorted(ordered[s.name], key=repr)),
            weighed=s.name in weighed,
        )
        for s in program.states
    }


def own_order(state: State, order: Term) -> Term:
    """The term over the columns of the state as they are: rules may know more of them."""
    return replace_columns(order, {c.name: c for c in (*state.columns, *state.dependents)})


def _find_weighed(program: Program) -> set[str]:
    """The states of which somebody may read a weight: all but those that only scalar aggregates without a count read."""
    readers: dict[str, list[Keyed]] = {}
    for r in _list_keyed(program):
        readers.setdefault(r.state, []).append(r)
    asked = {s.state for rule in rules_of(program) for s in rule.steps if isinstance(s, Lookup)}
    return {
        s.name
        for s in program.states
        if s.name in asked or s.name not in readers or any(map(_reads_weight, readers[s.name]))
    }


def _reads_weight(r: Keyed) -> bool:
    match r.function:
        case Finalize(outputs, multiplicity, scalar=True):
            return any(c.name == WEIGHT for t in (*outputs, multiplicity) for c in columns_of(t))
        case _:
            return True


def _list_keyed(program: Program) -> Iterator[Keyed]:
    return (r for r in program.relations if isinstance(r, Keyed))


def _is_scalar(keyed: Keyed | None) -> bool:
    return keyed is not None and isinstance(keyed.function, Finalize) and keyed.function.scalar


def rules_of(program: Program) -> Iterator[Rule]:
    for rules in program.triggers.values():
        yield from rules


def _want(
    wanted: dict[str, dict[tuple[int, ...], bool]], state: State, names: Sequence[str], single: bool
) -> None:
    key = tuple(sorted(_positions(state)[n] for n in names))
    if key and not set(range(len(state.columns))) <= set(key):
        wanted[state.name][key] = wanted[state.name].get(key, False) or single


def _positions(state: State) -> dict[str, int]:
    return {c.name: i for i, c in enumerate((*state.columns, *state.dependents))}


def _choose(
    state: State,
    wanted: dict[tuple[int, ...], bool],
    keyed: Keyed | None,
    ordered: Sequence[tuple[tuple[int, ...], Term]],
) -> Layout:
    every = tuple(range(len(state.columns)))
    ranges = [Path(key, tuple(i for i in every if i not in key), "ordered", order) for key, order in ordered]

    def path(key: tuple[int, ...], single: bool) -> Path:
        return Path(key, tuple(i for i in every if i not in key), "single" if single else "bucket")

    flat = Path(every, (), "flat")
    payload = _payload(state)
    paths = [path(key, single and payload != "count") for key, single in sorted(wanted.items())]
    scalar = _is_scalar(keyed)
    # A group's functions read entries by all columns: they want one flat dictionary. Otherwise entries live in an index,
    # without a second dictionary, if there is one that finds them by their columns.
    homes = [p for p in paths if p.key[-1] < len(every)]
    home = homes[0] if homes and keyed is None else flat
    if payload == "count" and (ranges or scalar or (paths and home is flat)):
        payload = "cell"  # shared by all paths, so that a change of weight touches one dictionary
    elif (
        payload == "cell"
        and keyed is None
        and [home] == (paths or [flat])
        and not ranges
        and _only_sums(state)
    ):
        payload = "sums"
    return Layout(state, payload, home, (*(p for p in paths if p != home), *ranges), scalar)


def _only_sums(state: State) -> bool:
    """Whether an entry is a weight and sums."""
    return not state.unique and all(a.kind == "sum" for a in state.accumulators)


def _payload(state: State) -> Payload:
    if state.accumulators:
        return "cell"
    if not state.unique:
        return "cell" if state.dependents else "count"
    if not state.dependents:
        return "true"
    if len(state.dependents) == 1 and not state.dependents[0].nullable:
        return "value"
    return "tuple"
