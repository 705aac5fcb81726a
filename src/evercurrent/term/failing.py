"""Whether evaluating a term can raise an error.

What can fail has to be evaluated while the transaction can still be undone; what cannot may wait until it is read.

>>> from evercurrent.data.types import BIGINT, DOUBLE
>>> from evercurrent.term.build import call
>>> from evercurrent.term.nodes import Column
>>> n, x = Column("n", BIGINT), Column("x", DOUBLE)
>>> can_fail(call("add", n, n)), can_fail(call("add", x, x))
(True, False)
"""

from __future__ import annotations

from evercurrent.data.types import Decimal, Float
from evercurrent.term.function_table import find
from evercurrent.term.functions.numbers.arithmetic_source import fits_uncut
from evercurrent.term.functions.values.casts import cast_fails
from evercurrent.term.nodes import Apply, Call, Cast, Term
from evercurrent.term.walk import children


def can_fail(term: Term) -> bool:
    return fails_itself(term) or any(can_fail(t) for t in children(term))


def fails_itself(term: Term) -> bool:
    """Whether the outermost operation of a term can raise an error."""
    match term:
        case Call(function="add" | "sub" | "mul", type=Float() | Decimal()) if never_overflows(term):
            return False
        case Call(function=name):
            function = find(name)
            return function is None or function.fails
        case Apply():
            return True
        case Cast(of, type, strict):
            return strict and cast_fails(of.type, type)
        case _:
            return False


def never_overflows(sum_or_product: Call) -> bool:
    """Whether the result's type holds every result: a float always, a decimal whose digits were not cut."""
    result, types = sum_or_product.type, [a.type for a in sum_or_product.args]
    if isinstance(result, Float):
        return all(isinstance(t, Float) for t in types)
    match types:
        case [Decimal(p, s), Decimal(q, t)] if isinstance(result, Decimal):
            if sum_or_product.function == "mul":
                return fits_uncut(result, p + q, s + t)
            return fits_uncut(result, max(p - s, q - t) + max(s, t) + 1, max(s, t))
        case _:
            return False
