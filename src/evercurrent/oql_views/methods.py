"""Functions of operations as terms over an object's attributes.

    def yearly(self): return self.salary * 12      the term  self.salary * 12

A function whose source can be read becomes a term, and a view that calls it is maintained like any other. One that cannot is
called on a record of the object's attributes, once for each object that is inserted, deleted or updated.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from evercurrent.calculus.paths import step
from evercurrent.catalog.classes import Operation, Schema
from evercurrent.catalog.extents import Inside, Single, place_of
from evercurrent.data.types import Reference
from evercurrent.errors import EvercurrentError, QueryError
from evercurrent.frontend.python.interpret import read
from evercurrent.frontend.python.locate import locate
from evercurrent.frontend.python.opaque import is_declared, name_of, number_of
from evercurrent.frontend.python.symbols import Symbol
from evercurrent.frontend.python.terms import Resists, term_of
from evercurrent.oql_views.stored_operations import KeptOperation, term_in_view
from evercurrent.term import build
from evercurrent.term.nodes import Apply, Opaque, Term
from evercurrent.term.nullable import nullable
from evercurrent.term.opaque import OfObject

Capture = Callable[[Operation, str, Term, list[Term]], Term]


def capture_for(schema: Schema) -> Capture:
    """What makes a term of an operation, applied to an object of a class and to arguments."""

    def capture(operation: Operation, of: str, object: Term, args: list[Term]) -> Term:
        function = operation.function
        if isinstance(function, KeptOperation):
            return term_in_view(function, object, args)
        reason = "it is declared opaque"
        if not is_declared(function):
            try:
                return _trace_method(schema, function, object, args)
            except Resists as resisting:
                reason = resisting.reason
            except QueryError as problem:
                reason = problem.message
        return _opaque(schema, operation, of, object, args, reason)

    return capture


def _trace_method(schema: Schema, function: Any, object: Term, args: list[Term]) -> Term:
    located = locate(function) if isinstance(function, FunctionType) else None
    symbols = [ObjectSymbol(object, schema), *(_symbol(a, schema) for a in args)]
    found = read(located, function, symbols) if located is not None else function(*symbols)
    return term_of(found)


def _symbol(term: Term, schema: Schema) -> Symbol:
    return ObjectSymbol(term, schema) if isinstance(term.type, Reference) else Symbol(term)


class ObjectSymbol(Symbol):
    """A reference in the place of an object: its attributes are steps along a path."""

    __slots__ = ("_schema",)

    def __init__(self, term: Term, schema: Schema) -> None:
        super().__init__(term)
        object.__setattr__(self, "_schema", schema)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            found = step(self._schema, self._term, name)
        except EvercurrentError as problem:
            raise Resists(problem.message) from None
        return _symbol(found, self._schema)


def _opaque(
    schema: Schema, operation: Operation, of: str, object: Term, args: list[Term], reason: str
) -> Term:
    members = []
    for name in schema.properties(of):
        if isinstance(place_of(schema, of, name), Single | Inside):
            members.append((name, step(schema, object, name)))
    whole = build.record(members)
    if nullable(object):
        whole = build.case([(build.call("is_not_null", object), whole)])
    function = operation.function
    assert function is not None
    node = Opaque(OfObject(function), name_of(function), number_of(function), reason)
    return Apply(node, (whole, *args), operation.type)
