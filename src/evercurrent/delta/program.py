"""The maintenance program: what both engines run.

A program keeps *states* and follows *relations*. A relation is an input table, a sum of rules (`Linear`), a function of
the groups of a state (`Keyed`), or a fixpoint. For each relation there is a *trigger*: the ordered rules that its delta
drives. One transaction runs like this:

    for each relation, in the program's order (inputs first, then each after what it is computed from):
        take its delta: the rows of the transaction (input), the rows that rules have added up (linear),
        f(new group) - f(old group) for the groups that rules have touched (keyed), the net change of the loop (fixpoint);
        run the trigger's rules, in order, each over the whole delta.

With `spend` as the sum of `total` by customer, and 5.00 stored for customer 7:

    orders: +(id 2, customer 7, total 3.00)      state orders by customer: 7 -> sum 8.00, count 2
                                                 spend: -(7, 5.00), +(7, 8.00)

Law L9 (sequence). A rule sees every state as it is when the rule's turn comes: rules before it in the trigger have updated
their states, rules after it have not. The delta of R join R is thus `dR join S`, then `S += dR`, then `S join dR`; and
a batch over several relations is one relation after another, with no cross terms.

Law L10 (deletions first). Within a delta, rows of negative weight are processed before rows of positive weight. So
whatever a key determines is determined at every moment, and a state's dependents are never ambiguous.

Law L11 (existence). An entry of a state exists while its weight is not zero. Its accumulators are sums over its rows, and
so are exactly zero when it is deleted.

Law L12 (beginning). A program starts with empty states. Its first transaction inserts the rows of constant inputs, and
the row that every scalar relation has from the start; both are deltas like any other, and rules see them.

Names of relations, states and columns are data: an engine maps them to identifiers of its own and never pastes them into
source text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal as Choice

from evercurrent.data.types import BIGINT, Type
from evercurrent.term.nodes import Aggregate, Column, SortKey, Term, WindowFunction

WEIGHT = "#"
"""The name under which a state's row count is read; a BIGINT that is never NULL."""


# --- states ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Accumulator:
    """One value per entry of a state that rules add to.

    kind "sum": a number; amounts are added (integers and decimals without bound, floats exactly, see `data.exact`),
    and the sum of no amounts is zero. kind "aggregate": the bag of argument values that `aggregate` is to be read of
    (min, median, collect_list, variance, ...); the engine keeps whatever it needs to answer after any change.
    Reading an accumulator's name returns the sum, or the aggregate's value.
    """

    name: str
    type: Type
    kind: Choice["sum", "aggregate"]
    aggregate: Aggregate | None = None


