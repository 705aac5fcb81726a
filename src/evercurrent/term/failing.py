"""Whether evaluating a term can raise an error.

What can fail has to be evaluated while the transaction can still be undone; what cannot may wait until it is read.
"""

from __future__ import annotations

from evercurrent.term.functions.casts import cast_fails
from evercurrent.term.functions.table import find
from evercurrent.term.nodes import Call, Cast, Term
from evercurrent.term.walk import children


def can_fail(term: Term) -> bool:
    match term:
        case Call(function=name):
            function = find(name)
            if function is None or function.fails:
                return True
        case Cast(of, type, strict):
            if strict and cast_fails(of.type, type):
                return True
    return any(can_fail(t) for t in children(term))
