"""What is called while a function is read: what may be run at once, and how rows of classes are made of symbols.

>>> from typing import NamedTuple
>>> class Point(NamedTuple):
...     x: int
...     y: int = 0
>>> row_of(Point, (1,), {}), is_pure(len), is_pure(print)
(Point(x=1, y=0), True, False)
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import inspect
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from evercurrent.data.shapes import make
from evercurrent.errors import QueryError
from evercurrent.frontend.python import methods
from evercurrent.frontend.python.annotations import columns_of

PURE: frozenset[Any] = frozenset(
    (
        int,
        float,
        str,
        bool,
        len,
        abs,
        min,
        max,
        sum,
        any,
        all,
        round,
        sorted,
        tuple,
        list,
        set,
        frozenset,
        dict,
        range,
    )
) | frozenset(
    (
        datetime.date,
        datetime.time,
        datetime.datetime,
        datetime.timedelta,
        decimal.Decimal,
        ord,
        chr,
        repr,
        zip,
        enumerate,
    )
)
"""What may be called when a query is built: equal constants have equal values."""


def is_method_of_symbol(function: Any) -> bool:
    """A method that `methods.method` made: it is a lambda of ours."""
    return isinstance(function, FunctionType) and function.__module__ == methods.__name__


def is_pure(function: Any) -> bool:
    """Whether a function may be called when a query is built: of a constant text, number, date or collection it is a method too."""
    if function in PURE:
        return True
    owner = getattr(function, "__self__", None)
    plain = (
        str,
        bytes,
        int,
        float,
        tuple,
        frozenset,
        dict,
        list,
        set,
        datetime.date,
        datetime.time,
        datetime.timedelta,
        decimal.Decimal,
    )
    return isinstance(function, BuiltinFunctionType | MethodType) and isinstance(owner, plain)


def row_of(cls: type, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A row of a class. It is made as Python makes it, so that a wrong argument is an error."""
    columns = columns_of(cls)
    names = [m.name for m in columns.members]
    if len(args) > len(names):
        raise QueryError(f"{cls.__name__} has {len(names)} fields, and {len(args)} values are given")
    given = {**dict(columns.defaults), **dict(zip(names, args, strict=False)), **keywords}
    missing = [n for n in names if n not in given]
    unknown = [n for n in given if n not in names]
    if missing or unknown:
        wrong = (
            f"{cls.__name__} needs {', '.join(missing)}" if missing else f"{cls.__name__} has no {unknown[0]}"
        )
        raise QueryError(wrong, hint=f"its fields are {', '.join(names)}")
    values = [given[n] for n in names]
    if dataclasses.is_dataclass(cls):
        made = object.__new__(cls)
        for name, value in zip(names, values, strict=True):
            object.__setattr__(made, name, value)
        return made
    return make(cls, names, values)


def positional(function: FunctionType, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments of a call by position, defaults among them."""
    bound = inspect.signature(function).bind(*args, **keywords)
    bound.apply_defaults()
    return bound.args
