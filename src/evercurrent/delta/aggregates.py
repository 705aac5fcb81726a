"""An aggregate as accumulators that add up, and a term that reads them.

Law (semantics, traps 1 to 3). With `#` the number of rows and `n` the number of rows whose argument counts,

    count(*) = #      count(x) = n      sum(x) = NULL if n = 0 else s      avg(x) = NULL if n = 0 else s / n

and all of `#`, `n`, `s` are sums over rows: they add up, whatever is inserted and deleted. `n` is `#` itself where the argument
cannot be NULL and nothing is filtered. Whatever is not a reading of sums (min, median, collect_list, ...) is one
accumulator of kind "aggregate", a bag of argument values that the engine keeps.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from evercurrent.data.types import BIGINT, DOUBLE, Decimal, Float, Interval, Type
from evercurrent.delta.program import WEIGHT, Accumulator, weight_column
from evercurrent.term.build import call, case, conjunction, lit
from evercurrent.term.function_table import FUNCTIONS
from evercurrent.term.functions.numbers.ring import average_type
from evercurrent.term.functions.values.casts import cast_nulls
from evercurrent.term.nodes import Aggregate, Call, Cast, Column, Literal, Term
from evercurrent.term.nullable import nullable


@dataclass(frozen=True, slots=True)
class Part:
    """One accumulator and what a row brings to it: `args` as in `Amount` but for one row of weight 1."""

    accumulator: Accumulator
    args: tuple[Term, ...]
    where: Term | None = None


@dataclass(slots=True)
class Parts:
    """Accumulators gathered so far; equal ones are kept once."""

    parts: list[Part] = field(default_factory=list)

    def sum(self, term: Term, where: Term | None, type: Type) -> Column:
        for p in self.parts:
            if p.accumulator.kind == "sum" and p.args == (term,) and p.where == where:
                return Column(p.accumulator.name, p.accumulator.type, False)
        name = f"+{len(self.parts)}"
        self.parts.append(Part(Accumulator(name, type, "sum"), (term,), where))
        return Column(name, type, False)

    def bag(self, aggregate: Aggregate) -> Column:
        args = aggregate.args + tuple(k.term for k in aggregate.order)
        shape = canonical_aggregate(aggregate)
        for p in self.parts:
            if p.accumulator.aggregate == shape and p.args == args and p.where == aggregate.where:
                return Column(p.accumulator.name, p.accumulator.type)
        name = f"*{len(self.parts)}"
        self.parts.append(Part(Accumulator(name, aggregate.type, "aggregate", shape), args, aggregate.where))
        return Column(name, aggregate.type)


def canonical_aggregate(a: Aggregate) -> Aggregate:
    """The aggregate with its arguments and sort keys named by position: the values come with each amount."""
    args = tuple(Column(f"x{i}", t.type, nullable(t)) for i, t in enumerate(a.args))
    order = tuple(
        type(k)(Column(f"o{i}", k.term.type, nullable(k.term)), k.descending, k.nulls_first)
        for i, k in enumerate(a.order)
    )
    return Aggregate(a.function, args, a.type, a.distinct, None, order, a.options)


def count_arguments(a: Aggregate, parts: Parts) -> Column:
    """How many rows have arguments that count: not NULL, and not filtered out."""
    where = find_count_condition(a)
    return weight_column() if where is None else parts.sum(lit(1, BIGINT), where, BIGINT)


def find_count_condition(a: Aggregate) -> Term | None:
    """The condition under which a row counts for the aggregate, or None if it always does."""
    conditions = [c for x in a.args for c in not_null(x)]
    if a.where is not None:
        conditions.append(a.where)
    return conjunction(conditions) if conditions else None


def not_null(term: Term) -> list[Term]:
    """Conditions that together say that a term is not NULL; for a strict function, that its arguments are not.

    Said so, the conditions of a product go with its factors, and each can be tested where its factor is.
    """
    if not nullable(term):
        return []
    if isinstance(term, Call):
        function = FUNCTIONS.get(term.function)
        if function is not None and function.strict and not function.nullable:
            return list(dict.fromkeys(c for x in term.args for c in not_null(x)))
    if isinstance(term, Cast) and term.strict and not cast_nulls(term.of.type, term.type):
        return not_null(term.of)
    return [call("is_not_null", term)]


def read(a: Aggregate, parts: Parts, scalar: bool) -> Term:
    """The term of the aggregate's value; accumulators it needs are put into `parts`.

    `scalar`: the aggregate of all rows, of which there may be none; a group has at least one.
    """
    if a.distinct and a.function not in ("min", "max", "bool_and", "bool_or"):
        return parts.bag(a)
    match a.function:
        case "count":
            return count_arguments(a, parts)
        case "count_if":
            condition = conjunction([*a.args, *([a.where] if a.where is not None else [])])
            return parts.sum(lit(1, BIGINT), condition, BIGINT)
        case "sum":
            total = parts.sum(a.args[0], find_count_condition(a), sum_type(a.args[0].type))
            return unless_empty(count_arguments(a, parts), check(total, a.type), scalar)
        case "avg" if average_type(a.args[0].type) == a.type:
            total = parts.sum(a.args[0], find_count_condition(a), sum_type(a.args[0].type))
            n = count_arguments(a, parts)
            return unless_empty(n, Call("average", (total, n), a.type), scalar)
        case "bool_and" | "bool_or":
            wanted = a.args[0] if a.function == "bool_or" else call("not", a.args[0])
            where = conjunction([wanted, *([a.where] if a.where is not None else [])])
            hits = parts.sum(lit(1, BIGINT), where, BIGINT)
            verdict = call("gt" if a.function == "bool_or" else "eq", hits, lit(0, BIGINT))
            return unless_empty(count_arguments(a, parts), verdict, scalar)
        case _:
            return parts.bag(a)


def sum_type(argument: Type) -> Type:
    """Under which type the sum of such arguments is kept: unbounded, at the argument's scale."""
    match argument:
        case Decimal(_, scale):
            return Decimal(38, scale)
        case Float():
            return DOUBLE
        case _:
            return BIGINT


def check(total: Column, type: Type) -> Term:
    if isinstance(type, Decimal | Interval) or type == BIGINT:
        return Call("ring_check", (total,), type)
    return total


def unless_empty(n: Column, value: Term, scalar: bool) -> Term:
    """NULL where nothing was counted; a group's `#` is never zero."""
    if n.name == WEIGHT and not scalar:
        return value
    return case(((call("eq", n, lit(0, BIGINT)), Literal(None, value.type)),), value)
