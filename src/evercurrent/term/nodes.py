"""The term language.

A term stands for one value, given values for its columns (in the algebra and in programs) or its variables (in
the calculus). Terms carry their type; the smart constructors of `build` find it. Nodes are data: no behaviour
beyond reading a type, no parent links.

    Literal(1, INT)                                     1
    Column("o.total", DECIMAL(12,2))                    a column of the row at hand
    Field(Variable("o", STRUCT<...>), "total", ...)     o.total, o bound by a generator
    Call("add", (a, b), BIGINT)                         a + b
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from evercurrent.data.shapes import Shape
from evercurrent.data.types import Type
from evercurrent.source import Place
from evercurrent.term.located import identify


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant, in the internal representation of its type (`data.values`); None is NULL."""

    value: Any
    type: Type


@dataclass(frozen=True, slots=True)
class Column:
    """A named column of the row at hand. Names are unique within a plan; they are data, never identifiers."""

    name: str
    type: Type
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable that a generator, an unnesting or a lambda binds."""

    name: str
    type: Type
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """A member of a struct-valued term (through a reference: a step along a path)."""

    of: Term
    name: str
    type: Type
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the table in `functions`, applied. Operators, comparisons and logic are functions too."""

    function: str
    args: tuple[Term, ...]
    type: Type
    # Where the text stood, not what it means: it is no part of a call's identity.
    place: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Case:
    """The first branch whose condition is true; `otherwise` if none is. Later branches are not evaluated."""

    branches: tuple[tuple[Term, Term], ...]
    otherwise: Term
    type: Type


@dataclass(frozen=True, slots=True)
class Cast:
    """A conversion. A `strict` one that fails is an error, otherwise NULL (TRY_CAST)."""

    of: Term
    type: Type
    strict: bool = True


@dataclass(frozen=True, slots=True)
class Record:
    """A struct made of named terms."""

    members: tuple[tuple[str, Term], ...]
    type: Type


@dataclass(frozen=True, slots=True)
class Lambda:
    """A function handed to an array or map function. Its type is that of its body."""

    parameters: tuple[Variable, ...]
    body: Term
    type: Type


@dataclass(frozen=True, slots=True, repr=False)
class Opaque:
    """A Python function that nobody looks into, and why. It takes values as users see them, and returns such a value.

    It is the same as another if it is the same function; `number` tells functions of one name apart where plans are
    compared as texts. `shapes` say of arguments that are rows which class the function expects; None leaves one as it is.
    """

    function: Callable[..., Any]
    name: str = field(compare=False)
    number: int = field(default=0, compare=False)
    reason: str = field(default="", compare=False)
    shapes: tuple[Shape | None, ...] = field(default=(), compare=False)

    def __repr__(self) -> str:
        return f"Opaque({identify(self.function)})"


@dataclass(frozen=True, slots=True)
class Apply:
    """An opaque function, applied: once for each inserted or deleted row.

    Plans hold it only as an output of a map, and such a map is never copied, merged or moved to where there are more rows
    (see `term.opaque`).
    """

    function: Opaque
    args: tuple[Term, ...]
    type: Type
    nullable: bool = True


class Nested:
    """A query inside a term. The calculus defines the kinds; after lowering to the algebra none is left."""

    __slots__ = ()
    type: Type


Term = Literal | Column | Variable | Field | Call | Case | Cast | Record | Lambda | Apply | Nested


@dataclass(frozen=True, slots=True)
class SortKey:
    term: Term
    descending: bool = False
    nulls_first: bool = True


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate function over the rows of a group: `function(DISTINCT args ORDER BY order) FILTER (where)`.

    `function` is a name of the table in `term.aggregates`; `options` are its constant parameters (the fraction of a
    percentile, the separator of listagg). No arguments: count(*).
    """

    function: str
    args: tuple[Term, ...]
    type: Type
    distinct: bool = False
    where: Term | None = None
    order: tuple[SortKey, ...] = ()
    options: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Frame:
    """A window frame. A bound is an offset from the current row (negative: preceding), or None for unbounded.

    `kind` is "rows", "range" or "groups"; an offset in a range frame is a constant added to the sort key: a number in the
    key's representation (a decimal's scaled), or a Literal of an interval type where the key is a date or time.
    """

    kind: str
    start: Any
    end: Any


WHOLE = Frame("range", None, None)
RUNNING = Frame("range", None, 0)


@dataclass(frozen=True, slots=True)
class WindowFunction:
    """`function(args) OVER (PARTITION BY partition ORDER BY order frame)`; aggregates may be used too."""

    function: str
    args: tuple[Term, ...]
    type: Type
    partition: tuple[Term, ...]
    order: tuple[SortKey, ...]
    frame: Frame
    where: Term | None = None
    distinct: bool = False
    ignore_nulls: bool = False
    options: tuple[Any, ...] = ()
