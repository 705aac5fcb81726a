"""How the reference evaluator reads a comprehension: nested loops, with filters early and equalities as lookups.

Law. A filter that cannot fail and mentions only variables bound before a qualifier may as well stand before it. So each
conjunct is put behind the first qualifier that binds the last of its variables; one that can raise an error stays where it
is written. A conjunct `f(v) = g(others)` behind `v <- source` need not be tried on every record: the records of the source
are kept by f(v), and those with the right value are looked up.

    e <- emp, d <- dept, e.dept = d.id, e.age > 30      reads      e <- emp where e.age > 30,
                                                                   d <- dept with d.id = e.dept
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from evercurrent.calculus.nodes import (
    Comprehension,
    Exists,
    Filter,
    Generator,
    OuterGenerator,
    Qualifier,
    Quantified,
    Scalar,
)
from evercurrent.calculus.scope import free_variables, list_bound
from evercurrent.calculus.walk import nodes
from evercurrent.data.types import Date, Decimal, Float, Integer, String, Timestamp, Type
from evercurrent.term.build import conjuncts
from evercurrent.term.function_table import FUNCTIONS
from evercurrent.term.nodes import Call, Cast, Term

Lookups = list[tuple[Term, Term]]


@dataclass(slots=True)
class Step:
    """A qualifier that binds (None: the start), how its records are looked up, and the filters to apply behind it.

    `lookups` pairs a term over the qualifier's own variable with one over those around it; NULL finds nothing. `within`
    are the other conditions of an outer generator. `fixed`: the source mentions no variable of this comprehension, and
    so is the same for every binding.
    """

    qualifier: Qualifier | None
    fixed: bool = False
    lookups: Lookups = field(default_factory=list)
    within: list[Term] = field(default_factory=list)
    filters: list[Term] = field(default_factory=list)


def schedule(query: Comprehension) -> list[Step]:
    """The steps of a comprehension, from left to right."""
    steps = [Step(None)]
    binder: dict[str, int] = {}  # the step that binds a variable
    for qualifier in query.qualifiers:
        if isinstance(qualifier, Filter):
            for conjunct in conjuncts(qualifier.condition):
                earliest = max((binder.get(v, 0) for v in free_variables(conjunct)), default=0)
                steps[earliest if is_safe(conjunct) else -1].filters.append(conjunct)
        else:
            steps.append(Step(qualifier, fixed=not (free_variables(qualifier) & binder.keys())))
            for variable in list_bound(qualifier):
                binder[variable.name] = len(steps) - 1
    for step in steps:
        match step.qualifier:
            case Generator(variable):
                step.lookups, step.filters = split_equalities(variable.name, step.filters)
            case OuterGenerator(variable, source, on):
                step.lookups, step.within = split_equalities(variable.name, conjuncts(on))
                step.fixed = not (free_variables(source) & binder.keys())
            case _:
                pass
    return steps


def split_equalities(variable: str, conditions: Iterable[Term]) -> tuple[Lookups, list[Term]]:
    """The conditions that equate a term over the variable alone with one over others, and the rest."""
    lookups: Lookups = []
    rest: list[Term] = []
    for condition in conditions:
        match condition:
            case Call("eq", (a, b)) if is_safe(condition):
                own, other = free_variables(a), free_variables(b)
                if own == {variable} and variable not in other:
                    lookups.append((a, b))
                    continue
                if other == {variable} and variable not in own:
                    lookups.append((b, a))
                    continue
            case _:
                pass
        rest.append(condition)
    return lookups, rest


def is_safe(term: Term) -> bool:
    """Whether evaluating the term can never raise an error, so that it may be tried earlier than it is written."""
    for node in nodes(term):
        match node:
            case Call(function):
                if FUNCTIONS[function].fails:
                    return False
            case Cast(of, type, strict=True):
                if not widens(of.type, type):
                    return False
            case Scalar() | Exists() | Quantified():
                return False
            case _:
                pass
    return True


def widens(source: Type, target: Type) -> bool:
    """Whether every value of one type is one of the other."""
    match source, target:
        case Integer(narrow), Integer(wide):
            return narrow <= wide
        case Integer() | Float() | Decimal(), Float():
            return True
        case Integer(bits), Decimal(precision, scale):
            return precision - scale >= {8: 3, 16: 5, 32: 10, 64: 20}[bits]
        case Decimal(p, s), Decimal(precision, scale):
            return scale >= s and precision - scale >= p - s
        case _, String(None):
            return True
        case Date(), Timestamp():
            return True
        case _:
            return source == target
