"""A rule as nested ifs and fors, steps in the order given.

if r[10] > c1:                          # Where
    v1 = s2.get(r[0])                   # Lookup in a state, at most one entry
    if v1 is not None:
        ...                             # the addition to the target
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from evercurrent.data.types import Array, Collection, Map
from evercurrent.delta.analyses.labels import Labels
from evercurrent.delta.program import WEIGHT, Amount, Explode, Let, Lookup, Rule, Span, Step, Where
from evercurrent.delta.terms import terms_of
from evercurrent.engine.live.borrowed_lookups import borrow
from evercurrent.engine.live.borrowed_states import KEY
from evercurrent.engine.live.layout import Layout
from evercurrent.engine.live.paths import Target
from evercurrent.engine.live.reads import enter
from evercurrent.engine.live.scope import Scope
from evercurrent.engine.live.share import Branch, Chain, position, positional, share
from evercurrent.engine.live.steps import schedule_steps
from evercurrent.engine.live.writes import Addition
from evercurrent.errors import InternalError
from evercurrent.term.emit.scope import Locals, tuple_of
from evercurrent.term.emit.writer import Namespace, Writer, remark
from evercurrent.term.nodes import Case, Column, Literal, Term
from evercurrent.term.nullable import nullable
from evercurrent.term.walk import columns_of


@dataclass(frozen=True, slots=True)
class Sink:
    """A linear relation: `table` collects its rows with their weights; `single`: its only row goes into that local.

    `listed`: the table is a list of (row, weight), one for each derivation, because a deleted derivation must not be
    hidden by an inserted one.
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
    labels: Labels


@dataclass(frozen=True, slots=True)
class Given:
    """The columns of a row as locals of their own; those at `things` hold the things that the row refers to."""

    names: tuple[str, ...]
    things: frozenset[int]

    def source(self, i: int, nullable: bool) -> str:
        name = self.names[i]
        if i not in self.things:
            return name
        return f"(None if {name} is None else {name}.{KEY})" if nullable else f"{name}.{KEY}"


def write_rules(
    place: Place, turn: Sequence[tuple[Rule, int]], row: str, weight: str, given: Given | None = None
) -> None:
    """Rules for the row in the local `row`, of the weight that the source `weight` reads, in turn.

    Each comes with the sign of the rows that it is for (0: all); that is tested unless the weight is a constant. Rules
    that begin alike share their beginning (see `share`). With `given`, `row` is there only for rules that want all of it.
    """
    known = None if weight.isidentifier() else int(weight.strip("()"))
    own = [(rule, sign if known is None else 0) for rule, sign in turn if known is None or sign * known >= 0]
    layouts = {name: target.layout for name, target in place.states.items()}
    chains = [_chain(rule, sign, layouts) for rule, sign in own]
    forest = Branch(inside=share(chains, [n for n, target in place.targets.items() if adds_up(target)]))
    scope = Scope(place.writer, place.namespace, place.fresh, forest.terms())
    for i in range(max((len(c.rule.binds) for c in chains), default=0)):
        if given is None:
            scope.define(position(i), f"{row}[{i}]")
            continue
        may = any(c.rule.binds[i].nullable for c in chains if i < len(c.rule.binds))
        scope.define(position(i), given.source(i, may))
        if i in given.things:
            scope.things[position(i)] = given.names[i]
    scope.define(WEIGHT, weight)
    _write_branch(place, scope, forest, row, weight)


def adds_up(target: Target | Sink) -> bool:
    """Whether additions are but weights that add up, so that their order does not matter."""
    if isinstance(target, Sink):
        return not target.listed and target.single is None
    return target.layout.payload == "count" and not target.touches and not target.groups


def wants_row(rule: Rule) -> bool:
    """Whether a rule reads the row as a whole."""
    reads = any(isinstance(s, Lookup) and s.state == rule.into for s in rule.steps)
    return reads or rule.columns == rule.binds


