"""Classes on a warehouse: their ODL is a definition, and so is what each operation means.

    classes      "person, employee"    the ODL of both
    operation    "employee.yearly"     the term of its function, and `module:qualname` if it can be found so

Late binding is written out in the views that call an operation, so views in OQL are translated anew whenever classes or operations
change; a view whose query stays the same keeps all that is kept of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from evercurrent.calculus.codec import encode
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.classes import Operation, Schema
from evercurrent.catalog.extents import tables_of
from evercurrent.data.types import Reference
from evercurrent.engine.spark.types import require_stored
from evercurrent.errors import EvercurrentError, QueryError
from evercurrent.frontend.odl.resolve import bind
from evercurrent.session.kept_operations import SELF, KeptOperation
from evercurrent.session.oql import translated_anew
from evercurrent.session.oql_methods import capturing
from evercurrent.term.located import can_be_found, path_of
from evercurrent.term.nodes import Variable
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.drafts import Definition, change


def with_classes(catalog: Catalog, schema: Schema) -> Catalog:
    """The catalog with a larger schema, and the tables of the classes that are new."""
    new = [name for name in schema.classes if name not in catalog.schema.classes]
    catalog = replace(catalog, schema=schema)
    for name in new:
        for table in tables_of(schema, name):
            if catalog.relation(table.name) is not None:
                raise QueryError(
                    f"class {name} needs a table {table.name}, and there is already a relation of this name",
                    place=schema.classes[name].place,
                    hint="give the class another extent",
                )
            catalog = catalog.with_table(table)
    return catalog


def create_classes(core: Core, schema: Schema, text: str) -> None:
    """Declare classes: their tables, their ODL among the definitions, and what their operations mean."""
    before = core.catalog
    new = [name for name in schema.classes if name not in before.schema.classes]
    schema, operations = keeping(schema, [f"{n}.{o.name}" for n in new for o in schema.classes[n].operations])
    catalog = with_classes(before, schema)
    for key, table in catalog.tables.items():
        if key not in before.tables:
            for c in table.columns:
                require_stored(c.type)
    classes = {"kind": "classes", "name": ", ".join(new), "text": text, "policy": None}
    change(core, translated_anew(catalog), "CREATE CLASS", classes, *operations)


# --- operations --------------------------------------------------------------------------------------------


def keeping(schema: Schema, names: Iterable[str]) -> tuple[Schema, list[Definition]]:
    """The schema with these operations' functions as they are kept, and their definitions."""
    functions: dict[str, KeptOperation] = {}
    for name in names:
        of, _, called = name.partition(".")
        operation = next(o for o in schema.classes[of].operations if o.name == called)
        if operation.function is not None:
            functions[name] = kept(schema, of, operation)
    return bind(schema, functions), [definition_of(f) for f in functions.values()]


def kept(schema: Schema, of: str, operation: Operation) -> KeptOperation:
    """The function of an operation, with what can be kept of it."""
    function = operation.function
    if isinstance(function, KeptOperation):
        return function
    assert function is not None
    parameters = tuple(f"in_{i}" for i in range(len(operation.parameters)))
    body, problem = None, ""
    try:
        given = [Variable(p, m.type, True) for p, m in zip(parameters, operation.parameters, strict=True)]
        body = encode(capturing(schema)(operation, of, Variable(SELF, Reference(of), True), [*given]))
    except EvercurrentError as found:
        problem = found.message
    path = path_of(function) if can_be_found(function) else None
    return KeptOperation(f"{of}.{operation.name}", parameters, body, path, problem, function)


def definition_of(function: KeptOperation) -> Definition:
    return {
        "kind": "operation",
        "name": function.name,
        "text": function.path or "",
        "parameters": list(function.parameters),
        "body": function.body,
        "problem": function.problem,
    }


def with_operation(catalog: Catalog, definition: Definition) -> Catalog:
    """The catalog with the function of an operation as a version keeps it."""
    parameters, body = tuple(definition["parameters"]), definition["body"]
    path, problem = definition["text"] or None, definition["problem"]
    function = KeptOperation(definition["name"], parameters, body, path, problem)
    return replace(catalog, schema=bind(catalog.schema, {definition["name"]: function}))


def bind_operations(core: Core, functions: Mapping[str, Callable[..., Any]]) -> None:
    """Give operations their functions. If one means something else than before, views follow, in a version of their own."""
    before = core.catalog.schema
    schema, definitions = keeping(bind(before, functions), functions)
    catalog = replace(core.catalog, schema=schema)
    present = {d["name"]: d for d in core.definitions if d["kind"] == "operation"}
    wanted = {d["name"]: d for d in definitions}
    if all(present.get(name) == wanted.get(name) for name in functions):
        core.catalog = catalog
        return
    change(core, translated_anew(catalog), "CREATE OPERATION", *definitions)


def directly(schema: Schema) -> Schema:
    """The schema for a query that is asked once: functions of which nothing could be kept are called as they are."""
    loose = {
        f"{c.name}.{o.name}": f.function
        for c in schema.classes.values()
        for o in c.operations
        if isinstance(f := o.function, KeptOperation) and f.body is None and (f.given or f.path)
    }
    return bind(schema, loose) if loose else schema
