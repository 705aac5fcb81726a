"""A short way to write queries of the calculus in tests.

e, d = var("e", EMP), var("d", DEPT)
bag(e <= EMP, d <= DEPT, eq(e.dept, d.id), name=e.name)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evercurrent.calculus import nodes as n
from evercurrent.calculus.evaluate import evaluate
from evercurrent.data.types import BOOLEAN, Member, Struct, Type
from evercurrent.data.zset import ZSet
from evercurrent.term.build import call, cast, field, lit
from evercurrent.term.nodes import SortKey, Term, Variable
from evercurrent.term.nullable import nullable


class Var:
    """A variable whose attributes are its members."""

    def __init__(self, variable: Variable) -> None:
        self._variable = variable

    def __getattr__(self, name: str) -> Term:
        return field(self._variable, name)

    def __le__(self, source: n.Query) -> n.Generator:
        return n.Generator(self._variable, source)

    def outer(self, source: n.Query, on: Term) -> n.OuterGenerator:
        return n.OuterGenerator(self._variable, source, on)

    @property
    def term(self) -> Variable:
        return self._variable


def var(name: str, source: n.Query, *, nullable: bool = False) -> Var:
    return Var(Variable(name, Struct(source.fields), nullable))


def relation(name: str, /, **types: Type) -> n.Relation:
    return n.Relation(name, tuple(Member(field_name, t) for field_name, t in types.items()))


def fields_of(head: dict[str, Term]) -> n.Fields:
    return tuple(Member(name, t.type, nullable(t)) for name, t in head.items())


def comprehension(monoid: Any, qualifiers: Iterable[Any], head: dict[str, Any]) -> n.Comprehension:
    terms = {name: as_term(t) for name, t in head.items()}
    qs = tuple(q if isinstance(q, n.Qualifier) else n.Filter(q) for q in qualifiers)
    return n.Comprehension(monoid, tuple(terms.values()), qs, fields_of(terms))


def bag(*qualifiers: Any, **head: Any) -> n.Comprehension:
    return comprehension("bag", qualifiers, head)


def set_(*qualifiers: Any, **head: Any) -> n.Comprehension:
    return comprehension("set", qualifiers, head)


def as_term(value: Any) -> Term:
    return value if hasattr(value, "type") else lit(value)


def f(name: str) -> Any:
    return lambda *args: call(name, *map(as_term, args))


eq, ne, lt, le, gt, ge, add, div, not_, is_null, is_not_null, or_, and_, coalesce = map(
    f,
    [
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "add",
        "div",
        "not",
        "is_null",
        "is_not_null",
        "or",
        "and",
        "coalesce",
    ],
)


def values(rows: Iterable[tuple[Any, ...]], **types: Type) -> n.Values:
    members = tuple(Member(name, t) for name, t in types.items())
    terms = tuple(
        tuple(v if hasattr(v, "type") else lit(v, m.type) for v, m in zip(row, members, strict=True))
        for row in rows
    )
    return n.Values(terms, members)


def union(*inputs: n.Query) -> n.Union:
    return n.Union(tuple(inputs), inputs[0].fields)


def minus(left: n.Query, right: n.Query, all: bool = False) -> n.SetOperation:
    return n.SetOperation("except", all, left, right, left.fields)


def intersect(left: n.Query, right: n.Query, all: bool = False) -> n.SetOperation:
    return n.SetOperation("intersect", all, left, right, left.fields)


def exists(query: n.Query) -> Term:
    return n.Exists(query, BOOLEAN)


def scalar(query: n.Query) -> Term:
    return n.Scalar(query, query.fields[0].type)


def some(comparison: str, args: Any, query: n.Query) -> Term:
    return n.Quantified(comparison, False, _args(args, query), query, BOOLEAN)


def every(comparison: str, args: Any, query: n.Query) -> Term:
    return n.Quantified(comparison, True, _args(args, query), query, BOOLEAN)


def _args(args: Any, query: n.Query) -> tuple[Term, ...]:
    several = args if isinstance(args, tuple) else (args,)
    return tuple(cast(as_term(a), m.type) for a, m in zip(several, query.fields, strict=True))


def group(
    variable: Var, source: n.Query, keys: dict[str, Term], sets: Any = None, **aggregates: Any
) -> n.Group:
    fields = fields_of(keys) + tuple(Member(name, a.type) for name, a in aggregates.items())
    if sets is not None:
        from evercurrent.data.types import BIGINT

        fields += (Member("grouping_id", BIGINT, False),)
    return n.Group(variable.term, source, tuple(keys.values()), tuple(aggregates.values()), fields, sets)


def window(variable: Var, source: n.Query, **functions: Any) -> n.Window:
    fields = source.fields + tuple(Member(name, w.type) for name, w in functions.items())
    return n.Window(variable.term, source, tuple(functions.values()), fields)


def top(
    variable: Var, source: n.Query, order: Iterable[SortKey], limit: int | None, offset: int = 0
) -> n.Top:
    return n.Top(variable.term, source, tuple(order), limit, offset, source.fields)


def asc(term: Term) -> SortKey:
    return SortKey(term)


def desc(term: Term) -> SortKey:
    return SortKey(term, True, False)


Data = dict[str, list[tuple[Any, ...]]]


def run(query: n.Query, data: Data) -> list[tuple[Any, ...]]:
    """The rows of a query, sorted by their text; a row as often as it comes."""
    result = evaluate(query, lambda name: ZSet.of(data[name]).items())
    assert all(weight > 0 for _, weight in result.items())
    return sorted(result.insertions(), key=repr)
