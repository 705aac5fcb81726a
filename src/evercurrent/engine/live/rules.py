"""A rule as nested ifs and fors, steps in the order given.

if r[10] > c1:                          # Where
    v1 = s2.get(r[0])                   # Lookup in a state, at most one entry
    if v1 is not None:
        ...                             # the addition to the target
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from evercurrent.data.types import Array, Collection, Map
from evercurrent.delta.program import WEIGHT, Amount, Explode, Let, Lookup, Rule, Step, Where
from evercurrent.engine.live.layout import Layout
from evercurrent.engine.live.reads import enter
from evercurrent.engine.live.scope import Locals, Scope, tuple_of
from evercurrent.engine.live.writer import Namespace, Writer
from evercurrent.engine.live.writes import Addition, Target
from evercurrent.errors import InternalError
from evercurrent.term.failing import can_fail
from evercurrent.term.nodes import Call, Case, Column, Literal, Term
from evercurrent.term.nullable import nullable
from evercurrent.term.walk import columns_of


@dataclass(frozen=True, slots=True)
class Sink:
    """A linear relation: `table` collects its rows with their weights; `single`: its only row goes into that local.

    `listed`: the table is a list of (row, weight), one for each derivation, because a derivation that goes must not be
    hidden by one that comes.
    """

    table: str
    single: str | None = None
    listed: bool = False


Targets = Mapping[str, Target | Sink]


@dataclass(frozen=True, slots=True)
class Place:
    """Where rules are written: the states they look up, and what they add to."""

    writer: Writer
    namespace: Namespace
    fresh: Locals
    targets: Targets
    states: Mapping[str, Target]


def terms_of(rule: Rule) -> Iterator[Term]:
    """Every term of a rule, in the order of evaluation."""
    for step in rule.steps:
        yield from _read_by(step)
    yield from rule.columns
    yield rule.count
    yield from rule.dependents
    for amount in rule.amounts:
        yield from amount.args
        yield from (t for t in (amount.weight, amount.where) if t is not None)


def write_rule(place: Place, rule: Rule, row: str, weight: str) -> None:
    """The rule for the row in the local `row`, of the weight that the source `weight` gives."""
    if any(isinstance(s, Lookup) and s.state == rule.into for s in rule.steps):
        _write_in_two(place, rule, row, weight)
        return
    w = place.writer
    depth = w.depth
    scope = _open(place, rule, row, weight)
    target = place.targets[rule.into]
    if isinstance(target, Target):
        Addition(scope, place.namespace, target, rule).write(row)
    else:
        _write_to_sink(scope, target, rule, row)
    w.close(depth)


def _open(place: Place, rule: Rule, row: str, weight: str) -> Scope:
    scope = Scope(place.writer, place.namespace, place.fresh, terms_of(rule))
    for i, column in enumerate(rule.binds):
        scope.define(column.name, f"{row}[{i}]")
    scope.define(rule.weight.name, weight)
    w = place.writer
    layouts = {name: target.layout for name, target in place.states.items()}
    for step in scheduled(rule, layouts):
        match step:
            case Where(condition):
                test = scope.true(condition)
                if test != "True":
                    w.open(f"if {_bare(test)}:")
            case Let(column, term):
                scope.define(column.name, scope.atom(scope.value(term)))
            case Lookup():
                state = place.states[step.state]
                enter(scope, state.layout, state.names, step, place.namespace)
            case Explode():
                _explode(scope, step, place.namespace)
            case _:
                assert_never(step)
    return scope


def _bare(test: str) -> str:
    """A condition without the parentheses around the whole.

    >>> _bare("(a and b)"), _bare("(a) or (b)")
    ('a and b', '(a) or (b)')
    """
    if not (test.startswith("(") and test.endswith(")")):
        return test
    depth = 0
    for i, c in enumerate(test):
        depth += (c == "(") - (c == ")")
        if depth == 0 and i < len(test) - 1:
            return test
    return test if ":=" in test[1:-1].split("(", 1)[0] else test[1:-1]


def _write_to_sink(scope: Scope, sink: Sink, rule: Rule, row: str) -> None:
    w = scope.writer
    out = row if rule.columns == rule.binds else tuple_of(scope.values(rule.columns))
    if sink.single is not None:
        w.line(f"{sink.single} = {out}")
        return
    count = scope.value(rule.count)
    if sink.listed:
        w.line(f"{sink.table}.append(({out}, {count}))")
        return
    name = scope.atom(out)
    total = scope.assign(f"{sink.table}.get({name}, 0) + {count}")
    with w.block(f"if {total}:"):
        w.line(f"{sink.table}[{name}] = {total}")
    with w.block("else:"):
        w.line(f"{sink.table}.pop({name}, None)")


def _write_in_two(place: Place, rule: Rule, row: str, weight: str) -> None:
    """A rule that reads the state it adds to: what comes out is gathered first, so that all is read as it was."""
    w = place.writer
    terms: list[Term] = []

    def keep(term: Term) -> Column:
        terms.append(term)
        return Column(f"\x00{len(terms)}", term.type, nullable(term))

    def keep_amount(a: Amount) -> Amount:
        if a.where is None:
            return Amount(tuple(map(keep, a.args)), a.weight and keep(a.weight))
        where = a.where
        guarded = tuple(Case(((where, t),), Literal(None, t.type), t.type) for t in a.args)
        known = tuple(replace(keep(g), nullable=nullable(t)) for g, t in zip(guarded, a.args, strict=True))
        return Amount(known, a.weight and keep(a.weight), keep(where))

    second = Rule(
        on=rule.on,
        binds=(),
        weight=Column("\x00weight", rule.weight.type, False),
        steps=(),
        into=rule.into,
        columns=tuple(map(keep, rule.columns)),
        count=keep(rule.count),
        dependents=tuple(map(keep, rule.dependents)),
        amounts=tuple(map(keep_amount, rule.amounts)),
    )
    second = replace(second, binds=tuple(Column(f"\x00{i + 1}", t.type) for i, t in enumerate(terms)))
    depth, gathered, item = w.depth, place.fresh(), place.fresh()
    w.line(f"{gathered} = []")
    scope = _open(place, replace(rule, into="", columns=tuple(terms), dependents=(), amounts=()), row, weight)
    w.line(f"{gathered}.append({tuple_of(scope.values(terms))})")
    w.close(depth)
    with w.block(f"for {item} in {gathered}:"):
        write_rule(place, second, item, "0")


def _explode(scope: Scope, step: Explode, namespace: Namespace) -> None:
    w = scope.writer
    collection = scope.value(step.collection)
    kind = step.collection.type
    width = len(step.elements)
    names = [scope.fresh() for _ in step.elements]
    targets = list(names)
    source = scope.atom(collection)
    match kind:
        case Map():
            items = f"{source}.items()"
            inner = f"{names[-2]}, {names[-1]}"
        case Array() | Collection():
            items = source
            inner = names[-1] if not step.inline else scope.fresh()
        case _:
            raise InternalError(f"{kind} cannot be exploded")
    if step.ordinal:
        items = f"enumerate({items})"
        inner = f"{names[0]}, ({inner})" if "," in inner else f"{names[0]}, {inner}"
    if step.outer:
        blank = (None,) * (1 if step.inline and not step.ordinal else 2 if step.inline else width)
        if isinstance(kind, Map) and step.ordinal:
            none = namespace.constant(((None, (None, None)),))
        elif len(blank) == 1:
            none = namespace.constant((None,))
        else:
            none = namespace.constant((blank,))
        items = f"{items} if {source} else {none}"
    elif nullable(step.collection):
        items = f"{items} if {source} else ()"
    w.open(f"for {inner} in {items}:")
    if step.inline:
        struct = inner.split(", ")[-1]
        first = 1 if step.ordinal else 0
        blank_struct = namespace.constant((None,) * (width - first))
        w.line(f"{struct} = {struct} or {blank_struct}")
        targets = names[:first] + [f"{struct}[{i}]" for i in range(width - first)]
    for column, source_of in zip(step.elements, targets, strict=True):
        scope.define(column.name, source_of)


# --- the order of steps ------------------------------------------------------------------------------------


def scheduled(rule: Rule, layouts: Mapping[str, Layout]) -> list[Step]:
    """The steps, with what cannot fan out moved before what can, as far as its columns allow.

    Joins and filters commute. What might fail is not moved: a row that is filtered out must not fail.
    """
    done: list[Step] = []
    waiting = list(rule.steps)
    bound = {c.name for c in rule.binds} | {rule.weight.name}
    while waiting:
        ready = [s for s in waiting if s is waiting[0] or _may_move(s, bound, layouts)]
        step = next((s for s in ready if not step_fans_out(s, layouts)), waiting[0])
        waiting = [s for s in waiting if s is not step]
        done.append(step)
        bound |= {c.name for c in _bound_by(step)}
    return done


def _may_move(step: Step, bound: set[str], layouts: Mapping[str, Layout]) -> bool:
    terms = _read_by(step)
    needs = {c.name for t in terms for c in columns_of(t)}
    return needs <= bound and not step_fans_out(step, layouts) and not any(map(can_fail, terms))


def _read_by(step: Step) -> tuple[Term, ...]:
    match step:
        case Where(condition):
            return (condition,)
        case Let(_, term):
            return (term,)
        case Lookup(match=match):
            return tuple(term for _, term in match)
        case Explode(collection=collection):
            return (collection,)
        case _:
            assert_never(step)


def _bound_by(step: Step) -> tuple[Column, ...]:
    match step:
        case Where():
            return ()
        case Let(column):
            return (column,)
        case Lookup(binds=binds):
            return tuple(column for _, column in binds)
        case Explode(elements=elements):
            return elements
        case _:
            assert_never(step)


# --- what is known before anything is written --------------------------------------------------------------


def fans_out(rule: Rule, layouts: Mapping[str, Layout]) -> bool:
    """Whether one row of the delta can give several rows."""
    return any(step_fans_out(step, layouts) for step in rule.steps)


def step_fans_out(step: Step, layouts: Mapping[str, Layout]) -> bool:
    if isinstance(step, Explode):
        return True
    if not isinstance(step, Lookup) or step.present or step.absent or step.outer:
        return False
    layout = layouts[step.state]
    path = layout.path(name for name, _ in step.match)
    complete = layout.covers(layout.position(name) for name, _ in step.match)
    return not complete and (path.kind != "single" or not step.match)


def constant_count(rule: Rule, weight: int, layouts: Mapping[str, Layout]) -> int | None:
    """The weight of what comes out of a rule for a row of this weight, where that is always the same."""
    known = {rule.weight.name: weight}
    for step in rule.steps:
        if isinstance(step, Lookup) and layouts[step.state].state.unique:
            known.update({column.name: 1 for name, column in step.binds if name == WEIGHT})

    def evaluate(t: Term) -> int | None:
        match t:
            case Literal(value):
                return int(value)
            case Column(name):
                return known.get(name)
            case Call("ring_mul", args):
                result = 1
                for a in args:
                    factor = evaluate(a)
                    if factor is None:
                        return None
                    result *= factor
                return result
            case _:
                return None

    return evaluate(rule.count)
