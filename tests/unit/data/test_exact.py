"""Exact sums: correctly rounded, and what goes leaves no trace."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from evercurrent.data.exact import add, fraction, join, value
from evercurrent.data.representation import NAN

SPECIAL = [0.0, -0.0, 5e-324, -5e-324, 1.7e308, -1.7e308, 2.0**-130, 1e300, 0.1, 1 / 3]


def total(values: list[float]) -> object:
    t: object = 0
    for x in values:
        t = add(t, x)  # type: ignore[arg-type]
    return t


@pytest.mark.parametrize("seed", range(50))
def test_sum_is_correctly_rounded(seed: int) -> None:
    r = random.Random(seed)
    values = [
        r.choice(SPECIAL) if r.random() < 0.3 else r.uniform(-1, 1) * 10 ** r.randint(-30, 30)
        for _ in range(20)
    ]
    t = total(values)
    exact = sum(map(Fraction, values), Fraction(0))
    assert fraction(t) == exact  # type: ignore[arg-type]
    try:
        expected = float(exact)
    except OverflowError:
        expected = math.inf if exact > 0 else -math.inf
    assert value(t) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(30))
def test_what_goes_leaves_no_trace(seed: int) -> None:
    r = random.Random(seed)
    pool = [*SPECIAL, math.inf, -math.inf, NAN, 3.25, 1e-20]
    stay = [r.choice(pool) for _ in range(3)]
    come = [(r.choice(pool), r.randint(1, 5)) for _ in range(10)]
    before = total(stay)
    t = before
    for x, w in come:
        t = add(t, x, w)  # type: ignore[arg-type]
    r.shuffle(come)
    for x, w in come:
        t = add(t, x, -w)  # type: ignore[arg-type]
    assert t == before
    assert add(total(stay), 0.0, 7) == before  # type: ignore[arg-type]


def test_specials_are_counted_apart() -> None:
    assert value(total([1.0, math.inf])) == math.inf  # type: ignore[arg-type]
    assert value(total([1.0, -math.inf])) == -math.inf  # type: ignore[arg-type]
    assert value(total([math.inf, -math.inf])) is NAN  # type: ignore[arg-type]
    assert value(total([NAN, math.inf])) is NAN  # type: ignore[arg-type]
    assert total([]) == 0


def test_overflow_is_infinite_and_comes_back() -> None:
    t = total([1.7e308, 1.7e308])
    assert value(t) == math.inf  # type: ignore[arg-type]
    assert value(add(t, 1.7e308, -1)) == 1.7e308  # type: ignore[arg-type]


def test_join_adds_totals() -> None:
    a, b = total([0.1, 5e-324, math.inf]), total([0.2, math.inf])
    assert join(a, b) == total([0.1, 5e-324, math.inf, 0.2, math.inf])  # type: ignore[arg-type]
    assert join(total([0.5]), total([0.25])) == total([0.75])  # type: ignore[arg-type]
