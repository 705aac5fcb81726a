"""What a query means, straight from the standard and the project's decisions.

    Oracle(model).value("select e.name from e in Employees")     -> Bag of strings

With `strict` a failing cast, an index out of range and `element` of none or several are errors, as in a query that is
asked once; without, as in a view, they are UNDEFINED.
"""

from __future__ import annotations

import datetime
import functools
from collections.abc import Iterator as Iter
from typing import Any

from tests.oql.oracle import scalars
from tests.oql.oracle.model import Model, Object
from tests.oql.oracle.parser import last_name, parse
from tests.oql.oracle.scalars import OqlError
from tests.oql.oracle.syntax import (
    Binary,
    Call,
    Cast,
    Collect,
    Compared,
    Construct,
    Define,
    Import,
    Index,
    Literal,
    Name,
    Node,
    Projection,
    Quantified,
    Range,
    Select,
    Slice,
    Step,
    Unary,
    Undefine,
)
from tests.oql.oracle.types import AGGREGATES, group_types, is_collection, kind, scope_types, type_of
from tests.oql.oracle.values import UNDEFINED, Bag, Dictionary, Set, Struct, distinct, elements, key

Scope = dict[str, Any]
ROWS = "$rows"
"""The name under which a group's select finds the iterators of its partition."""


class Made:
    """An object that a query constructs: the same class and inputs give the same object."""

    def __init__(self, name: str, values: Struct) -> None:
        self.name = name
        self.values = values

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Made) and (self.name, key(self.values)) == (other.name, key(other.values))

    def __hash__(self) -> int:
        return hash((self.name, key(self.values)))

    def __repr__(self) -> str:
        return f"{self.name}{self.values!r}"


