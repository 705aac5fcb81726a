"""Names of a program that a reader can follow.

Inside a program the names of states end in a digest, so that equal definitions are kept once, and accumulators are
numbered. A reader wants to know what they hold:

    customers~3fef36a4               customers by id
    orders_customers~408dd8d4        orders_customers by city
    +0, +1, *2 of that state         sum(o.total), count(o.total), max(o.note)
    orders_customers~finalize8939    spend, where that is the view that it keeps

Where two labels would be the same, the digest is added to both. Labels are for people: engines use the names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property

from evercurrent.delta.program import (
    WEIGHT,
    Accumulator,
    Amount,
    Finalize,
    Fixpoint,
    Input,
    Keyed,
    Linear,
    Lookup,
    Program,
    Ranked,
    Rule,
    State,
    Windowed,
)
from evercurrent.term.nodes import Call, Column, Literal, Term
from evercurrent.term.show import show
from evercurrent.term.walk import rewrite

RING = {"ring_mul": "mul", "ring_add": "add", "ring_sub": "sub", "ring_neg": "neg"}
"""Arithmetic of accumulators, shown as arithmetic."""


class Labels:
    """The labels of one program's states, relations and accumulators."""

    def __init__(self, program: Program) -> None:
        self.program = program
        views = {relation: view.replace("\0", " ") for view, relation in reversed(program.views.items())}
        wanted = {s.name: self._state(s, views) for s in program.states}
        wanted |= dict(_relations(program, views))
        often = Counter(wanted.values())
        self.names = {
            name: label if often[label] == 1 else f"{label} ~{name.rpartition('~')[2]}"
            for name, label in wanted.items()
        }

    @cached_property
    def values(self) -> dict[str, dict[str, str]]:
        """For each state the labels of its accumulators, and of the columns that are only numbered."""
        rules: dict[str, Rule] = {}
        for rule in (r for rs in self.program.triggers.values() for r in rs):
            rules.setdefault(rule.into, rule)
        found = ((s, rules.get(s.name)) for s in self.program.states)
        return {s.name: _columns(s, rule) | _accumulators(s, rule) for s, rule in found}

    def _state(self, s: State, views: Mapping[str, str]) -> str:
        of = s.name.removesuffix(".rows")
        if of != s.name:
            return f"rows of {views.get(of, _base(of))}"
        by = s.indexes[0].columns if len(s.indexes) == 1 else tuple(c.name for c in s.columns)
        shown = ", ".join(self.value(s.name, c) for c in by)
        return f"{_base(s.name)} by {shown}" if by else f"{_base(s.name)} in all"

    def of(self, name: str) -> str:
        """The label of a state or relation."""
        return self.names.get(name, name)

    def value(self, state: str, name: str) -> str:
        """The label of something read from an entry of a state: a column, an accumulator, or its row count."""
        return "count(*)" if name == WEIGHT else self.values.get(state, {}).get(name, name)

    def accumulators(self, state: str) -> list[str]:
        """The labels of a state's accumulators, in order."""
        found = self.values.get(state, {})
        definition = next((s for s in self.program.states if s.name == state), None)
        return [found[a.name] for a in definition.accumulators if a.name in found] if definition else []

    def term(self, t: Term, state: str) -> str:
        """A term over an entry of a state, as text."""
        return show_readable(t, {WEIGHT: "count(*)"} | self.values.get(state, {}))


def show_readable(t: Term, names: Mapping[str, str]) -> str:
    """A term as text, with columns called by other names and accumulator arithmetic as plain arithmetic."""

    def replace(x: Term) -> Term:
        match x:
            case Column(name, type, nullable):
                return Column(names.get(name, name), type, nullable)
            case Call(function, args, type) if function in RING:
                return Call(RING[function], args, type)
            case Call("ring_check", (inner,)):
                return inner
            case Call("bounded" | "scaled", (inner, *_)):
                return inner
            case _:
                return x

    return show(rewrite(t, replace))


def weight_names(rule: Rule) -> dict[str, str]:
    """What the weights at hand in a rule are called: `weight` of the delta, `weight2` and on of what is looked up."""
    found = {rule.weight.name: "weight"}
    for step in rule.steps:
        if isinstance(step, Lookup):
            for read, column in step.binds:
                if read == WEIGHT:
                    found.setdefault(column.name, f"weight{len(found) + 1}")
    return found


