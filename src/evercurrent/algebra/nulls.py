"""What a condition says about NULLs.

`required(c)` are columns that cannot be NULL where `c` is TRUE. `rejects(c, names)` says whether `c` can never be TRUE on
a row in which all these columns are NULL, as they are on the padded side of an outer join: the condition is folded
with NULLs put in, so whatever the term language can see through, this sees through.

    find_required(a = b and c > 1 or a = 2)    =  {a}
    rejects(coalesce(n, 0) > 0, {n})      =  true
"""

from __future__ import annotations

from collections.abc import Collection

from evercurrent.algebra.walk import replace_columns
from evercurrent.term.function_table import FUNCTIONS
from evercurrent.term.nodes import Call, Cast, Column, Field, Literal, Term
from evercurrent.term.nullable import nullable
from evercurrent.term.simplify import simplify
from evercurrent.term.walk import columns_of


def propagates(term: Term) -> frozenset[str]:
    """The columns whose NULL makes the term NULL."""
    match term:
        case Column(name):
            return frozenset((name,))
        case Cast(of=of) | Field(of=of):
            return propagates(of)
        case Call(function, args) if FUNCTIONS[function].strict:
            lambdas = FUNCTIONS[function].lambdas
            return frozenset[str]().union(*(propagates(a) for i, a in enumerate(args) if i not in lambdas))
        case _:
            return frozenset()


def find_required(condition: Term) -> frozenset[str]:
    """The columns that are not NULL wherever the condition is TRUE."""
    match condition:
        case Call("and", args):
            return frozenset[str]().union(*map(find_required, args))
        case Call("or", args):
            return frozenset.intersection(*map(find_required, args))
        case Call("is_not_null", (term,)):
            return propagates(term)
        case Call("eqns", (a, b)):
            return (propagates(a) if not nullable(b) else frozenset()) | (
                propagates(b) if not nullable(a) else frozenset()
            )
        case Call("not", (Call("is_null", (term,)),)):
            return propagates(term)
        case _:
            return propagates(condition)


def rejects(condition: Term, names: Collection[str]) -> bool:
    """Whether the condition is FALSE or NULL wherever all these columns are NULL."""
    if find_required(condition) & set(names):
        return True
    nothing: dict[str, Term] = {
        c.name: Literal(None, c.type) for c in columns_of(condition) if c.name in names
    }
    if not nothing:
        return False
    match simplify(replace_columns(condition, nothing)):
        case Literal(value):
            return value is not True
        case Call("and", args):
            return any(isinstance(a, Literal) and a.value is not True for a in args)
        case _:
            return False
