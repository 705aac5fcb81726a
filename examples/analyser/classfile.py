"""A class file, read: what the class is, what it extends, its fields, its methods and their code.

    ClassFile {magic, version, constant pool, flags, this, super, interfaces, fields, methods, attributes}

Attributes that nothing here asks for are passed over by their length. Code is decoded when it is asked for.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from examples.analyser.code import Code, Handler, Instruction
from examples.analyser.constants import ClassFormatError, Handle, Pool, read_pool

PUBLIC, PRIVATE, PROTECTED, STATIC, FINAL = 0x0001, 0x0002, 0x0004, 0x0008, 0x0010
SYNCHRONIZED, VOLATILE, BRIDGE, TRANSIENT, NATIVE = 0x0020, 0x0040, 0x0040, 0x0080, 0x0100
INTERFACE, ABSTRACT, SYNTHETIC, ANNOTATION, ENUM, MODULE = 0x0200, 0x0400, 0x1000, 0x2000, 0x4000, 0x8000

_member, _head, _code_head = struct.Struct(">HHHH"), struct.Struct(">IHH"), struct.Struct(">HHI")
_attribute, _handler, _line = struct.Struct(">HI"), struct.Struct(">HHHH"), struct.Struct(">HH")


class Field(NamedTuple):
    flags: int
    name: str
    descriptor: str
    signature: str | None
    constant: Any


class Method(NamedTuple):
    flags: int
    name: str
    descriptor: str
    signature: str | None
    exceptions: tuple[str, ...]
    code: Code | None


class Inner(NamedTuple):
    """An entry of the table of inner classes; `outer` is None for local and anonymous classes, `name` for the latter."""

    inner: str
    outer: str | None
    name: str | None
    flags: int


class Bootstrap(NamedTuple):
    """How a dynamic call finds its target: a method handle and what it is given."""

    handle: Handle
    arguments: tuple[Any, ...]


class ClassFile(NamedTuple):
    version: tuple[int, int]
    flags: int
    name: str
    super_name: str | None
    interfaces: tuple[str, ...]
    fields: tuple[Field, ...]
    methods: tuple[Method, ...]
    source: str | None
    signature: str | None
    inner_classes: tuple[Inner, ...]
    enclosing_method: tuple[str, str | None] | None
    bootstraps: tuple[Bootstrap, ...]
    pool: Pool

    def instructions(self, method: Method) -> Iterator[Instruction]:
        return iter(()) if method.code is None else method.code.instructions(self.pool)


def read(data: bytes) -> ClassFile:
    """Read a class file."""
    try:
        magic, minor, major = _head.unpack_from(data, 0)
        if magic != 0xCAFEBABE:
            raise ClassFormatError(f"not a class file: it begins with {magic:08x}, not cafebabe")
        pool, at = read_pool(data, 8)
        flags, this, parent, count = _member.unpack_from(data, at)
        at += 8
        interfaces = tuple(pool.name(i) for i in struct.unpack_from(f">{count}H", data, at))
        at += 2 * count
        fields, at = read_fields(data, at, pool)
        methods, at = read_methods(data, at, pool)
        attributes, at = read_attributes(data, at, pool)
    except (IndexError, struct.error) as problem:
        raise ClassFormatError(f"the class file ends too early, after {len(data)} bytes") from problem
    if at != len(data):
        raise ClassFormatError(f"{len(data) - at} bytes stand behind the end of the class")
    return ClassFile(
        version=(major, minor),
        flags=flags,
        name=pool.name(this),
        super_name=pool.name(parent) if parent else None,
        interfaces=interfaces,
        fields=fields,
        methods=methods,
        source=text_of(data, attributes.get("SourceFile"), pool),
        signature=text_of(data, attributes.get("Signature"), pool),
        inner_classes=inner_classes(data, attributes.get("InnerClasses"), pool),
        enclosing_method=enclosing(data, attributes.get("EnclosingMethod"), pool),
        bootstraps=bootstraps(data, attributes.get("BootstrapMethods"), pool),
        pool=pool,
    )


Attributes = dict[str, tuple[int, int]]
"""Where the content of each attribute begins and ends."""


def read_attributes(data: bytes, at: int, pool: Pool) -> tuple[Attributes, int]:
    found: Attributes = {}
    count = (data[at] << 8) | data[at + 1]
    at += 2
    for _ in range(count):
        name, length = _attribute.unpack_from(data, at)
        at += 6
        found[pool.raw[name]] = (at, at + length)
        at += length
    return found, at


def read_fields(data: bytes, at: int, pool: Pool) -> tuple[tuple[Field, ...], int]:
    found = []
    count = (data[at] << 8) | data[at + 1]
    at += 2
    for _ in range(count):
        flags, name, descriptor, _attributes = _member.unpack_from(data, at)
        attributes, at = read_attributes(data, at + 6, pool)
        place = attributes.get("ConstantValue")
        constant = pool.value((data[place[0]] << 8) | data[place[0] + 1]) if place else None
        signature = text_of(data, attributes.get("Signature"), pool)
        found.append(Field(flags, pool.text(name), pool.text(descriptor), signature, constant))
    return tuple(found), at


def read_methods(data: bytes, at: int, pool: Pool) -> tuple[tuple[Method, ...], int]:
    found = []
    count = (data[at] << 8) | data[at + 1]
    at += 2
    for _ in range(count):
        flags, name, descriptor, _attributes = _member.unpack_from(data, at)
        attributes, at = read_attributes(data, at + 6, pool)
        signature = text_of(data, attributes.get("Signature"), pool)
        place = attributes.get("Code")
        code = read_code(data, place[0], pool) if place else None
        found.append(
            Method(
                flags,
                pool.text(name),
                pool.text(descriptor),
                signature,
                exceptions(data, attributes, pool),
                code,
            )
        )
    return tuple(found), at


def exceptions(data: bytes, attributes: Attributes, pool: Pool) -> tuple[str, ...]:
    place = attributes.get("Exceptions")
    if place is None:
        return ()
    count = (data[place[0]] << 8) | data[place[0] + 1]
    return tuple(pool.name(i) for i in struct.unpack_from(f">{count}H", data, place[0] + 2))


def read_code(data: bytes, at: int, pool: Pool) -> Code:
    stack, variables, length = _code_head.unpack_from(data, at)
    at += 8
    body = data[at : at + length]
    at += length
    count = (data[at] << 8) | data[at + 1]
    at += 2
    handlers = []
    for start, end, target, caught in _handler.iter_unpack(data[at : at + 8 * count]):
        handlers.append(Handler(start, end, target, pool.name(caught) if caught else None))
    attributes, _ = read_attributes(data, at + 8 * count, pool)
    place = attributes.get("LineNumberTable")
    lines = tuple(_line.iter_unpack(data[place[0] + 2 : place[1]])) if place else ()
    return Code(stack, variables, body, tuple(handlers), lines)


def text_of(data: bytes, place: tuple[int, int] | None, pool: Pool) -> str | None:
    return None if place is None else pool.text((data[place[0]] << 8) | data[place[0] + 1])


def inner_classes(data: bytes, place: tuple[int, int] | None, pool: Pool) -> tuple[Inner, ...]:
    if place is None:
        return ()
    return tuple(
        Inner(pool.name(inner), pool.name(outer) if outer else None, pool.text(name) if name else None, flags)
        for inner, outer, name, flags in _member.iter_unpack(data[place[0] + 2 : place[1]])
    )


def enclosing(data: bytes, place: tuple[int, int] | None, pool: Pool) -> tuple[str, str | None] | None:
    """The class, and the method if it is inside one, in which a local or anonymous class stands."""
    if place is None:
        return None
    owner, method = _line.unpack_from(data, place[0])
    return pool.name(owner), "".join(pool.value(method)) if method else None


def bootstraps(data: bytes, place: tuple[int, int] | None, pool: Pool) -> tuple[Bootstrap, ...]:
    if place is None:
        return ()
    at = place[0] + 2
    found = []
    for _ in range((data[place[0]] << 8) | data[place[0] + 1]):
        handle, count = _line.unpack_from(data, at)
        arguments = struct.unpack_from(f">{count}H", data, at + 4)
        found.append(Bootstrap(pool.value(handle), tuple(pool.value(i) for i in arguments)))
        at += 4 + 2 * count
    return tuple(found)
