"""A program without the counts that only tell no value from zero, where everyone who asks takes them as the same.

The sum of no values is NULL, so beside a sum there is a count of the values in it. OQL says that this sum is zero, and so do
people: `coalesce(sum(x), 0)`. If that is all that is ever made of a sum, its count is of no use:

    case when +1 = 0 then null else +0 end,  read as coalesce(_, 0)      becomes      +0

Law. `coalesce(case when n = 0 then null else s end, 0) = s` where s is zero whenever n is: a sum is (law L11).

Only a relation that no one but rules can see is changed, together with the states that copy the column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from evercurrent.data.types import Decimal, Integer
from evercurrent.delta.program import (
    Amount,
    Explode,
    Finalize,
    Fixpoint,
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
from evercurrent.delta.terms import terms_of
from evercurrent.term.nodes import Call, Case, Column, Literal, Term, Variable
from evercurrent.term.walk import nodes, substitute

Field = tuple[str, str]
"""A relation or a state, and the name of one of its columns."""


def lean(program: Program) -> Program:
    """The same program with fewer counts."""
    finder = _Finder(program)
    dropped: dict[str, set[str]] = {}
    outputs: dict[str, tuple[Term, ...]] = {}
    full: set[Field] = set()
    for state in program.states:
        readers = [r for r in finder.keyed if r.state == state.name]
        for name in [a.name for a in state.accumulators]:
            found = finder.useless(state, name, readers)
            if found is not None:
                dropped.setdefault(state.name, set()).add(name)
                full |= found
                for r in readers:
                    assert isinstance(r.function, Finalize)
                    given = outputs.get(r.name, r.function.outputs)
                    outputs[r.name] = tuple(_sum_beside(t, name) or t for t in given)
    return _without(program, dropped, outputs, full) if dropped else program


def _sum_beside(term: Term, count: str) -> Term | None:
    """What `case when count = 0 then null else sum end` is if there is something."""
    match term:
        case Case(((Call("eq", (Column(name), Literal(0))), Literal(None)),), found) if name == count:
            match found:
                case Column(type=Integer() | Decimal()) | Call("ring_check", (Column(),)):
                    return found
    return None


def _mentions(terms: Iterable[Term], name: str) -> int:
    return sum(1 for t in terms for n in nodes(t) if isinstance(n, Column) and n.name == name)


def _count_zeroed(terms: Iterable[Term], name: str) -> int:
    """How often the column is read with zero in place of NULL."""
    found = 0
    for t in terms:
        for n in nodes(t):
            match n:
                case Call("coalesce", (Column(read), Literal(0))) if read == name:
                    found += 1
    return found


@dataclass(slots=True)
class _Finder:
    program: Program
    keyed: list[Keyed] = field(init=False)
    seen: set[str] = field(init=False)
    feeders: Counter[str] = field(init=False)

    def __post_init__(self) -> None:
        relations = self.program.relations
        self.keyed = [r for r in relations if isinstance(r, Keyed)]
        loops = [r for r in relations if isinstance(r, Fixpoint)]
        self.seen = {*self.program.views.values(), *(x.name for r in loops for x in r.loops)}
        self.seen |= {r.state for r in relations if isinstance(r, Keyed | Linear) and r.state is not None}
        self.feeders = Counter(rule.into for rule in self.rules())

    def rules(self) -> Iterator[Rule]:
        for rules in self.program.triggers.values():
            yield from rules

    def useless(self, state: State, count: str, readers: list[Keyed]) -> set[Field] | None:
        """The columns that are never NULL without the count; None if somebody needs it."""
        asked = any(
            isinstance(s, Lookup) and s.state == state.name for rule in self.rules() for s in rule.steps
        )
        if asked or not readers:
            return None
        found: set[Field] = set()
        for r in readers:
            if not isinstance(r.function, Finalize) or r.name in self.seen:
                return None
            if _mentions([r.function.multiplicity], count):
                return None
            for column, output in zip(r.columns, r.function.outputs, strict=True):
                if not _mentions([output], count):
                    continue
                if _sum_beside(output, count) is None or not self.is_zeroed(r, column.name, found):
                    return None
        return found or None

    def is_zeroed(self, r: Keyed, column: str, found: set[Field]) -> bool:
        found.add((r.name, column))
        position = [c.name for c in r.columns].index(column)
        return all(
            self.in_rule(rule, rule.binds[position].name, found)
            for rule in self.program.triggers.get(r.name, ())
        )

    def in_rule(self, rule: Rule, name: str, found: set[Field]) -> bool:
        """Whether the rule reads the column with zero for NULL only, or copies it where it is read so."""
        terms = list(terms_of(rule))
        copies = [t for t in (*rule.columns, *rule.dependents) if isinstance(t, Column) and t.name == name]
        if _mentions(terms, name) != _count_zeroed(terms, name) + len(copies):
            return False
        if not copies:
            return True
        state = next((s for s in self.program.states if s.name == rule.into), None)
        if state is None or state.name in self.seen or self.feeders[state.name] != 1:
            return False
        fields = zip((*state.columns, *state.dependents), (*rule.columns, *rule.dependents), strict=True)
        return all(
            self.in_state(state, c.name, found) for c, t in fields if isinstance(t, Column) and t.name == name
        )

    def in_state(self, state: State, name: str, found: set[Field]) -> bool:
        if state.unique and name in {c.name for c in state.columns}:
            return False
        found.add((state.name, name))
        for rule in self.rules():
            for step in rule.steps:
                if not isinstance(step, Lookup) or step.state != state.name:
                    continue
                if any(n == name for n, _ in step.match):
                    return False
                if not all(self.in_rule(rule, c.name, found) for n, c in step.binds if n == name):
                    return False
        return True


# --- rewriting it -------------------------------------------------------------------------------------------


def _without(
    program: Program, dropped: dict[str, set[str]], outputs: dict[str, tuple[Term, ...]], full: set[Field]
) -> Program:
    columns = {r.name: r.columns for r in program.relations if isinstance(r, Keyed)}

    def never_null(owner: str, cs: tuple[Column, ...]) -> tuple[Column, ...]:
        return tuple(replace(c, nullable=False) if (owner, c.name) in full else c for c in cs)

    def of_relation(r: Keyed) -> Keyed:
        assert isinstance(r.function, Finalize)
        function = replace(r.function, outputs=outputs[r.name])
        return replace(r, columns=never_null(r.name, r.columns), function=function)

    def of_state(s: State) -> State:
        gone = dropped.get(s.name, set())
        return replace(
            s,
            columns=never_null(s.name, s.columns),
            dependents=never_null(s.name, s.dependents),
            accumulators=tuple(a for a in s.accumulators if a.name not in gone),
        )

    def of_rule(rule: Rule) -> Rule:
        known = {
            b.name: b
            for c, b in zip(columns.get(rule.on, ()), rule.binds, strict=False)
            if (rule.on, c.name) in full
        }
        for step in rule.steps:
            if isinstance(step, Lookup) and not step.outer:
                known |= {c.name: c for n, c in step.binds if (step.state, n) in full}
        if rule.into in dropped:
            state = program.state(rule.into)
            pairs = zip(state.accumulators, rule.amounts, strict=True)
            rule = replace(rule, amounts=tuple(x for a, x in pairs if a.name not in dropped[rule.into]))
        return (
            _replace_columns(rule, {n: replace(c, nullable=False) for n, c in known.items()})
            if known
            else rule
        )

    return replace(
        program,
        relations=tuple(of_relation(r) if r.name in outputs else r for r in program.relations),  # type: ignore[arg-type]
        states=tuple(map(of_state, program.states)),
        triggers={name: tuple(map(of_rule, rules)) for name, rules in program.triggers.items()},
    )


def _replace_columns(rule: Rule, by: Mapping[str, Column]) -> Rule:
    """The rule with columns replaced by others of the same names."""
    replaced: dict[Column | Variable, Term] = {c: c for c in by.values()}

    def term(t: Term) -> Term:
        return substitute(t, replaced)

    def replace_column(c: Column) -> Column:
        return by.get(c.name, c)

    def step(s: Step) -> Step:
        match s:
            case Where(condition):
                return Where(term(condition))
            case Let(column, t):
                return Let(column, term(t))
            case Lookup(match=match, binds=binds, span=span):
                matched = tuple((n, term(t)) for n, t in match)
                bound = tuple((n, replace_column(c)) for n, c in binds)
                return replace(s, match=matched, binds=bound, span=span and span.rewrite(term))
            case Explode(collection=collection):
                return replace(s, collection=term(collection))

    return replace(
        rule,
        binds=tuple(map(replace_column, rule.binds)),
        steps=tuple(map(step, rule.steps)),
        columns=tuple(map(term, rule.columns)),
        count=term(rule.count),
        dependents=tuple(map(term, rule.dependents)),
        amounts=tuple(_amount(a, term) for a in rule.amounts),
    )


def _amount(a: Amount, term: Callable[[Term], Term]) -> Amount:
    return Amount(tuple(map(term, a.args)), a.weight and term(a.weight), a.where and term(a.where))
