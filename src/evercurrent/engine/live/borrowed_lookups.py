"""Looking up a borrowed state (see `borrowed_states`) in a fast trigger, as source: the thing itself is at hand, not a copy of its row.

v1 = o1[r[1]]                   # by its key
if v1 is not None:
    v2 = v1._3                  # a reference is another thing: a lookup by it needs no key
    if v2 is not None:
        ... v1._2 * v2._1
"""

from __future__ import annotations

from evercurrent.delta.program import Lookup
from evercurrent.engine.live.borrowed_states import KEY, Loan
from evercurrent.engine.live.layout import Layout
from evercurrent.engine.live.scope import Scope
from evercurrent.term.emit.writer import Namespace
from evercurrent.term.nodes import Column, Term
from evercurrent.term.nullable import nullable


def borrow(scope: Scope, layout: Layout, loan: Loan, step: Lookup, namespace: Namespace) -> None:
    """Open the blocks of the lookup."""
    ((_, term),) = step.match
    thing = _thing(scope, loan, term, namespace)
    if step.outer:
        _outer(scope, layout, loan, step, thing)
        return
    scope.writer.open(f"if {thing} is {'' if step.absent else 'not '}None:")
    for name, column in step.binds:
        source, refers = _read(layout, loan, name, thing)
        if refers and scope.uses[column.name]:
            _define_thing(scope, column, scope.assign(source))
        else:
            scope.define(column.name, source)


def _thing(scope: Scope, loan: Loan, term: Term, namespace: Namespace) -> str:
    """The local that holds the thing, or None."""
    if isinstance(term, Column) and term.name in scope.things:
        return scope.things[term.name]
    scope.prepare(term)
    key = scope.expressions.value(term)
    things = namespace.bind(loan.lent.things, "o")
    if not nullable(term):
        return scope.assign(f"{things}[{key}]")
    key = scope.atom(key)
    return scope.assign(f"{things}[{key}] if {key} is not None else None")


def _outer(scope: Scope, layout: Layout, loan: Loan, step: Lookup, thing: str) -> None:
    """Without a match, what would be bound is NULL."""
    used = {name: scope.fresh() for name, column in step.binds if scope.uses[column.name]}
    w = scope.writer
    if used:
        with w.block(f"if {thing} is not None:"):
            for name, local in used.items():
                w.line(f"{local} = {_read(layout, loan, name, thing)[0]}")
        with w.block("else:"):
            w.line(f"{' = '.join(used.values())} = None")
    for name, column in step.binds:
        if name in used and _read(layout, loan, name, thing)[1]:
            _define_thing(scope, column, used[name])
        else:
            scope.define(column.name, used.get(name, "None"))


def _read(layout: Layout, loan: Loan, name: str, thing: str) -> tuple[str, bool]:
    """The source of a field of the thing, and whether that is another thing."""
    position = layout.position(name)
    if position == 0:
        return f"{thing}.{KEY}", False
    column = loan.columns[position - 1]
    return f"{thing}.{loan.lent.attributes[column]}", column in loan.lent.references


def _define_thing(scope: Scope, column: Column, local: str) -> None:
    scope.things[column.name] = local
    scope.define(column.name, f"(None if {local} is None else {local}.{KEY})")
