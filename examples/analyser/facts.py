"""What is known of a class, as rows of six tables: the whole input of the analyses.

Rows hold nothing that moves when something else in the file moves (no number of the constant pool, no source line): the
rows of a recompiled class that means the same are the same rows, and the change between two versions of a class is the
difference of two small sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from examples.analyser import classfile as java
from examples.analyser.code import Code
from examples.analyser.opcodes import NAMES


class Class(NamedTuple):
    name: str
    package: str
    is_public: bool
    is_final: bool
    is_abstract: bool
    is_interface: bool


class Inherits(NamedTuple):
    """`sub` extends the class, or implements (extends, between interfaces) the interface, `base`."""

    sub: str
    base: str
    by_interface: bool


class Field(NamedTuple):
    owner: str
    package: str
    name: str
    descriptor: str
    is_public: bool
    is_protected: bool
    is_static: bool
    is_final: bool
    is_volatile: bool
    is_synthetic: bool


class Method(NamedTuple):
    id: str
    """`owner.name` and the descriptor, which no other method has."""
    owner: str
    name: str
    descriptor: str
    is_public: bool
    is_private: bool
    is_static: bool
    is_synchronized: bool
    is_abstract: bool
    is_native: bool
    is_synthetic: bool


class Instruction(NamedTuple):
    """One instruction; `index` counts instructions, `pc` bytes.

    What an instruction refers to is in the last three columns: a field or method with its class, name and descriptor; a
    class alone in `target`; nothing is three times the empty text. Of a dynamic call there are name and descriptor.
    """

    method: str
    owner: str
    package: str
    index: int
    pc: int
    operation: str
    target: str
    name: str
    descriptor: str


class Handler(NamedTuple):
    method: str
    owner: str
    index: int
    start: int
    end: int
    target: int
    catches: str
    """The class that is caught; the empty text catches everything."""


Row = Class | Inherits | Field | Method | Instruction | Handler
TABLES: tuple[type[Row], ...] = (Class, Inherits, Field, Method, Instruction, Handler)


class Facts(NamedTuple):
    """The rows of one class, in the order of `TABLES`, and what only the display needs."""

    name: str
    rows: tuple[frozenset[Any], ...]
    source: str | None
    code: dict[str, Code]


def package_of(name: str) -> str:
    """
    >>> package_of("java/util/Map$Entry"), package_of("Main")
    ('java/util', '')
    """
    return name.rpartition("/")[0]


def facts(read: java.ClassFile) -> Facts:
    """All rows of a class."""
    name, package = read.name, package_of(read.name)
    flags = read.flags
    declared = Class(
        name,
        package,
        bool(flags & java.PUBLIC),
        bool(flags & java.FINAL),
        bool(flags & java.ABSTRACT),
        bool(flags & java.INTERFACE),
    )
    bases = [] if read.super_name is None else [Inherits(name, read.super_name, False)]
    bases += [Inherits(name, base, True) for base in read.interfaces]
    methods: list[Method] = []
    instructions: list[Instruction] = []
    handlers: list[Handler] = []
    for m in read.methods:
        row = method(name, m)
        methods.append(row)
        if m.code is not None:
            instructions.extend(body(row.id, name, package, read, m))
            for number, h in enumerate(m.code.handlers):
                handlers.append(Handler(row.id, name, number, h.start, h.end, h.target, h.catches or ""))
    rows: tuple[list[Any], ...] = (
        [declared],
        bases,
        [field(name, package, f) for f in read.fields],
        methods,
        instructions,
        handlers,
    )
    code = {row.id: m.code for row, m in zip(methods, read.methods, strict=True) if m.code is not None}
    return Facts(name, tuple(map(frozenset, rows)), read.source, code)


def field(owner: str, package: str, f: java.Field) -> Field:
    flags = f.flags
    return Field(
        owner,
        package,
        f.name,
        f.descriptor,
        bool(flags & java.PUBLIC),
        bool(flags & java.PROTECTED),
        bool(flags & java.STATIC),
        bool(flags & java.FINAL),
        bool(flags & java.VOLATILE),
        bool(flags & java.SYNTHETIC),
    )


def method(owner: str, m: java.Method) -> Method:
    flags = m.flags
    return Method(
        f"{owner}.{m.name}{m.descriptor}",
        owner,
        m.name,
        m.descriptor,
        bool(flags & java.PUBLIC),
        bool(flags & java.PRIVATE),
        bool(flags & java.STATIC),
        bool(flags & java.SYNCHRONIZED),
        bool(flags & java.ABSTRACT),
        bool(flags & java.NATIVE),
        bool(flags & java.SYNTHETIC),
    )


REFERRING = frozenset(
    [
        "getstatic",
        "putstatic",
        "getfield",
        "putfield",
        "invokevirtual",
        "invokespecial",
        "invokestatic",
        "invokeinterface",
    ]
)
TYPED = frozenset(["new", "anewarray", "checkcast", "instanceof"])


_make: Callable[[tuple[Any, ...]], Instruction] = partial(tuple.__new__, Instruction)


def body(id: str, owner: str, package: str, read: java.ClassFile, m: java.Method) -> Iterator[Instruction]:
    make, names = _make, NAMES
    index = -1
    for pc, opcode, operand in read.instructions(m):
        index += 1
        operation = names[opcode]
        if operand is None:
            yield make((id, owner, package, index, pc, operation, "", "", ""))
        elif operation in REFERRING:
            yield make((id, owner, package, index, pc, operation, *operand))
        elif operation in TYPED:
            yield make((id, owner, package, index, pc, operation, operand, "", ""))
        elif operation == "invokedynamic":
            yield make((id, owner, package, index, pc, operation, "", *operand[1:]))
        elif operation == "multianewarray":
            yield make((id, owner, package, index, pc, operation, operand[0], "", ""))
        else:
            yield make((id, owner, package, index, pc, operation, "", "", ""))
