"""Terms as text."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from evercurrent.data.types import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    MICROS,
    STRING,
    TIMESTAMP,
    Array,
    Decimal,
    Map,
)
from evercurrent.data.values import FrozenMap
from evercurrent.term.aggregates import aggregate
from evercurrent.term.build import call, case, cast, lit, record
from evercurrent.term.nodes import (
    RUNNING,
    Call,
    Column,
    Frame,
    Lambda,
    Literal,
    SortKey,
    Term,
    Variable,
    WindowFunction,
)
from evercurrent.term.show import show, show_aggregate, show_frame, show_window_function

A, B, P = Column("a", INT), Column("b", INT), Column("p", BOOLEAN)
X = Variable("x", INT)


def op(name: str, *args: Term) -> Call:
    return Call(name, args, INT)


@pytest.mark.parametrize(
    ("t", "text"),
    [
        (op("mul", op("add", A, B), A), "(a + b) * a"),
        (op("add", A, op("mul", B, A)), "a + b * a"),
        (op("sub", A, op("sub", B, A)), "a - (b - a)"),
        (op("sub", op("sub", A, B), A), "a - b - a"),
        (op("and", P, op("or", P, P)), "p and (p or p)"),
        (op("or", op("and", P, P), P), "p and p or p"),
        (op("not", op("and", P, P)), "not (p and p)"),
        (op("neg", op("add", A, B)), "-(a + b)"),
        (op("eq", op("eq", A, B), P), "(a = b) = p"),
        (op("is_null", op("add", A, B)), "a + b is null"),
        (op("in_list", A, lit(1), lit(2)), "a in (1, 2)"),
        (op("upper", A), "upper(a)"),
        (op("mul", lit(-1), A), "-1 * a"),
        (case([(P, A)], B), "case when p then a else b end"),
        (cast(A, STRING), "cast(a as STRING)"),
        (record([("x", A)]), "(x: a)"),
        (Lambda((X,), op("add", X, A), INT), "(x) -> x + a"),
        (Literal("it's", STRING), "'it\\'s'"),
        (Literal(None, INT), "null"),
        (Literal(1.5, DOUBLE), "1.5"),
        (Literal(150, Decimal(5, 2)), "1.50"),
        (Literal(datetime.date(2024, 2, 29), DATE), "date '2024-02-29'"),
        (Literal(datetime.datetime(2024, 2, 29), TIMESTAMP), "timestamp '2024-02-29 00:00:00'"),
        (Literal(b"\x01", BINARY), "x'01'"),
        (Literal(1_000_000, MICROS), "interval '0 00:00:01' day to second"),
        (Literal((1, None), Array(INT)), "[1, null]"),
        (Literal(FrozenMap({"a": 1}), Map(STRING, INT)), "map('a': 1)"),
        (Literal(True, BOOLEAN), "true"),
    ],
    ids=str,
)
def test_a_term_is_shown(t: Any, text: str) -> None:
    assert show(t) == text


def test_aggregates_and_windows_are_shown() -> None:
    total = aggregate("sum", [A], distinct=True, where=call("gt", A, lit(1)))
    assert show_aggregate(total) == "sum(distinct a) filter (a > 1)"
    assert show_aggregate(aggregate("count", [])) == "count(*)"
    joined = aggregate("listagg", [Column("s", STRING)], options=(", ",), order=[SortKey(A, True, False)])
    assert show_aggregate(joined) == "listagg(s, ', ' order by a desc)"
    ranked = WindowFunction("rank", (), INT, (A,), (SortKey(B),), RUNNING)
    assert (
        show_window_function(ranked)
        == "rank() over (partition by a order by b range between unbounded preceding and current row)"
    )
    assert show_frame(Frame("rows", -2, 1)) == "rows between 2 preceding and 1 following"
