"""What is known of the rows of a plan, whatever the data.

A *key* is a set of columns that no two rows share (multiplicities counted: a row that is there twice has no key). A
*dependency* X -> Y says that rows which agree on X agree on Y; NULLs agree with NULLs. Two columns that determine each
other with equal values are *equal*. A plan with the empty key has at most one row.

    Scan orders [o.id, o.customer]                     keys {o.id}
    Join o.id = l.order over it and Scan items [l.order, l.line]    (items has the key order, line)
                                                       keys {l.order, l.line} and {o.id, l.line}
    Aggregate by o.customer                            keys {o.customer}
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from evercurrent.algebra.facts import Facts, from_condition, smallest
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
from evercurrent.algebra.nulls import find_required
from evercurrent.catalog.catalog import Knowledge
from evercurrent.data.types import Map as MapType
from evercurrent.term.build import conjuncts
from evercurrent.term.nodes import WHOLE, Call, Column, Literal, Term
from evercurrent.term.nullable import nullable
from evercurrent.term.walk import columns_of

Names = frozenset[str]

POSITIONAL = ("row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead")
"""Window functions that depend on the row's place in the order, whatever the frame."""


def keys(plan: Plan, knowledge: Knowledge) -> frozenset[Names]:
    """Sets of columns that no two rows share; none contains another."""
    return frozenset(facts(plan, knowledge).keys)


def determines(plan: Plan, knowledge: Knowledge, given: Iterable[str]) -> Names:
    """All columns whose value is settled once these have theirs."""
    return facts(plan, knowledge).closure(given)


def equalities(plan: Plan, knowledge: Knowledge) -> frozenset[Names]:
    """Classes of columns that have the same value in every row."""
    return facts(plan, knowledge).classes()


def not_null(plan: Plan, knowledge: Knowledge) -> Names:
    """The columns that are never NULL."""
    return frozenset(facts(plan, knowledge).not_null)


def at_most_one(plan: Plan, knowledge: Knowledge, given: Iterable[Column | str] = ()) -> bool:
    """Whether no two rows agree on the given columns; with none given, whether there are no two rows."""
    known = facts(plan, knowledge)
    closure = known.closure(c if isinstance(c, str) else c.name for c in given)
    return any(key <= closure for key in known.keys)


_remembered: dict[tuple[int, int], tuple[Plan, Knowledge, Facts]] = {}
REMEMBERED = 4096
"""Rules ask about the same subplans again and again: the last answers are kept, by identity."""


def facts(plan: Plan, knowledge: Knowledge) -> Facts:
    """All that is known; the caller may change it."""
    key = id(plan), id(knowledge)
    found = _remembered.get(key)
    if found is None or found[0] is not plan or found[1] is not knowledge:
        if len(_remembered) >= REMEMBERED:
            _remembered.clear()
        found = _remembered[key] = plan, knowledge, _facts(plan, knowledge)
    return found[2].copy()


def forget() -> None:
    """Let go of the plans that were asked about."""
    _remembered.clear()


