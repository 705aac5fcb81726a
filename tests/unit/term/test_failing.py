"""Whether evaluating a term can fail."""

from __future__ import annotations

import pytest

from evercurrent.data.types import BIGINT, DOUBLE, INT, STRING, Decimal
from evercurrent.term.build import call, cast, lit
from evercurrent.term.failing import can_fail
from evercurrent.term.nodes import Column, Term

N, X, D = Column("n", INT), Column("x", DOUBLE), Column("d", Decimal(12, 2))
WIDE = Column("w", Decimal(38, 2))


@pytest.mark.parametrize(
    ("t", "fails"),
    [
        (N, False),
        (call("add", N, N), True),
        (call("add", X, X), False),
        (call("add", X, N), False),
        (call("mul", D, call("sub", lit(1), D)), False),
        (call("mul", WIDE, D), True),
        (call("add", WIDE, WIDE), True),
        (call("div", X, X), True),
        (call("upper", cast(N, STRING)), False),
        (cast(N, BIGINT), False),
        (cast(Column("s", STRING), INT), True),
        (cast(Column("s", STRING), INT, strict=False), False),
        (call("eq", N, call("add", N, lit(1))), True),
    ],
    ids=str,
)
def test_what_can_fail_is_known(t: Term, fails: bool) -> None:
    assert can_fail(t) is fails