class Oracle:
    def __init__(self, model: Model, strict: bool = False) -> None:
        self.model = model
        self.strict = strict
        self.defined: dict[str, Define] = {}
        self.aliases: dict[str, str] = {}
        self.parsed: dict[str, list[Node]] = {}

    def value(self, text: str) -> Any:
        """The value of the last query of a text; definitions stay."""
        if text not in self.parsed:
            self.parsed[text] = parse(text, self.model.classes)
        result: Any = None
        for statement in self.parsed[text]:
            match statement:
                case Define(name):
                    self.defined[name] = statement
                case Undefine(name):
                    del self.defined[name]
                case Import(name, alias):
                    self.aliases[alias] = name
                case _:
                    result = self.eval(statement, {}, {})
        return result

    def class_name(self, name: str) -> str:
        return self.aliases.get(name, name)

    def fail(self, reason: str) -> Any:
        if self.strict:
            raise OqlError(reason)
        return UNDEFINED

    # Expressions: `scope` gives the names their values, `types` their types

    def eval(self, node: Node, scope: Scope, types: Scope) -> Any:
        def at(part: Node) -> Any:
            return self.eval(part, scope, types)

        match node:
            case Literal(value):
                return value
            case Name(name):
                return self.named(name, scope, types)
            case Step(of, name, arguments):
                return self.step(at(of), name, [at(a) for a in arguments])
            case Index(of, place):
                return self.index(at(of), at(place))
            case Slice(of, low, high):
                return self.slice(at(of), at(low), at(high))
            case Unary("not", of):
                return scalars.negation(at(of))
            case Unary(_, of):
                value = at(of)
                return value if scalars.absent(value) != 0 else -value
            case Binary():
                return self.binary(node, scope, types)
            case Compared(operator, quantifier, left, right):
                kinds = (type_of(left, types, self), self.element_type(right, types))
                one, two_valued = at(left), any(isinstance(k, tuple) or k == "nil" for k in kinds)
                results = [self.compare(operator, one, other, two_valued) for other in elements(at(right))]
                return functools.reduce(
                    scalars.both if quantifier == "all" else scalars.either, results, quantifier == "all"
                )
            case Quantified(every, variable, collection, condition):
                inner = {**types, variable: self.element_type(collection, types)}
                found = [
                    self.eval(condition, {**scope, variable: e}, inner) for e in elements(at(collection))
                ]
                return functools.reduce(scalars.both if every else scalars.either, found, every)
            case Call():
                return self.call(node, scope, types)
            case Construct("struct", fields):
                return Struct(tuple((name, at(e)) for name, e in fields))
            case Construct(name, fields):
                return Made(self.class_name(name), Struct(tuple((n, at(e)) for n, e in fields)))
            case Collect(of, items):
                values = [at(i) for i in items]
                return Set(values) if of == "set" else Bag(values) if of == "bag" else values
            case Range(low, high):
                return list(range(at(low), at(high) + 1))
            case Cast(name, of):
                return self.cast(self.class_name(name), at(of))
            case Select():
                return self.select(node, scope, types)
        raise AssertionError(node)

    def element_type(self, collection: Node, types: Scope) -> Any:
        t = type_of(collection, types, self)
        return t[-1] if is_collection(t) else "any"

    def named(self, name: str, scope: Scope, types: Scope) -> Any:
        if name in scope:
            return scope[name]
        for variable, value in scope.items():
            if variable.startswith("$") and variable != ROWS and self.has(value, name):
                return self.step(value, name, [])
        if name in self.model.extents:
            return Set(self.model.extent(name))
        if name in self.model.names:
            return self.model.names[name]
        if name in self.defined:
            return self.eval(self.defined[name].body, {}, {})
        raise OqlError(f"unknown name {name}")

    def has(self, value: Any, name: str) -> bool:
        match value:
            case Object(of=of):
                return (
                    name in self.model.properties(of.name) or self.model.operation(of.name, name) is not None
                )
            case Struct():
                return name in value
        return False

    def step(self, value: Any, name: str, arguments: list[Any]) -> Any:
        match value:
            case None:
                return UNDEFINED
            case _ if value is UNDEFINED:
                return UNDEFINED
            case Struct():
                return value[name]
            case Made(values=values):
                return dict(values.fields).get(name)
            case Object(of=of):
                if name in self.model.properties(of.name):
                    return self.model.read(value, name)
                found = self.model.operation(of.name, name)
                assert found is not None, f"{of.name} has no {name}"
                return found[1](value, *arguments)
            case datetime.date():
                if name == "monthIndex":
                    return value.month
                return getattr(value, name)
        raise OqlError(f"no step {name} from {value!r}")

    def index(self, value: Any, place: Any) -> Any:
        if (missing := scalars.absent(value, place)) != 0:
            return missing
        if isinstance(value, Dictionary):
            return value.entries[place] if place in value.entries else self.fail("no such key")
        return value[place] if 0 <= place < len(value) else self.fail("index out of range")

    def slice(self, value: Any, low: Any, high: Any) -> Any:
        if (missing := scalars.absent(value, low, high)) != 0:
            return missing
        return value[max(low, 0) : max(high + 1, 0)]

    def cast(self, name: str, value: Any) -> Any:
        if value is None or value is UNDEFINED:
            return value
        return value if self.model.is_a(value.of.name, name) else self.fail(f"not a {name}")

    def two_valued(self, left: Node, right: Node, types: Scope) -> bool:
        """Whether an equality is between objects or literals of structure, or with the literal nil."""
        return any(
            (isinstance(n, Literal) and n.value is None) or isinstance(type_of(n, types, self), tuple)
            for n in (left, right)
        )

    def compare(self, operator: str, a: Any, b: Any, two_valued: bool) -> Any:
        match operator:
            case "=":
                return scalars.equal(a, b, two_valued)
            case "!=":
                return scalars.negation(scalars.equal(a, b, two_valued))
            case "like":
                return scalars.like(a, b)
        return scalars.less(operator, a, b)

    def binary(self, node: Binary, scope: Scope, types: Scope) -> Any:
        operator = node.operator
        left = self.eval(node.left, scope, types)
        if operator == "andthen" and left is not True:
            return left
        if operator == "orelse" and left is True:
            return True
        right = self.eval(node.right, scope, types)
        match operator:
            case "and" | "andthen":
                return scalars.both(left, right)
            case "or" | "orelse":
                return scalars.either(left, right)
            case "=" | "!=" | "<" | "<=" | ">" | ">=" | "like":
                return self.compare(operator, left, right, self.two_valued(node.left, node.right, types))
            case "in":
                return self.member(left, right)
            case "union" | "intersect" | "except":
                return scalars.set_operation(operator, left, right)
            case "||":
                return scalars.arithmetic("+", left, right)
        if isinstance(left, Bag) or isinstance(right, Bag):
            return scalars.set_operation(
                {"+": "union", "-": "except", "*": "intersect"}[operator], left, right
            )
        return scalars.arithmetic(operator, left, right)

    def member(self, item: Any, collection: Any) -> Any:
        if item is UNDEFINED or collection is UNDEFINED:
            return UNDEFINED
        if isinstance(collection, str):
            return None if item is None else item in collection
        return key(item) in {key(e) for e in elements(collection)}

    # Functions

    def call(self, node: Call, scope: Scope, types: Scope) -> Any:
        name = node.name
        if name in self.defined:
            define = self.defined[name]
            values = [self.eval(a, scope, types) for a in node.arguments]
            inner = {p: v for (p, _), v in zip(define.parameters, values, strict=True)}
            return self.eval(define.body, inner, {p: word for p, word in define.parameters})
        function = name.lower()
        if function in AGGREGATES and self.is_shorthand(node, types):
            rows = scope[ROWS]
            if node.star:
                return len(rows)
            inner_types = types[ROWS]
            of = bracketed(node.arguments[0])
            found = [self.eval(of, {**scope, **r}, inner_types) for r in rows]
            once = node.distinct or of is not node.arguments[0]
            return scalars.aggregate(function, distinct(found) if once else found)
        values = [self.eval(a, scope, types) for a in node.arguments]
        if function in ("is_defined", "is_undefined"):
            return (values[0] is UNDEFINED) is (function == "is_undefined")
        value = values[0]
        if function in ("nvl", "ifnull"):
            return values[1] if value is None or value is UNDEFINED else value
        if value is UNDEFINED:
            return UNDEFINED
        match function:
            case "count" | "sum" | "min" | "max" | "avg":
                return scalars.aggregate(function, Bag(distinct(elements(value))) if node.distinct else value)
            case "keys":
                return Set([] if value is None else list(value.entries))
            case "abs":
                return None if value is None else abs(value)
            case "exists":
                return len(elements(value)) > 0
            case "unique":
                return len(elements(value)) == 1
            case "element":
                items = elements(value)
                return items[0] if len(items) == 1 else self.fail(f"{len(items)} elements")
            case "first" | "last":
                items = elements(value)
                return UNDEFINED if not items else items[0 if function == "first" else -1]
            case "listtoset":
                return Set(elements(value))
            case "distinct":
                return distinct(value) if isinstance(value, list) else Set(elements(value))
            case "flatten":
                inner_items = [i for c in elements(value) for i in elements(c)]
                made = kind(type_of(node, types, self))
                return (
                    inner_items if made == "list" else Set(inner_items) if made == "set" else Bag(inner_items)
                )
        raise OqlError(f"unknown function {name}")

    # Select

    def is_shorthand(self, node: Call, types: Scope) -> bool:
        """Whether an aggregate ranges over the select that it stands in."""
        if ROWS not in types:
            return False
        return node.star or not is_collection(type_of(bracketed(node.arguments[0]), types[ROWS], self))

    def is_scalar_select(self, node: Select, types: Scope) -> bool:
        """`select sum(e.salary) from e in Employees`: one value, not a bag of one."""
        if node.groups is not None or node.projections is None:
            return False
        inner = scope_types(node, types, self)
        return any(self.has_shorthand(p.of, inner) for p in node.projections)

    def has_shorthand(self, node: Any, types: Scope) -> bool:
        match node:
            case Select():
                return False
            case Call(name, arguments, star):
                if name.lower() in AGGREGATES and name not in self.defined:
                    return star or not is_collection(type_of(bracketed(arguments[0]), types, self))
                return any(self.has_shorthand(a, types) for a in arguments)
            case Node():
                return any(self.has_shorthand(v, types) for v in vars(node).values())
            case tuple():
                return any(self.has_shorthand(v, types) for v in node)
        return False

    def rows(self, node: Select, scope: Scope, types: Scope) -> Iter[Scope]:
        """The bindings of the iterators that pass the condition."""
        inner = scope_types(node, types, self)

        def bind(at: int, bound: Scope) -> Iter[Scope]:
            if at == len(node.iterators):
                if node.where is None or self.eval(node.where, bound, inner) is True:
                    yield bound
                return
            iterator = node.iterators[at]
            for item in elements(self.eval(iterator.collection, bound, inner)):
                yield from bind(at + 1, {**bound, iterator.variable or f"${at}": item})

        return bind(0, scope)

    def select(self, node: Select, scope: Scope, types: Scope) -> Any:
        rows = list(self.rows(node, scope, types))
        inner = scope_types(node, types, self)
        if node.groups is not None:
            rows, inner = self.grouped(node, rows, scope, types, inner)
        elif self.is_scalar_select(node, types):
            whole = {**scope, ROWS: rows}
            return self.project(node, whole, {**types, ROWS: inner}, scope)
        if node.having is not None:
            rows = [r for r in rows if self.eval(node.having, r, inner) is True]
        if node.limit is not None:
            # Equal sort keys leave the order to the elements.
            rows = sorted(rows, key=lambda r: total(self.project(node, r, inner, scope)))
        if node.order:
            rows = self.ordered(node, rows, inner)
        values = [self.project(node, r, inner, scope) for r in rows]
        if node.distinct:
            values = distinct(values)
        if node.limit is not None:
            values = values[node.offset : node.offset + node.limit]
        if node.order:
            return values
        return Set(values) if node.distinct else Bag(values)

    def grouped(
        self, node: Select, rows: list[Scope], scope: Scope, types: Scope, inner: Scope
    ) -> tuple[list[Scope], Scope]:
        assert node.groups is not None
        variables = [it.variable or f"${i}" for i, it in enumerate(node.iterators)]
        groups: dict[Any, tuple[Scope, list[Scope]]] = {}
        for row in rows:
            labels = {label: self.eval(e, row, inner) for label, e in node.groups}
            groups.setdefault(tuple(map(key, labels.values())), (labels, []))[1].append(row)
        result = []
        for labels, members in groups.values():
            partition = Bag(Struct(tuple((v.lstrip("$"), r[v]) for v in variables)) for r in members)
            result.append({**scope, **labels, "partition": partition, ROWS: members})
        return result, {**group_types(node, types, inner, self), ROWS: inner}

    def project(self, node: Select, row: Scope, types: Scope, around: Scope) -> Any:
        if node.projections is None:
            if node.groups is not None:
                return Struct(tuple((n, row[n]) for n in [*dict(node.groups), "partition"]))
            return Struct(
                tuple(
                    (it.variable or str(last_name(it.collection)).lower(), row[it.variable or f"${i}"])
                    for i, it in enumerate(node.iterators)
                )
            )
        if len(node.projections) == 1 and node.projections[0].name is None:
            return self.eval(node.projections[0].of, row, types)
        return Struct(tuple((projected(p), self.eval(p.of, row, types)) for p in node.projections))

    def ordered(self, node: Select, rows: list[Scope], types: Scope) -> list[Scope]:
        """nil and UNDEFINED first ascending, last descending."""
        rows = list(rows)
        for e, descending in reversed(node.order):
            keys = {id(r): rank(self.eval(e, r, types)) for r in rows}
            rows.sort(key=lambda r, keys=keys: keys[id(r)], reverse=descending)
        return rows


def bracketed(node: Node) -> Node:
    """`distinct (x)` as the argument of an aggregate: what is in the brackets."""
    match node:
        case Call("distinct", (of,)):
            return of
    return node


def rank(value: Any) -> Any:
    return (0, 0) if scalars.absent(value) != 0 else (1, value)


def total(value: Any) -> Any:
    """A key that puts any values of one type in an order: UNDEFINED, nil, then the values."""
    if value is UNDEFINED or value is None:
        return (0, value is None)
    if isinstance(value, Struct):
        return (1, tuple(total(v) for _, v in value.fields))
    return (1, value.number if isinstance(value, Object) else value)


def projected(p: Projection) -> str:
    name = p.name or last_name(p.of)
    if name is None:
        raise OqlError("a projection needs a name")
    return name