def _facts(plan: Plan, knowledge: Knowledge) -> Facts:
    match plan:
        case Scan(relation, outputs, fields):
            called = dict(zip(fields, (c.name for c in outputs), strict=True))
            result = Facts.of(c.name for c in outputs if not c.nullable)
            for key in knowledge.keys_of(relation):
                if called.keys() >= set(key):
                    result.add_key((called[f] for f in key), columns(plan))
            return result
        case Constant():
            return _constant_rows(plan)
        case Select(source, condition):
            return from_condition(facts(source, knowledge), condition, columns(source))
        case Map(source, outputs):
            return _map_facts(facts(source, knowledge), outputs)
        case Join(left, right, condition):
            return _join_facts(plan, facts(left, knowledge), facts(right, knowledge), condition)
        case Outer():
            return _outer(plan, facts(plan.left, knowledge), facts(plan.right, knowledge))
        case Semi(left, right, condition, anti):
            result = facts(left, knowledge)
            if not anti:
                mine = {c.name for c in columns(left)}
                result.not_null |= find_required(condition) & mine
                _equal_to_constant(result, condition, facts(right, knowledge), mine)
            return result
        case Unnest():
            return _unnest_facts(plan, facts(plan.input, knowledge))
        case Union(inputs, outputs):
            return _union(inputs, outputs, [facts(p, knowledge) for p in inputs])
        case Aggregate(source, by, aggregates, scalar):
            result = _map_facts(facts(source, knowledge), by)
            result.keys = []
            result.add_key((c.name for c, _ in by), columns(plan))
            result.not_null |= {c.name for c, _ in aggregates if not c.nullable}
            if scalar:
                result.add_key((), columns(plan))
            return result
        case Distinct(source):
            result = facts(source, knowledge)
            result.add_key((c.name for c in columns(source)), columns(source))
            return result
        case SetOperation(_, repeated, left, _, outputs):
            result = _map_facts(facts(left, knowledge), tuple(zip(outputs, columns(left), strict=True)))
            if not repeated:
                result.add_key((c.name for c in outputs), outputs)
            return result
        case Window():
            return _window(plan, facts(plan.input, knowledge))
        case Top():
            return _top(plan, facts(plan.input, knowledge))
        case Fixpoint():
            return _fixpoint(plan)
        case _:
            assert_never(plan)


def _top(plan: Top, result: Facts) -> Facts:
    """At most one row of each partition is there, if no more are asked for and ties do not count."""
    columns_of_key = [t.name for t in plan.partition if isinstance(t, Column)]
    few = plan.limit is not None and plan.limit <= 1 and plan.ties == "rows"
    if few and len(columns_of_key) == len(plan.partition):
        result.add_key(columns_of_key, columns(plan.input))
    return result


def _constant_rows(plan: Constant) -> Facts:
    rows, outputs = plan.rows, plan.outputs
    result = Facts.of(c.name for i, c in enumerate(outputs) if all(r[i] is not None for r in rows))
    if len(rows) <= 1:
        result.add_key((), outputs)
    elif len(set(rows)) == len(rows):
        result.add_key((c.name for c in outputs), outputs)
    return result


def _fixpoint(plan: Fixpoint) -> Facts:
    rule = next(r for r in plan.rules if r.name == plan.result)
    result = Facts.of(c.name for c in plan.outputs if not c.nullable)
    if rule.distinct:
        result.add_key((c.name for c in plan.outputs), plan.outputs)
    return result


def _window(plan: Window, result: Facts) -> Facts:
    for column, function in plan.functions:
        partition = [t.name for t in function.partition if isinstance(t, Column)]
        if len(partition) < len(function.partition):
            continue
        if function.function == "row_number":
            result.add_key((*partition, column.name), columns(plan))
        if function.frame == WHOLE and function.function not in POSITIONAL:
            result.add_dependency(partition, (column.name,))
    for found in result.keys:
        result.add_dependency(found, (c.name for c in columns(plan)))
    result.not_null |= {c.name for c, _ in plan.functions if not c.nullable}
    return result


def _map_facts(source: Facts, outputs: tuple[tuple[Column, Term], ...]) -> Facts:
    """What stays known when only the outputs are kept: what can be said in their names."""
    whole = source.copy()
    shown: dict[str, str] = {}  # a column of the source -> an output that has its value
    not_null: set[str] = set()
    for column, term in outputs:
        read = {c.name for c in columns_of(term)}
        match term:
            case Column(name):
                if name != column.name:
                    whole.add_equality(name, column.name)
                if name in source.not_null or not term.nullable:
                    not_null.add(column.name)
            case _:
                whole.add_dependency(read, (column.name,))
                if not nullable(term):
                    not_null.add(column.name)
    kept = {c.name for c, _ in outputs}
    for members in whole.classes():
        outside = sorted(members & kept)
        if outside:
            shown.update({m: m if m in kept else outside[0] for m in members})
    shown.update({name: name for name in kept})
    return whole.rename(shown, kept, not_null)


