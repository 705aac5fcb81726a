"""What an expression may be, as far as meaning depends on it.

Three things in OQL are decided by types and not by values: whether `a = b` compares objects (then nil is a value like any
other) or scalars (then nil gives nil); whether an aggregate's argument is a collection or ranges over the select that it
stands in; and what kind of collection `flatten` of nothing is. "any" is what is not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tests.oql.oracle.syntax import (
    Binary,
    Call,
    Cast,
    Collect,
    Construct,
    Index,
    Literal,
    Name,
    Node,
    Range,
    Select,
    Slice,
    Step,
)

if TYPE_CHECKING:
    from tests.oql.oracle.evaluate import Oracle

Types = Mapping[str, Any]
COLLECTIONS = ("set", "bag", "list", "dictionary")
AGGREGATES = ("count", "sum", "min", "max", "avg")
BOOLEAN = ("=", "!=", "<", "<=", ">", ">=", "and", "or", "andthen", "orelse", "in", "like")


def is_collection(t: Any) -> bool:
    return isinstance(t, tuple) and t[0] in COLLECTIONS


def element(t: Any) -> Any:
    return t[-1] if is_collection(t) else "any"


def kind(t: Any) -> str:
    return t[0] if isinstance(t, tuple) else t


def type_of(node: Node, names: Types, oracle: Oracle) -> Any:
    """The type of an expression, where names have these types."""
    match node:
        case Literal(value):
            return (
                "nil"
                if value is None
                else {int: "int", float: "float", str: "string"}.get(type(value), "any")
            )
        case Name(name):
            return name_type(name, names, oracle)
        case Step(of, name):
            return step_type(type_of(of, names, oracle), name, oracle)
        case Index(of):
            t = type_of(of, names, oracle)
            return "string" if t == "string" else element(t)
        case Slice(of):
            return type_of(of, names, oracle)
        case Binary(operator, left, right):
            return binary_type(operator, type_of(left, names, oracle), type_of(right, names, oracle))
        case Call(name, arguments):
            return call_type(name, arguments, names, oracle)
        case Construct("struct", fields):
            return ("struct", tuple((n, type_of(e, names, oracle)) for n, e in fields))
        case Construct(name):
            return ("class", oracle.class_name(name))
        case Cast(name):
            return ("class", oracle.class_name(name))
        case Collect(of, items):
            types = [type_of(i, names, oracle) for i in items]
            known = [t for t in types if t != "nil"]
            return ("list" if of == "array" else of, known[0] if known else "any")
        case Range():
            return ("list", "int")
        case Select():
            return select_type(node, names, oracle)
    return "boolean"


def name_type(name: str, names: Types, oracle: Oracle) -> Any:
    if name in names:
        return names[name]
    for variable, t in names.items():
        if variable.startswith("$"):
            found = step_type(t, name, oracle)
            if found != "any":
                return found
    if name in oracle.model.extents:
        return ("set", ("class", oracle.model.extents[name].name))
    if name in oracle.model.names:
        return ("class", oracle.model.names[name].of.name)
    if name in oracle.defined:
        return type_of(oracle.defined[name].body, {}, oracle)
    return "any"


def step_type(t: Any, name: str, oracle: Oracle) -> Any:
    match t:
        case ("struct", fields):
            return dict(fields).get(name, "any")
        case ("class", owner):
            if name in oracle.model.properties(owner):
                return oracle.model.properties(owner)[name]
            found = oracle.model.operation(owner, name)
            return "any" if found is None else found[0]
    return "any"


def binary_type(operator: str, left: Any, right: Any) -> Any:
    if operator in BOOLEAN:
        return "boolean"
    if operator in ("union", "intersect", "except", "+", "*", "-") and is_collection(left):
        return ("bag", element(left)) if "bag" in (kind(left), kind(right)) else left
    if operator == "||" or "string" in (left, right):
        return left if is_collection(left) else "string"
    return "float" if operator == "/" or "float" in (left, right) else left


def call_type(name: str, arguments: tuple[Node, ...], names: Types, oracle: Oracle) -> Any:
    lower = name.lower()
    if name in oracle.defined:
        define = oracle.defined[name]
        return type_of(define.body, {p: word for p, word in define.parameters}, oracle)
    of = type_of(arguments[0], names, oracle) if arguments else "any"
    match lower:
        case "count":
            return "int"
        case "avg":
            return "float"
        case "sum" | "min" | "max":
            return element(of) if is_collection(of) else of
        case "element" | "first" | "last":
            return element(of)
        case "flatten":
            inner = element(of)
            if kind(of) == "list" and kind(inner) == "list":
                return ("list", element(inner))
            return ("set" if kind(inner) == "set" else "bag", element(inner))
        case "keys":
            return ("set", of[1])
        case "nvl" | "ifnull":
            return of if of != "nil" else type_of(arguments[1], names, oracle)
        case "listtoset":
            return ("set", element(of))
        case "distinct":
            return of if kind(of) == "list" else ("set", element(of))
        case "abs":
            return of
    return "boolean"


def select_type(node: Select, names: Types, oracle: Oracle) -> Any:
    scope = scope_types(node, names, oracle)
    inner = group_types(node, names, scope, oracle)
    if node.projections is None:
        shown = inner if node.groups is not None else scope
        of: Any = (
            "struct",
            tuple((n.lstrip("$"), t) for n, t in shown.items() if n not in names or shown is inner),
        )
        if node.groups is not None:
            of = ("struct", tuple((n, inner[n]) for n in [*dict(node.groups), "partition"]))
    elif len(node.projections) == 1 and node.projections[0].name is None:
        of = type_of(node.projections[0].of, {**scope, **inner}, oracle)
    else:
        from tests.oql.oracle.parser import last_name

        of = (
            "struct",
            tuple(
                (str(p.name or last_name(p.of)), type_of(p.of, {**scope, **inner}, oracle))
                for p in node.projections
            ),
        )
    if oracle.is_scalar_select(node, names):
        return of
    return ("list" if node.order else "set" if node.distinct else "bag", of)


def scope_types(node: Select, names: Types, oracle: Oracle) -> dict[str, Any]:
    """The types of the iterators, added to those around."""
    result = dict(names)
    for i, iterator in enumerate(node.iterators):
        result[iterator.variable or f"${i}"] = element(type_of(iterator.collection, result, oracle))
    return result


def group_types(node: Select, names: Types, scope: Types, oracle: Oracle) -> dict[str, Any]:
    """The types of the labels and of `partition`."""
    if node.groups is None:
        return {}
    result: dict[str, Any] = dict(names)
    result |= {label: type_of(e, scope, oracle) for label, e in node.groups}
    own = tuple(
        (it.variable or f"${i}", scope[it.variable or f"${i}"]) for i, it in enumerate(node.iterators)
    )
    result["partition"] = ("bag", ("struct", own))
    return result
