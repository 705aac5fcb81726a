"""Operations of classes: the function of the most special class that an object is of.

`p.describe` over persons is a choice by the class of p, found in the extents of the subclasses that override it:

    p.describe      case when p is in Employees then employee's describe(p) else person's describe(p)

Whoever starts the translation says how the function is read (`Context.capture`): as a term, where its source is understood.
"""

from __future__ import annotations

from evercurrent.calculus.paths import step
from evercurrent.catalog.classes import Operation
from evercurrent.catalog.extents import OID
from evercurrent.data.types import Reference
from evercurrent.errors import EvercurrentError
from evercurrent.frontend.oql.context import Context, unsupported_error, wrong
from evercurrent.frontend.oql.forms import guard_value, one, present
from evercurrent.frontend.oql.kinds import Atom, kind_of
from evercurrent.frontend.oql.operators import all_defined
from evercurrent.frontend.oql.values import Expr, One
from evercurrent.source import Place
from evercurrent.term import build
from evercurrent.term.nodes import Cast, Term


def operation(
    context: Context, object: One, of: str, name: str, args: list[Expr], place: Place | None
) -> Expr:
    """`object.name(args)`."""
    declaring, declared = context.schema.operations(of)[name]
    if len(args) != len(declared.parameters):
        wanted = ", ".join(str(p) for p in declared.parameters)
        raise wrong(f"{name} takes ({wanted})", place)
    values = [one(context, a) for a in args]
    terms = [
        build.cast(v.term, p.type, place=place) if isinstance(v.kind, Atom) else v.term
        for v, p in zip(values, declared.parameters, strict=True)
    ]
    found = _capture(context, declared, declaring.name, object.term, terms, place)
    branches: list[tuple[Term, Term]] = []
    for special, override in _find_overriding(context, of, name, declaring.name):
        there = step(context.schema, Cast(object.term, Reference(special)), OID)
        body = _capture(context, override, special, there, terms, place)
        branches.insert(0, (build.call("is_not_null", there), build.cast(body, declared.type)))
    term = build.case(branches, found) if branches else found
    defined = build.conjunction([present(object), all_defined(values)])
    return guard_value(kind_of(declared.type), term, defined)


def _find_overriding(context: Context, of: str, name: str, declaring: str) -> list[tuple[str, Operation]]:
    """The subclasses that override an operation, the general before the special."""
    found = [
        (c.name, next(o for o in c.operations if o.name == name))
        for c in context.schema.subclasses(of)
        if c.name != declaring and any(o.name == name for o in c.operations)
    ]
    return sorted(found, key=lambda pair: len(context.schema.lineage(pair[0])))


def _capture(
    context: Context, operation: Operation, of: str, object: Term, args: list[Term], place: Place | None
) -> Term:
    if operation.function is None or context.capture is None:
        raise unsupported_error(
            f"the operation {operation.name} of {of}, which has no function,",
            place,
            hint=f'db.odl(text, operations={{"{of}.{operation.name}": function}}) gives it one',
        )
    retyped = object if object.type == Reference(of) else Cast(object, Reference(of))
    try:
        found = context.capture(operation, of, retyped, args)
        return build.cast(found, operation.type, place=place)
    except EvercurrentError as problem:
        if problem.place is None:
            problem.place = place
        raise
