"""One NaN and one zero: no function, cast, aggregate or window makes another, whichever way it is evaluated.

Every function of the table is called with NaN, infinities, zeros of either sign and numbers that underflow in every place where
a float can stand, by the evaluator and as generated source. A new function is tried without being listed here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import pytest

from evercurrent.data.representation import NAN, FrozenMap
from evercurrent.data.types import BIGINT, DOUBLE, FLOAT, INT, STRING, Array, Decimal, Float, Type
from evercurrent.data.values import taker
from evercurrent.errors import EvaluationError, QueryError, UnsupportedError
from evercurrent.term.aggregates import TABLE, aggregate, evaluate_aggregate
from evercurrent.term.build import call, cast
from evercurrent.term.emit.functions import row_function
from evercurrent.term.evaluate import Environment, evaluate
from evercurrent.term.nodes import Column, Literal, Term
from tests.unit.term.asking_spark import term
from tests.unit.term.spark_cases import CASES

SPECIAL = [float("nan"), math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, -0.3, 5e-324, -5e-324, -1e300, 2.0]
REFUSED = (EvaluationError, QueryError, UnsupportedError)


def canonical(value: Any) -> bool:
    match value:
        case float():
            return value is NAN if value != value else value != 0 or math.copysign(1, value) > 0
        case tuple() | list():
            return all(map(canonical, value))
        case FrozenMap():
            return all(canonical(k) and canonical(v) for k, v in value.items())
        case _:
            return True


def pool(t: Type, example: Any) -> list[Any]:
    """Values of a type, as they are taken in."""
    take = taker(t)
    if isinstance(t, Float):
        return [take(x) for x in SPECIAL]
    if isinstance(t, Array) and isinstance(t.element, Float):
        return [take(SPECIAL), take([-0.0]), take([])]
    return [example]


def calls(name: str) -> Iterator[tuple[Term, tuple[Column, ...], tuple[Any, ...]]]:
    """Calls of a function over columns where it takes columns, with rows for them; each combination of types once."""
    seen = set()
    for args in CASES[name]:
        try:
            terms = [term(a) for a in args]
            plain = [evaluate(t, Environment()) for t in terms]
        except REFUSED:
            continue
        types = tuple(DOUBLE if t.type in (INT, BIGINT) else t.type for t in terms)
        for chosen in {types, tuple(t.type for t in terms)}:
            if chosen in seen or not any(isinstance(t, Float | Array) for t in chosen):
                continue
            seen.add(chosen)
            columns = tuple(Column(f"c{i}", t, True) for i, t in enumerate(chosen))
            try:
                made = call(name, *columns)
            except REFUSED:
                columns = tuple(c for c in columns if isinstance(c.type, Float | Array))
                own = [c if c in columns else t for c, t in zip(_all(chosen), terms, strict=True)]
                try:
                    made = call(name, *own)
                except REFUSED:
                    continue
            values = [pool(c.type, plain[int(c.name[1:])]) for c in columns]
            for row in itertools.islice(itertools.product(*values), 400):
                yield made, columns, row


def _all(types: tuple[Type, ...]) -> list[Column]:
    return [Column(f"c{i}", t, True) for i, t in enumerate(types)]


def check(made: Term, columns: tuple[Column, ...], row: tuple[Any, ...], function: Any) -> None:
    try:
        value = evaluate(made, Environment({c.name: v for c, v in zip(columns, row, strict=True)}))
    except REFUSED:
        return
    assert canonical(value), f"{made} of {row} is {value!r}"
    (written,) = function(row)
    assert canonical(written), f"{made} of {row} as source is {written!r}"
    assert (written,) == (value,), f"{made} of {row}"


@pytest.mark.parametrize("name", sorted(CASES))
def test_functions_make_canonical_floats(name: str) -> None:
    functions: dict[Term, Any] = {}
    for made, columns, row in calls(name):
        if made not in functions:
            functions[made] = row_function(columns, [made])
        check(made, columns, row, functions[made])


@pytest.mark.parametrize("source", [STRING, FLOAT, DOUBLE, INT, Decimal(38, 20)], ids=str)
@pytest.mark.parametrize("target", [FLOAT, DOUBLE], ids=str)
def test_casts_make_canonical_floats(source: Type, target: Type) -> None:
    texts = ["-0", "-0.0", "nan", "-0e5", "-1e-400", "-inf", "1.5", "-1e-50"]
    values: list[Any] = texts if source == STRING else [0] if source == INT else ["-0.0", "-1e-20"]
    column = Column("c0", source, True)
    for strict in (True, False):
        made = cast(column, target, strict=strict)
        function = row_function((column,), [made])
        for x in pool(source, None) if isinstance(source, Float) else map(taker(source), values):
            check(made, (column,), (x,), function)


def test_taken_in_values_are_canonical() -> None:
    for t in (FLOAT, DOUBLE):
        for x in [*SPECIAL, "skip", -1e-60]:
            if x != "skip":
                assert canonical(taker(t)(x))
    assert canonical(taker(Array(DOUBLE))(SPECIAL))


GROUPS = [
    [float("nan")],
    [float("nan"), float("nan"), 1.0],
    [math.inf, -math.inf],
    [-0.0],
    [0.0, -0.0],
    [-5e-324, 0.0, 0.0],
    [-1.0, 1.0],
    [-1e-200, 1e-200, 3e-200],
    [],
]


@pytest.mark.parametrize("name", sorted(set(TABLE) - {"monoid", "listagg"}))
def test_aggregates_make_canonical_floats(name: str) -> None:
    """By reading a bag; `test_views_keep_canonical_floats` does the same in the engine."""
    take = taker(DOUBLE)
    tried = 0
    for n, options in itertools.product((1, 2), ((), (0.5,), ((0.25, 0.5),))):
        for distinct in (False, True):
            columns = [Column(f"c{i}", DOUBLE, True) for i in range(n)]
            try:
                made = aggregate(name, columns, distinct=distinct, options=options)
            except (*REFUSED, AssertionError, TypeError):
                continue
            for group, other in itertools.product(GROUPS, GROUPS):
                rows = list(zip(map(take, group), map(take, other), strict=False))
                value = evaluate_aggregate(made, [(row[:n], (), 1) for row in rows])
                assert canonical(value), f"{name} of {rows} is {value!r}"
                tried += 1
    assert tried or name in ("count_if", "bool_and", "bool_or", "bit_and", "bit_or", "bit_xor")


def test_literals_are_canonical() -> None:
    assert canonical(evaluate(call("neg", Literal(0.0, DOUBLE)), Environment()))
