"""The constant pool of a class file: names, numbers and references, found by number.

Entries are read in one pass and resolved when they are asked for: `pool.name(n)` is a class, `pool.member(n)` the class,
name and descriptor that a field or method reference means.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

UTF8, INTEGER, FLOAT, LONG, DOUBLE, CLASS, STRING = 1, 3, 4, 5, 6, 7, 8
FIELD, METHOD, INTERFACE_METHOD, NAME_AND_TYPE = 9, 10, 11, 12
METHOD_HANDLE, METHOD_TYPE, DYNAMIC, INVOKE_DYNAMIC, MODULE, PACKAGE = 15, 16, 17, 18, 19, 20

_short, _two_shorts = struct.Struct(">H"), struct.Struct(">HH")
_numbers = {
    INTEGER: struct.Struct(">i"),
    FLOAT: struct.Struct(">f"),
    LONG: struct.Struct(">q"),
    DOUBLE: struct.Struct(">d"),
}


class ClassFormatError(ValueError):
    """The bytes are not a class file that this reader knows; says what is wrong, and where."""


class Reference(NamedTuple):
    """A field or method by its class, name and descriptor; a dynamic call has the number of its bootstrap as `owner`."""

    owner: str
    name: str
    descriptor: str


class Handle(NamedTuple):
    """A method handle: its kind (1 to 9) and what it refers to."""

    kind: int
    reference: Reference


class Pool:
    """Constants by number. `tags[n]` is the kind of the constant, `raw[n]` what its bytes say."""

    __slots__ = ("raw", "references", "tags")

    def __init__(self, tags: list[int], raw: list[Any]) -> None:
        self.tags, self.raw = tags, raw
        self.references: dict[int, Reference] = {}

    def text(self, index: int) -> str:
        if self.tags[index] != UTF8:
            raise ClassFormatError(f"constant {index} is not a text")
        return str(self.raw[index])

    def name(self, index: int) -> str:
        """The class, module or package of a constant, as it is written inside: `java/lang/Object`."""
        if self.tags[index] not in (CLASS, MODULE, PACKAGE):
            raise ClassFormatError(f"constant {index} is not a class")
        return str(self.raw[self.raw[index]])

    def member(self, index: int) -> Reference:
        """The field, method or dynamic call of a constant."""
        found = self.references.get(index)
        if found is None:
            tag = self.tags[index]
            first, second = self.raw[index]
            if tag in (FIELD, METHOD, INTERFACE_METHOD):
                owner = self.name(first)
            elif tag in (DYNAMIC, INVOKE_DYNAMIC):
                owner = f"#{first}"
            else:
                raise ClassFormatError(f"constant {index} is not a field, a method or a dynamic call")
            name, descriptor = self.raw[second]
            found = self.references[index] = Reference(owner, self.text(name), self.text(descriptor))
        return found

    def value(self, index: int) -> Any:
        """Any constant, resolved: what `ldc` pushes, what a field is initialised with, what a bootstrap is given."""
        tag, raw = self.tags[index], self.raw[index]
        match tag:
            case 1 | 3 | 4 | 5 | 6:
                return raw
            case 7 | 8 | 16 | 19 | 20:
                return self.text(raw)
            case 9 | 10 | 11 | 17 | 18:
                return self.member(index)
            case 12:
                return self.text(raw[0]), self.text(raw[1])
            case 15:
                return Handle(raw[0], self.member(raw[1]))
            case _:
                raise ClassFormatError(f"constant {index} is not there")


def read_pool(data: bytes, at: int) -> tuple[Pool, int]:
    """The pool that begins at a place, and the place behind it."""
    (count,) = _short.unpack_from(data, at)
    at += 2
    tags, raw = [0] * count, [None] * count
    entries: list[Any] = raw
    two_shorts, short = _two_shorts.unpack_from, _short.unpack_from
    index = 1
    while index < count:
        tag = data[at]
        tags[index] = tag
        at += 1
        if tag == UTF8:
            length = (data[at] << 8) | data[at + 1]
            at += 2
            entries[index] = text(data[at : at + length])
            at += length
        elif tag in (CLASS, STRING, METHOD_TYPE, MODULE, PACKAGE):
            (entries[index],) = short(data, at)
            at += 2
        elif tag in (FIELD, METHOD, INTERFACE_METHOD, NAME_AND_TYPE, DYNAMIC, INVOKE_DYNAMIC):
            entries[index] = two_shorts(data, at)
            at += 4
        elif tag == METHOD_HANDLE:
            entries[index] = (data[at], (data[at + 1] << 8) | data[at + 2])
            at += 3
        elif tag in _numbers:
            (entries[index],) = _numbers[tag].unpack_from(data, at)
            at += _numbers[tag].size
            if tag in (LONG, DOUBLE):
                index += 1  # these take two numbers
        else:
            raise ClassFormatError(f"constant {index} at byte {at - 1} has the unknown tag {tag}")
        index += 1
    return Pool(tags, entries), at


def text(encoded: bytes) -> str:
    """Java's own UTF-8: zero in two bytes, and characters beyond the first plane as two surrogates of three bytes each.

    >>> text(b"a\\xc0\\x80b")
    'a\\x00b'
    >>> text(b"\\xed\\xa0\\xbd\\xed\\xb8\\x80") == "\\U0001f600"
    True
    """
    try:
        return encoded.decode("utf-8")
    except UnicodeDecodeError:
        loose = encoded.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
        return loose.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "surrogatepass")
