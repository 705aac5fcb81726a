"""Rules that begin alike share their beginning.

    if r[1] in s3:            # both rules test this
        ...                   # into one state
        ...                   # into another

Law. Two rules of a trigger commute if neither adds to a state that the other looks up. So a rule may run together with an
earlier one if it commutes with that one and with all between them; rows of a shared lookup are then met once.

To be compared, rules name columns by where they come from: the delta's by position, a lookup's by its place in the order
of steps and the name in the state.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace

from evercurrent.delta.analyses.rule_order import sign_of
from evercurrent.delta.program import WEIGHT, Amount, Explode, Let, Lookup, Rule, Step, Where
from evercurrent.delta.terms import read_by, terms_of
from evercurrent.term.nodes import Column, Term
from evercurrent.term.walk import substitute


@dataclass(frozen=True, slots=True)
class Chain:
    """A rule to be placed, for rows of a sign (0: all); `alone`: it is written as a whole, apart."""

    rule: Rule
    sign: int = 0
    alone: bool = False


@dataclass(slots=True)
class Branch:
    """A step (or a sign to be tested, or a rule's end) and what runs inside it, in order."""

    step: Step | None = None
    sign: int = 0
    rule: Rule | None = None
    whole: bool = False
    inside: list[Branch] = field(default_factory=list)

    def rules(self) -> Iterator[Rule]:
        if self.rule is not None:
            yield self.rule
        for inner in self.inside:
            yield from inner.rules()

    def terms(self) -> Iterator[Term]:
        """Every term that is written: those of a shared step once."""
        if self.step is not None:
            yield from read_by(self.step)
        if self.rule is not None:
            yield from terms_of(self.rule if self.whole else replace(self.rule, steps=()))
        for inner in self.inside:
            yield from inner.terms()


def share(chains: Iterable[Chain], summed: Collection[str] = ()) -> list[Branch]:
    """A forest in which every rule is a way from a root to a leaf.

    What is added to `summed` targets adds up in any order: law L10 asks nothing there.
    """
    forest: list[Branch] = []
    for chain in chains:
        heads = [Branch(sign=chain.sign)] if chain.sign else []
        steps = [] if chain.alone else [Branch(step) for step in chain.rule.steps]
        _place(forest, [*heads, *steps, Branch(rule=chain.rule, whole=chain.alone)], summed)
    return forest


def _place(branches: list[Branch], way: list[Branch], summed: Collection[str]) -> None:
    """Put a way into the branches: into the last one that begins like it and can be joined, or behind them all."""
    head, *rest = way
    rule = way[-1].rule
    assert rule is not None
    for branch in reversed(branches):
        if head.rule is None and _alike(branch, head) and _commutes(rule, branch.rules(), summed):
            if isinstance(branch.step, Lookup) and isinstance(head.step, Lookup):
                binds = dict.fromkeys((*branch.step.binds, *head.step.binds))
                branch.step = replace(branch.step, binds=tuple(binds))
            _place(branch.inside, rest, summed)
            return
        if not _commutes(rule, branch.rules(), summed):
            break
    for outer, inner in zip(way, rest, strict=False):
        outer.inside = [inner]
    branches.append(head)


def _alike(a: Branch, b: Branch) -> bool:
    if a.rule is not None or a.sign != b.sign:
        return False
    if isinstance(a.step, Lookup) and isinstance(b.step, Lookup):
        return replace(a.step, binds=()) == replace(b.step, binds=())
    return a.step == b.step


def _commutes(rule: Rule, others: Iterable[Rule], summed: Collection[str]) -> bool:
    reads = {s.state for s in rule.steps if isinstance(s, Lookup)}
    for other in others:
        if other.into in reads or any(isinstance(s, Lookup) and s.state == rule.into for s in other.steps):
            return False
        if other.into == rule.into and rule.into not in summed and sign_of(other) != sign_of(rule):
            return False  # law L10: deletions first
    return True


# --- names -------------------------------------------------------------------------------------------------


def position(i: int) -> str:
    """What the i-th column of a delta is called."""
    return f"\x00{i}"


def positional(rule: Rule) -> Rule:
    """The rule with columns named by where they come from."""
    names: dict[str, Column] = {}

    def rename(column: Column, name: str) -> Column:
        renamed = Column(name, column.type, column.nullable)
        names[column.name] = renamed
        return renamed

    def local(term: Term) -> Term:
        return substitute(term, {Column(old, new.type): new for old, new in names.items()})

    binds = tuple(rename(c, position(i)) for i, c in enumerate(rule.binds))
    weight = rename(rule.weight, WEIGHT)
    steps: list[Step] = []
    for k, step in enumerate(rule.steps):
        match step:
            case Where(condition):
                steps.append(Where(local(condition)))
            case Let(column, term):
                meaning = local(term)
                steps.append(Let(rename(column, f"\x00{k}."), meaning))
            case Lookup(match=match, binds=bound, span=span):
                matched = tuple((name, local(term)) for name, term in match)
                read = tuple((name, rename(c, f"\x00{k}.{name}")) for name, c in bound)
                steps.append(replace(step, match=matched, binds=read, span=span and span.rewrite(local)))
            case Explode(collection=collection, elements=elements):
                inner = local(collection)
                named = tuple(rename(c, f"\x00{k}.{i}") for i, c in enumerate(elements))
                steps.append(replace(step, collection=inner, elements=named))
    return replace(
        rule,
        binds=binds,
        weight=weight,
        steps=tuple(steps),
        columns=tuple(map(local, rule.columns)),
        count=local(rule.count),
        dependents=tuple(map(local, rule.dependents)),
        amounts=tuple(_amount(a, local) for a in rule.amounts),
    )


def _amount(a: Amount, local: Callable[[Term], Term]) -> Amount:
    return Amount(
        tuple(local(t) for t in a.args),
        None if a.weight is None else local(a.weight),
        None if a.where is None else local(a.where),
    )
