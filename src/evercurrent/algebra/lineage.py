"""Where a row comes from: the rows of base relations that its operators put together (Cui, Widom, Wiener 2000).

Law. Every row carries its origin, and an operator's rows have the origins of what it made them from:

    Scan              the row itself                       Join, Intersect   those of both sides
    Select, Map, Unnest, Top, Except                       that of the input's row (the left one's)
    Semi              the left row's, and those of the rows that it found
    Anti, Outer       the left row's, and what was looked for and is not there
    Union, Distinct   those of every equal row             Aggregate         those of the whole group
    Window            those of the whole partition         Fixpoint          those of every derivation

An origin is a small graph and not a set: it is put together in constant time for each row, shared, and only that of the row
that is asked for is walked through. That of a fixpoint may have cycles, which the walk does not mind.

First the row itself is made a condition and goes down as conditions do, so that only what may belong to it is evaluated; and
a join hands the keys of its first side to the second.

For a plan without Anti, Outer, Except, Window and Aggregate, evaluating it over the origins alone still returns the row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Any, assert_never

from evercurrent.algebra import build
from evercurrent.algebra.evaluate import (
    Values,
    equalities,
    evaluate,
    first_rows,
    single_or_aggregate,
    unnest_rows,
)
from evercurrent.algebra.needs import Needs, needs_below
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
from evercurrent.algebra.optimise import conditions_down
from evercurrent.algebra.origins import Origin, Origins, Traced, collect_origins
from evercurrent.algebra.walk import relations_of
from evercurrent.calculus.windows import partitions, window_values
from evercurrent.catalog.catalog import Knowledge
from evercurrent.data.types import Array, Collection, Struct
from evercurrent.data.types import Map as MapType
from evercurrent.data.zset import Row
from evercurrent.term.build import call, conjunction, equate, lit
from evercurrent.term.evaluate import compile_term
from evercurrent.term.nodes import Column, Term
from evercurrent.term.show import show

Found = Callable[[str, Mapping[int, Set[Any]]], Iterable[tuple[Row, int]]]
"""The rows of a base relation; those whose i-th value is not among the needed ones may be left out."""


def origins(plan: Plan, row: Row, found: Found, knowledge: Knowledge) -> Origins | None:
    """What the row of a plan comes from; None if the plan does not have the row."""
    asked = conditions_down(build.select(plan, _is(columns(plan), row)), knowledge)
    origin = _Tracer(found, {}).rows(asked, {}).origins.get(row)
    return None if origin is None else collect_origins(origin)


def _is(outputs: tuple[Column, ...], row: Row) -> Term:
    """The condition that a row is this one, as far as scalars say it."""
    parts = []
    for column, value in zip(outputs, row, strict=True):
        if value is None:
            parts.append(call("is_null", column))
        elif not isinstance(column.type, Array | Collection | MapType | Struct):
            parts.append(equate(column, lit(value, column.type)))
    return conjunction(parts)


class _Tracer:
    def __init__(self, found: Found, local: Mapping[str, Traced]) -> None:
        self.found = found
        self.local = local

    def rows(self, plan: Plan, needs: Needs) -> Traced:
        """The rows of a plan; those that the needs exclude may be missing."""
        result = Traced()
        match plan:
            case Scan(relation, outputs):
                if relation in self.local:
                    return self.local[relation]
                wanted = {i: needs[c.name] for i, c in enumerate(outputs) if c.name in needs}
                for row, weight in self.found(relation, wanted):
                    result.add(row, weight, Origin([], relation, row, weight))
            case Constant(rows):
                for row in rows:
                    result.add(row, 1)
            case Select(source, condition):
                holds = compile_term(condition, columns(source))
                for row, weight, origin in self.below(plan, source, needs).items():
                    if holds(row) is True:
                        result.add(row, weight, origin)
            case Map(source, outputs):
                terms = [compile_term(t, columns(source)) for _, t in outputs]
                for row, weight, origin in self.below(plan, source, needs).items():
                    result.add(tuple(t(row) for t in terms), weight, origin)
            case Join():
                self.join(plan, needs, result)
            case Outer():
                self.outer(plan, needs, result)
            case Semi(left, right, condition, anti):
                missing = Origin(absent=_missing(right, condition)) if anti else None
                for row, w, o, matches in self.match_rows(plan, left, right, condition, needs):
                    if missing is not None and not matches:
                        result.add(row, w, o, missing)
                    elif missing is None and matches:
                        result.add(row, w, o, *(p for _, _, p in matches))
            case Unnest(source):
                for row, weight, origin in self.below(plan, source, needs).items():
                    for made, count in unnest_rows(plan, [(row, weight)]):
                        result.add(made, count, origin)
            case Union(inputs):
                for part in inputs:
                    for row, weight, origin in self.below(plan, part, needs).items():
                        result.add(row, weight, origin)
            case Aggregate():
                self.aggregate(plan, needs, result)
            case Distinct(source):
                for row, _, origin in self.below(plan, source, needs).items():
                    result.add(row, 1, origin)
            case SetOperation():
                self.set_operation(plan, needs, result)
            case Window():
                self.window(plan, needs, result)
            case Top():
                self.top(plan, needs, result)
            case Fixpoint():
                return self.fixpoint(plan)
            case _:
                assert_never(plan)
        return result

    def join(self, plan: Join, needs: Needs, result: Traced) -> None:
        left, right = plan.left, plan.right
        if _is_small(right, needs) and not _is_small(left, needs):
            for row, w, o, matches in self.match_rows(plan, right, left, plan.condition, needs):
                for other, v, p in matches:
                    result.add(other + row, w * v, p, o)
        else:
            for row, w, o, matches in self.match_rows(plan, left, right, plan.condition, needs):
                for other, v, p in matches:
                    result.add(row + other, w * v, o, p)

    def below(self, plan: Plan, source: Plan, needs: Needs) -> Traced:
        return self.rows(source, needs_below(plan, source, needs))

    def match_rows(
        self, plan: Join | Outer | Semi, first: Plan, second: Plan, condition: Term, needs: Needs
    ) -> Iterator[tuple[Row, int, Origin, list[tuple[Row, int, Origin]]]]:
        """Each row of the first side with those of the second that it makes the condition TRUE with."""
        own, other = columns(first), columns(second)
        rows = self.below(plan, first, needs)
        equal, rest = equalities(condition, own, other)
        probes = [compile_term(a, own) for a, _ in equal]
        stored = [compile_term(b, other) for _, b in equal]
        keys = {row: tuple(p(row) for p in probes) for row in rows.weights}
        handed: dict[str, Set[Any]] = dict(needs_below(plan, second, needs))
        for i, (_, b) in enumerate(equal):
            if isinstance(b, Column):
                values = {key[i] for key in keys.values()}
                if any(v != v for v in values):  # NaN is equal to itself for conditions, but not in a set
                    continue
                handed[b.name] = values & handed[b.name] if b.name in handed else values
        index: dict[Row, list[tuple[Row, int, Origin]]] = {}
        for row, weight, origin in self.rows(second, handed).items():
            index.setdefault(tuple(s(row) for s in stored), []).append((row, weight, origin))
        holds = [compile_term(t, own + other) for t in rest]
        for row, weight, origin in rows.items():
            found = [] if None in keys[row] else index.get(keys[row], [])
            yield row, weight, origin, [e for e in found if all(h(row + e[0]) is True for h in holds)]

    def outer(self, plan: Outer, needs: Needs, result: Traced) -> None:
        none_left = (None,) * len(columns(plan.left))
        none_right = (None,) * len(columns(plan.right))
        missing = Origin(absent=_missing(plan.right, plan.condition))
        seen: set[Row] = set()
        for row, w, o, matches in self.match_rows(plan, plan.left, plan.right, plan.condition, needs):
            for other, v, p in matches:
                result.add(row + other, w * v, o, p)
            seen.update(other for other, _, _ in matches)
            if not matches:
                result.add(row + none_right, w, o, missing)
        if plan.kind == "full":
            missing = Origin(absent=_missing(plan.left, plan.condition))
            for row, w, o in self.rows(plan.right, {}).items():
                if row not in seen:
                    result.add(none_left + row, w, o, missing)

    def aggregate(self, plan: Aggregate, needs: Needs, result: Traced) -> None:
        value = Values(columns(plan.input))
        rows = self.below(plan, plan.input, needs)
        groups: dict[Row, list[Row]] = {(): []} if plan.scalar else {}
        for row in rows.weights:
            groups.setdefault(tuple(value(t, row) for _, t in plan.keys), []).append(row)
        for key, members in groups.items():
            entries = [(row, rows.weights[row]) for row in members]
            values = tuple(single_or_aggregate(a, entries, value) for _, a in plan.aggregates)
            result.add(key + values, 1, *(rows.origins[row] for row in members))

    def set_operation(self, plan: SetOperation, needs: Needs, result: Traced) -> None:
        left, right = self.below(plan, plan.left, needs), self.below(plan, plan.right, needs)
        for row, weight, origin in left.items():
            other = right.weights.get(row, 0)
            if plan.kind == "intersect":
                count = min(weight, other)
                parts = [origin, right.origins[row]] if other else []
            else:
                count = max(weight - other, 0) if plan.all else weight * (other == 0)
                parts = [origin]
            if count:
                result.add(row, count if plan.all else 1, *parts)

    def window(self, plan: Window, needs: Needs, result: Traced) -> None:
        found = columns(plan.input)
        value, types = Values(found), tuple(c.type for c in found)
        source = self.below(plan, plan.input, needs)
        rows = [row for row, weight in source.weights.items() for _ in range(weight)]
        results: list[list[Any]] = [[] for _ in rows]
        parts: list[Origin] = [source.origins[row] for row in rows]
        for _, function in plan.functions:
            for places in partitions(function, rows, types, value):
                part = [rows[i] for i in places]
                whole = Origin([source.origins[row] for row in dict.fromkeys(part)])
                for i, made in zip(places, window_values(function, part, value), strict=True):
                    results[i].append(made)
                    parts[i] = whole
        for row, made_all, origin in zip(rows, results, parts, strict=True):
            result.add((*row, *made_all), 1, origin)

    def top(self, plan: Top, needs: Needs, result: Traced) -> None:
        source = self.below(plan, plan.input, needs)
        for row, taken in first_rows(plan, source.weights.items()):
            result.add(row, taken, source.origins[row])

    def fixpoint(self, plan: Fixpoint) -> Traced:
        """The rows are found first; then every rule is traced once, over nodes that stand for the rows of all of them."""

        def contents(name: str) -> Iterable[tuple[Row, int]]:
            return self.local[name].entries() if name in self.local else self.found(name, {})

        known: dict[str, Traced] = {}
        for rule in plan.rules:
            of_rule = Fixpoint(plan.rules, rule.name, columns(rule.body), plan.limit)
            known[rule.name] = made = Traced()
            for row, weight in evaluate(of_rule, contents).items():
                made.add(row, weight, Origin())
        inner = _Tracer(self.found, {**self.local, **known})
        for rule in plan.rules:
            for row, _, origin in inner.rows(rule.body, {}).items():
                known[rule.name].origins[row].parts.append(origin)
        return known[plan.result]


def _is_small(plan: Plan, needs: Needs) -> bool:
    """Whether little of a plan is wanted: something restricts it."""
    if any(c.name in needs for c in columns(plan)):
        return True
    match plan:
        case Select() | Constant():
            return True
        case Map(source) | Distinct(source) | Unnest(source) | Aggregate(source):
            return _is_small(source, needs)
        case Join(left, right):
            return _is_small(left, needs) or _is_small(right, needs)
        case _:
            return False


def _missing(plan: Plan, condition: Term) -> str:
    """What was looked for in vain, in words."""
    names = ", ".join(sorted(relations_of(plan))) or "the other side"
    return f"no row of {names} with {show(condition)}"
