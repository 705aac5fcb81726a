"""Sources that are joined by inequalities and matter only in sums: one lookup in an ordered state.

    count(*) and sum(s.b) over r join s on r.k = s.k and s.b > r.a

For a row of r, the rows of s under its k add up to a weight and a sum over the range beyond r.a. The state of s has one entry for
each k, and in it the rows of s in the order of b (an aggregate `ordered`); `sum_above` reads the weight and the sums of a range.
`s.b <> r.a` is two ranges, below and above.

    Delta            rules of their own, like any state
    State            the different values of b under each k, with the weight and the sums at each
    Cost             a logarithm of their number for each change and each lookup
    Correct because  the conditions say that a row of s counts exactly if its b is in the range

Where the rows of s are shown, the lookup has a *span*: the range that conditions at hand say, as a hint for engines that keep the
entries of the state in that order (`engine/live/runtime/ordered_entries.py`).

    r.id, s.id over r join s on s.b > r.a        on r: look up s, in order of b from r.a
                                                 where s.b > r.a
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evercurrent.data.types import (
    BIGINT,
    BOOLEAN,
    INT,
    Date,
    Decimal,
    Float,
    Integer,
    String,
    Timestamp,
    Type,
)
from evercurrent.delta.aggregates import Part
from evercurrent.delta.analysis import Analysis, Share
from evercurrent.delta.blocks import names_of, replace_columns
from evercurrent.delta.definitions import Feed, StateOf, canonical, digest, field_names, state_name
from evercurrent.delta.factor import is_ring, is_safe, scale_of
from evercurrent.delta.program import WEIGHT, Accumulator, Let, Lookup, MapChoice, Span, Where
from evercurrent.delta.states import Kept, States
from evercurrent.delta.upkeep import ALL, DEFAULT, Balance, Upkeep, fields_of
from evercurrent.term.build import call, case, lit
from evercurrent.term.failing import can_fail
from evercurrent.term.nodes import Aggregate, Call, Cast, Column, Literal, Term
from evercurrent.term.nullable import nullable
from evercurrent.term.walk import rewrite

if TYPE_CHECKING:
    from evercurrent.delta.lookups import Derivation, Match

ORDERED = "*0"
"""The accumulator of an ordered state."""

ORDER_COST = 16.0
"""To keep a row in order costs about as much as to visit so many entries."""

MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "ne": "ne"}


@dataclass(frozen=True, slots=True)
class Range:
    """The values of `key`, a term over one source, between bounds that are at hand; `conditions` say so."""

    key: Term
    low: tuple[Term, bool] | None  # the bound, and whether it is left out
    high: tuple[Term, bool] | None
    conditions: tuple[Term, ...]
    split: bool = False
    """Whether it is what lies outside of the bounds: both are the value that is left out."""

    def read(self, ordered: Column, i: int) -> Term:
        """The i-th sum over the range; 0 is the weight."""
        which = lit(i, INT)
        if self.low is not None and self.high is not None:
            (low, low_open), (high, high_open) = self.low, self.high
            if self.split:
                below, above = replace(self, low=None), replace(self, high=None)
                return call("ring_add", below.read(ordered, i), above.read(ordered, i))
            args = (ordered, which, low, lit(low_open, BOOLEAN), high, lit(high_open, BOOLEAN))
            return Call("sum_within", args, BIGINT)
        bound, is_open = self.low or self.high  # type: ignore[misc]
        return Call(
            "sum_above" if self.low is not None else "sum_below",
            (ordered, which, bound, lit(is_open, BOOLEAN)),
            BIGINT,
        )

    def bounds(self) -> list[Term]:
        return [bound for bound, _ in filter(None, (self.low, None if self.split else self.high))]


def find_range(a: Analysis, j: int, pending: Iterable[Term], available: frozenset[str]) -> Range | None:
    """The range of a term over source j that the conditions at hand say, if they say no more of it."""
    own = frozenset((j,))
    key: Term | None = None
    low = high = None
    split = False
    used: list[Term] = []
    for c in pending:
        if j not in a.homes(c) or a.is_within(c, own):
            continue
        sides = find_comparison(a, c, own)
        if sides is None:
            return None
        comparison, mine, other = sides
        if not names_of(other) <= available or (key is not None and mine != key):
            return None
        key = mine
        bound = other, comparison in ("lt", "gt", "ne")
        split = split or comparison == "ne"
        if comparison in ("gt", "ge", "ne"):
            if low is not None:
                return None
            low = bound
        if comparison in ("lt", "le", "ne"):
            if high is not None:
                return None
            high = bound
        used.append(c)
    return None if key is None else Range(key, low, high, tuple(used), split)


def find_comparison(a: Analysis, condition: Term, own: frozenset[int]) -> tuple[str, Term, Term] | None:
    """A comparison as (how, a term over the source, a term over others)."""
    match condition:
        case Call("lt" | "le" | "gt" | "ge" | "ne" as comparison, (x, y)):
            for how, mine, other in ((comparison, x, y), (MIRRORED[comparison], y, x)):
                safe = is_safe(mine) or is_ring(mine) or not can_fail(mine)
                if a.homes(mine) == own and not own & a.homes(other) and safe:
                    if mine.type == other.type and is_ordered(mine.type):
                        key, offset = without_constant(mine)
                        shift = Literal(offset, mine.type)
                        return how, key, call("ring_sub", other, shift) if offset else other
    return None


def without_constant(term: Term) -> tuple[Term, int]:
    """A term as another one and a constant that is added to it, so that all bounds of a column speak of the column.

    `s.b <= r.a + 2` is `s.b - 2 <= r.a`, where sums have no bounds.
    """
    match term:
        case Cast(of, type) if scale_of(of.type) == scale_of(type) and is_exact(of.type) and is_exact(type):
            return without_constant(of)
        case Call("ring_add" | "ring_sub" | "add" | "sub" as function, (x, Literal(int(n)) as constant)):
            shift = scale_of(term.type) - scale_of(constant.type)
            if is_exact(term.type) and scale_of(x.type) == scale_of(term.type) and shift >= 0:
                key, more = without_constant(x)
                n *= 10**shift
                return key, more + (n if function in ("ring_add", "add") else -n)
    return term, 0


def is_exact(type: Type) -> bool:
    return isinstance(type, Integer | Decimal)


def is_ordered(type: Type) -> bool:
    """Whether values of a type compare in Python as they do in queries."""
    return isinstance(type, Integer | Decimal | Date | Timestamp | String | Float)


def keep_ordered(states: States, a: Analysis, j: int, matched: list[str], key: Term) -> Kept:
    """The state of a source under the matched columns, ordered by a term."""
    own = frozenset((j,))
    block = states.block_of(a, own)
    terms = tuple(a.expansion(a.columns[n]) for n in matched)
    names = field_names(terms, block)
    columns = tuple(
        Column(n, a.columns[b].type, a.columns[b].nullable) for n, b in zip(names, matched, strict=True)
    )
    measures = states.measures(a, own)
    args = (a.expansion(key), *map(amount, measures.values()))
    aggregate = Aggregate(
        "ordered", tuple(Column(f"x{i}", t.type, nullable(t)) for i, t in enumerate(args)), BIGINT
    )
    accumulator = Accumulator(ORDERED, BIGINT, "aggregate", aggregate)
    where = call("is_not_null", args[0]) if nullable(args[0]) else None
    feed = Feed(block, terms, (), (Part(accumulator, args, where),))
    name = state_name([feed], columns, (), (accumulator,), states.rank(a, own))
    relation = a.sources[j].relation.split("~")[0]
    states.add(StateOf(name, columns, (), (accumulator,), False, (feed,), f"{relation} in order, with sums"))
    meanings: dict[Share, str] = {share: f"+{i}" for i, share in enumerate(measures, 1)}
    own_names = dict(zip(matched, names, strict=True))
    return Kept(name, own_names, {n: n for n in matched}, {}, meanings, False, (frozenset(names),))


def amount(part: Part) -> Term:
    """What a row adds to a sum; nothing, if it does not count."""
    (term,) = part.args
    return term if part.where is None else case(((part.where, term),), lit(0, term.type))


# --- in a rule ---------------------------------------------------------------------------------------------


def range_of(d: Derivation, j: int, matches: Sequence[Match]) -> Range | None:
    """The range of a source's rows that counts, where all that matters of them are sums over it."""
    if any(p is None for p in d.a.polynomials) or any(m.null_safe or m.condition for m in matches):
        return None
    available = frozenset(n for n in d.a.columns if d.available(n)) | frozenset(d.bound)
    found = find_range(d.a, j, d.pending, available)
    if found is None:
        return None
    shown = d.states.find_mentioned_outside(d.a, frozenset((j,)), found.conditions)
    roots = {d.a.classes.find(m.name) for m in matches}
    if not {d.a.classes.find(n) for n in shown} <= roots:
        return None
    return found if not matches or is_worth(d, j, matches, found) else None


