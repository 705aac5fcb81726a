"""group by: labels, `partition`, and aggregates of the partition.

While what stands above the grouping is read, the rows of a partition are a relation of their own, a placeholder. Afterwards

    an aggregate of (a filter of a map of) the partition    is an aggregate of the group
    every other use of the partition                        is the rows whose labels are those of the group

so `count(partition)` and `avg(select p.e.salary from p in partition)` cost one addition for each changed row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from evercurrent.calculus.nodes import (
    Comprehension,
    Filter,
    Generator,
    Group,
    Qualifier,
    Query,
    Relation,
    Scalar,
)
from evercurrent.calculus.scope import substitute, substitute_qualifiers, substitute_term
from evercurrent.calculus.walk import nodes, rewrite_term, term_with_parts, with_parts
from evercurrent.data.types import Member, Struct
from evercurrent.frontend.oql import syntax
from evercurrent.frontend.oql.context import Context, Scope, wrong
from evercurrent.frontend.oql.forms import decode_slot, encode_slot, one
from evercurrent.frontend.oql.kinds import Slot
from evercurrent.frontend.oql.operators import true_where_equal
from evercurrent.frontend.oql.values import Expr, Made, Many, pack, unpack
from evercurrent.term import build
from evercurrent.term.build import TRUE, conjunction
from evercurrent.term.nodes import Aggregate, Field, SortKey, Term, Variable
from evercurrent.term.nullable import nullable

if TYPE_CHECKING:
    from evercurrent.frontend.oql.select import Rows, Translators


@dataclass(slots=True)
class Grouping:
    """What a group by is made of, while it is made.

    `labels` are the terms of the keys over the rows; `iterators` those of the iterators, column by column of the placeholder.
    `variable` stands for a group, `aggregates` are those that were asked for, their arguments over the rows.
    """

    context: Context
    qualifiers: tuple[Qualifier, ...]
    labels: list[tuple[str, Term]]
    iterators: list[tuple[str, Term]]
    placeholder: Relation
    variable: Variable
    aggregates: dict[Aggregate, str] = field(default_factory=dict)

    # --- aggregates ------------------------------------------------------------------------------------------

    def rewrite(self, term: Term) -> Term:
        """A term over a group and its partition as one over the group and its aggregates."""
        match term:
            case Scalar(Group(variable, Comprehension() as source, (), (aggregate,))):
                found = self.as_aggregate(variable, source, aggregate)
                if found is not None:
                    name = self.aggregates.setdefault(found, f"aggregate.{len(self.aggregates)}")
                    return Field(self.variable, name, found.type, True)
            case _:
                pass
        return term_with_parts(term, self.in_query, self.rewrite)

    def in_query(self, query: Query) -> Query:
        if query == self.placeholder:
            return self.partition()
        return with_parts(query, self.in_query, self.rewrite)

    def as_aggregate(
        self, variable: Variable, source: Comprehension, aggregate: Aggregate
    ) -> Aggregate | None:
        """An aggregate of the group, if the source ranges over the partition alone."""
        match source.qualifiers:
            case (Generator(row, relation), *filters) if relation == self.placeholder and all(
                isinstance(f, Filter) for f in filters
            ):
                pass
            case _:
                return None
        if source.monoid == "set" and (len(aggregate.args) != len(source.head) or aggregate.order):
            return None
        inner = {f.name: t for f, t in zip(source.fields, source.head, strict=True)}

        def over_rows(term: Term) -> Term:
            return self.over_rows(_through(term, variable.name, inner), row)

        kept = [over_rows(f.condition) for f in filters if isinstance(f, Filter)]
        args = tuple(over_rows(a) for a in aggregate.args)
        order = tuple(replace(k, term=over_rows(k.term)) for k in aggregate.order)
        every = (*args, *kept, *(k.term for k in order))
        if any(part == self.placeholder for t in every for part in nodes(t)):
            return None
        where = conjunction([*kept, *([] if aggregate.where is None else [over_rows(aggregate.where)])])
        return replace(
            aggregate,
            args=args,
            order=order,
            where=None if where == TRUE else where,
            distinct=aggregate.distinct or source.monoid == "set",
        )

    def over_rows(self, term: Term, row: Variable) -> Term:
        """A term over a row of the placeholder, and over the labels, as one over the iterators."""
        columns = dict(self.iterators)
        return _through(_through(term, row.name, columns), self.variable.name, dict(self.labels))

    # --- the partition itself --------------------------------------------------------------------------------

    def partition(self) -> Comprehension:
        """The rows whose labels are those of the group."""
        qualifiers, scope = substitute_qualifiers(self.qualifiers, {}, self.context.names)
        same = tuple(
            Filter(true_where_equal(scope(term), Field(self.variable, name, term.type, nullable(term))))
            for name, term in self.labels
        )
        head = tuple(scope(term) for _, term in self.iterators)
        return Comprehension("bag", head, (*qualifiers, *same), self.placeholder.fields)

    # --- the group -------------------------------------------------------------------------------------------

    def group(self) -> tuple[Group, Variable]:
        """The group by, and the variable that ranges over its groups."""
        carried: dict[Term, str] = {}

        def carry(term: Term) -> str:
            return carried.setdefault(term, f"c{len(carried)}")

        keys = [carry(term) for _, term in self.labels]
        for aggregate in self.aggregates:
            for term in _terms(aggregate):
                carry(term)
        fields = tuple(Member(name, t.type, nullable(t)) for t, name in carried.items())
        source = Comprehension("bag", tuple(carried), self.qualifiers, fields)
        row = Variable(self.context.names.fresh("r"), Struct(fields))

        def at(term: Term) -> Term:
            return build.field(row, carried[term])

        aggregates = tuple(_aggregate_at(a, at) for a in self.aggregates)
        made = (
            *(Member(name, t.type, nullable(t)) for name, t in self.labels),
            *(Member(name, a.type) for a, name in self.aggregates.items()),
        )
        group = Group(row, source, tuple(build.field(row, k) for k in keys), aggregates, made)
        return group, replace(self.variable, type=Struct(made))


def _terms(aggregate: Aggregate) -> list[Term]:
    where = [] if aggregate.where is None else [aggregate.where]
    return [*aggregate.args, *where, *(k.term for k in aggregate.order)]


def _aggregate_at(aggregate: Aggregate, at: object) -> Aggregate:
    assert callable(at)
    return replace(
        aggregate,
        args=tuple(map(at, aggregate.args)),
        where=None if aggregate.where is None else at(aggregate.where),
        order=tuple(replace(k, term=at(k.term)) for k in aggregate.order),
    )


def _through(term: Term, variable: str, members: dict[str, Term]) -> Term:
    """A term in which the members of a variable are spelled out."""

    def on_term(part: Term) -> Term:
        if isinstance(part, Field) and isinstance(part.of, Variable) and part.of.name == variable:
            return members.get(part.name, part)
        return part

    return rewrite_term(term, lambda q: q, on_term)


def group_rows(
    context: Context, around: Scope, node: syntax.Select, rows: Rows, at: Translators
) -> tuple[tuple[Qualifier, ...], Expr, tuple[SortKey, ...]]:
    """Qualifiers that range over the groups, the element for each, and the order."""
    from evercurrent.frontend.oql.select import order_of, projection

    assert node.groups is not None
    variable = Variable(context.names.fresh("g"), Struct(()))
    labels: list[tuple[str, Term]] = []
    names: dict[str, Expr] = dict(around.names)
    for i, (label, of) in enumerate(node.groups):
        if label in dict(node.groups[:i]):
            raise wrong(f"two labels are called {label}", of.place)
        value = one(context, at.expression(context, rows.scope, of))
        slot, column = Slot(value.kind, value.defined != TRUE), label
        term = encode_slot(value)
        labels.append((column, term))
        names[label] = decode_slot(slot, Field(variable, column, term.type, nullable(term)))
    columns: list[tuple[str, Term]] = []
    shapes: list[tuple[str, Slot, str]] = []
    for name, expr in rows.iterators:
        value = one(context, expr)
        columns.append((name, encode_slot(value)))
        shapes.append((name, Slot(value.kind, value.defined != TRUE), name))
    fields = tuple(Member(name, term.type, nullable(term)) for name, term in columns)
    placeholder = Relation(f"{variable.name}\0partition", fields)
    row = Variable(context.names.fresh("p"), Struct(fields))
    members = tuple((name, decode_slot(slot, build.field(row, column))) for name, slot, column in shapes)
    partition = Many("bag", (Generator(row, placeholder),), Made(members))
    names["partition"] = partition
    scope = replace(around, names=names, rows=partition)
    grouping = Grouping(context, rows.qualifiers, labels, columns, placeholder, variable)
    first = len(context.checks)
    having = TRUE if node.having is None else at.condition(context, scope, node.having)
    after_having = len(context.checks)
    element = projection(context, scope, node, rows, at)
    order = order_of(context, scope, node, at)
    packed = [having, *pack(element), *(k.term for k in order)]
    found = [grouping.rewrite(term) for term in packed]
    checks = [grouping.in_query(check.query) for check in context.checks[first:]]
    group, final = grouping.group()
    terms: Iterator[Term] = iter([substitute_term(t, {variable.name: final}) for t in found])
    filters = () if having == TRUE else (Filter(next(terms)),)
    if having == TRUE:
        next(terms)
    made = unpack(element, terms)
    keys = tuple(replace(k, term=next(terms)) for k in order)
    for i, query in enumerate(checks, first):
        over = (Generator(final, group), *(filters if i >= after_having else ()))
        query = substitute(query, {variable.name: final})
        context.checks[i] = replace(context.checks[i], query=_under(query, len(around.active), over))
    return (Generator(final, group), *filters), made, keys


def _under(query: Query, outer: int, over: tuple[Qualifier, ...]) -> Query:
    """A check of something inside of groups, asked for every group; the first qualifiers are those around the select."""
    assert isinstance(query, Comprehension)
    return replace(query, qualifiers=(*query.qualifiers[:outer], *over, *query.qualifiers[outer:]))
