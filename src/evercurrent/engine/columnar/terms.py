"""Terms over vectors.

Law. Where a compiled term returns, each value is what `term.evaluate` returns for the row. Integers and decimals are checked
for every operation: if a result can leave 64 bits or the range of its type, `Unfit` is raised, and rows say which error it
is or find the exact value. What has no case here is evaluated row by row; a term of one pooled column, once for each
distinct value. Arguments that a row would not evaluate (the other branches of CASE, what follows a FALSE in AND) are
evaluated only where it would, if they can fail.

    price * (1 - discount)       values [950, 100] * (100 - [5, 0])      two operations on arrays
    upper(name)                  once for each distinct name, then by number
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from evercurrent.data.types import BOOLEAN, Decimal, Float, Integer, Interval, Type
from evercurrent.engine.columnar.arithmetic import arithmetic, scale_up
from evercurrent.engine.columnar.vectors import (
    DTYPES,
    Ints,
    Mask,
    Pools,
    Unfit,
    Values,
    Vector,
    clear_nulls,
    constant,
    from_list,
    is_true,
    kind_of,
    nulls,
    same_numbers,
    to_list,
)
from evercurrent.errors import EvercurrentError
from evercurrent.term.evaluate import compile_term
from evercurrent.term.failing import can_fail
from evercurrent.term.functions.exact import POWERS
from evercurrent.term.functions.values.casts import cast_fails
from evercurrent.term.nodes import Apply, Call, Case, Cast, Column, Literal, Nested, Term
from evercurrent.term.walk import columns_of, nodes


@dataclass(slots=True)
class Batch:
    """Rows as named vectors of one length."""

    columns: dict[str, Vector]
    size: int

    def take(self, places: Ints, names: frozenset[str] | None = None) -> Batch:
        chosen = {n: v.take(places) for n, v in self.columns.items() if names is None or n in names}
        return Batch(chosen, len(places))


Code = Callable[[Batch], Vector]
KEPT = 1 << 15
"""Arrays of a constant are kept up to this length."""


def compile_vector(term: Term, pools: Pools) -> Code:
    """The function from batches to the values of a term."""
    if any(isinstance(t, Apply | Nested) for t in nodes(term)):
        raise Unfit("a function of the user is called once for each row")
    if any(isinstance(t, Call) and t.function in ("bounded", "scaled") for t in nodes(term)):
        raise Unfit("a magnitude is kept of each row")
    return _compile(term, pools)


def _compile(term: Term, pools: Pools) -> Code:
    match term:
        case Literal(value, t):
            return _constant(t, value, pools)
        case Column(name):
            return lambda batch: batch.columns[name]
        case Call("and" | "or" as name, args):
            return _connective(args, name == "and", pools)
        case Call("not", (of,)):
            inner = _compile(of, pools)
            return lambda batch: _not(inner(batch))
        case Call("is_null" | "is_not_null" as name, (of,)):
            return _null_test(_compile(of, pools), name == "is_null")
        case Call("coalesce", args):
            return _coalesce(args, pools)
        case Call("eq" | "ne" | "lt" | "le" | "gt" | "ge" | "eqns" as name, (a, b)) if same_numbers(
            a.type, b.type
        ):
            if kind_of(a.type) != "pool" or name in ("eq", "ne", "eqns"):
                return _comparison(name, _compile(a, pools), _compile(b, pools))
        case Call(name, args, t):
            operate = arithmetic(name, tuple(a.type for a in args), t)
            if operate is not None:
                return _strict(operate, [_compile(a, pools) for a in args])
        case Case(branches, otherwise, t):
            return _case(branches, otherwise, t, pools)
        case Cast(of, t) if (made := _cast(of.type, t)) is not None:
            return _strict(made, [_compile(of, pools)])
    return _row_by_row(term, pools)


def _constant(t: Type, value: Any, pools: Pools) -> Code:
    """The value for each row: a part of an array that is kept, unless it would be large."""
    made: list[Vector] = []

    def run(batch: Batch) -> Vector:
        if batch.size > KEPT:
            return constant(t, value, batch.size, pools)
        if not made or len(made[0]) < batch.size:
            longer = constant(t, value, min(KEPT, 2 * batch.size), pools)
            longer.values.setflags(write=False)
            made[:] = [longer]
        whole = made[0]
        return Vector(whole.values[: batch.size], None if whole.valid is None else whole.valid[: batch.size])

    return run


def _strict(operate: Callable[..., Values], args: Sequence[Code]) -> Code:
    """NULL where an argument is."""

    def run(batch: Batch) -> Vector:
        vectors = [a(batch) for a in args]
        valid: Mask | None = None
        for v in vectors:
            if v.valid is not None:
                valid = v.valid if valid is None else valid & v.valid
        result = operate(*(v.values for v in vectors))
        return Vector(result) if valid is None else clear_nulls(Vector(result, valid))

    return run


# --- logic -------------------------------------------------------------------------------------------------


def _lazily(code: Code, batch: Batch, wanted: Mask, t: Type) -> Vector:
    """The values where they are wanted; NULL elsewhere."""
    if wanted.all():
        return code(batch)
    result = nulls(t, batch.size)
    assert result.valid is not None
    places = numpy.flatnonzero(wanted)
    if len(places):
        found = code(batch.take(places))
        result.values[places] = found.values
        result.valid[places] = True if found.valid is None else found.valid
    return result


def _connective(args: Sequence[Term], conjunction: bool, pools: Pools) -> Code:
    """AND and OR: an argument that is FALSE (TRUE) decides, then one that is NULL."""
    codes = [(_compile(a, pools), can_fail(a), a.type) for a in args]

    def run(batch: Batch) -> Vector:
        decided = numpy.zeros(batch.size, bool)
        unknown = numpy.zeros(batch.size, bool)
        for code, fails, t in codes:
            v = _lazily(code, batch, ~decided, t) if fails else code(batch)
            known = ~v.values if conjunction else v.values
            if v.valid is not None:
                unknown |= ~v.valid
                known = known & v.valid
            decided = decided | known
        values = ~decided if conjunction else decided
        unknown &= ~decided
        return clear_nulls(Vector(values, ~unknown)) if unknown.any() else Vector(values)

    return run


def _not(v: Vector) -> Vector:
    return clear_nulls(Vector(~v.values, v.valid))


def _null_test(inner: Code, wants_null: bool) -> Code:
    def run(batch: Batch) -> Vector:
        v = inner(batch)
        if v.valid is None:
            return Vector(numpy.full(batch.size, not wants_null))
        return Vector(~v.valid if wants_null else v.valid.copy())

    return run


def _coalesce(args: Sequence[Term], pools: Pools) -> Code:
    codes = [(_compile(a, pools), can_fail(a), a.type) for a in args]

    def run(batch: Batch) -> Vector:
        result = codes[0][0](batch)
        for code, fails, t in codes[1:]:
            if result.valid is None:
                break
            other = _lazily(code, batch, ~result.valid, t) if fails else code(batch)
            valid = None if other.valid is None else result.valid | other.valid
            values = numpy.where(result.valid, result.values, other.values)
            result = Vector(values) if valid is None else clear_nulls(Vector(values, valid))
        return result

    return run


def _case(branches: Sequence[tuple[Term, Term]], otherwise: Term, t: Type, pools: Pools) -> Code:
    made = [(_compile(c, pools), can_fail(c), _compile(v, pools), can_fail(v)) for c, v in branches]
    last, last_fails = _compile(otherwise, pools), can_fail(otherwise)
    if any(not same_numbers(v.type, t) for v in (*(v for _, v in branches), otherwise) if not _is_null(v)):
        raise Unfit("branches of other types")
    dtype = DTYPES[kind_of(t)]

    def run(batch: Batch) -> Vector:
        left = numpy.ones(batch.size, bool)
        values = numpy.zeros(batch.size, dtype)
        valid = numpy.zeros(batch.size, bool)

        def put(code: Code, fails: bool, wanted: Mask) -> None:
            v = _lazily(code, batch, wanted, t) if fails else code(batch)
            numpy.copyto(values, v.values, where=wanted, casting="unsafe")
            numpy.copyto(valid, True if v.valid is None else v.valid, where=wanted)

        for condition, condition_fails, value, value_fails in made:
            test = is_true(_lazily(condition, batch, left, BOOLEAN) if condition_fails else condition(batch))
            put(value, value_fails, left & test)
            left &= ~test
        if left.any():
            put(last, last_fails, left)
        return clear_nulls(Vector(values, valid))

    return run


def _is_null(term: Term) -> bool:
    return isinstance(term, Literal) and term.value is None


# --- comparisons -------------------------------------------------------------------------------------------


def _comparison(name: str, left: Code, right: Code) -> Code:
    def run(batch: Batch) -> Vector:
        a, b = left(batch), right(batch)
        test = _compare(name, a.values, b.values)
        if a.valid is None and b.valid is None:
            return Vector(test)
        ok_a = numpy.ones(batch.size, bool) if a.valid is None else a.valid
        ok_b = numpy.ones(batch.size, bool) if b.valid is None else b.valid
        if name == "eqns":
            return Vector(numpy.where(ok_a & ok_b, test, ~ok_a & ~ok_b))
        return clear_nulls(Vector(test, ok_a & ok_b))

    return run


def _compare(name: str, a: Values, b: Values) -> Mask:
    """NaN equals itself and is greatest."""
    floats = a.dtype == numpy.float64
    match name:
        case "eq" | "eqns":
            same: Mask = a == b
            return same | (numpy.isnan(a) & numpy.isnan(b)) if floats else same
        case "ne":
            return ~_compare("eq", a, b)
        case "lt":
            less: Mask = a < b
            return less | (numpy.isnan(b) & ~numpy.isnan(a)) if floats else less
        case "le":
            most: Mask = a <= b
            return most | numpy.isnan(b) if floats else most
        case "gt":
            return _compare("lt", b, a)
        case _:
            return _compare("le", b, a)


# --- casts -------------------------------------------------------------------------------------------------


def _cast(source: Type, target: Type) -> Callable[[Values], Values] | None:
    """Conversions that cannot fail and are one operation."""
    if source == target:
        return lambda a: a
    if cast_fails(source, target):
        return None
    match source, target:
        case (Integer(), Integer()) | (Float(), Float(64)):
            return lambda a: a
        case Integer(), Float(64):
            return lambda a: a.astype(numpy.float64)
        case Integer(), Decimal(scale=s):
            return lambda a: scale_up(a, POWERS[s])
        case Decimal(scale=s), Decimal(scale=t) if t >= s:
            return lambda a: scale_up(a, POWERS[t - s])
        case Interval(unit=a), Interval(unit=b, days=False) if a == b:
            return lambda a: a
        case _:
            return None


# --- row by row --------------------------------------------------------------------------------------------


def _row_by_row(term: Term, pools: Pools) -> Code:
    columns = sorted({c.name: c for c in columns_of(term)}.values(), key=lambda c: c.name)
    function = compile_term(term, [c.name for c in columns])
    pooled = len(columns) == 1 and kind_of(columns[0].type) == "pool"

    def evaluate_rows(batch: Batch) -> Vector:
        lists = [to_list(c.type, batch.columns[c.name], pools) for c in columns]
        rows = zip(*lists, strict=True) if lists else iter([()] * batch.size)
        try:
            return from_list(term.type, [function(row) for row in rows], pools)
        except EvercurrentError as problem:
            raise Unfit(str(problem)) from None

    def by_value(batch: Batch) -> Vector:
        v = batch.columns[columns[0].name]
        if v.valid is not None or batch.size < 64:
            return evaluate_rows(batch)
        distinct, numbers = numpy.unique(v.values, return_inverse=True)
        return evaluate_rows(Batch({columns[0].name: Vector(distinct)}, len(distinct))).take(numbers)

    return by_value if pooled else evaluate_rows
