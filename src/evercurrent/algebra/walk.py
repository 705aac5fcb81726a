"""Walking through plans: parts, rewriting, renaming apart.

Column names are unique within a plan, so a subplan that is used twice must be renamed before its second use:
`rename_apart` renames its columns and says which column became which.

>>> from evercurrent.data.types import INT
>>> copy, renamed = rename_apart(Scan("t", (Column("t.a", INT),), ("a",)), Names({"t.a"}))
>>> renamed, sorted(names_of(copy))
({'t.a': 't.a#2'}, ['t.a#2'])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import assert_never

from evercurrent.algebra.nodes import (
    Aggregate,
    Constant,
    Distinct,
    Fixpoint,
    Join,
    Map,
    Outer,
    Plan,
    Scan,
    Select,
    Semi,
    SetOperation,
    Top,
    Union,
    Unnest,
    Window,
)
from evercurrent.term import walk as terms
from evercurrent.term.nodes import Aggregate as AggregateTerm
from evercurrent.term.nodes import Column, SortKey, Term, WindowFunction

OnPlan = Callable[[Plan], Plan]
OnTerm = Callable[[Term], Term]
OnColumn = Callable[[Column], Column]


def children(plan: Plan) -> tuple[Plan, ...]:
    """The direct inputs of a plan; of a fixpoint the bodies of its rules."""
    match plan:
        case Scan() | Constant():
            return ()
        case Select(source) | Map(source) | Unnest(source) | Aggregate(source) | Distinct(source):
            return (source,)
        case Window(source) | Top(source):
            return (source,)
        case Join(left, right) | Outer(_, left, right) | Semi(left, right):
            return (left, right)
        case SetOperation(left=left, right=right):
            return (left, right)
        case Union(inputs):
            return inputs
        case Fixpoint(rules):
            return tuple(rule.body for rule in rules)
        case _:
            assert_never(plan)


def with_parts(plan: Plan, on_plan: OnPlan, on_term: OnTerm, on_column: OnColumn = lambda c: c) -> Plan:
    """The same node with its inputs, its terms and the columns that it defines replaced."""
    match plan:
        case Scan() | Constant():
            return replace(plan, outputs=tuple(map(on_column, plan.outputs)))
        case Select(source, condition):
            return Select(on_plan(source), on_term(condition))
        case Map(source, outputs):
            return Map(on_plan(source), tuple((on_column(c), on_term(t)) for c, t in outputs))
        case Join(left, right, condition):
            return Join(on_plan(left), on_plan(right), on_term(condition))
        case Outer(kind, left, right, condition):
            return Outer(kind, on_plan(left), on_plan(right), on_term(condition))
        case Semi(left, right, condition, anti):
            return Semi(on_plan(left), on_plan(right), on_term(condition), anti)
        case Unnest():
            return replace(
                plan,
                input=on_plan(plan.input),
                collection=on_term(plan.collection),
                elements=tuple(map(on_column, plan.elements)),
            )
        case Union(inputs, outputs):
            return Union(tuple(map(on_plan, inputs)), tuple(map(on_column, outputs)))
        case Aggregate(source, keys, aggregates, scalar):
            return Aggregate(
                on_plan(source),
                tuple((on_column(c), on_term(t)) for c, t in keys),
                tuple((on_column(c), aggregate_with_terms(a, on_term)) for c, a in aggregates),
                scalar,
            )
        case Distinct(source):
            return Distinct(on_plan(source))
        case SetOperation():
            return replace(
                plan,
                left=on_plan(plan.left),
                right=on_plan(plan.right),
                outputs=tuple(map(on_column, plan.outputs)),
            )
        case Window(source, functions):
            return Window(
                on_plan(source),
                tuple((on_column(c), function_with_terms(f, on_term)) for c, f in functions),
            )
        case Top():
            return replace(
                plan,
                input=on_plan(plan.input),
                partition=tuple(map(on_term, plan.partition)),
                order=order_with_terms(plan.order, on_term),
            )
        case Fixpoint():
            rules = tuple(replace(rule, body=on_plan(rule.body)) for rule in plan.rules)
            return replace(plan, rules=rules, outputs=tuple(map(on_column, plan.outputs)))
        case _:
            assert_never(plan)


def aggregate_with_terms(aggregate: AggregateTerm, on_term: OnTerm) -> AggregateTerm:
    return replace(
        aggregate,
        args=tuple(map(on_term, aggregate.args)),
        where=None if aggregate.where is None else on_term(aggregate.where),
        order=order_with_terms(aggregate.order, on_term),
    )


def function_with_terms(function: WindowFunction, on_term: OnTerm) -> WindowFunction:
    return replace(
        function,
        args=tuple(map(on_term, function.args)),
        partition=tuple(map(on_term, function.partition)),
        order=order_with_terms(function.order, on_term),
        where=None if function.where is None else on_term(function.where),
    )


def order_with_terms(order: tuple[SortKey, ...], on_term: OnTerm) -> tuple[SortKey, ...]:
    return tuple(replace(key, term=on_term(key.term)) for key in order)


def with_children(plan: Plan, on_plan: OnPlan) -> Plan:
    """The same node over other inputs; the node itself, if none of them changes."""
    old = children(plan)
    new = [on_plan(child) for child in old]
    if all(a is b for a, b in zip(old, new, strict=True)):
        return plan
    replaced = iter(new)
    return with_parts(plan, lambda _: next(replaced), lambda t: t)


def rewrite(plan: Plan, rule: OnPlan) -> Plan:
    """Replace every node by what the rule makes of it, innermost first."""
    return rule(with_children(plan, lambda p: rewrite(p, rule)))


def rewrite_down(plan: Plan, rule: OnPlan) -> Plan:
    """Replace every node, outermost first; then go into what the rule has made."""
    return with_children(rule(plan), lambda p: rewrite_down(p, rule))


def nodes(plan: Plan) -> Iterator[Plan]:
    """The plan and all its subplans."""
    yield plan
    for child in children(plan):
        yield from nodes(child)


def terms_of(plan: Plan) -> list[Term]:
    """The terms that stand in the node itself."""
    found: list[Term] = []

    def keep(term: Term) -> Term:
        found.append(term)
        return term

    with_parts(plan, lambda p: p, keep)
    return found


def names_of(plan: Plan) -> set[str]:
    """The names of all columns that are defined anywhere in the plan."""
    names: set[str] = set()

    def keep(column: Column) -> Column:
        names.add(column.name)
        return column

    for node in nodes(plan):
        with_parts(node, lambda p: p, lambda t: t, keep)
    return names


def find_names(found: Iterable[Term]) -> set[str]:
    """The names of the columns that the terms mention."""
    return {column.name for term in found for column in terms.columns_of(term)}


class Names:
    """A source of column names that are not taken yet.

    >>> names = Names({"o.id"})
    >>> names.fresh("o.id"), names.fresh("o.id"), names.fresh("n")
    ('o.id#2', 'o.id#3', 'n')
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)
        self.numbers: dict[str, int] = {}

    def fresh(self, name: str) -> str:
        """`name` itself if it is free, else `name` with a number."""
        stem = name.split("#", 1)[0] or name
        candidate = stem
        while candidate in self.taken:
            self.numbers[stem] = self.numbers.get(stem, 1) + 1
            candidate = f"{stem}#{self.numbers[stem]}"
        self.taken.add(candidate)
        return candidate