def _join_facts(plan: Join, left: Facts, right: Facts, condition: Term) -> Facts:
    both = Facts(
        list(left.dependencies + right.dependencies),
        [],
        left.not_null | right.not_null,
        left.equal + right.equal,
    )
    result = from_condition(both, condition, columns(plan))
    result.keys = smallest(key for a in left.keys for b in right.keys for key in result.combine_keys(a, b))
    for key in result.keys:
        result.add_dependency(key, (c.name for c in columns(plan)))
    return result


def _outer(plan: Outer, left: Facts, right: Facts) -> Facts:
    """Padding makes NULLs: what depends on a padded side's values holds if a padded row cannot be taken for another."""
    own, other = ({c.name for c in columns(side)} for side in (plan.left, plan.right))
    inner = from_condition(
        Facts(list(left.dependencies + right.dependencies), [], left.not_null | right.not_null, []),
        plan.condition,
        columns(plan.left) + columns(plan.right),
    )
    sides = [right] if plan.kind == "left" else [left, right]
    dependencies = [] if plan.kind == "full" else list(left.dependencies)
    equal = [] if plan.kind == "full" else list(left.equal)
    for side in sides:
        dependencies += [(x, y) for x, y in side.dependencies if x & side.not_null]
        equal += [(a, b) for a, b in side.equal if {a, b} <= side.not_null]
    result = Facts(dependencies, [], set(left.not_null) if plan.kind == "left" else set(), equal)
    if plan.kind == "full":
        for a in left.keys:
            for b in right.keys:
                if a & left.not_null and b & right.not_null:
                    result.keys.append(a | b)
        return result
    read = {c.name for c in columns_of(plan.condition)} & own
    if any(key <= inner.closure(own) for key in right.keys):
        # At most one match: the left row determines the right one, and does so by what the condition reads.
        result.add_dependency(read, other)
        result.keys = list(left.keys)
    else:
        result.keys = smallest(a | b for a in left.keys for b in right.keys)
    for key in result.keys:
        result.add_dependency(key, own | other)
    return result


def _equal_to_constant(result: Facts, condition: Term, right: Facts, mine: set[str]) -> None:
    """A column that must equal one that is always the same is always the same."""
    constant = right.closure(())
    for part in conjuncts(condition):
        match part:
            case Call("eq", (Column(a), Column(b))):
                for x, y in ((a, b), (b, a)):
                    if x in mine and y in constant:
                        result.add_dependency((), (x,))


def _unnest_facts(plan: Unnest, source: Facts) -> Facts:
    result = source
    result.not_null |= {c.name for c in plan.elements if not c.nullable and not plan.outer}
    position = plan.elements[0].name if plan.elements else ""
    by_position = plan.ordinal or isinstance(plan.collection.type, MapType)
    result.keys = [key | {position} for key in source.keys] if by_position else []
    for key in result.keys:
        result.add_dependency(key, (c.name for c in columns(plan)))
    return result


def _union(inputs: tuple[Plan, ...], outputs: tuple[Column, ...], parts: list[Facts]) -> Facts:
    """Rows of different inputs differ if some column is a constant in each, and another in each."""
    names = [[c.name for c in columns(p)] for p in inputs]
    result = Facts.of(
        c.name
        for i, c in enumerate(outputs)
        if all(own[i] in part.not_null for own, part in zip(names, parts, strict=True))
    )
    for i, column in enumerate(outputs):
        values = [_constant(p, i) for p in inputs]
        if None in values or len({v.value for v in values if v is not None}) < len(values):
            continue
        if all(part.keys for part in parts):
            key = {column.name}
            for own, part in zip(names, parts, strict=True):
                key |= {outputs[own.index(name)].name for name in min(part.keys, key=len)}
            result.add_key(key, outputs)
    return result


def _constant(plan: Plan, i: int) -> Literal | None:
    match plan:
        case Map(outputs=outputs):
            term = outputs[i][1]
            return term if isinstance(term, Literal) else None
        case Constant(rows, outputs) if len({row[i] for row in rows}) == 1:
            return Literal(rows[0][i], outputs[i].type)
        case _:
            return None
