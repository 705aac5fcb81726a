"""Every aggregate, kept under changes, equals its meaning on the rows that are in."""

from __future__ import annotations

import datetime
import random
from collections import Counter
from typing import Any

import pytest

from evercurrent.data.representation import NAN
from evercurrent.data.types import BIGINT, BINARY, BOOLEAN, DATE, DOUBLE, INT, MONTHS, STRING, Decimal, Type
from evercurrent.engine.live.runtime.aggregates import Bag, factory
from evercurrent.errors import EvaluationError
from evercurrent.term.aggregates import TABLE, aggregate, evaluate_aggregate
from evercurrent.term.nodes import Aggregate, Column, SortKey

POOLS: dict[Type, list[Any]] = {
    INT: [None, 0, 1, 2, 3, -7],
    BIGINT: [None, 5, 6, -1, 1 << 40],
    DOUBLE: [None, 0.0, -0.0, 0.1, 0.2, 1e20, -1e20, NAN, float("inf"), 1e-300],
    Decimal(12, 2): [None, 100, 250, -3],
    STRING: [None, "a", "b", "é", ""],
    DATE: [None, datetime.date(2024, 1, 1), datetime.date(2023, 5, 5)],
    BOOLEAN: [None, True, False],
    BINARY: [None, b"x", b"yy"],
    MONTHS: [None, 1, 14],
}


def cases() -> list[Aggregate]:
    found = []
    d = Decimal(12, 2)

    def make(name: str, *types: Type, **more: Any) -> None:
        found.append(aggregate(name, [Column(f"x{i}", t) for i, t in enumerate(types)], **more))

    for t in (INT, DOUBLE, d, STRING, DATE, BOOLEAN):
        for name in ("min", "max", "mode", "first", "last", "any_value", "collect_list", "collect_set"):
            make(name, t)
        make("count", t, distinct=True)
        make("min_by", t, INT)
        make("max_by", STRING, t)
    for t in (INT, BIGINT, DOUBLE, d, MONTHS):
        for name in ("sum", "avg"):
            make(name, t, distinct=True)
            make(name, t)
        for name in ("median", "percentile", "percentile_cont", "percentile_disc"):
            make(name, t, options=() if name == "median" else (0.3,))
            make(name, t, options=() if name == "median" else (0.75, True))
        make("percentile", t, options=((0.0, 0.5, 1.0),), distinct=True)
    for name in ("var_pop", "var_samp", "stddev_pop", "stddev_samp", "skewness", "kurtosis"):
        make(name, DOUBLE)
        make(name, DOUBLE, distinct=True)
    for name, function in TABLE.items():
        if function.skips == 2:
            make(name, DOUBLE, DOUBLE)
    for name in ("bit_and", "bit_or", "bit_xor"):
        make(name, INT)
        make(name, BIGINT)
    make("count", INT, STRING, distinct=True)
    make("approx_count_distinct", INT)
    make("bool_and", BOOLEAN)
    make("listagg", STRING, options=(", ",))
    make("listagg", BINARY)
    order = (SortKey(Column("o0", INT), True), SortKey(Column("o1", STRING), False, False))
    for name in ("collect_list", "listagg", "first", "last"):
        make(name, STRING, order=order)
    make("collect_list", STRING, order=order, distinct=True)
    make("first", INT, options=(True,))
    make("last", INT, options=(True,))
    return found


def rows_for(a: Aggregate, r: random.Random) -> tuple[Any, ...]:
    types = [t.type for t in a.args] + [k.term.type for k in a.order]
    return tuple(r.choice(POOLS[t]) for t in types)


def meaning(a: Aggregate, rows: Counter[tuple[Any, ...]]) -> Any:
    n = len(a.args)
    try:
        return evaluate_aggregate(a, [(x[:n], x[n:], w) for x, w in rows.items()])
    except EvaluationError as error:
        return str(error)


def reading(kept: Any) -> Any:
    try:
        return kept.value()
    except EvaluationError as error:
        return str(error)


@pytest.mark.parametrize("a", cases(), ids=lambda a: f"{a.function}-{'-'.join(str(t.type) for t in a.args)}")
def test_aggregate_follows_changes(a: Aggregate) -> None:
    for seed in range(6):
        r = random.Random(seed)
        kept, rows = factory(a)(), Counter[tuple[Any, ...]]()
        for _ in range(40):
            if rows and r.random() < 0.45:
                row, weight = r.choice(list(rows)), -1
            else:
                row, weight = rows_for(a, r), r.randint(1, 2)
            mark, before = kept.mark(row), reading(kept)
            kept.add(row, weight)
            if r.random() < 0.3:
                kept.restore(row, mark)
                assert equal(reading(kept), before)
                kept.restore(row, mark)
                kept.add(row, weight)
            rows[row] += weight
            rows = +rows
            if r.random() < 0.1:
                kept.rebuild()
            if r.random() < 0.6:
                assert equal(reading(kept), meaning(a, rows)), rows


def equal(a: Any, b: Any) -> bool:
    return a is b or a == b or (a != a and b != b)


def test_single_row_of_a_scalar_subquery() -> None:
    a = Aggregate("single", (Column("x", INT),), INT)
    kept = factory(a)()
    assert kept.value() is None
    kept.add((None,), 1)
    assert kept.value() is None
    kept.add((4,), 1)
    with pytest.raises(EvaluationError):
        kept.value()
    kept.add((None,), -1)
    assert kept.value() == 4
    kept.add((4,), 1)
    with pytest.raises(EvaluationError):
        kept.value()


def test_everything_else_is_a_bag() -> None:
    assert isinstance(factory(aggregate("bool_and", [Column("x", BOOLEAN)]))(), Bag)