def is_worth(d: Derivation, j: int, matches: Sequence[Match], found: Range) -> bool:
    """Whether order pays where equalities leave few rows to compare: by what is known of the tables, or if all maps are wanted."""
    states, source = d.states, d.a.sources[j]
    if states.least_fan_out != DEFAULT or source.relation not in states.tables:
        return states.least_fan_out == ALL
    fields = fields_of(source, {m.name for m in matches})
    if fields is None:
        return False
    name = digest(canonical(d.a.feed), str(d.driver), repr(found.key), repr(sorted(fields)))
    return states.ask(IsWorthOrder(name, d.a, d.driver, j, d.into, fields, found.key))


@dataclass(frozen=True, slots=True)
class IsWorthOrder:
    """Whether a source is to be kept in the order of `key`, under the values of `fields`, for changes of the driver."""

    name: str
    a: Analysis
    driver: int
    source: int
    into: str
    fields: tuple[str, ...]
    key: Term

    def answer(self, states: States) -> tuple[bool | None, MapChoice | None]:
        if states.statistics is None:
            return False, None
        relation, driver = self.a.sources[self.source].relation, self.a.sources[self.driver].relation
        upkeep = Upkeep(self.a, states.statistics, states.tables)
        own = upkeep.rate(self.source)
        rate = upkeep.rate(self.driver) if driver in states.tables else own
        balance = Balance(states.statistics.fan_out(relation, self.fields), ORDER_COST * own / rate)
        kept = balance.pays(self.name in states.kept_maps)
        by = (*self.fields, *sorted(n.partition("~")[0] for n in names_of(self.key)))
        choice = MapChoice(
            self.name, self.into, driver, (relation,), by, kept, balance.without, balance.upkeep
        )
        return kept, choice


