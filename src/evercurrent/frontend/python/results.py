"""What a function over rows returns, as columns.

a value                 one column, and the row is the value
a tuple                 its parts; a part that is a field keeps its name
a row class, a dict     its members
a row                   that row
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from evercurrent.calculus.nodes import Fields
from evercurrent.data.naming import unique
from evercurrent.data.shapes import Shape, is_named_tuple
from evercurrent.data.types import Array, Integer, Member, Struct, Type
from evercurrent.errors import QueryError
from evercurrent.frontend.python.annotations import columns_of, is_row_class
from evercurrent.frontend.python.block import columns_at
from evercurrent.frontend.python.symbols import Symbol
from evercurrent.frontend.python.terms import Resists, members_of, term_of
from evercurrent.term import build
from evercurrent.term.nodes import Field, Literal, Term
from evercurrent.term.nullable import nullable


@dataclasses.dataclass(frozen=True, slots=True)
class Result:
    names: tuple[str, ...]
    terms: tuple[Term, ...]
    shape: Shape

    @property
    def fields(self) -> Fields:
        return fields_of(self.names, self.terms)


def fields_of(names: Sequence[str], terms: Sequence[Term]) -> Fields:
    return tuple(Member(n, t.type, nullable(t)) for n, t in zip(unique(names), terms, strict=True))


def result_of(value: Any) -> Result:
    """The columns of a returned value."""
    try:
        return _result(value)
    except Resists as reason:
        raise QueryError(
            f"a function over rows returned {value!r}: {reason.reason}",
            hint="return a value, a tuple, a dict, or an instance of a row class",
        ) from None


def _result(value: Any) -> Result:
    if isinstance(value, Symbol):
        if isinstance(value._term.type, Struct):
            shape = value._shape or Shape.record(None, len(value._term.type.members))
            pairs = columns_at(value, Shape.record(None, shape.width))
            shape = dataclasses.replace(shape, names=tuple(n for n, _ in pairs))
            return Result(tuple(n for n, _ in pairs), tuple(t for _, t in pairs), shape)
        name = value._term.name if isinstance(value._term, Field) else "value"
        return Result((name,), (value._term,), Shape.single(value._shape))
    members = members_of(value)
    if not members:
        if isinstance(value, list | set):
            raise Resists("a list is no row")
        return Result((getattr(value, "_name_", None) or "value",), (term_of(value),), Shape.single())
    names, terms, inner = [], [], []
    cls = type(value) if is_row_class(type(value)) else None
    wanted = {m.name: m for m in columns_of(cls).members} if cls is not None else {}
    for name, part in members:
        names.append(name)
        terms.append(_part(part, wanted[name].type) if name in wanted else term_of(part))
        inner.append(shape_of(part))
    return Result(tuple(names), tuple(terms), Shape.record(cls, len(names), inner, names))


def _part(part: Any, wanted: Type) -> Term:
    """A part of a row class: None, small numbers and sequences, also an empty one, have the type of the field."""
    if isinstance(wanted, Array) and isinstance(part, list | tuple) and not is_named_tuple(type(part)):
        return build.cast(term_of(list(part)), wanted) if part else Literal((), wanted)
    term = term_of(part)
    if isinstance(term, Literal) or (isinstance(term.type, Integer) and isinstance(wanted, Integer)):
        return build.cast(term, wanted)
    return term


def shape_of(value: Any) -> Shape | None:
    """The shape of a part that is itself a row."""
    if isinstance(value, Symbol):
        return value._shape
    members = members_of(value)
    if not members or isinstance(value, dict):
        return None
    cls = type(value) if is_row_class(type(value)) else None
    return Shape.record(cls, len(members), [shape_of(v) for _, v in members], [n for n, _ in members])
