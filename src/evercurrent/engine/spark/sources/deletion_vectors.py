"""Deletion vectors of Delta tables: which rows of a data file are deleted, by their positions in it.

A vector is a roaring bitmap of positions. It is in the log itself, or in a file beside the data:

    storageType i     the bitmap, in Z85, in the log
    storageType u     in deletion_vector_<uuid>.bin under the table; the uuid in Z85, perhaps after a folder's name
    storageType p     in a file with an address of its own

    in a file         version 1 | size, 4 bytes | magic and bitmap | CRC-32, 4 bytes | ...

>>> sorted(bitmap_of(bytes.fromhex("d1d339640100000000000000000000003a3000000100000000000000100000000100")))
[1]

The same bytes are the content of a deletion vector of Iceberg (`deletion-vector-v1` in a Puffin file).
"""

from __future__ import annotations

import struct
import uuid
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pyroaring import BitMap64

from evercurrent.errors import StorageError, UnsupportedError

MAGIC = 1681511377
Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
DIGITS = {letter: i for i, letter in enumerate(Z85)}
UUID_LETTERS = 20


@dataclass(frozen=True)
class Vector:
    """What the log says of a vector. `unique` tells the vectors of a file apart."""

    storage: str
    text: str
    offset: int | None
    size: int
    cardinality: int

    @property
    def unique(self) -> str:
        return f"{self.storage}{self.text}" + ("" if self.offset is None else f"@{self.offset}")

    @staticmethod
    def of_action(value: Mapping[str, Any] | None) -> Vector | None:
        if not value:
            return None
        return Vector(
            value["storageType"],
            value["pathOrInlineDv"],
            value.get("offset"),
            value["sizeInBytes"],
            value["cardinality"],
        )


def decode_z85(text: str) -> bytes:
    """The bytes of a text in Z85: five letters for four bytes.

    >>> decode_z85("HelloWorld").hex()
    '864fd26fb559f75b'
    """
    if len(text) % 5:
        raise StorageError(f"a deletion vector has {len(text)} letters, which is no multiple of five")
    try:
        groups = [
            sum(DIGITS[letter] * 85 ** (4 - i) for i, letter in enumerate(text[at : at + 5]))
            for at in range(0, len(text), 5)
        ]
        return b"".join(struct.pack(">I", n) for n in groups)
    except (KeyError, struct.error) as problem:
        raise StorageError("a deletion vector in the log is not in Z85") from problem


def vector_path(root: str, vector: Vector) -> str | None:
    """The file of a vector; None if the vector is in the log."""
    match vector.storage:
        case "i":
            return None
        case "p":
            return vector.text
        case "u":
            prefix, name = vector.text[:-UUID_LETTERS], vector.text[-UUID_LETTERS:]
            folder = f"{root}/{prefix}" if prefix else root
            return f"{folder}/deletion_vector_{uuid.UUID(bytes=decode_z85(name))}.bin"
        case _:
            raise UnsupportedError(f"a deletion vector of the storage type {vector.storage!r} cannot be read")


def read_vector(root: str, vector: Vector, read: Callable[[str], bytes]) -> BitMap64:
    """The positions of a vector; `read` returns the bytes of a file."""
    path = vector_path(root, vector)
    if path is None:
        found = bitmap_of(decode_z85(vector.text)[: vector.size])
    else:
        found = bitmap_of(unframe(read(path), vector.offset or 0, vector.size, path))
    if len(found) != vector.cardinality:
        raise StorageError(
            f"a deletion vector of {root} has {len(found)} positions, and the log says {vector.cardinality}"
        )
    return found


def unframe(data: bytes, offset: int, size: int, path: str) -> bytes:
    """The content of a vector in a file, checked by its length and checksum."""
    end = offset + 4 + size
    if len(data) < end + 4:
        raise StorageError(f"the file of deletion vectors {path} ends before byte {end + 4}")
    (said,), body = struct.unpack(">i", data[offset : offset + 4]), data[offset + 4 : end]
    (checksum,) = struct.unpack(">I", data[end : end + 4])
    if said != size or zlib.crc32(body) != checksum:
        raise StorageError(f"the file of deletion vectors {path} is damaged at byte {offset}")
    return body


def bitmap_of(body: bytes) -> BitMap64:
    """A bitmap after its magic number."""
    if len(body) < 4 or struct.unpack("<I", body[:4])[0] != MAGIC:
        raise UnsupportedError("a deletion vector is of a format that cannot be read")
    try:
        return BitMap64.deserialize(body[4:])
    except ValueError as problem:
        raise StorageError("a deletion vector is damaged") from problem
