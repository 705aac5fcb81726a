"""Keyed functions as generated code: rows of touched groups, before and after.

    entry of orders by customer          (8), sum 1.00, count 1         (8), sum 3.00, count 2
    rows of spend                        (8, 1.00)                      (8, 3.00)
    delta of spend                       {(8, 1.00): -1, (8, 3.00): +1}

A finalizer reads one entry; a window or a top-k reads all rows of a group.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from evercurrent.calculus.windows import choose_first, window_values
from evercurrent.data.zset import Row
from evercurrent.delta.program import Finalize, Ranked, Windowed
from evercurrent.engine.spark.kernel.entry_columns import Reading, reading
from evercurrent.engine.spark.kernel.generated_code import Source, compile_once
from evercurrent.engine.spark.storage.file_schema import Shape
from evercurrent.term.emit.functions import order_function, row_function
from evercurrent.term.emit.scope import Locals, Scope, tuple_of
from evercurrent.term.evaluate import compile_term
from evercurrent.term.nodes import Column, Term
from evercurrent.term.walk import nodes

Rows = Callable[[list[Row]], Iterable[Row]]
"""From the rows of a group, in any order, to what is made of it."""


@dataclass(frozen=True, slots=True)
class Finalizer:
    """`function(rows, into, sign)` adds to a Z-set what entries give, read as `reading` says."""

    reading: Reading
    function: Callable[[Iterable[Row], dict[Row, int], int], None]


def finalizer(function: Finalize, shape: Shape) -> Finalizer:
    return compile_once(
        (function, shape.state), ("final",), lambda source: _finalizer(function, shape, source)
    )


def _finalizer(function: Finalize, shape: Shape, source: Source) -> Finalizer:
    terms = (function.multiplicity, *function.outputs)
    read = reading(shape, dict.fromkeys(n.name for t in terms for n in nodes(t) if isinstance(n, Column)))
    writer = source.writer
    with writer.block("def finalize(rows, into, sign):"), writer.block("for r in rows:"):
        scope = Scope(writer, source.namespace, Locals(), terms)
        for name, i in read.positions.items():
            scope.define(name, f"r[{i}]")
        times = scope.atom(scope.value(function.multiplicity))
        with writer.block(f"if {times}:"):
            writer.line(f"key = {tuple_of(scope.values(function.outputs))}")
            writer.line(f"into[key] = into.get(key, 0) + sign * {times}")
    return Finalizer(read, source.load("rows of entries")["finalize"])


def group_function(function: Windowed | Ranked, shape: Shape) -> Rows:
    """Returns the function from the rows of a group to the rows of its window or top-k."""
    return compile_once(
        (function, shape.state), ("group",), lambda _: _group_function(function, shape.state.columns)
    )


def _group_function(function: Windowed | Ranked, columns: Sequence[Column]) -> Rows:
    match function:
        case Windowed(functions, outputs):
            output = row_function([*columns, *(c for c, _ in functions)], outputs)
            by = order_function(columns, functions[0][1].order, columns)
            own = [c.name for c in columns]

            def window(group: list[Row]) -> Iterable[Row]:
                rows = sorted(group, key=by)
                values = [window_values(f, rows, reader(own)) for _, f in functions]
                return [output((*row, *more)) for row, *more in zip(rows, *values, strict=True)]

            return window
        case Ranked(order, limit, offset, outputs, ties):
            output = row_function(columns, outputs)
            key = order_function(columns, order, columns)
            peers = order_function(columns, order, ())

            def rank(group: list[Row]) -> Iterable[Row]:
                if ties != "rows":
                    rows = [(row, 1) for row in sorted(group, key=key)]
                    return [output(row) for row, _ in choose_first(rows, limit, offset, ties, peers)]
                if limit is None:
                    return map(output, sorted(group, key=key)[offset:])
                return map(output, heapq.nsmallest(offset + limit, group, key=key)[offset:])

            return rank
        case _:
            assert_never(function)


def reader(names: Sequence[str]) -> Callable[[Term, Row], Any]:
    """Values of terms over rows; each term is compiled once."""
    known: dict[int, tuple[Term, Callable[[Row], Any]]] = {}

    def read(term: Term, row: Row) -> Any:
        found = known.get(id(term))
        if found is None:
            found = known[id(term)] = (term, compile_term(term, names))
        return found[1](row)

    return read