@dataclass(frozen=True, slots=True)
class State:
    """Entries that are kept: `columns` identify one, `dependents` are determined by them, accumulators add up.

    Every entry also has a weight, the sum of the weights of its rows, read as `#`. `unique` promises that the weight is
    always 1: the engine need not store it. `indexes` are the sets of columns (names, in the order of lookups) that
    rules look entries up by, each with a promise whether at most one entry can match; no columns: all entries are read.
    """

    name: str
    columns: tuple[Column, ...]
    dependents: tuple[Column, ...] = ()
    accumulators: tuple[Accumulator, ...] = ()
    unique: bool = False
    indexes: tuple[Index, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Index:
    columns: tuple[str, ...]
    single: bool = False


# --- rules -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Where:
    """Keep the rows for which the condition is TRUE."""

    condition: Term


@dataclass(frozen=True, slots=True)
class Let:
    """Name a value that later steps use."""

    column: Column
    term: Term


@dataclass(frozen=True, slots=True)
class Span:
    """The range of the entries that a lookup is wanted for: `key`, a term over the state's fields, lies between bounds.

    A bound is a term over the columns at hand, and whether the bound itself is left out. `tests` are the conditions of later
    steps that say the same, so an engine that keeps no order reads every entry that matches.
    """

    key: Term
    low: tuple[Term, bool] | None
    high: tuple[Term, bool] | None
    tests: tuple[Term, ...]

    def bounds(self) -> tuple[Term, ...]:
        return tuple(bound[0] for bound in (self.low, self.high) if bound is not None)

    def rewrite(self, term: Callable[[Term], Term]) -> Span:
        """The same range, with the terms of the rule rewritten."""
        low = self.low and (term(self.low[0]), self.low[1])
        high = self.high and (term(self.high[0]), self.high[1])
        return Span(self.key, low, high, tuple(map(term, self.tests)))


@dataclass(frozen=True, slots=True)
class Lookup:
    """Join with the entries of a state whose index columns equal the given terms.

    `match` pairs a column of the state with a term over the columns at hand; NULL equals nothing, unless the name is in
    `null_safe`, where NULL equals NULL. `binds` pairs what is read of an entry (a column, a dependent, an accumulator or
    `#`) with the column that it is called from here on. With `absent`, nothing is bound: a row stays, once, if no entry
    matches. With `present`, nothing is bound: a row stays, once, if an entry matches (the weight does not count). With
    `outer` (at most one entry can match), a row without a match stays, once, and what would be bound is NULL (a `#` or
    a sum is not bound then). A `span` is a hint: entries outside of it fail the steps that follow.
    """

    state: str
    match: tuple[tuple[str, Term], ...]
    binds: tuple[tuple[str, Column], ...] = ()
    null_safe: frozenset[str] = frozenset()
    absent: bool = False
    present: bool = False
    outer: bool = False
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Explode:
    """Join with the elements of a collection, as `algebra.Unnest` says."""

    collection: Term
    elements: tuple[Column, ...]
    outer: bool
    ordinal: bool
    inline: bool


Step = Where | Let | Lookup | Explode


@dataclass(frozen=True, slots=True)
class Amount:
    """What one row adds to one accumulator.

    For a sum of integers or decimals: `args[0]` is the amount itself, weights already multiplied in; never NULL. For a
    sum of floats: `args[0]` is the value and `weight` says how often it is inserted or deleted (a product would be rounded);
    without a weight, `args[0]` is an integer, the exact amount times 2**120 (`data.exact`), weights multiplied in. For an
    aggregate: `args` are the values of the aggregate's arguments and then of its sort keys, and `weight` likewise.
    `where`, if given, must be TRUE for the amount to count; `args` are not evaluated otherwise.
    """

    args: tuple[Term, ...]
    weight: Term | None = None
    where: Term | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """For every row of the delta of `on`: the steps, from left to right; the results are added to `into`.

    `binds` name the columns of the delta and `weight` its weight. `into` is a state (then `columns`, `dependents`,
    `count` and `amounts` are for its columns, dependents, weight and accumulators) or a linear relation (then `columns`
    are its row and `count` the row's weight).
    """

    on: str
    binds: tuple[Column, ...]
    weight: Column
    steps: tuple[Step, ...]
    into: str
    columns: tuple[Term, ...]
    count: Term
    dependents: tuple[Term, ...] = ()
    amounts: tuple[Amount, ...] = ()


# --- relations ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Input:
    """A base table, or a relation that another program maintains.

    With `rows` it is a constant: these are its contents from the start, and it never has a delta.
    """

    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[object, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class Linear:
    """The sum of all rules into it, consolidated. `state` names the state that keeps its rows, if any does.

    (That state has the same columns; the rule that fills it is the first of this relation's trigger.)
    """

    name: str
    columns: tuple[Column, ...]
    state: str | None = None


@dataclass(frozen=True, slots=True)
class Finalize:
    """At most one row for each entry: `outputs` over the entry's names, as often as `multiplicity` (a BIGINT) says.

    With `scalar` the state has no columns, and an entry of weight zero is finalized like any other: there is always
    a row.
    """

    outputs: tuple[Term, ...]
    multiplicity: Term
    scalar: bool = False


@dataclass(frozen=True, slots=True)
class Windowed:
    """The rows of a group (entries of the state, each as often as its weight), with window functions.

    `outputs` are terms over the state's columns and the functions' columns. Partition terms of the functions are the
    group's key. The order is total: ties in `order` are settled by the state's columns from left to right, ascending,
    NULLs first.
    """

    functions: tuple[tuple[Column, WindowFunction], ...]
    outputs: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Ranked:
    """The rows of a group from `offset` on, `limit` of them (None: all), in order; ties as in `Windowed`.

    With `ties` of "rank" or "dense_rank" (and no offset): the rows whose rank or dense rank in `order` is at most `limit`.
    """

    order: tuple[SortKey, ...]
    limit: int | None
    offset: int
    outputs: tuple[Term, ...]
    ties: Choice["rows", "rank", "dense_rank"] = "rows"

    def __repr__(self) -> str:
        """Names of relations, which warehouses store, are made of it: those of before there were ties stay."""
        said = f"order={self.order!r}, limit={self.limit!r}, offset={self.offset!r}, outputs={self.outputs!r}"
        return f"Ranked({said})" if self.ties == "rows" else f"Ranked({said}, ties={self.ties!r})"


@dataclass(frozen=True, slots=True)
class Keyed:
    """For each touched group of `state` under `key` (names of its columns): f(new group) - f(old group)."""

    name: str
    columns: tuple[Column, ...]
    state: str
    key: tuple[str, ...]
    function: Finalize | Windowed | Ranked


@dataclass(frozen=True, slots=True)
class Loop:
    """One relation of a fixpoint.

    `body` is the linear relation of its one-step derivations; `inner` is the name under which rules of the bodies see it
    (their triggers run inside the loop). The relation itself (`name`) is updated by the net change, once, after the loop.
    `distinct`: a set; a row is in while it has a derivation that does not depend on itself. Otherwise a bag: a row is in as
    often as it is derived.
    """

    name: str
    columns: tuple[Column, ...]
    body: str
    inner: str
    distinct: bool


@dataclass(frozen=True, slots=True)
class Fixpoint:
    """Relations that are defined through each other, updated together until no change is left.

    `limit` is the greatest number of iterations; `state` of a loop relation is kept by the engine (rows and derivations).
    """

    name: str
    loops: tuple[Loop, ...]
    limit: int | None = None


Relation = Input | Linear | Keyed | Fixpoint


@dataclass(frozen=True, slots=True)
class Assumption:
    """Rows of `parent` do not change, come late or go early while rows of `child` refer to them.

    Under it the delta of the parent joins with no child, and the program keeps no state for that. An engine orders the
    inputs of a transaction so that it holds (children go first, parents come first); the database notices a transaction
    that breaks it (an update of a referenced parent's `columns`) and recompiles the program without. A parent row that is
    replaced by one with equal `columns` is deleted and inserted at one moment, for its children may stay.
    """

    child: str
    parent: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """Rules take an amount apart, which is right while it cannot overflow and is not rounded (see `delta.bounds`).

    `amount` is said over fields of tables, `table.field`. A rule that would go beyond raises `OutOfBounds` with the name.
    """

    name: str
    amount: Term


@dataclass(frozen=True, slots=True)
class MapChoice:
    """A map that could be kept for changes of `driver`, over `sources`, found by `by`; rules into `into` ask for it.

    `without` are the entries that a change of the driver visits without it, `upkeep` those that keeping it costs for each
    such change (see `delta.upkeep`).
    """

    name: str
    into: str
    driver: str
    sources: tuple[str, ...]
    by: tuple[str, ...]
    kept: bool
    without: float
    upkeep: float


@dataclass(frozen=True, slots=True)
class Program:
    """Relations in the order in which they run, states, triggers, and which relation each view is."""

    relations: tuple[Relation, ...]
    states: tuple[State, ...]
    triggers: dict[str, tuple[Rule, ...]] = field(default_factory=dict)
    views: dict[str, str] = field(default_factory=dict)
    assumptions: tuple[Assumption, ...] = ()
    bounds: tuple[Bound, ...] = ()
    choices: tuple[MapChoice, ...] = ()

    def state(self, name: str) -> State:
        return next(s for s in self.states if s.name == name)


def weight_column() -> Column:
    return Column(WEIGHT, BIGINT, False)
