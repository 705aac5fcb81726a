"""The validator of plans: what every pass must leave true.

A plan is sound if every term reads columns of its input, with their types; column names are unique among what each node
puts together; conditions are BOOLEAN; inputs of unions and set operations agree in number and types with the outputs; and
no nested query or variable is left. Rules are checked with this after every step in tests.

>>> from evercurrent.data.types import INT
>>> check(Select(Scan("t", (Column("t.a", INT),), ("a",)), Column("t.b", BOOLEAN)))
Traceback (most recent call last):
...
evercurrent.errors.InternalError: the plan is not sound at 'Select t.b': there is no column t.b among t.a
"""

from __future__ import annotations

from collections.abc import Iterable

from evercurrent.algebra.nodes import (
    Aggregate,
    Constant,
    Fixpoint,
    Join,
    Map,
    Outer,
    Plan,
    Scan,
    Select,
    Semi,
    SetOperation,
    Top,
    Union,
    Unnest,
    Window,
    columns,
)
from evercurrent.algebra.show import label
from evercurrent.algebra.walk import children, terms_of
from evercurrent.data.types import BOOLEAN, String, Type
from evercurrent.errors import InternalError
from evercurrent.term.nodes import Column, Nested, Term
from evercurrent.term.walk import columns_of, nodes, variables_of


def check(plan: Plan) -> Plan:
    """The plan itself; an InternalError says what is wrong with it."""
    for child in children(plan):
        check(child)
    _unique(plan, columns(plan))
    inputs = tuple(c for child in children(plan) for c in columns(child))
    match plan:
        case Join() | Outer() | Semi():
            _unique(plan, inputs)
            _condition(plan, plan.condition)
        case Select(_, condition):
            _condition(plan, condition)
        case Map(_, outputs):
            for column, term in outputs:
                _check_type(plan, column, term.type)
        case Aggregate(_, keys, aggregates, scalar):
            if scalar and keys:
                _fail(plan, "a scalar aggregate has keys")
            for column, term in keys:
                _check_type(plan, column, term.type)
            for column, aggregate in aggregates:
                _check_type(plan, column, aggregate.type)
        case Union(parts, outputs):
            for part in parts:
                _check_alignment(plan, columns(part), outputs)
        case SetOperation(_, _, left, right, outputs):
            _check_alignment(plan, columns(left), outputs, nulls=False)
            _check_alignment(plan, columns(right), outputs, nulls=False)
            for mine, other, wanted in zip(columns(left), columns(right), outputs, strict=True):
                if mine.nullable and not wanted.nullable and (plan.kind == "except" or other.nullable):
                    _fail(plan, f"{mine.name} can be NULL, but {wanted.name} says it cannot")
        case Window(_, functions):
            specifications = {(f.partition, f.order) for _, f in functions}
            if len(specifications) != 1:
                _fail(plan, "its functions differ in partition or order")
            for column, function in functions:
                _check_type(plan, column, function.type)
        case Fixpoint(rules, result, outputs):
            for rule in rules:
                if len(rule.fields) != len(columns(rule.body)):
                    _fail(plan, f"{rule.name} has other fields than its body has columns")
                if rule.name == result:
                    _check_alignment(plan, columns(rule.body), outputs)
            return plan
        case Scan(_, outputs, fields):
            if len(outputs) != len(fields):
                _fail(plan, "it has other fields than columns")
        case Constant(rows, outputs):
            if any(len(row) != len(outputs) for row in rows):
                _fail(plan, "a row does not fit the columns")
        case Unnest() | Top():
            pass
        case _:
            pass
    for term in terms_of(plan):
        _term(plan, term, inputs)
    return plan


def _term(plan: Plan, term: Term, inputs: tuple[Column, ...]) -> None:
    if variables_of(term) or any(isinstance(n, Nested) for n in nodes(term)):
        _fail(plan, "a variable or a nested query is left")
    known = {c.name: c for c in inputs}
    for column in columns_of(term):
        if column.name not in known:
            _fail(plan, f"there is no column {column.name} among {', '.join(known) or 'none'}")
        if not _same(column.type, known[column.name].type):
            _fail(plan, f"{column.name} is read as {column.type}, but is {known[column.name].type}")
        if known[column.name].nullable and not column.nullable:
            _fail(plan, f"{column.name} is read as if it could not be NULL")


def _same(a: Type, b: Type) -> bool:
    return a == b or (isinstance(a, String) and isinstance(b, String))


def _check_type(plan: Plan, column: Column, type: Type) -> None:
    if not _same(column.type, type):
        _fail(plan, f"{column.name} is {column.type}, but its value is {type}")


def _condition(plan: Plan, condition: Term) -> None:
    if condition.type != BOOLEAN:
        _fail(plan, f"its condition is {condition.type}")


def _check_alignment(
    plan: Plan, found: tuple[Column, ...], outputs: tuple[Column, ...], nulls: bool = True
) -> None:
    if len(found) != len(outputs):
        _fail(plan, "an input has another number of columns")
    for mine, wanted in zip(found, outputs, strict=True):
        if not _same(mine.type, wanted.type):
            _fail(plan, f"{mine.name} is {mine.type}, but {wanted.name} is {wanted.type}")
        if nulls and mine.nullable and not wanted.nullable:
            _fail(plan, f"{mine.name} can be NULL, but {wanted.name} says it cannot")


def _unique(plan: Plan, found: Iterable[Column]) -> None:
    names = [c.name for c in found]
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        _fail(plan, f"columns come twice: {', '.join(twice)}")


def _fail(plan: Plan, message: str) -> None:
    raise InternalError(f"the plan is not sound at '{label(plan)}': {message}")
