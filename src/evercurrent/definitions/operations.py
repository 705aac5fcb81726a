"""Operations of classes as definitions: what each means in views, as a term, and the name of its function.

    operation    "employee.yearly"     the term of its function, and the name `module:qualname` if it has one

A definition never holds code: a function is a term that could be read from it, or a name that the program hands over.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from evercurrent.calculus.codec import encode
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.classes import Operation, Schema
from evercurrent.data.types import Reference
from evercurrent.errors import EvercurrentError
from evercurrent.frontend.odl.resolve import bind
from evercurrent.oql_views.methods import capture_for
from evercurrent.oql_views.stored_operations import SELF, KeptOperation
from evercurrent.statements.target import Definition
from evercurrent.term.handed_over import HandedOver
from evercurrent.term.located import can_be_found, path_of
from evercurrent.term.nodes import Variable


def keep_operations(
    schema: Schema, names: Iterable[str], known: HandedOver
) -> tuple[Schema, list[Definition]]:
    """The schema with these operations' functions as they are kept, and their definitions."""
    functions: dict[str, KeptOperation] = {}
    for name in names:
        of, _, called = name.partition(".")
        operation = next(o for o in schema.classes[of].operations if o.name == called)
        if operation.function is not None:
            functions[name] = keep_operation(schema, of, operation, known)
    return bind(schema, functions), [definition_of(f) for f in functions.values()]


def keep_operation(schema: Schema, of: str, operation: Operation, known: HandedOver) -> KeptOperation:
    """The function of an operation, with what can be kept of it."""
    function = operation.function
    if isinstance(function, KeptOperation):
        return function
    assert function is not None
    parameters = tuple(f"in_{i}" for i in range(len(operation.parameters)))
    body, problem = None, ""
    try:
        given = [Variable(p, m.type, True) for p, m in zip(parameters, operation.parameters, strict=True)]
        body = encode(capture_for(schema)(operation, of, Variable(SELF, Reference(of), True), [*given]))
    except EvercurrentError as found:
        problem = found.message
    path = path_of(function) if can_be_found(function) else None
    if path is not None:
        known.add(function)
    return KeptOperation(f"{of}.{operation.name}", parameters, body, path, problem, function, known)


def definition_of(function: KeptOperation) -> Definition:
    return {
        "kind": "operation",
        "name": function.name,
        "text": function.path or "",
        "parameters": list(function.parameters),
        "body": function.body,
        "problem": function.problem,
    }


def with_operation(catalog: Catalog, definition: Definition, known: HandedOver) -> Catalog:
    """The catalog with the function of an operation as a version keeps it."""
    parameters, body = tuple(definition["parameters"]), definition["body"]
    path, problem = definition["text"] or None, definition["problem"]
    function = KeptOperation(definition["name"], parameters, body, path, problem, None, known)
    return replace(catalog, schema=bind(catalog.schema, {definition["name"]: function}))


def callable_schema(schema: Schema) -> Schema:
    """The schema for a query that is asked once: functions of which nothing could be kept are called as they are."""
    loose = {
        f"{c.name}.{o.name}": f.function
        for c in schema.classes.values()
        for o in c.operations
        if isinstance(f := o.function, KeptOperation) and f.body is None and f.can_be_called
    }
    return bind(schema, loose) if loose else schema
