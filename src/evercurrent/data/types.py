"""The types of values.

A closed union of frozen nodes; `Type` is the union. Names and meaning follow Spark 4 (ANSI mode), and the
collection and reference types of ODMG stand beside them. How a value of each type is represented inside the
engines is said in `values`.

>>> print(Decimal(12, 2), Array(INT), Struct((Member("a", INT), Member("b", STRING))))
DECIMAL(12,2) ARRAY<INT> STRUCT<a: INT, b: STRING>
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Null:
    """The type of a bare NULL; it widens to every other type."""

    def __str__(self) -> str:
        return "VOID"


@dataclass(frozen=True, slots=True)
class Boolean:
    def __str__(self) -> str:
        return "BOOLEAN"


@dataclass(frozen=True, slots=True)
class Integer:
    bits: Literal[8, 16, 32, 64]

    def __str__(self) -> str:
        return {8: "TINYINT", 16: "SMALLINT", 32: "INT", 64: "BIGINT"}[self.bits]


@dataclass(frozen=True, slots=True)
class Float:
    bits: Literal[32, 64]

    def __str__(self) -> str:
        return "FLOAT" if self.bits == 32 else "DOUBLE"


@dataclass(frozen=True, slots=True)
class Decimal:
    precision: int
    scale: int

    def __str__(self) -> str:
        return f"DECIMAL({self.precision},{self.scale})"


@dataclass(frozen=True, slots=True)
class String:
    """STRING; VARCHAR(n) and CHAR(n) with a greatest length, checked where a value enters a table."""

    length: int | None = None

    def __str__(self) -> str:
        return "STRING" if self.length is None else f"VARCHAR({self.length})"


@dataclass(frozen=True, slots=True)
class Binary:
    def __str__(self) -> str:
        return "BINARY"


@dataclass(frozen=True, slots=True)
class Date:
    def __str__(self) -> str:
        return "DATE"


@dataclass(frozen=True, slots=True)
class Time:
    """A time of day without a zone, of so many digits after the second."""

    precision: int = 6

    def __str__(self) -> str:
        return f"TIME({self.precision})"


@dataclass(frozen=True, slots=True)
class Timestamp:
    """An instant (`zone`), or a wall-clock time without a zone (TIMESTAMP_NTZ)."""

    zone: bool = True

    def __str__(self) -> str:
        return "TIMESTAMP" if self.zone else "TIMESTAMP_NTZ"


@dataclass(frozen=True, slots=True)
class Interval:
    """A year-month interval (counted in months) or a day-time interval (counted in microseconds).

    `days`: a day-time interval of whole days (INTERVAL DAY); a DATE plus one is a DATE, not a TIMESTAMP.
    """

    unit: Literal["months", "micros"]
    days: bool = False

    def __str__(self) -> str:
        if self.days:
            return "INTERVAL DAY"
        return "INTERVAL YEAR TO MONTH" if self.unit == "months" else "INTERVAL DAY TO SECOND"


@dataclass(frozen=True, slots=True)
class Array:
    element: Type

    def __str__(self) -> str:
        return f"ARRAY<{self.element}>"


@dataclass(frozen=True, slots=True)
class Map:
    key: Type
    value: Type

    def __str__(self) -> str:
        return f"MAP<{self.key}, {self.value}>"


@dataclass(frozen=True, slots=True)
class Member:
    """A named member of a struct, or a named column of a relation."""

    name: str
    type: Type
    nullable: bool = True

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"


@dataclass(frozen=True, slots=True)
class Struct:
    members: tuple[Member, ...]

    def __str__(self) -> str:
        return f"STRUCT<{', '.join(map(str, self.members))}>"

    def position(self, name: str) -> int | None:
        """Where the member of this name stands; exact spelling first, then whatever its case."""
        for i, m in enumerate(self.members):
            if m.name == name:
                return i
        for i, m in enumerate(self.members):
            if m.name.lower() == name.lower():
                return i
        return None


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection of ODMG: set, bag or list of elements."""

    kind: Literal["set", "bag", "list"]
    element: Type

    def __str__(self) -> str:
        return f"{self.kind}<{self.element}>"


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to an object of a class, by its identity."""

    target: str

    def __str__(self) -> str:
        return self.target


Type = (
    Null
    | Boolean
    | Integer
    | Float
    | Decimal
    | String
    | Binary
    | Date
    | Time
    | Timestamp
    | Interval
    | Array
    | Map
    | Struct
    | Collection
    | Reference
)

NULL = Null()
BOOLEAN = Boolean()
TINYINT = Integer(8)
SMALLINT = Integer(16)
INT = Integer(32)
BIGINT = Integer(64)
FLOAT = Float(32)
DOUBLE = Float(64)
STRING = String()
BINARY = Binary()
DATE = Date()
TIME = Time()
TIMESTAMP = Timestamp(True)
TIMESTAMP_NTZ = Timestamp(False)
MONTHS = Interval("months")
MICROS = Interval("micros")
DAYS = Interval("micros", days=True)


def is_numeric(t: Type) -> bool:
    return isinstance(t, Integer | Float | Decimal)


def contains_float(t: Type) -> bool:
    """Whether a value of this type can hold a float, whose NaN and -0.0 need care in comparisons."""
    match t:
        case Float():
            return True
        case Array(e) | Collection(_, e):
            return contains_float(e)
        case Map(k, v):
            return contains_float(k) or contains_float(v)
        case Struct(members):
            return any(contains_float(m.type) for m in members)
        case _:
            return False
