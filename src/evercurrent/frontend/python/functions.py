"""Views of functions: `@db.view`.

    @db.view
    def adults(s: Student):                     the rows of Student for which it is true
        return s.age >= 18

    @db.view
    def neighbours(a: Student, b: Student):     a row for each pair that it yields
        if a.city == b.city and a.name < b.name:
            yield a.name, b.name

    @db.view
    def names():                                a comprehension over tables and queries
        return (s.name for s in students if s.age >= 18)

Parameters range over the tables of the classes that annotate them.
"""

from __future__ import annotations

import ast
import typing
from collections.abc import Callable
from types import FunctionType
from typing import Any

from evercurrent.callables import require_callable
from evercurrent.data.showing import show_value
from evercurrent.data.types import Boolean
from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.frontend.python import logic
from evercurrent.frontend.python.block import Block, beside, filter_block
from evercurrent.frontend.python.capture import capture
from evercurrent.frontend.python.comprehensions import range_over
from evercurrent.frontend.python.core import AnyQuery, Owner, select_value
from evercurrent.frontend.python.interpret import Reader
from evercurrent.frontend.python.locate import Located, locate
from evercurrent.frontend.python.query import Query
from evercurrent.frontend.python.surroundings import names_around
from evercurrent.frontend.python.symbols import Symbol
from evercurrent.frontend.python.terms import Resists

Tables = Callable[[type], AnyQuery]


def query_of(function: Any, owner: Owner, tables: Tables) -> AnyQuery:
    """The query that a function is."""
    require_callable(function, "view")
    block = _parameters(function, tables)
    located = locate(function)
    if located is not None and isinstance(located.node, ast.FunctionDef) and _yields(located.node):
        return Query(_read_generator(function, located, block), owner)
    value = capture(function, block.rows)
    if isinstance(value, AnyQuery):
        if block.rows:
            return Query(select_value(beside(block, value._block), _all(value)), owner)
        return value
    if not block.rows:
        raise QueryError(
            f"{function.__name__} has no parameters and returns no query",
            hint="annotate its parameters with row classes, or return a comprehension over tables",
        )
    if isinstance(value, bool) or (isinstance(value, Symbol) and isinstance(value._term.type, Boolean)):
        kept = filter_block(block, logic.condition(value))
        return Query(kept, owner) if len(kept.rows) == 1 else _build_join(kept, owner)
    return Query(select_value(block, value), owner)


def _build_join(block: Block, owner: Owner) -> AnyQuery:
    from evercurrent.frontend.python.joined import JoinedMany

    return JoinedMany(block, owner)


def _all(query: AnyQuery) -> Any:
    rows = query._block.rows
    return rows[0] if len(rows) == 1 else rows


def _parameters(function: Any, tables: Tables) -> Block:
    """The tables that the parameters range over."""
    code = getattr(function, "__code__", None)
    if code is None:
        raise QueryError(f"{show_value(function)} is no function over rows", hint="def name(row: Row): ...")
    names = code.co_varnames[: code.co_argcount]
    try:
        hints = typing.get_type_hints(function)
    except NameError as problem:
        raise QueryError(f"the annotations of {function.__name__} cannot be read: {problem}") from None
    block = Block((), (), ())
    for name in names:
        if name not in hints:
            raise QueryError(
                f"the parameter {name} of {function.__name__} has no annotation",
                hint="annotate it with the class of the rows that it ranges over",
            )
        block = beside(block, tables(hints[name])._block)
    return block


# --- generator functions -----------------------------------------------------------------------------------


def _yields(node: ast.FunctionDef) -> bool:
    return any(isinstance(n, ast.Yield) for n in ast.walk(node))


def _read_generator(function: FunctionType, located: Located, block: Block) -> Block:
    """`for`, `if` and one `yield`, from the outside in: a comprehension."""
    assert isinstance(located.node, ast.FunctionDef)
    names = [a.arg for a in located.node.args.args]
    reader = Reader({**names_around(function), **dict(zip(names, block.rows, strict=True))}, located, 0)
    try:
        return _statements(reader, located.node.body, block)
    except Resists as reason:
        raise UnsupportedError(
            f"{function.__name__}: {reason.reason}",
            place=located.place(reason.node),
            hint="a generator function that is a view has assignments, for, if, and one yield at the innermost place",
        ) from None


def _statements(reader: Reader, body: list[ast.stmt], block: Block) -> Block:
    for i, statement in enumerate(body):
        last = i == len(body) - 1
        match statement:
            case ast.Expr(ast.Constant()) if not last:
                continue
            case ast.Assign(targets=[target], value=value):
                reader.assign(target, reader.expression(value))
            case ast.If(test, inner, []) if last:
                condition = logic.condition(reader.expression(test))
                return _statements(reader, inner, filter_block(block, condition))
            case ast.For(target, source, inner, []) if last:
                block = range_over(reader, block, target, reader.expression(source))
                return _statements(reader, inner, block)
            case ast.Expr(ast.Yield(value)) if last and value is not None:
                return select_value(block, reader.expression(value))
            case _:
                raise Resists("this statement is not a comprehension", statement)
    raise Resists("nothing is yielded")