def look_up_range(d: Derivation, j: int, matches: Sequence[Match], found: Range) -> None:
    """Joins with the sums over a range of an ordered source."""
    group = frozenset((j,))
    kept = keep_ordered(d.states, d.a, j, [m.name for m in matches], found.key)
    d.constrain(group, kept)
    d.pending = [
        c for c in d.pending if not any(c is t for t in found.conditions) and not d.a.is_within(c, group)
    ]
    local = replace(
        found,
        low=found.low and (d.local(found.low[0]), found.low[1]),
        high=found.high and (d.local(found.high[0]), found.high[1]),
    )
    d.fresh += 1
    rows = Column(f"o~{d.fresh}", BIGINT, False)
    match = tuple((kept.columns[m.name], m.term) for m in matches)
    for m in matches:
        d.bind(m.name, m.term)
    d.states.index(kept.name, tuple(name for name, _ in match), True)
    d.steps.append(Lookup(kept.name, match, ((ORDERED, rows),)))
    for bound in local.bounds():  # after the lookup: without rows to compare with, a bound is not computed
        if nullable(bound):
            d.steps.append(Where(call("is_not_null", bound)))
    sums: dict[str, Column] = {}
    for i, name in enumerate((WEIGHT, *kept.meanings.values())):
        d.fresh += 1
        sums[name] = Column(f"w~{d.fresh}" if i == 0 else f"m~{d.fresh}", BIGINT, False)
        d.steps.append(Let(sums[name], local.read(rows, i)))
        if i == 0:
            d.steps.append(Where(call("ne", sums[name], lit(0, BIGINT))))
    d.weights.append(sums[WEIGHT])
    d.summed.append((group, kept, sums))
    d.remaining -= group


# --- rows of a range ---------------------------------------------------------------------------------------


def find_order(d: Derivation, group: frozenset[int], kept: Kept, matches: Sequence[Match]) -> Range | None:
    """The range that conditions at hand put the rows of a group in, where the state is worth being kept in that order.

    Unlike `find_range`, it need not say all that the conditions say: they are tested for the rows of the range.
    """
    if not d.states.ordered or kept.is_single(kept.column(m.name) for m in matches):
        return None
    if any(m.null_safe for m in matches):
        return None
    available = frozenset(n for n in d.a.columns if d.available(n)) | frozenset(d.bound)
    found: Range | None = None
    for c in d.pending:
        own = frozenset(h for h in d.a.homes(c) if h is not None) & group
        sides = find_comparison(d.a, c, own) if len(own) == 1 else None
        if (
            sides is None
            or not names_of(sides[2]) <= available
            or not names_of(sides[1]) <= kept.alike.keys()
        ):
            continue
        comparison, key, other = sides
        found = found or Range(key, None, None, ())
        bound = other, comparison in ("lt", "gt")
        if key != found.key or comparison == "ne":
            continue
        if comparison in ("gt", "ge") and found.low is None:
            found = replace(found, low=bound, conditions=(*found.conditions, c))
        elif comparison in ("lt", "le") and found.high is None:
            found = replace(found, high=bound, conditions=(*found.conditions, c))
    if found is None or not found.conditions:
        return None
    (j,) = frozenset(h for h in d.a.homes(found.key) if h is not None)
    return found if is_worth_rows(d, j, matches, found) else None


def is_worth_rows(d: Derivation, j: int, matches: Sequence[Match], found: Range) -> bool:
    """Whether order pays for rows: without an equality it does, unless it is known that other tables hardly ever ask for it."""
    known = d.states.statistics is not None and d.a.sources[j].relation in d.states.tables
    return (not matches and not known) or is_worth(d, j, matches, found)


def span_of(d: Derivation, kept: Kept, found: Range) -> Span:
    """The range as a hint of a lookup, whose columns are bound by now."""
    names: dict[str, Term] = {n: replace(d.a.columns[n], name=kept.column(n)) for n in names_of(found.key)}
    low = found.low and (d.local(found.low[0]), found.low[1])
    high = found.high and (d.local(found.high[0]), found.high[1])
    key = rewrite(replace_columns(found.key, names), without_check)
    return Span(key, low, high, tuple(map(d.local, found.conditions)))


def without_check(term: Term) -> Term:
    """The number itself where a bound is checked: that of a row was checked when it was compared with others."""
    return term.args[0] if isinstance(term, Call) and term.function == "bounded" else term
