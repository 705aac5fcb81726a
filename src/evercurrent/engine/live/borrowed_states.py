"""States that are not stored, because the owner of the rows can be asked: they are borrowed.

Objects hold their attributes, and are found by their identity. A state that is but some columns of their table, looked up by
identity, would hold everything a second time. So the program reads it off the objects:

    stored  v1 = s8.get(r[1])           borrowed  v1 = things[r[1]]
            v1[0] * v1[1]                       v1._2 * v1._3

Law. A rule must see a state as it is when its turn comes (L9), and objects change before rules run. Outside a transaction one
row changes at a time, and what follows from it must not look up the tables in which the same objects stand: else the state is
stored. Within a transaction, the rows as they were are put before the objects (the content of a `Loan`), and are updated as
entries are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Protocol

from evercurrent.data.types import Type
from evercurrent.data.zset import Row, ZSet
from evercurrent.delta.program import Input, Keyed, Linear, Lookup, Program, Rule, State
from evercurrent.engine.live.layout import Layout
from evercurrent.engine.live.plan import plan_for, reachable
from evercurrent.term.nodes import Column


@dataclass(frozen=True, slots=True)
class Lent:
    """The rows of a table as things hold them. The first column is the key, by which `things` has them.

    `attributes` are the names under which a thing holds the other columns (None: in another form than a row does);
    `references` are the positions of those that hold another thing, whose key stands in the row. `kin` are the tables in
    which the same things stand. `is_key` tells whether every value of a type is the key of a thing of this table, or NULL.
    `before` returns the committed rows of the things that an open transaction has changed (None: they are new).
    """

    things: Sequence[Any]
    attributes: tuple[str | None, ...]
    references: frozenset[int]
    kin: frozenset[str]
    is_key: Callable[[Type], bool]
    before: Callable[[], Mapping[Any, Row | None]]


class Lender(Protocol):
    """The holder of the rows of tables."""

    def lend(self, table: str) -> Lent | None:
        """How the rows of a table are held, if they can be read without being kept."""


KEY = "oid"
"""The attribute of a thing that is its key."""


class Loan(dict[Any, Any]):
    """A borrowed state where dictionaries are looked up: what it holds goes before what the things say; None: nothing."""

    __slots__ = ("_payload", "_read", "columns", "lent", "table")

    def __init__(self, table: str, lent: Lent, columns: tuple[int, ...], payload: str) -> None:
        super().__init__()
        self.table, self.lent, self.columns, self._payload = table, lent, columns, payload
        self._read = _reader(lent, columns, payload)

    def get(self, key: Any, default: Any = None) -> Any:
        if dict.__contains__(self, key):
            return dict.__getitem__(self, key)
        thing = None if key is None else self.lent.things[key]
        return default if thing is None else self._read(thing)

    def __contains__(self, key: object) -> bool:
        return self.get(key) is not None

    def pop(self, key: Any, default: Any = None) -> Any:
        self[key] = None

    def __call__(self, key: Any, old: Any) -> None:
        """Put back what was there (see `runtime.journal`)."""
        self[key] = old

    def hold(self, rows: Mapping[Any, Row | None]) -> None:
        """Show these rows, whatever the things say by now."""
        for key, row in rows.items():
            self[key] = None if row is None else _pack([row[i] for i in self.columns], self._payload)


def _pack(values: Sequence[Any], payload: str) -> Any:
    return True if payload == "true" else values[0] if payload == "value" else tuple(values)


def _reader(lent: Lent, columns: tuple[int, ...], payload: str) -> Callable[[Any], Any]:
    parts = [_column(lent, i) for i in columns]
    if payload == "true":
        return lambda thing: True
    if payload == "value":
        return parts[0]
    return lambda thing: tuple([part(thing) for part in parts])


def _column(lent: Lent, position: int) -> Callable[[Any], Any]:
    read = attrgetter(lent.attributes[position] or "")
    if position not in lent.references:
        return read
    return lambda thing: None if (other := read(thing)) is None else other.oid


def before(delta: ZSet) -> dict[Any, Row | None]:
    """By key, the rows of a table before a change; None where there was none."""
    rows: dict[Any, Row | None] = {row[0]: row for row, weight in delta.items() if weight < 0}
    for row, weight in delta.items():
        if weight > 0:
            rows.setdefault(row[0], None)
    return rows


# --- choosing ----------------------------------------------------------------------------------------------


def loans(program: Program, layouts: Mapping[str, Layout], lender: Lender | None) -> dict[str, Loan]:
    """The states of a program that need not be kept."""
    if lender is None:
        return {}
    found: dict[str, Loan] = {}
    feeders: dict[str, list[Rule]] = {}
    for rules in program.triggers.values():
        for rule in rules:
            feeders.setdefault(rule.into, []).append(rule)
    inputs = {r.name for r in program.relations if isinstance(r, Input) and r.rows is None}
    read = {r.state for r in program.relations if isinstance(r, Keyed | Linear) and r.state is not None}
    for state in program.states:
        fed = feeders.get(state.name, [])
        if state.name in read or len(fed) != 1 or fed[0].on not in inputs:
            continue
        lent = lender.lend(fed[0].on)
        columns = None if lent is None else _find_copied(state, fed[0], lent)
        if lent is None or columns is None or layouts[state.name].others:
            continue
        if _by_key(program, state, lent) and not _may_look_up(program, state, lent, inputs):
            found[state.name] = Loan(fed[0].on, lent, columns, layouts[state.name].payload)
    return found


def _find_copied(state: State, rule: Rule, lent: Lent) -> tuple[int, ...] | None:
    """The positions of the dependents in the table, if the state is but its key and some of its columns."""
    positions = {c.name: i for i, c in enumerate(rule.binds)}
    terms = (*rule.columns, *rule.dependents)
    if rule.steps or state.accumulators or not state.unique or len(rule.columns) != 1:
        return None
    if rule.count != rule.weight or not all(isinstance(t, Column) and t.name in positions for t in terms):
        return None
    key, *columns = [positions[t.name] for t in terms if isinstance(t, Column)]
    return tuple(columns) if key == 0 and all(lent.attributes[i] is not None for i in columns) else None


def _by_key(program: Program, state: State, lent: Lent) -> bool:
    """Whether every lookup is by the key, and by nothing else."""
    key = state.columns[0].name
    return all(
        len(step.match) == 1
        and step.match[0][0] == key
        and isinstance(step.match[0][1], Column)
        and lent.is_key(step.match[0][1].type)
        and not step.null_safe
        for step in _lookups(rule for rules in program.triggers.values() for rule in rules)
        if step.state == state.name
    )


def _may_look_up(program: Program, state: State, lent: Lent, inputs: set[str]) -> bool:
    """Whether the change of a thing can lead to a lookup of the state."""
    plan = plan_for(program, [name for r in program.relations for name in (r.name,)])
    for table in lent.kin & inputs:
        _, rules = reachable(plan, table)
        if any(step.state == state.name for step in _lookups(rules)):
            return True
    return False


def _lookups(rules: Iterable[Rule]) -> Iterable[Lookup]:
    return (step for rule in rules for step in rule.steps if isinstance(step, Lookup))
