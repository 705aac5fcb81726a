"""Where one side cannot be NULL, null-safe equality is equality, which an index can answer.

Law. a <=> b is TRUE exactly where a = b is, if a or b is never NULL; conditions ask for no more than TRUE.

    Outer left t.a <=> u.a, u.a never NULL      Outer left t.a = u.a
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.algebra import keys
from evercurrent.algebra.nodes import Join, Outer, Plan, Select, Semi
from evercurrent.algebra.walk import children, rewrite
from evercurrent.catalog.catalog import Knowledge
from evercurrent.term.build import conjunction, conjuncts, equate
from evercurrent.term.nodes import Call, Column, Term


def strict_equality(plan: Plan, knowledge: Knowledge) -> Plan:
    def strict(p: Plan) -> Plan:
        match p:
            case Select() | Join() | Outer() | Semi():
                if not any(_is_null_safe(c) for c in conjuncts(p.condition)):
                    return p
                certain = frozenset[str]().union(*(keys.not_null(c, knowledge) for c in children(p)))
                return replace(p, condition=conjunction(_strict(c, certain) for c in conjuncts(p.condition)))
            case _:
                return p

    return rewrite(plan, strict)


def _is_null_safe(condition: Term) -> bool:
    return isinstance(condition, Call) and condition.function == "eqns"


def _strict(condition: Term, certain: frozenset[str]) -> Term:
    match condition:
        case Call("eqns", (a, b)) if any(isinstance(t, Column) and t.name in certain for t in (a, b)):
            return equate(a, b)
        case _:
            return condition
