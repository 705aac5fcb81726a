"""The syntax of OQL: a closed union of frozen nodes, each with its place in the text.

>>> from evercurrent.frontend.oql.parse import parse_one
>>> parse_one("e.dept.name")
Step(of=Step(of=Name(name='e'), name='dept', arguments=None), name='name', arguments=None)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from typing import Literal as Choice

from evercurrent.source import Place

Kind = Choice["set", "bag", "list"]


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal; `type` tells a date's text from a string."""

    value: Any
    type: Choice["nil", "boolean", "integer", "float", "string", "date", "time", "timestamp", "undefined"]
    place: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Name:
    name: str
    place: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Step:
    """`of.name`, or `of.name(arguments)`."""

    of: Node
    name: str
    arguments: tuple[Node, ...] | None = None
    place: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Index:
    of: Node
    at: Node
    place: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Slice:
    """`of[low:high]`, both ends included."""

    of: Node
    low: Node
    high: Node
    place: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Unary:
    operator: Choice["-", "+", "not"]
    of: Node
    place: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Binary:
    operator: str
    left: Node
    right: Node
    place: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Compared:
    """`left operator some right`, or `all`."""

    operator: str
    every: bool
    left: Node
    right: Node
    place: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Quantified:
    """`exists variable in collection: condition`, or `for all`."""

    every: bool
    variable: str
    collection: Node
    condition: Node
    place: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: tuple[Node, ...]
    star: bool = False
    place: Place | None = field(default=None, compare=False, repr=False)
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Construct:
    """`struct(a: x)`, or an object of a class."""

    name: str | None
    members: tuple[tuple[str, Node], ...]
    place: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Collect:
    kind: Kind
    items: tuple[Node, ...]
    place: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Range:
    """`list(low..high)`."""

    kind: Kind
    low: Node
    high: Node
    place: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Cast:
    """`(name) of`."""

    name: str
    of: Node
    place: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Projection:
    name: str | None
    of: Node
    place: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Iterator:
    """`variable in collection`; without a variable its members can be named directly. `of` narrows it to a class."""

    variable: str | None
    collection: Node
    of: str | None = None
    place: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Key:
    of: Node
    descending: bool
    place: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Select:
    """`projections` is None for `*`; `groups` is None without group by. `limit` and `offset` are those of the result."""

    distinct: bool
    projections: tuple[Projection, ...] | None
    iterators: tuple[Iterator, ...]
    where: Node | None
    groups: tuple[tuple[str, Node], ...] | None
    having: Node | None
    order: tuple[Key, ...]
    place: Place | None = field(default=None, compare=False, repr=False)
    limit: int | None = None
    offset: int = 0


Node = (
    Constant
    | Name
    | Step
    | Index
    | Slice
    | Unary
    | Binary
    | Compared
    | Quantified
    | Call
    | Construct
    | Collect
    | Range
    | Cast
    | Select
)


# --- statements ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Define:
    """`text` is the whole statement. `parameters` are pairs of a name and the words of its type."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    body: Node
    text: str = ""
    place: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Undefine:
    name: str
    place: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Import:
    """A class under another name."""

    name: str
    alias: str
    place: Place | None = field(default=None, compare=False, repr=False)


Statement = Define | Undefine | Import | Node


def last_name(node: Node) -> str | None:
    """What a projection without a name is called: the last step of a path."""
    match node:
        case Name(name) | Step(name=name) | Call(name=name):
            return name
        case Cast(of=of):
            return last_name(of)
        case _:
            return None
