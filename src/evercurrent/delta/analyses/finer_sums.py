"""A program without the states of sums that can be added up from a finer state, where that costs no more than was paid anyway.

    SELECT ... WHERE l_partkey = p_partkey AND l_quantity < (SELECT 0.2 * avg(l_quantity) ... WHERE l_partkey = p_partkey)

    lineitem by l_partkey (l_partkey; sum(l_quantity))                     looked up when a part is inserted or deleted
    lineitem by l_partkey (l_partkey, l_quantity; sum(l_extendedprice))    looked up then as well: its entries say it all

Law. A rule whose result is linear in what it reads of an entry may read the entries that the entry is the sum of instead, one
after another: `f(sum of e) = sum of f(e)`.

So every row of lineitem changes one state instead of two. The coarse state is left out where each of its readers runs for
changes of tables that look the finer state up by the same columns in any case, and not for changes of what both sum up. Then
such a change visits the same entries twice instead of once, and all others become cheaper.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from evercurrent.data.types import BIGINT, Decimal, Integer
from evercurrent.delta.analyses.levels import inner_relations
from evercurrent.delta.program import (
    WEIGHT,
    Amount,
    Input,
    Keyed,
    Let,
    Linear,
    Lookup,
    Program,
    Rule,
    State,
    Step,
    Where,
)
from evercurrent.delta.terms import list_bound, terms_of
from evercurrent.term.build import call
from evercurrent.term.nodes import Call, Case, Column, Literal, Term, Variable
from evercurrent.term.walk import columns_of, nodes, substitute


@dataclass(frozen=True, slots=True)
class Finer:
    """How a state is read from a finer one: the name there of each column, and the meaning of each sum of an entry.

    A meaning is an accumulator's name, or the factors that multiply the weight, over fields of the finer state, with the
    condition under which an entry counts.
    """

    state: State
    columns: Mapping[str, str]
    meanings: Mapping[str, str | tuple[tuple[Term, ...], Term | None]]


def without_coarse_sums(program: Program) -> Program:
    """The same program with fewer states."""
    inner = set(inner_relations(program))
    if inner:
        return program  # states of loops are filled and emptied in iterations of their own
    for state in program.states:
        readers = [
            (on, rule)
            for on, rules in program.triggers.items()
            for rule in rules
            if any(isinstance(s, Lookup) and s.state == state.name for s in rule.steps)
        ]
        if not readers or not is_coarse(program, state):
            continue
        for other in program.states:
            finer = find_finer(program, state, other)
            if finer is not None and all(is_paid(program, state, finer, on, rule) for on, rule in readers):
                program = read_finer(program, state, finer)
                break
    return program


def is_coarse(program: Program, state: State) -> bool:
    """Whether the state consists of exact sums that only lookups read."""
    followed = any(isinstance(r, Keyed | Linear) and r.state == state.name for r in program.relations)
    exact = all(a.kind == "sum" and isinstance(a.type, Integer | Decimal) for a in state.accumulators)
    return not followed and exact and not state.unique and not state.dependents and bool(state.accumulators)


# --- whether one state is finer than another ---------------------------------------------------------------


def find_finer(program: Program, state: State, other: State) -> Finer | None:
    """How the state can be read from the other one; None if it cannot."""
    if other.name == state.name or other.unique or not len(other.columns) > len(state.columns):
        return None
    pairs = match_feeders(program, state, other)
    if not pairs:
        return None
    fields = [c.name for c in (*other.columns, *other.dependents)]
    columns: dict[str, str] = {}
    for i, column in enumerate(state.columns):
        there = [
            f
            for j, f in enumerate(fields)
            if all(mine.columns[i] == (*theirs.columns, *theirs.dependents)[j] for mine, theirs in pairs)
        ]
        if not there:
            return None
        columns[column.name] = there[0]
    meanings: dict[str, str | tuple[tuple[Term, ...], Term | None]] = {}
    for i, accumulator in enumerate(state.accumulators):
        found = {find_meaning(mine.amounts[i], theirs, other) for mine, theirs in pairs}
        meaning = found.pop()
        if found or meaning is None:
            return None
        meanings[accumulator.name] = meaning
    return Finer(other, columns, meanings)


def match_feeders(program: Program, state: State, other: State) -> list[tuple[Rule, Rule]]:
    """Pairs of rules that add the same rows to both states, the first in the words of the second; none if some have no pair."""
    mine, theirs = list_feeders(program, state), list_feeders(program, other)
    pairs = []
    for rule in mine:
        twins = [(t, said) for t in theirs if (said := say_like(rule, t)) is not None]
        if len(twins) != 1:
            return []
        pairs.append((twins[0][1], twins[0][0]))
    return pairs if len(mine) == len(theirs) else []


def list_feeders(program: Program, state: State) -> list[Rule]:
    return [r for rules in program.triggers.values() for r in rules if r.into == state.name]


def say_like(rule: Rule, other: Rule) -> Rule | None:
    """The rule with the column names of the other one, if both do the same up to what they add."""
    if rule.on != other.on or len(rule.steps) != len(other.steps):
        return None
    names: dict[Column | Variable, Term] = dict(zip(rule.binds, other.binds, strict=True))
    names[rule.weight] = other.weight

    def rename(t: Term) -> Term:
        return substitute(t, names)

    for a, b in zip(rule.steps, other.steps, strict=True):
        if isinstance(a, Where) and isinstance(b, Where):
            same: Step = Where(rename(a.condition))
        elif isinstance(a, Lookup) and isinstance(b, Lookup) and len(a.binds) == len(b.binds):
            match, span = tuple((n, rename(t)) for n, t in a.match), a.span and a.span.rewrite(rename)
            same = replace(a, match=match, binds=b.binds, span=span)
            if [n for n, _ in a.binds] != [n for n, _ in b.binds]:
                return None
        else:
            return None
        if same != b:
            return None
        names |= dict(zip(list_bound(a), list_bound(b), strict=True))
    if rename(rule.count) != other.count:
        return None
    return replace(
        other,
        into=rule.into,
        columns=tuple(map(rename, rule.columns)),
        dependents=(),
        amounts=tuple(
            Amount(tuple(map(rename, x.args)), x.weight and rename(x.weight), x.where and rename(x.where))
            for x in rule.amounts
        ),
    )


def find_meaning(
    amount: Amount, theirs: Rule, other: State
) -> str | tuple[tuple[Term, ...], Term | None] | None:
    """What an amount of the coarse state is to the finer one, over the fields of that."""
    for accumulator, known in zip(other.accumulators, theirs.amounts, strict=True):
        if known == amount and accumulator.kind == "sum":
            return accumulator.name
    if amount.weight is not None or len(amount.args) != 1:
        return None
    factors = list_factors(amount.args[0])
    for factor in list_factors(theirs.count):
        if factor not in factors:
            return None
        factors.remove(factor)
    fields: dict[Column | Variable, Term] = {
        t: Column(c.name, c.type, c.nullable)
        for c, t in zip(
            (*other.columns, *other.dependents), (*theirs.columns, *theirs.dependents), strict=True
        )
        if isinstance(t, Column)
    }
    terms = [*factors, *([] if amount.where is None else [amount.where])]
    if not all(c in fields for t in terms for c in columns_of(t)):
        return None
    where = None if amount.where is None else substitute(amount.where, fields)
    return tuple(substitute(f, fields) for f in factors), where


def list_factors(term: Term) -> list[Term]:
    """The factors of a product of the ring."""
    match term:
        case Call("ring_mul", args):
            return [f for a in args for f in list_factors(a)]
        case Literal(1):
            return []
        case _:
            return [term]


# --- whether it costs no more ------------------------------------------------------------------------------


def is_paid(program: Program, state: State, finer: Finer, on: str, rule: Rule) -> bool:
    """Whether a reader may visit the entries of the finer state, in which every rule sees what it saw in the coarse one."""
    fed = {r.on for r in list_feeders(program, state)}
    lookups = [s for s in rule.steps if isinstance(s, Lookup) and s.state == state.name]
    if len(lookups) != 1 or rule.into == finer.state.name or not is_linear(rule, lookups[0], state):
        return False
    by = {finer.columns[name] for name, _ in lookups[0].match}
    if not by or not any(set(i.columns) == by for i in finer.state.indexes):
        return False
    sources = [r.name for r in program.relations if isinstance(r, Input) and on in reach(program, [r.name])]
    if on in reach(program, fed) or not sources:
        return False
    return all(
        any(
            isinstance(s, Lookup)
            and s.state == finer.state.name
            and {n for n, _ in s.match} == by
            and s.span is None  # the entries of a range are fewer than those that the sums are made of
            for r in program.triggers.get(source, ())
            for s in r.steps
        )
        for source in sources
    )


def reach(program: Program, start: Iterable[str]) -> set[str]:
    """The relations of which a change can change others, those of `start` included."""
    found = set(start)
    frontier = list(found)
    while frontier:
        targets = {r.into for r in program.triggers.get(frontier.pop(), ())}
        for r in program.relations:
            moved = r.name in targets or (isinstance(r, Keyed) and r.state in targets)
            if moved and r.name not in found:
                found.add(r.name)
                frontier.append(r.name)
    return found


def is_linear(rule: Rule, lookup: Lookup, state: State) -> bool:
    """Whether all that the rule adds has exactly one factor from the entry that is looked up."""
    numbers = {WEIGHT, *(a.name for a in state.accumulators)}
    if lookup.absent or lookup.outer or lookup.present or not {n for n, _ in lookup.binds} <= numbers:
        return False
    read = {c for _, c in lookup.binds}
    used = [
        t
        for t in terms_of(replace(rule, count=Literal(1, rule.count.type), amounts=()))
        if read & set(columns_of(t))
    ]
    plain = [t for a in rule.amounts for t in (a.where, *(a.args if a.weight is not None else ())) if t]
    if used or any(read & set(columns_of(t)) for t in plain):
        return False
    counts = [a.args[0] if a.weight is None else a.weight for a in rule.amounts if a.args]
    return len(counts) == len(rule.amounts) and all(has_one_factor(t, read) for t in (rule.count, *counts))


def has_one_factor(term: Term, read: set[Column]) -> bool:
    factors = list_factors(term)
    inside = [f for f in factors if read & set(columns_of(f))]
    return len(inside) == 1 and isinstance(inside[0], Column)


# --- reading it --------------------------------------------------------------------------------------------


def read_finer(program: Program, state: State, finer: Finer) -> Program:
    """The program without the state; its readers read the finer one."""
    triggers = {
        on: tuple(
            replace(r, steps=tuple(rewrite(r.steps, state, finer))) for r in rules if r.into != state.name
        )
        for on, rules in program.triggers.items()
    }
    return replace(
        program,
        states=tuple(s for s in program.states if s.name != state.name),
        triggers={on: rules for on, rules in triggers.items() if rules},
    )


def rewrite(steps: Iterable[Step], state: State, finer: Finer) -> Iterator[Step]:
    for i, step in enumerate(steps):
        if isinstance(step, Lookup) and step.state == state.name:
            yield from read_entries(step, finer, f"~of{i}")
        else:
            yield step


def read_entries(step: Lookup, finer: Finer, mark: str) -> Iterator[Step]:
    """The lookup of the finer state, and what its entries mean for the names that were bound; `mark` makes names unique."""
    binds = dict(step.binds)
    weight = binds.get(WEIGHT) or Column(f"{WEIGHT}{mark}", BIGINT, False)
    read: dict[str, Column] = {WEIGHT: weight}
    lets: list[Step] = []
    for name, column in binds.items():
        meaning = WEIGHT if name == WEIGHT else finer.meanings[name]
        if isinstance(meaning, str):
            read[meaning] = column
            continue
        factors, where = meaning
        local = {c: Column(f"{c.name}{mark}", c.type, c.nullable) for c in list_columns(factors, where)}
        read |= {c.name: there for c, there in local.items()}
        fields: dict[Column | Variable, Term] = {c: there for c, there in local.items()}
        said = [substitute(f, fields) for f in factors]
        term: Term = call("ring_mul", weight, *said) if said else weight
        if where is not None:
            term = Case(((substitute(where, fields), term),), Literal(0, column.type), column.type)
        lets.append(Let(column, term))
    match = tuple((finer.columns[name], term) for name, term in step.match)
    safe = frozenset(finer.columns[name] for name in step.null_safe)
    yield Lookup(finer.state.name, match, tuple(read.items()), safe)
    yield from lets


def list_columns(factors: Iterable[Term], where: Term | None) -> list[Column]:
    """The columns of terms, each once."""
    found = (n for t in (*factors, where) if t is not None for n in nodes(t))
    return list(dict.fromkeys(n for n in found if isinstance(n, Column)))
