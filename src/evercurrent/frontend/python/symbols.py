"""A value that stands for a term.

Functions over rows are called (or read from their source) with symbols; what they do with them builds a term. A symbol
has no value yet, so whatever asks Python for one (`if`, `and`, `in`, `str()`) fails at once and says what to write instead.

>>> from evercurrent.data.types import INT
>>> from evercurrent.term.nodes import Column
>>> from evercurrent.term.show import show
>>> age = Symbol(Column("s.age", INT))
>>> show((age + 1 >= 18)._term)
's.age + 1 >= 18'
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from functools import cached_property
from types import FunctionType
from typing import Any, NoReturn

from evercurrent.calculus.paths import step
from evercurrent.data.shapes import Shape
from evercurrent.data.types import Reference, Struct
from evercurrent.errors import QueryError
from evercurrent.term import build
from evercurrent.term.nodes import Term


class Symbol:
    """A term in the place of a value; a struct's members are its attributes."""

    __slots__ = ("_missing", "_shape", "_term", "_truth")
    _term: Term
    _shape: Shape | None
    _missing: Term | None  # of a row after an outer join: whether there is none
    _truth: Term | None  # of `a and b`: whether it is true, said shorter than by its value

    def __init__(self, term: Term, shape: Shape | None = None, missing: Term | None = None) -> None:
        object.__setattr__(self, "_term", term)
        object.__setattr__(self, "_shape", shape)
        object.__setattr__(self, "_missing", missing)
        object.__setattr__(self, "_truth", None)

    # --- members -------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") and name.endswith(
            "_"
        ):  # Python's own names, and those of the protocol of `methods`
            raise AttributeError(name)
        return attribute(self, name)

    def __getitem__(self, key: Any) -> Any:
        from evercurrent.frontend.python import items

        return items.item(self, key)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise QueryError(f"a function over rows cannot change them: .{name} = ...", hint="select a new row")

    # --- operators: see `operations` -----------------------------------------------------------------------

    def __eq__(self, other: object) -> Any:
        return _binary("==", self, other)

    def __ne__(self, other: object) -> Any:
        return _binary("!=", self, other)

    def __lt__(self, other: Any) -> Any:
        return _binary("<", self, other)

    def __le__(self, other: Any) -> Any:
        return _binary("<=", self, other)

    def __gt__(self, other: Any) -> Any:
        return _binary(">", self, other)

    def __ge__(self, other: Any) -> Any:
        return _binary(">=", self, other)

    def __neg__(self) -> Any:
        return _unary("-", self)

    def __pos__(self) -> Any:
        return _unary("+", self)

    def __abs__(self) -> Any:
        return _unary("abs", self)

    def __invert__(self) -> Any:
        return _unary("~", self)

    # --- what a symbol cannot say --------------------------------------------------------------------------

    def __bool__(self) -> bool:
        raise QueryError(
            "a value of a row is asked for its truth while the query is being built",
            hint="use & | ~ instead of and or not (with parentheses around comparisons), "
            "(a < b) & (b < c) instead of a < b < c, ec.when(c, a, b) instead of a if c else b, "
            "ec.isin(x, values) instead of x in values; in a function whose source can be found all of them work",
        )

    def __iter__(self) -> Iterator[Any]:
        if isinstance(self._term.type, Struct):
            return iter([attribute(self, m.name) for m in self._term.type.members])
        _no_value("iterate over", "use unnest or flat_map")

    def __hash__(self) -> int:  # noqa: PLE0309
        _no_value("hash", "compare with == instead of using it as a key")

    def __str__(self) -> str:  # noqa: PLE0307
        _no_value("make a text of", "use ec.text(x)")

    def __format__(self, spec: str) -> str:
        _no_value("make a text of", "use ec.text(x) and +")

    def __len__(self) -> int:  # noqa: PLE0303
        _no_value("take the length of", "use ec.length(x)")

    def __int__(self) -> int:
        _no_value("make an int of", "")

    def __float__(self) -> float:
        _no_value("make a float of", "")

    def __index__(self) -> int:  # noqa: PLE0305
        _no_value("make an index of", "")

    def __contains__(self, item: Any) -> bool:
        _no_value("look for an element in", "use ec.isin(x, values)")

    def __repr__(self) -> str:
        from evercurrent.term.show import show

        return f"<{show(self._term)}: {self._term.type}>"


def _no_value(what: str, hint: str) -> NoReturn:
    raise QueryError(
        f"it is too early to {what} a value of a row: the query is being built", hint=hint or None
    )


def _binary(operator: str, left: Any, right: Any) -> Any:
    from evercurrent.frontend.python import operations

    return operations.binary(operator, left, right)


def _unary(operator: str, operand: Any) -> Any:
    from evercurrent.frontend.python import operations

    return operations.unary(operator, operand)


def _both(operator: str) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    return lambda a, b: _binary(operator, a, b), lambda a, b: _binary(operator, b, a)


for _name, _operator in (
    ("add", "+"),
    ("sub", "-"),
    ("mul", "*"),
    ("truediv", "/"),
    ("floordiv", "//"),
    ("mod", "%"),
    ("pow", "**"),
    ("and", "&"),
    ("or", "|"),
    ("xor", "^"),
    ("lshift", "<<"),
    ("rshift", ">>"),
):
    _straight, _reflected = _both(_operator)
    setattr(Symbol, f"__{_name}__", _straight)
    setattr(Symbol, f"__r{_name}__", _reflected)


def attribute(symbol: Symbol, name: str) -> Any:
    """`symbol.name`: a member of a struct, or a method of a value."""
    from evercurrent.frontend.python import methods

    term = symbol._term
    if isinstance(term.type, Reference):
        return _step(symbol, name)
    if isinstance(term.type, Struct):
        position = term.type.position(name)
        if position is not None:
            inner = symbol._shape.inner if symbol._shape is not None else ()
            shape = inner[position] if len(inner) == len(term.type.members) else None
            return Symbol(build.field(term, term.type.members[position].name), shape)
        of_class = _of_class(symbol, name)
        if of_class is not None:
            return of_class
        names = [m.name for m in term.type.members]
        near = get_close_matches(name, names, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
        raise QueryError(f"a row has no field {name}", hint=hint)
    return methods.method(symbol, name)


def _step(symbol: Symbol, name: str) -> Symbol:
    """`symbol.name`, the symbol a reference to an object: a step along a path."""
    home = symbol._shape.home if symbol._shape is not None else None
    if home is None:
        raise QueryError(
            f"the schema of this reference is not known here, so .{name} is not",
            hint="begin with db.relation(extent)",
        )
    term = step(home.catalog.schema, symbol._term, name)
    return Symbol(term, Shape.reference(home) if isinstance(term.type, Reference) else None)


def _of_class(symbol: Symbol, name: str) -> Any:
    """What the class of a row defines itself: a property is read, a method waits for its arguments; None if neither."""
    from evercurrent.frontend.python.capture import capture

    cls = symbol._shape.make if symbol._shape is not None else None
    found = inspect.getattr_static(cls, name, None) if isinstance(cls, type) else None
    if isinstance(found, property | cached_property):
        getter = found.fget if isinstance(found, property) else found.func
        return capture(getter, (symbol,))
    if isinstance(found, FunctionType):
        return Method(found, symbol)
    return None


class Method:
    """A method of a row's class, bound to a symbol."""

    _knows_symbols_ = True

    def __init__(self, function: FunctionType, symbol: Symbol) -> None:
        self.function = function
        self.symbol = symbol

    def __call__(self, *args: Any) -> Any:
        from evercurrent.frontend.python.capture import capture

        return capture(self.function, (self.symbol, *args))