def _chain(rule: Rule, sign: int, layouts: Mapping[str, Layout]) -> Chain:
    """The rule as a chain of steps; one that reads the state it adds to is written apart."""
    own = positional(replace(rule, steps=tuple(schedule_steps(rule, layouts))))
    alone = any(isinstance(s, Lookup) and s.state == rule.into for s in rule.steps)
    return Chain(own, sign, alone)


def _write_branch(place: Place, scope: Scope, branch: Branch, row: str, weight: str) -> None:
    w = place.writer
    depth = w.depth
    if branch.sign:
        w.open(f"if {weight} {'>' if branch.sign > 0 else '<'} 0:")
    if branch.step is not None:
        open_step(place, scope, branch.step)
    if len(branch.inside) > 1:
        # What several branches read is read before them.
        names = [
            {c.name for r in b.rules() for t in terms_of(r) for c in columns_of(t)} for b in branch.inside
        ]
        wanted = {
            n for i, some in enumerate(names) for n in some if any(n in other for other in names[i + 1 :])
        }
        scope.prepare_named(sorted(wanted - scope.things.keys()))  # a thing is at hand without its key
    for inner in branch.inside:
        _write_branch(place, scope.fork() if len(branch.inside) > 1 else scope, inner, row, weight)
    if branch.rule is not None:
        w.line(f"# add to {remark(place.labels.of(branch.rule.into))}")
        if branch.whole:
            _write_gathered(place, branch.rule, row, weight)
        else:
            write_target(place, scope, branch.rule, row)
    w.close(depth)


def write_target(place: Place, scope: Scope, rule: Rule, row: str | None) -> None:
    """The addition that a rule ends in; `row` is the local that holds the whole row, if one does."""
    target = place.targets[rule.into]
    before = len(place.writer.lines)
    if isinstance(target, Target):
        Addition(scope, place.namespace, target, rule).write(row)
    else:
        _write_to_sink(scope, target, rule, row)
    if len(place.writer.lines) == before:
        place.writer.line("pass")  # every sum adds zero, and nobody reads the weight


def open_step(place: Place, scope: Scope, step: Step, before: Span | None = None) -> None:
    """Open the blocks of a step; where they would nest too deeply, the rest is a function of its own.

    With `before`, a lookup reads what lies either in that range or in its own.
    """
    w = place.writer
    if w.crowded:
        w.cut(place.namespace.number("rest"))
    match step:
        case Where(condition):
            test = scope.true(condition)
            if test != "True":
                w.open(f"if {_bare(test)}:")
        case Let(column, term):
            scope.define(column.name, scope.atom(scope.value(term)))
        case Lookup():
            state = place.states[step.state]
            if state.loan is not None:
                borrow(scope, state.layout, state.loan, step, place.namespace)
            else:
                enter(scope, state.layout, state.names, step, place.namespace, before)
        case Explode():
            _explode(scope, step, place.namespace)
        case _:
            assert_never(step)


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


def _write_to_sink(scope: Scope, sink: Sink, rule: Rule, row: str | None) -> None:
    w = scope.writer
    out = row if row is not None and rule.columns == rule.binds else tuple_of(scope.values(rule.columns))
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


def _write_gathered(place: Place, rule: Rule, row: str, weight: str) -> None:
    """A rule that reads the state it adds to: its results are gathered first, so that it reads the state as it was."""
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
    first = replace(rule, into="", columns=tuple(terms), dependents=(), amounts=())
    scope = Scope(w, place.namespace, place.fresh, terms_of(first))
    for i, column in enumerate(rule.binds):
        scope.define(column.name, f"{row}[{i}]")
    scope.define(rule.weight.name, weight)
    for step in rule.steps:
        open_step(place, scope, step)
    w.line(f"{gathered}.append({tuple_of(scope.values(terms))})")
    w.close(depth)
    with w.block(f"for {item} in {gathered}:"):
        write_rules(place, [(second, 0)], item, "0")


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