def rename_term(term: Term, renamed: Mapping[str, str]) -> Term:
    """The term over columns of other names."""

    def rename(t: Term) -> Term:
        if isinstance(t, Column) and t.name in renamed:
            return replace(t, name=renamed[t.name])
        return t

    return terms.rewrite(term, rename)


def rename(plan: Plan, renamed: Mapping[str, str]) -> Plan:
    """The plan with the columns of these names called otherwise, wherever they occur."""

    def column(c: Column) -> Column:
        return replace(c, name=renamed.get(c.name, c.name))

    def term(t: Term) -> Term:
        return rename_term(t, renamed)

    def all_levels(p: Plan) -> Plan:
        return with_parts(p, all_levels, term, column)

    return all_levels(plan)


def rename_apart(plan: Plan, names: Names) -> tuple[Plan, dict[str, str]]:
    """A copy of the plan in which every column has a fresh name, and what each is called now."""
    renamed = {name: names.fresh(name) for name in sorted(names_of(plan))}
    return rename(plan, renamed), renamed


def replace_columns(term: Term, replaced: Mapping[str, Term]) -> Term:
    """The term with columns of these names replaced by terms."""

    def substitute(t: Term) -> Term:
        return replaced.get(t.name, t) if isinstance(t, Column) else t

    return terms.rewrite(term, substitute)


def relations_of(plan: Plan) -> frozenset[str]:
    """The relations that are read, except those that a fixpoint in it defines."""
    match plan:
        case Scan(relation):
            return frozenset((relation,))
        case Fixpoint(rules):
            read = frozenset[str]().union(*(relations_of(rule.body) for rule in rules))
            return read - {rule.name for rule in rules}
        case _:
            return frozenset[str]().union(*map(relations_of, children(plan)))
