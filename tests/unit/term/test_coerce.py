"""Coercion: common types, implicit casts, the rules of decimals."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context
from decimal import Decimal as PythonDecimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evercurrent.data.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DAYS,
    DOUBLE,
    FLOAT,
    INT,
    MICROS,
    MONTHS,
    NULL,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Array,
    Decimal,
    Map,
    Member,
    String,
    Struct,
    Type,
)
from evercurrent.errors import EvaluationError, QueryError
from evercurrent.term.build import call, common_type, lit
from evercurrent.term.evaluate import compile_term
from evercurrent.term.functions.coerce import (
    decimal_product,
    decimal_quotient,
    decimal_remainder,
    decimal_sum,
    implicit,
    limit_decimal,
    wider_decimal,
)
from evercurrent.term.nodes import Column

COMMON: list[tuple[Type, Type, Type | None]] = [
    (INT, INT, INT),
    (INT, BIGINT, BIGINT),
    (SMALLINT, INT, INT),
    (INT, FLOAT, DOUBLE),
    (BIGINT, DOUBLE, DOUBLE),
    (FLOAT, DOUBLE, DOUBLE),
    (INT, Decimal(5, 2), Decimal(12, 2)),
    (BIGINT, Decimal(5, 2), Decimal(22, 2)),
    (Decimal(5, 2), Decimal(10, 0), Decimal(12, 2)),
    (Decimal(38, 10), Decimal(38, 0), Decimal(38, 0)),
    (Decimal(5, 2), DOUBLE, DOUBLE),
    (Decimal(5, 2), FLOAT, DOUBLE),
    (NULL, INT, INT),
    (NULL, NULL, NULL),
    (STRING, INT, BIGINT),
    (STRING, DOUBLE, DOUBLE),
    (STRING, Decimal(5, 2), DOUBLE),
    (STRING, DATE, DATE),
    (STRING, TIMESTAMP, TIMESTAMP),
    (STRING, BOOLEAN, BOOLEAN),
    (STRING, NULL, STRING),
    (String(5), STRING, STRING),
    (DATE, TIMESTAMP, TIMESTAMP),
    (DATE, TIMESTAMP_NTZ, TIMESTAMP_NTZ),
    (TIMESTAMP, TIMESTAMP_NTZ, TIMESTAMP),
    (DAYS, MICROS, MICROS),
    (MONTHS, MICROS, None),
    (INT, BOOLEAN, None),
    (INT, DATE, None),
    (STRING, MICROS, None),
    (STRING, Array(INT), None),
    (Array(INT), Array(DOUBLE), Array(DOUBLE)),
    (Array(NULL), Array(INT), Array(INT)),
    (Map(STRING, INT), Map(STRING, BIGINT), Map(STRING, BIGINT)),
    (Struct((Member("a", INT),)), Struct((Member("A", DOUBLE),)), Struct((Member("a", DOUBLE),))),
    (Struct((Member("a", INT),)), Struct((Member("b", INT),)), None),
]


@pytest.mark.parametrize(("a", "b", "wanted"), COMMON, ids=str)
def test_two_types_have_a_common_one(a: Type, b: Type, wanted: Type | None) -> None:
    for pair in ([a, b], [b, a]):
        if wanted is None:
            with pytest.raises(QueryError, match="no common type"):
                common_type(pair)
        else:
            assert str(common_type(pair)).lower() == str(wanted).lower()


def test_strings_are_widened_last() -> None:
    assert common_type([STRING, INT, DOUBLE]) == common_type([INT, DOUBLE, STRING]) == DOUBLE


@pytest.mark.parametrize(
    ("a", "b", "allowed"),
    [
        (INT, BIGINT, True),
        (BIGINT, INT, False),
        (INT, DOUBLE, True),
        (DOUBLE, INT, False),
        (DOUBLE, Decimal(10, 2), False),
        (Decimal(10, 2), DOUBLE, True),
        (INT, STRING, True),
        (STRING, INT, True),
        (STRING, Array(INT), False),
        (Array(INT), STRING, False),
        (Array(INT), Array(BIGINT), True),
        (DATE, TIMESTAMP, True),
        (NULL, Array(INT), True),
        (BOOLEAN, INT, False),
    ],
    ids=str,
)
def test_some_types_may_stand_for_others(a: Type, b: Type, allowed: bool) -> None:
    assert implicit(a, b) is allowed


def test_results_of_decimals_are_typed_by_sparks_rules() -> None:
    a, b = Decimal(12, 2), Decimal(10, 4)
    assert decimal_sum(a, b) == Decimal(15, 4)
    assert decimal_product(a, b) == Decimal(23, 6)
    assert decimal_quotient(a, b) == Decimal(27, 13)
    assert decimal_remainder(a, b) == Decimal(10, 4)
    assert wider_decimal(a, b) == Decimal(14, 4)


def test_precision_is_cut_to_38_and_scale_not_below_6() -> None:
    assert limit_decimal(40, 10) == Decimal(38, 8)
    assert limit_decimal(60, 10) == Decimal(38, 6)
    assert limit_decimal(60, 4) == Decimal(38, 4)
    assert decimal_product(Decimal(38, 10), Decimal(38, 10)) == Decimal(38, 6)


DECIMALS = st.integers(1, 38).flatmap(lambda p: st.integers(0, p).map(lambda s: Decimal(p, s)))
EXACT = Context(prec=200)
DIGITS = Context(prec=39, rounding=ROUND_HALF_UP)


def drawn(data: st.DataObject, t: Decimal) -> int:
    return data.draw(st.integers(-(10**t.precision) + 1, 10**t.precision - 1))


def number(t: Decimal, scaled: int) -> PythonDecimal:
    return PythonDecimal(scaled).scaleb(-t.scale, EXACT)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "mod"])
@given(data=st.data())
def test_arithmetic_of_decimals_is_exact_and_rounded_half_up(name: str, data: st.DataObject) -> None:
    s, t = data.draw(DECIMALS), data.draw(DECIMALS)
    a, b = drawn(data, s), drawn(data, t)
    term = call(name, Column("a", s), Column("b", t))
    assert isinstance(term.type, Decimal)
    x, y = number(s, a), number(t, b)
    if name in ("div", "mod") and b == 0:
        with pytest.raises(EvaluationError, match="zero"):
            compile_term(term, ["a", "b"])((a, b))
        return
    match name:
        case "add":
            exact = EXACT.add(x, y)
        case "sub":
            exact = EXACT.subtract(x, y)
        case "mul":
            exact = DIGITS.multiply(x, y)
        case "div":
            exact = EXACT.divide(x, y).quantize(PythonDecimal(1).scaleb(-38), ROUND_HALF_UP, EXACT)
        case _:
            exact = EXACT.remainder(x, y)
    wanted = int(
        exact.quantize(PythonDecimal(1).scaleb(-term.type.scale), ROUND_HALF_UP, EXACT).scaleb(
            term.type.scale, EXACT
        )
    )
    if abs(wanted) >= 10**term.type.precision:
        with pytest.raises(EvaluationError):
            compile_term(term, ["a", "b"])((a, b))
    else:
        assert compile_term(term, ["a", "b"])((a, b)) == wanted


@given(data=st.data())
def test_where_digits_were_not_cut_nothing_overflows(data: st.DataObject) -> None:
    s, t = data.draw(DECIMALS), data.draw(DECIMALS)
    for name, digits in (("add", decimal_sum(s, t)), ("mul", decimal_product(s, t))):
        assume(digits.precision < 38)
        term = call(name, Column("a", s), Column("b", t))
        assert compile_term(term, ["a", "b"])((drawn(data, s), drawn(data, t))) is not None


def test_an_integer_constant_beside_a_decimal_has_the_digits_it_has() -> None:
    price = Column("price", Decimal(12, 2))
    assert call("mul", price, lit(2, INT)).type == Decimal(14, 2)
    assert call("mul", price, Column("n", INT)).type == Decimal(23, 2)
    assert call("sub", lit(1, INT), Column("d", Decimal(12, 2))).type == Decimal(13, 2)
