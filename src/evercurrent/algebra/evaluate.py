"""Plans by interpretation: what a plan means, computed from scratch.

Simple and slow. It is how tests prove that lowering and the rules preserve meaning: the rows of a plan before and after
a rule, and of the query that it came from, must be the same on any data.

    evaluate(plan, relation)  ->  ZSet          relation(name) returns the rows of a table with their multiplicities
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, assert_never

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
    columns,
)
from evercurrent.calculus.grouping import aggregate as aggregate_value
from evercurrent.calculus.recursion import DEFAULT_LIMIT
from evercurrent.calculus.windows import choose_first, order_of, partitions, sort_rows, window_values
from evercurrent.data.types import Map as MapType
from evercurrent.data.zset import Row, ZSet
from evercurrent.errors import EvaluationError
from evercurrent.term.build import conjuncts
from evercurrent.term.evaluate import compile_term
from evercurrent.term.nodes import Call, Column, Term
from evercurrent.term.walk import columns_of

Relations = Callable[[str], Iterable[tuple[Row, int]]]


def evaluate(plan: Plan, relation: Relations) -> ZSet:
    """The rows of a plan, with multiplicities."""
    return ZSet(_Evaluator(relation, {}).entries(plan))


Entries = Iterator[tuple[Row, int]]


class _Evaluator:
    def __init__(self, relation: Relations, local: Mapping[str, ZSet]) -> None:
        self.relation = relation
        self.local = local

    def rows(self, plan: Plan) -> ZSet:
        return ZSet(self.entries(plan))

    def entries(self, plan: Plan) -> Entries:
        match plan:
            case Scan(relation):
                yield from self.local[relation].items() if relation in self.local else self.relation(relation)
            case Constant(rows):
                for row in rows:
                    yield row, 1
            case Select(source, condition):
                holds = compile_term(condition, columns(source))
                yield from ((row, w) for row, w in self.rows(source).items() if holds(row) is True)
            case Map(source, outputs):
                terms = [compile_term(t, columns(source)) for _, t in outputs]
                yield from ((tuple(t(row) for t in terms), w) for row, w in self.rows(source).items())
            case Join(left, right, condition):
                for row, w, matches in self.match_rows(left, right, condition):
                    yield from ((row + other, w * v) for other, v in matches)
            case Outer(kind, left, right, condition):
                yield from self.outer(kind, left, right, condition)
            case Semi(left, right, condition, anti):
                for row, w, matches in self.match_rows(left, right, condition):
                    if bool(matches) is not anti:
                        yield row, w
            case Unnest():
                yield from unnest_rows(plan, self.rows(plan.input).items())
            case Union(inputs):
                for part in inputs:
                    yield from self.entries(part)
            case Aggregate():
                yield from self.aggregate(plan)
            case Distinct(source):
                yield from ((row, 1) for row, _ in self.rows(source).items())
            case SetOperation():
                yield from self.set_operation(plan)
            case Window():
                yield from self.window(plan)
            case Top():
                yield from self.top(plan)
            case Fixpoint():
                yield from self.fixpoint(plan)
            case _:
                assert_never(plan)

    def match_rows(
        self, left: Plan, right: Plan, condition: Term
    ) -> Iterator[tuple[Row, int, list[tuple[Row, int]]]]:
        """Each row of the left side with the rows of the right side that it makes the condition TRUE with."""
        own, other = columns(left), columns(right)
        equal, rest = equalities(condition, own, other)
        probes = [compile_term(a, own) for a, _ in equal]
        stored = [compile_term(b, other) for _, b in equal]
        index: dict[Row, list[tuple[Row, int]]] = {}
        for row, weight in self.rows(right).items():
            index.setdefault(tuple(s(row) for s in stored), []).append((row, weight))
        holds = [compile_term(t, own + other) for t in rest]
        for row, weight in self.rows(left).items():
            key = tuple(p(row) for p in probes)
            found = [] if None in key else index.get(key, [])
            yield row, weight, [(r, w) for r, w in found if all(h(row + r) is True for h in holds)]

    def outer(self, kind: str, left: Plan, right: Plan, condition: Term) -> Entries:
        nothing_left, nothing_right = (None,) * len(columns(left)), (None,) * len(columns(right))
        seen: set[Row] = set()
        for row, w, matches in self.match_rows(left, right, condition):
            yield from ((row + other, w * v) for other, v in matches)
            seen.update(other for other, _ in matches)
            if not matches:
                yield row + nothing_right, w
        if kind == "full":
            for row, w in self.rows(right).items():
                if row not in seen:
                    yield nothing_left + row, w

    def aggregate(self, plan: Aggregate) -> Entries:
        value = Values(columns(plan.input))
        groups: dict[Row, list[tuple[Row, int]]] = {(): []} if plan.scalar else {}
        for row, weight in self.rows(plan.input).items():
            groups.setdefault(tuple(value(t, row) for _, t in plan.keys), []).append((row, weight))
        for key, entries in groups.items():
            yield key + tuple(single_or_aggregate(a, entries, value) for _, a in plan.aggregates), 1

    def set_operation(self, plan: SetOperation) -> Entries:
        left, right = self.rows(plan.left), self.rows(plan.right).weights
        for row, weight in left.items():
            other = right.get(row, 0)
            if plan.kind == "intersect":
                count = min(weight, other)
            else:
                count = max(weight - other, 0) if plan.all else weight * (other == 0)
            if count:
                yield row, count if plan.all else 1

    def window(self, plan: Window) -> Entries:
        found = columns(plan.input)
        value, types = Values(found), tuple(c.type for c in found)
        rows = [row for row, weight in self.rows(plan.input).items() for _ in range(weight)]
        results: list[list[Any]] = [[] for _ in rows]
        for _, function in plan.functions:
            for places in partitions(function, rows, types, value):
                part = [rows[i] for i in places]
                for i, result in zip(places, window_values(function, part, value), strict=True):
                    results[i].append(result)
        yield from (((*row, *result), 1) for row, result in zip(rows, results, strict=True))

    def top(self, plan: Top) -> Entries:
        return first_rows(plan, self.rows(plan.input).items())

    def fixpoint(self, plan: Fixpoint) -> Entries:
        known = {rule.name: ZSet() for rule in plan.rules}
        for _ in range(DEFAULT_LIMIT if plan.limit is None else plan.limit):
            now: dict[str, ZSet] = {}
            for rule in plan.rules:
                rows = _Evaluator(self.relation, {**self.local, **known}).rows(rule.body)
                now[rule.name] = ZSet.of(row for row, _ in rows.items()) if rule.distinct else rows
            if now == known:
                yield from known[plan.result].items()
                return
            known = now
        raise EvaluationError("a recursive query did not end within its limit of rounds")


def first_rows(plan: Top, entries: Iterable[tuple[Row, int]]) -> Entries:
    """Yields the rows of each group between the offset and the limit, with how many of each are."""
    found = columns(plan.input)
    value, types = Values(found), tuple(c.type for c in found)
    groups: dict[Row, list[tuple[Row, int]]] = {}
    for row, weight in entries:
        groups.setdefault(tuple(value(t, row) for t in plan.partition), []).append((row, weight))
    for group in groups.values():
        rows = sort_rows(plan.order, group, types, value)
        yield from choose_first(rows, plan.limit, plan.offset, plan.ties, order_of(plan.order, value))


def unnest_rows(plan: Unnest, entries: Iterable[tuple[Row, int]]) -> Entries:
    """Every row with every element of its collection."""
    collection = compile_term(plan.collection, columns(plan.input))
    width = len(plan.elements) - plan.ordinal
    for row, weight in entries:
        value = collection(row)
        elements: list[Row] = []
        if value is not None and isinstance(plan.collection.type, MapType):
            elements = list(value.items())
        elif value is not None and plan.inline:
            elements = [(None,) * width if e is None else e for e in value]
        elif value is not None:
            elements = [(e,) for e in value]
        if plan.ordinal:
            elements = [(i, *e) for i, e in enumerate(elements)]
        if plan.outer and not elements:
            elements = [(None,) * len(plan.elements)]
        yield from ((row + element, weight) for element in elements)


class Values:
    """Values of terms for rows; each term is compiled once."""

    def __init__(self, found: tuple[Column, ...]) -> None:
        self.columns = found
        self.compiled: dict[Term, Callable[[Row], Any]] = {}

    def __call__(self, term: Term, row: Row) -> Any:
        if term not in self.compiled:
            self.compiled[term] = compile_term(term, self.columns)
        return self.compiled[term](row)


def single_or_aggregate(aggregate: Any, entries: list[tuple[Row, int]], value: Values) -> Any:
    """The value of an aggregate; "single" is that of the only row, NULL without one."""
    if aggregate.function != "single":
        return aggregate_value(aggregate, entries, value)
    if sum(weight for _, weight in entries) > 1:
        raise EvaluationError("a scalar subquery returned more than one row")
    return value(aggregate.args[0], entries[0][0]) if entries else None


def equalities(
    condition: Term, left: tuple[Column, ...], right: tuple[Column, ...]
) -> tuple[list[tuple[Term, Term]], list[Term]]:
    """Equalities between the sides, as pairs, and the other conditions."""
    own, other = {c.name for c in left}, {c.name for c in right}
    pairs: list[tuple[Term, Term]] = []
    rest: list[Term] = []
    for part in conjuncts(condition):
        match part:
            case Call("eq", (a, b)):
                reads_a, reads_b = ({c.name for c in columns_of(t)} for t in (a, b))
                if reads_a <= own and reads_b <= other:
                    pairs.append((a, b))
                    continue
                if reads_a <= other and reads_b <= own:
                    pairs.append((b, a))
                    continue
        rest.append(part)
    return pairs, rest
