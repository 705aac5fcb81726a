"""The syntax of OQL as data. Every expression is one of these nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, eq=False)
class Node:
    """Nodes are compared by identity: types are remembered per node."""


@dataclass(frozen=True, eq=False)
class Literal(Node):
    value: Any


@dataclass(frozen=True, eq=False)
class Name(Node):
    name: str


@dataclass(frozen=True, eq=False)
class Step(Node):
    """`of.name`, or `of.name(arguments)`."""

    of: Node
    name: str
    arguments: tuple[Node, ...] = ()


@dataclass(frozen=True, eq=False)
class Index(Node):
    of: Node
    at: Node


@dataclass(frozen=True, eq=False)
class Slice(Node):
    of: Node
    low: Node
    high: Node


@dataclass(frozen=True, eq=False)
class Unary(Node):
    """`-`, `not`."""

    operator: str
    of: Node


@dataclass(frozen=True, eq=False)
class Binary(Node):
    """Arithmetic, comparison, logic, sets, `in`, `like`, `||`."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, eq=False)
class Compared(Node):
    """`x > some C`, `x <= all C`."""

    operator: str
    quantifier: str
    left: Node
    right: Node


@dataclass(frozen=True, eq=False)
class Quantified(Node):
    """`exists x in C: p`, `for all x in C: p`."""

    every: bool
    variable: str
    collection: Node
    condition: Node


@dataclass(frozen=True, eq=False)
class Call(Node):
    """A function, a named query, an aggregate (`count(*)` has no arguments and `star`)."""

    name: str
    arguments: tuple[Node, ...]
    star: bool = False
    distinct: bool = False


@dataclass(frozen=True, eq=False)
class Construct(Node):
    """`struct(a: 1)` (class "struct") or a new object."""

    name: str
    fields: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, eq=False)
class Collect(Node):
    """`set(...)`, `bag(...)`, `list(...)`, `array(...)`."""

    kind: str
    items: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Range(Node):
    low: Node
    high: Node


@dataclass(frozen=True, eq=False)
class Cast(Node):
    name: str
    of: Node


@dataclass(frozen=True, eq=False)
class Projection(Node):
    name: str | None
    of: Node


@dataclass(frozen=True, eq=False)
class Iterator(Node):
    """Without a name, the attributes of its elements are in scope themselves."""

    variable: str | None
    collection: Node


@dataclass(frozen=True, eq=False)
class Select(Node):
    distinct: bool
    projections: tuple[Projection, ...] | None
    iterators: tuple[Iterator, ...]
    where: Node | None
    groups: tuple[tuple[str, Node], ...] | None
    having: Node | None
    order: tuple[tuple[Node, bool], ...]
    limit: int | None = None
    offset: int = 0


@dataclass(frozen=True, eq=False)
class Define(Node):
    name: str
    parameters: tuple[tuple[str, str], ...]
    body: Node


@dataclass(frozen=True, eq=False)
class Undefine(Node):
    name: str


@dataclass(frozen=True, eq=False)
class Import(Node):
    name: str
    alias: str


@dataclass(eq=False)
class Script:
    """Definitions, and perhaps a query at the end."""

    statements: list[Node] = field(default_factory=list)
