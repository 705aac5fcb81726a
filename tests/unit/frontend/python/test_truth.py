"""Truth tables: a captured function means what the plain function means, wherever that does not raise."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.frontend.python.block import pack
from evercurrent.frontend.python.core import AnyQuery
from evercurrent.term.opaque import is_opaque

LIMIT = 2
NAMES = ("x", None)
WEIGHTS = {"x": 10, "yy": 20}


@dataclass(frozen=True)
class Row:
    a: int | None
    b: int
    s: str | None
    t: str
    p: bool | None
    q: bool
    f: float


def double(n: int) -> int:
    return n * 2


def grade(n: int | None) -> str:
    if n is None:
        return "none"
    if n < 0:
        return "low"
    size = abs(n)
    return "high" if size > 1 else "middle"


ROWS = [
    Row(a, b, s, t, p, q, f)
    for a, b, (s, t), (p, q), f in itertools.product(
        (None, -3, 0, 2),
        (-2, 1, 3),
        ((None, "x"), ("", "yy"), ("Xy z", "x")),
        ((None, True), (False, False), (True, True)),
        (-1.5, 2.0),
    )
]

CONDITIONS = [
    lambda r: r.a == 2,
    lambda r: r.a != 2,
    lambda r: r.a == None,  # noqa: E711
    lambda r: r.a is None,
    lambda r: r.a is not None and r.a > 0,
    lambda r: r.a is None or r.a > 0,
    lambda r: not r.a,
    lambda r: not (r.a == 2),  # noqa: SIM201
    lambda r: not r.p,
    lambda r: r.p,
    lambda r: r.p and r.q,
    lambda r: r.p or r.q,
    lambda r: r.p == r.q,
    lambda r: r.p is not None and r.p == r.q,
    lambda r: r.a == r.b,
    lambda r: not (r.a == r.b or r.s == r.t),
    lambda r: 0 < r.b <= 3,
    lambda r: -3 < r.b < LIMIT != 3,
    lambda r: r.b in (1, 3),
    lambda r: r.b not in (1, 3),
    lambda r: r.a in (2, None),
    lambda r: r.a not in (2, None),
    lambda r: r.a not in (2, 0),
    lambda r: r.s in NAMES,
    lambda r: r.s not in NAMES,
    lambda r: r.t in WEIGHTS,
    lambda r: "y" in r.t,
    lambda r: r.s is not None and "y" in r.s,
    lambda r: r.s,
    lambda r: r.s and r.t == "x",
    lambda r: (r.a, r.b) == (2, 1),
    lambda r: (r.a, r.b) != (None, 1),
    lambda r: (r.a, r.t) in [(2, "x"), (None, "yy")],
    lambda r: r.t == "x" if r.q else r.b > 0,
    lambda r: r.t < "y",
    lambda r: r.t.startswith("y") or r.t.endswith("x"),
    lambda r: r.t.upper() == "YY",
    lambda r: bool(r.b) and not bool(r.f < 0),
    lambda r: all(x > 0 for x in (r.b, r.f)),
    lambda r: any(x == r.b for x in range(2)),
    lambda r: True,
    lambda r: r.q is True if False else r.q,
    lambda r: (m := r.b * 2) > 3 and m < 10,
    lambda r: double(r.b) > LIMIT,
    lambda r: grade(r.a) == "high",
    lambda r: r.a and r.b,
    lambda r: r.a or r.s or r.q,
    lambda r: not (r.a and r.s),
    lambda r: (r.s or r.t) == "x",
]

VALUES = [
    lambda r: r.b + 1,
    lambda r: r.b // 2,
    lambda r: r.b % 3,
    lambda r: r.b % -3,
    lambda r: r.b // -2,
    lambda r: (r.b * 7) // 3 - r.b % 2,
    lambda r: r.b / 2,
    lambda r: -r.b,
    lambda r: abs(r.b),
    lambda r: r.b**2,
    lambda r: r.f % 2,
    lambda r: r.f * r.b,
    lambda r: r.s or "none",
    lambda r: r.a or r.b,
    lambda r: r.a and r.b,
    lambda r: r.p and r.q,
    lambda r: r.a if r.a is not None else -1,
    lambda r: r.t + "!",
    lambda r: f"{r.t}-{r.b}",
    lambda r: f"<{r.s}>",
    lambda r: str(r.b) + r.t,
    lambda r: len(r.t),
    lambda r: r.t[0:1] + r.t[1:],
    lambda r: r.t.replace("y", "z"),
    lambda r: r.t.strip("x"),
    lambda r: r.t.title().strip(),
    lambda r: r.t.count("y"),
    lambda r: min(r.b, 2),
    lambda r: max(r.b, 1, 2),
    lambda r: sum(x for x in (r.b, 1, 2)),
    lambda r: int(r.f),
    lambda r: float(r.b),
    lambda r: round(r.f),
    lambda r: WEIGHTS[r.t],
    lambda r: grade(r.a),
    lambda r: double(double(r.b)) + LIMIT,
    lambda r: r.b & 3 | 4,
    lambda r: r.b << 2,
    lambda r: (r.a == 2) == (r.b == 1),
    lambda r: r.a is None,
    lambda r: not r.s,
]


@pytest.fixture(scope="module")
def rows() -> Any:
    db = ec.connect()
    table = db.table_of(Row)
    table.insert(ROWS)
    return table


def expected(function: Any, row: Row) -> Any:
    try:
        return function(row)
    except TypeError:  # None has no order and no sum: what is undefined may be anything
        return ...


@pytest.mark.parametrize("number", range(len(CONDITIONS)))
def test_conditions_mean_what_they_mean_in_python(rows: Any, number: int) -> None:
    condition = CONDITIONS[number]
    kept = rows.where(condition)
    found = set(kept.objects())
    plain = {row: expected(condition, row) for row in ROWS}
    assert {r for r, v in plain.items() if v is not ... and v} == {r for r in found if plain[r] is not ...}
    undefined = {r for r, v in plain.items() if v is ...}
    assert not undefined & found, "where Python raises, no row is kept"


@pytest.mark.parametrize("number", range(len(VALUES)))
def test_values_are_those_of_python(rows: Any, number: int) -> None:
    function = VALUES[number]
    if function(ROWS[-1]) is ...:
        pytest.skip("undefined")
    found = dict(rows.select(lambda r: (r, function(r))).objects())
    for row in ROWS:
        wanted = expected(function, row)
        if wanted is not ...:
            assert found[row] == wanted and isinstance(found[row], type(wanted)), row


@pytest.mark.parametrize("number", range(len(CONDITIONS)))
def test_conditions_are_looked_into(rows: Any, number: int) -> None:
    assert not opaque_terms(rows.where(CONDITIONS[number]))


def opaque_terms(query: AnyQuery) -> list[Any]:
    from evercurrent.calculus.walk import is_query, nodes

    return [n for n in nodes(pack(query._block)) if not is_query(n) and is_opaque(n)]
