"""The messages of logical replication (`pgoutput`, protocol version 1), decoded.

    b"B..." Begin, b"R..." Relation, b"I..." Insert, b"U..." Update, b"D..." Delete, b"T..." Truncate, b"C..." Commit

>>> decode(b"I" + (16385).to_bytes(4) + b"N" + (2).to_bytes(2) + b"t" + (1).to_bytes(4) + b"7" + b"n")
Insert(relation=16385, new=[b'7', None])

A tuple is a list with one value for each column: bytes of text, None for NULL, or UNCHANGED for a large value that an update has left
as it was and that was not sent.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import Enum

from evercurrent.errors import StorageError


class Unchanged(Enum):
    """The mark of a value that was not sent."""

    UNCHANGED = "unchanged"


UNCHANGED = Unchanged.UNCHANGED
Value = bytes | None | Unchanged
Values = list[Value]


@dataclass(frozen=True, slots=True)
class Begin:
    final_lsn: int
    xid: int


@dataclass(frozen=True, slots=True)
class Commit:
    end_lsn: int


@dataclass(frozen=True, slots=True)
class RelationColumn:
    name: str
    type: int
    modifier: int


@dataclass(frozen=True, slots=True)
class Relation:
    oid: int
    schema: str
    name: str
    columns: tuple[RelationColumn, ...]


@dataclass(frozen=True, slots=True)
class Insert:
    relation: int
    new: Values


@dataclass(frozen=True, slots=True)
class Update:
    """`old`: the whole old row (`whole`), or the columns of its replica identity if they have changed, or None."""

    relation: int
    old: Values | None
    whole: bool
    new: Values


@dataclass(frozen=True, slots=True)
class Delete:
    relation: int
    old: Values
    whole: bool


@dataclass(frozen=True, slots=True)
class Truncate:
    relations: tuple[int, ...]


Message = Begin | Commit | Relation | Insert | Update | Delete | Truncate


def decode(data: bytes) -> Message | None:
    """Returns the message; None for those that say nothing about rows."""
    reader = Reader(data, 1)
    kind = chr(data[0])
    match kind:
        case "B":
            final = reader.number("!q")
            reader.number("!q")
            return Begin(final, reader.number("!I"))
        case "C":
            reader.number("!b")
            reader.number("!q")
            return Commit(reader.number("!q"))
        case "R":
            return _relation(reader)
        case "I":
            relation = reader.number("!I")
            reader.expect("N")
            return Insert(relation, reader.tuple())
        case "U":
            relation = reader.number("!I")
            mark = reader.letter()
            old, whole = None, mark == "O"
            if mark in "KO":
                old = reader.tuple()
                reader.expect("N")
            return Update(relation, old, whole, reader.tuple())
        case "D":
            relation = reader.number("!I")
            whole = reader.letter() == "O"
            return Delete(relation, reader.tuple(), whole)
        case "T":
            count = reader.number("!I")
            reader.number("!b")
            return Truncate(tuple(reader.number("!I") for _ in range(count)))
        case "O" | "Y" | "M":
            return None
        case _:
            raise StorageError(
                f"PostgreSQL has sent a message {kind!r} that logical replication does not have"
            )


def _relation(reader: Reader) -> Relation:
    oid = reader.number("!I")
    schema, name = reader.text(), reader.text()
    reader.number("!b")
    columns = []
    for _ in range(reader.number("!H")):
        reader.number("!b")
        columns.append(RelationColumn(reader.text(), reader.number("!I"), reader.number("!i")))
    return Relation(oid, schema or "pg_catalog", name, tuple(columns))


class Reader:
    """Reads a message from front to back."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at

    def number(self, form: str) -> int:
        (found,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return int(found)

    def text(self) -> str:
        end = self.data.index(b"\0", self.at)
        found = self.data[self.at : end].decode()
        self.at = end + 1
        return found

    def letter(self) -> str:
        return chr(self.number("!B"))

    def expect(self, letter: str) -> None:
        found = self.letter()
        if found != letter:
            raise StorageError(f"a message of logical replication has {found!r} where {letter!r} must be")

    def tuple(self) -> Values:
        values: Values = []
        for _ in range(self.number("!H")):
            match self.letter():
                case "n":
                    values.append(None)
                case "u":
                    values.append(UNCHANGED)
                case _:
                    length = self.number("!I")
                    values.append(self.data[self.at : self.at + length])
                    self.at += length
        return values
