"""What one row adds to the accumulators of a cell, as source.

c[1] += amount                              integers and decimals: plain ints
c[2] = exact_add(c[2], x, w)                floats: exact
c[2] = exact_join(c[2], amount)             floats that were taken apart: exact
c[3].add((x,), w)                           aggregates that are not sums
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from evercurrent.data.exact import add as exact_add
from evercurrent.data.exact import join as exact_join
from evercurrent.data.types import Float
from evercurrent.delta.aggregates import not_null
from evercurrent.delta.program import Accumulator, Amount
from evercurrent.engine.live.runtime.aggregates import factory
from evercurrent.engine.live.scope import Scope
from evercurrent.term.build import conjuncts
from evercurrent.term.emit.code import Code
from evercurrent.term.emit.scope import tuple_of
from evercurrent.term.emit.writer import Namespace, Writer
from evercurrent.term.failing import can_fail
from evercurrent.term.nodes import Column, Term
from evercurrent.term.walk import children

CELL = "{cell}"
"""Stands for the cell's local in the lines."""


@dataclass(frozen=True, slots=True)
class Added:
    """`initial` is the member of a new cell, `line` what is done to an old one (and, with `later`, to a new one).

    `where` is the condition, in a local; `note` is what is written to the journal first. `start` and `total` are the member
    of a new and of an old entry where the condition holds.
    """

    initial: str
    line: str
    where: str | None = None
    note: str = ""
    later: bool = False
    start: str = "0"
    total: str = ""


def write_addition(
    scope: Scope, namespace: Namespace, slot: int, accumulator: Accumulator, amount: Amount
) -> Added:
    """The source for one amount; locals that both an old and a new cell need are written now."""
    where = None
    if amount.where is not None:
        _prepare_operands(scope, amount)
        test = scope.true(amount.where)
        where = None if test == "True" else scope.atom(test)
    codes = _codes(scope, amount.args, lazy=where is not None)
    weight = "1" if amount.weight is None else scope.atom(scope.value(amount.weight))
    member = f"{CELL}[{slot}]"
    if accumulator.aggregate is not None:
        make = namespace.bind(factory(accumulator.aggregate), "a")
        args = tuple_of(c.value for c in codes)
        note = f"journal(({member}.restore, {args}, {member}.mark({args})))"
        return Added(f"{make}()", f"{member}.add({args}, {weight})", where, note, later=True)
    if "None" in codes[0].guards or where == "False":
        return Added("0", "", where, total=member)  # NULL adds nothing
    value = codes[0].evaluated
    if isinstance(accumulator.type, Float) and amount.weight is None:
        value = scope.atom(value) if where is None else value
        namespace.define("exact_join", exact_join)
        initial, total = value, f"exact_join({member}, {value})"
        line = f"{member} = {total}"
    elif isinstance(accumulator.type, Float):
        namespace.define("exact_add", exact_add)
        initial = f"exact_add(0, {value}, {weight})"
        total = f"exact_add({member}, {value}, {weight})"
        line = f"{member} = {total}"
    else:
        if where is None:
            value = scope.atom(value)
        negative = value.startswith("(-") and value.endswith(")") and " " not in value
        initial = value
        sign, added = ("-", value[2:-1]) if negative else ("+", value)
        line = f"{member} {sign}= {added}" if value != "0" else ""
        total = f"{member} {sign} {added}" if line else member
    return Added(
        initial if where is None else f"{initial} if {where} else 0", line, where, start=initial, total=total
    )


def _codes(scope: Scope, terms: Sequence[Term], lazy: bool) -> list[Code]:
    if lazy:
        # Under a condition nothing is computed beforehand: it might fail for rows that do not count.
        scope.prepare_columns(*terms)
    else:
        scope.prepare(*terms)
    return [scope.expressions.code(t) for t in terms]


def _prepare_operands(scope: Scope, amount: Amount) -> None:
    """Put operands that may be NULL into locals if the condition tests nothing else: it and the amount then share them.

    `sum(x / nullif(y, 0))` tests `x IS NOT NULL AND nullif(y, 0) IS NOT NULL` and adds their quotient. Under a FILTER
    the operands stay where they are: they might fail for rows that do not count.
    """
    if amount.where is None or len(amount.args) != 1:
        return
    tested = dict.fromkeys(not_null(amount.args[0]))
    if set(tested) != set(conjuncts(amount.where)):
        return
    # The test of an operand that is always NULL is the literal FALSE, which has no operand.
    for operand in (child for test in tested for child in children(test)):
        if not isinstance(operand, Column) and not can_fail(operand):
            scope.prepare_columns(operand)
            scope.keep(operand)


def write_amounts(w: Writer, amounts: Sequence[Added], cell: str, journal: bool) -> None:
    """The lines for a cell; neighbours under one condition share their `if`."""
    for where, group in groupby(amounts, key=lambda a: a.where):
        lines = [line for a in group for line in ((a.note if journal else ""), a.line) if line]
        if not lines:
            continue
        if where is None:
            for line in lines:
                w.line(line.replace(CELL, cell))
            continue
        with w.block(f"if {where}:"):
            for line in lines:
                w.line(line.replace(CELL, cell))


def show_entry(first: Sequence[str], amounts: Sequence[Added], old: str | None) -> str:
    """A tuple of these members and the sums after the amounts, of a new entry or of the one in the local `old`.

    >>> added = Added("1 if v2 else 0", "{cell}[1] += 1", "v2", start="1", total="{cell}[1] + 1")
    >>> show_entry(["1"], [added], None), show_entry(["v4"], [added], "v3")
    ('(1, 1) if v2 else (1, 0)', '(v4, v3[1] + 1) if v2 else (v4, v3[1])')
    """
    at = len(first)
    kept = ["0" if old is None else f"{old}[{at + i}]" for i in range(len(amounts))]
    full = [a.start if old is None else a.total.replace(CELL, old) for a in amounts]
    conditions = {a.where for a in amounts if a.where is not None}
    if len(conditions) == 1:
        without = [k if a.where else f for a, k, f in zip(amounts, kept, full, strict=True)]
        return f"{tuple_of([*first, *full])} if {conditions.pop()} else {tuple_of([*first, *without])}"
    members = [
        f if a.where is None else f"{f} if {a.where} else {k}"
        for a, k, f in zip(amounts, kept, full, strict=True)
    ]
    return tuple_of([*first, *members])


def show_sum(source: str) -> str:
    """`a + (-1)` as `a - 1`.

    >>> show_sum("c[0] + (-1)"), show_sum("c[0] + 1")
    ('c[0] - 1', 'c[0] + 1')
    """
    head, plus, last = source.rpartition(" + ")
    return f"{head} - {last[2:-1]}" if plus and last.startswith("(-") and last[2:-1].isdigit() else source
