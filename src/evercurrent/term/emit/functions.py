"""Functions of one row, as compiled source: the outputs of windows and top-k, and what their rows are sorted by.

>>> from evercurrent.data.types import INT
>>> from evercurrent.term.build import call, lit
>>> n = Column("n", INT)
>>> row_function([n], [n, call("mul", n, lit(2, INT))])((21,))
(21, 42)
>>> sorted([(1,), (None,), (3,)], key=order_function([n], [SortKey(n, True, False)], []))
[(3,), (1,), (None,)]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from evercurrent.data.order import Backwards, order_key
from evercurrent.data.types import Decimal, Integer, Interval
from evercurrent.data.zset import Row
from evercurrent.term.emit.scope import Locals, Scope, tuple_of
from evercurrent.term.emit.writer import Namespace, Writer
from evercurrent.term.function_table import NAMES
from evercurrent.term.nodes import Column, SortKey, Term
from evercurrent.term.nullable import nullable

RowFunction = Callable[[Row], Any]


def row_function(columns: Sequence[Column], terms: Sequence[Term]) -> RowFunction:
    """From rows of these columns to the values of the terms."""
    return _compile_source(columns, terms, lambda scope, _: tuple_of(scope.values(terms)))


def order_function(
    columns: Sequence[Column], order: Sequence[SortKey], ties: Sequence[Column]
) -> RowFunction:
    """What rows are compared by: the sort keys, then the tie columns ascending, NULLs first."""
    keys = [*order, *(SortKey(c) for c in ties)]

    def write(scope: Scope, namespace: Namespace) -> str:
        scope.prepare(*(k.term for k in keys))
        return tuple_of(_key(scope, namespace, k) for k in keys)

    return _compile_source(columns, [k.term for k in keys], write)


def _key(scope: Scope, namespace: Namespace, key: SortKey) -> str:
    """A value that Python compares as the sort key says."""
    t = key.term.type
    may = nullable(key.term)
    value = scope.expressions.value(key.term)
    x = scope.atom(value) if may else value
    by = order_key(t)
    known = x if by is None else f"{namespace.bind(by, 'f')}({x})"
    if key.descending:
        if by is None and isinstance(t, Integer | Decimal | Interval):
            known = f"-{known}"
        else:
            known = f"{namespace.define('Backwards', Backwards)}({known})"
    if not may:
        return known
    null = namespace.constant((0 if key.nulls_first else 2, None))
    return f"({null} if {x} is None else (1, {known}))"


def _compile_source(
    columns: Sequence[Column], terms: Sequence[Term], write: Callable[[Scope, Namespace], str]
) -> RowFunction:
    writer, namespace = Writer(), Namespace()
    for name, value in NAMES.items():
        namespace.define(name, value)
    with writer.block("def function(r):"):
        scope = Scope(writer, namespace, Locals(), terms)
        for i, column in enumerate(columns):
            scope.define(column.name, f"r[{i}]")
        writer.line(f"return {write(scope, namespace)}")
    exec(compile(writer.text(), "<evercurrent: a function of a row>", "exec"), namespace.objects)
    function: RowFunction = namespace.objects["function"]
    return function