def _base(name: str) -> str:
    base = name.partition("~")[0]
    return re.sub(r"\bloop\d+\b", "recursive rows", base)


def _relations(program: Program, views: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for r in program.relations:
        match r:
            case Input():
                pass  # a table has its own name
            case Linear(name):
                yield name, views.get(name, f"{_base(name)} rows")
            case Keyed(name, function=Finalize()):
                yield name, views.get(name, f"{_base(name)} groups")
            case Keyed(name, function=Windowed()):
                yield name, views.get(name, f"{_base(name)} with windows")
            case Keyed(name, function=Ranked()):
                yield name, views.get(name, f"first of {_base(name)}")
            case Fixpoint(name, loops):
                yield name, "fixpoint"
                for i, loop in enumerate(loops, 1):
                    label = views.get(
                        loop.name, "recursive rows" if len(loops) == 1 else f"recursive rows {i}"
                    )
                    yield loop.name, label
                    yield loop.body, f"derivations of {label}"
                    yield loop.inner, f"{label} in the loop"


# --- columns -----------------------------------------------------------------------------------------------

LONGEST = 40
"""A longer expression is no name for a column."""


def _columns(s: State, rule: Rule | None) -> dict[str, str]:
    """Names for columns that are only numbered, like the keys of groups: `c0` is what the first rule puts there."""
    if rule is None or len(rule.columns) != len(s.columns):
        return {}
    terms = {c.name: t for c, t in zip(s.columns, rule.columns, strict=True)}
    labels = {name: _column(name, t) for name, t in terms.items()}
    often = Counter(labels.values())
    return {
        name: label if often[label] == 1 else show_readable(terms[name], {})
        for name, label in labels.items()
        if label != name
    }


def _column(name: str, t: Term) -> str:
    if re.fullmatch(r"c\d+", name) is None:
        return name
    label = t.name.rpartition(".")[2] if isinstance(t, Column) else show_readable(t, {})
    return name if "~" in label or len(label) > LONGEST else label


# --- accumulators ------------------------------------------------------------------------------------------


def _accumulators(s: State, rule: Rule | None) -> dict[str, str]:
    if rule is None or len(rule.amounts) != len(s.accumulators):
        return {}
    weights = frozenset(weight_names(rule))
    labels = [_accumulator(a, x, weights) for a, x in zip(s.accumulators, rule.amounts, strict=True)]
    often = Counter(labels)
    return {
        a.name: label if often[label] == 1 else f"{label} [{i}]"
        for i, (a, label) in enumerate(zip(s.accumulators, labels, strict=True))
    }


def _accumulator(a: Accumulator, amount: Amount, weights: frozenset[str]) -> str:
    if a.aggregate is not None:
        inside = ", ".join(show_readable(x, {}) for x in amount.args[: len(a.aggregate.args)])
        name = f"{a.aggregate.function}({'distinct ' if a.aggregate.distinct else ''}{inside})"
        return name + _condition(amount, ())
    factors = [f for f in _factors(amount.args[0]) if not (isinstance(f, Column) and f.name in weights)]
    if not factors:
        match amount.where:
            case Call("is_not_null", (x,)):
                return f"count({show_readable(x, {})})"
            case _:
                return "count(*)" + _condition(amount, ())
    product = factors[0]
    for factor in factors[1:]:
        product = Call("mul", (product, factor), a.type)
    return f"sum({show_readable(product, {})})" + _condition(amount, factors)


def _factors(t: Term) -> list[Term]:
    match t:
        case Call("ring_mul", args):
            return [f for x in args for f in _factors(x)]
        case Call("bounded" | "scaled", (x, *_)):
            return [x]
        case _:
            return [t]


def _condition(amount: Amount, summed: object) -> str:
    """The condition under which an amount counts; that what is summed is not NULL goes without saying."""
    match amount.where:
        case None | Literal():
            return ""
        case Call("is_not_null") if summed:
            return ""
        case condition:
            return f" where {show_readable(condition, {})}"
