"""Amounts as polynomials, so that each source's share can be added up before the join.

Law (Koch 2010, section 7.2). If `a` mentions only R and `b` only S, then over a join on k

    sum(a * b) = sum over k of (sum of a over R[k]) * (sum of b over S[k])

so S can be kept as one number for each k. That holds where products and sums are exact: integers and decimals that
cannot overflow. Integers that could, and floats, whose products are rounded, are taken apart under a check of each factor
(see `bounds`). A factor moves from the joined rows to all rows of its source, so otherwise it must not be able to fail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evercurrent.data.types import Date, Decimal, Integer, String, Timestamp, Type
from evercurrent.delta.blocks import names_of
from evercurrent.term.build import cast
from evercurrent.term.function_table import FUNCTIONS
from evercurrent.term.nodes import Call, Case, Cast, Column, Field, Literal, Record, Term
from evercurrent.term.walk import children


def is_safe(term: Term) -> bool:
    """Whether evaluating the term can never fail, whatever the row."""
    match term:
        case Literal() | Column():
            return True
        case Call(function, args, type):
            exact = function in ("add", "sub", "mul") and is_uncapped(type)
            table = FUNCTIONS.get(function)
            return (exact or (table is not None and not table.fails)) and all(map(is_safe, args))
        case Cast(of, type, strict):
            return (not strict or is_widening(of.type, type)) and is_safe(of)
        case Case() | Field() | Record():
            return all(map(is_safe, children(term)))
        case _:
            return False


def is_uncapped(type: Type) -> bool:
    """A decimal result whose type has room for every value of its operands."""
    return isinstance(type, Decimal) and type.precision < 38


def is_widening(source: Type, target: Type) -> bool:
    match source, target:
        case _ if source == target:
            return True
        case Integer(a), Integer(b):
            return a <= b
        case Integer(bits), Decimal(precision, scale):
            return precision - scale >= {8: 3, 16: 5, 32: 10, 64: 19}[bits]
        case Decimal(p, s), Decimal(q, t):
            return t >= s and q - t >= p - s
        case String(), String(None):
            return True
        case Date(), Timestamp():
            return True
    return False


def scale_of(type: Type) -> int:
    return type.scale if isinstance(type, Decimal) else 0


Homes = Callable[[Term], frozenset[int | None]]
"""The sources that a term mentions."""

MOST_MONOMIALS = 8


@dataclass(frozen=True, slots=True)
class Monomial:
    """`sign * product of factors`."""

    sign: int
    factors: tuple[Term, ...]


def monomials(term: Term, homes: Homes) -> list[Monomial] | None:
    """The term as a sum of products, all at the term's scale; None if it cannot be taken apart exactly."""
    if is_ring(term):
        return [Monomial(sign, factors) for sign, factors in expand_ring(term, homes)]
    if not isinstance(term.type, Integer | Decimal) or not is_safe(term):
        return None
    scale = scale_of(term.type)
    result = []
    for sign, factors in expand(term):
        shift = scale - sum(scale_of(f.type) for f in factors)
        if shift:
            last = rescale_factor(factors[-1], shift)
            if last is None:
                return None
            factors = (*factors[:-1], last)
        result.append(Monomial(sign, factors))
    return result


def rescale_factor(factor: Term, shift: int) -> Term | None:
    """The same number at a greater scale, or None if its type has no room for it."""
    match factor.type:
        case Integer(bits):
            target = Decimal({8: 3, 16: 5, 32: 10, 64: 19}[bits] + shift, shift)
        case Decimal(precision, scale):
            target = Decimal(precision + shift, scale + shift)
        case _:
            return None
    return cast(factor, target) if shift > 0 and target.precision <= 38 else None


def expand(term: Term) -> list[tuple[int, tuple[Term, ...]]]:
    """Signed products whose sum the term is, before scales are made equal."""
    match term:
        case Call("add", (a, b)) if is_uncapped(term.type):
            return expand(a) + expand(b)
        case Call("sub", (a, b)) if is_uncapped(term.type):
            return expand(a) + [(-sign, factors) for sign, factors in expand(b)]
        case Call("mul", (a, b)) if is_uncapped(term.type) and len(names_of(a)) and len(names_of(b)):
            left, right = expand(a), expand(b)
            if len(left) * len(right) > MOST_MONOMIALS or names_of(a) & names_of(b):
                return [(1, (term,))]
            return [(s * t, f + g) for s, f in left for t, g in right]
        case Cast(of, type) if isinstance(type, Decimal) and isinstance(of.type, Decimal | Integer):
            # a widening cast of an exact number is a shift of its scale
            return expand(of) if is_widening(of.type, type) else [(1, (term,))]
        case _:
            return [(1, (term,))]


def is_ring(term: Term) -> bool:
    """Whether a term is arithmetic of the ring over factors that are checked, or that cannot fail."""
    match term:
        case Call("bounded" | "scaled"):
            return True
        case Call("ring_add" | "ring_sub" | "ring_mul", args):
            return all(is_ring(a) or is_safe(a) for a in args)
        case _:
            return False


def expand_ring(term: Term, homes: Homes) -> list[tuple[int, tuple[Term, ...]]]:
    """Signed products whose sum the term is; what mentions one source stays together."""
    whole: list[tuple[int, tuple[Term, ...]]] = [(1, (term,))]
    if len(homes(term)) <= 1:
        return whole
    match term:
        case Call("ring_add", args):
            return [m for a in args for m in expand_ring(a, homes)]
        case Call("ring_sub", (a, b)):
            return expand_ring(a, homes) + [(-sign, factors) for sign, factors in expand_ring(b, homes)]
        case Call("ring_mul", args):
            found: list[tuple[int, tuple[Term, ...]]] = [(1, ())]
            for a in args:
                found = [(s * t, f + g) for s, f in found for t, g in expand_ring(a, homes)]
            return found if len(found) <= MOST_MONOMIALS else whole
        case _:
            return whole
