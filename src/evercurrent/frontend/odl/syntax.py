"""What an ODL text says, before any name in it is looked up.

    attribute set<person> friends;      WrittenAttribute("friends", Many("set", Named("person", ...), ...), ...)
    attribute string<20> name;          WrittenAttribute("name", Sized("string", ...), ...)

A type is only a name here: `resolve` finds out whether `person` is a class, a struct or an enumeration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice

from evercurrent.source import Place


@dataclass(frozen=True, slots=True)
class Named:
    """A type by its name: of a primitive, a typedef, an enumeration, a struct or a class."""

    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class Sized:
    """`string<n>`, `decimal(p, s)`."""

    name: str
    sizes: tuple[Constant, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Many:
    """`set<t>`, `bag<t>`, `list<t>`, `array<t>`, `sequence<t>`."""

    kind: str
    element: Written
    place: Place


@dataclass(frozen=True, slots=True)
class Dictionary:
    key: Written
    value: Written
    place: Place


@dataclass(frozen=True, slots=True)
class Enumeration:
    name: str | None
    labels: tuple[tuple[str, Place], ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Structure:
    name: str | None
    members: tuple[tuple[str, Written, Place], ...]
    place: Place


Written = Named | Sized | Many | Dictionary | Enumeration | Structure


@dataclass(frozen=True, slots=True)
class Constant:
    """An expression of numbers, texts and names of constants: the tokens in prefix form."""

    operator: str  # "value", "name" or an operator
    parts: tuple[Constant, ...]
    value: object
    place: Place


@dataclass(frozen=True, slots=True)
class Definition:
    """`typedef`, `enum`, `struct` or `const` at the top or inside a class."""

    kind: Choice["type", "constant"]
    name: str
    what: Written | Constant
    place: Place


@dataclass(frozen=True, slots=True)
class WrittenAttribute:
    name: str
    type: Written
    readonly: bool
    place: Place
    keeping: str = "table"


@dataclass(frozen=True, slots=True)
class WrittenRelationship:
    name: str
    kind: str
    target: Named
    inverse_class: Named
    inverse: str
    place: Place


@dataclass(frozen=True, slots=True)
class WrittenOperation:
    name: str
    type: Written | None
    parameters: tuple[tuple[str, Written, Place], ...]
    place: Place


@dataclass(frozen=True, slots=True)
class WrittenClass:
    name: str
    module: str
    parent: Named | None
    extent: str | None
    keys: tuple[tuple[str, ...], ...]
    members: tuple[WrittenAttribute | WrittenRelationship | WrittenOperation, ...]
    definitions: tuple[Definition, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Text:
    """All of a text: classes and definitions, with the names of the modules that they stand in."""

    classes: tuple[WrittenClass, ...]
    definitions: tuple[Definition, ...]
